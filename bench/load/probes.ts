/**
 * Changes sent one by one, to see how soon each is heard. A server that tells in ticks would always be asked just
 * after one by whoever sends the next change when the last was heard, and every change would wait a whole tick: so
 * each comes after a pause by chance.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Random, randomFrom } from '../quality/random.js';
import { Latencies } from './latency.js';

export interface ProbeOptions {
  readonly count: number;
  readonly seed: number;
  /** Each pause is from 0 to this. */
  readonly pauseMaxMs: number;
  /** Sends change number `i`, and resolves once it is stored. */
  readonly send: (i: number) => Promise<void>;
  /** Resolves once change number `i` is heard; asked before it is sent. */
  readonly hears: (i: number) => Promise<void>;
  /** The clock and its pauses, ms; absent: those of the machine. */
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

export interface Heard {
  readonly sinceSent: Latencies;
  /** What is heard before its answer has arrived counts as heard at once. */
  readonly sinceStored: Latencies;
}

export async function probe(options: ProbeOptions): Promise<Heard> {
  const { count, seed, pauseMaxMs, send, hears, now = () => performance.now(), pause = delay } = options;
  const random: Random = randomFrom('probes', seed);
  const heard: Heard = { sinceSent: new Latencies(), sinceStored: new Latencies() };
  for (let i = 0; i < count; i++) {
    await pause(random() * pauseMaxMs);
    const heardMs = hears(i).then(now);
    // Where the send fails, nobody asks for it any more.
    heardMs.catch(() => undefined);
    const sentMs = now();
    await send(i);
    const storedMs = now();
    const atMs = await heardMs;
    heard.sinceSent.record(atMs - sentMs);
    heard.sinceStored.record(atMs - storedMs);
  }
  return heard;
}
