/**
 * Sends changes one by one and measures how soon each is received. Each change comes after a random pause: a server
 * that sends in ticks would otherwise get every change just after a tick, and each would wait a whole tick.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Random, randomFrom } from '../quality/random.js';
import { Latencies } from './latency.js';

export interface ProbeOptions {
  readonly count: number;
  readonly seed: number;
  readonly pauseMaxMs: number;
  /** Sends change number `i`. Resolves once the change is stored. */
  readonly send: (i: number) => Promise<void>;
  /** Resolves once change number `i` is received. Called before the change is sent. */
  readonly hears: (i: number) => Promise<void>;
  /** Clock and pause, in ms. Absent: those of the machine. */
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

export interface Heard {
  readonly sinceSent: Latencies;
  /** Latency since the answer to the change. A change that is received before its answer counts with 0. */
  readonly sinceStored: Latencies;
}

export async function probe(options: ProbeOptions): Promise<Heard> {
  const { count, seed, pauseMaxMs, send, hears, now = () => performance.now(), pause = delay } = options;
  const random: Random = randomFrom('probes', seed);
  const heard: Heard = { sinceSent: new Latencies(), sinceStored: new Latencies() };
  for (let i = 0; i < count; i++) {
    await pause(random() * pauseMaxMs);
    const heardMs = hears(i).then(now);
    // If the send fails, nothing awaits this promise.
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
