/**
 * The thread behind `watchVictim`. It asks at fixed times, whatever has become of the requests before, and counts from
 * when it asked: a request that waits for the one before it on its connection is late. A connection carries one request
 * at a time.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export interface VictimTask {
  readonly port: number;
  /** `@` stands for the request's number, in eight digits. */
  readonly request: string;
  /** The beginning of a successful answer to the victim. */
  readonly expects: string;
  readonly everyMs: number;
  /** Connections that are used in turn; 0: each request has one of its own. */
  readonly connections: number;
  readonly localAddress: string;
  /** Its one number is 0 until the victim is to end. */
  readonly over: Int32Array;
}

export interface VictimReport {
  readonly asked: number;
  readonly served: number;
  /** Number of refused requests, by status line. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Latencies of the successful requests. */
  readonly latenciesMs: readonly number[];
}

/** A caller that waits for longer has given up. */
const patienceMs = 10_000;

const { port, request, expects, everyMs, connections, localAddress, over } = workerData as VictimTask;
const refusals = new Map<string, number>();
const latenciesMs: number[] = [];
const sockets: (Socket | undefined)[] = [];
const places: Promise<void>[] = new Array(Math.max(1, connections)).fill(Promise.resolve());
const startedMs = performance.now();
let asked = 0;
for (; Atomics.load(over, 0) === 0; asked++) {
  await delay(Math.max(0, startedMs + asked * everyMs - performance.now()));
  const askedMs = performance.now();
  const place = connections === 0 ? asked : asked % connections;
  const text = request.replaceAll('@', String(asked).padStart(8, '0'));
  places[place] = (places[place] ?? Promise.resolve()).then(async () => {
    const answer = await ask(place, text);
    if (answer.startsWith(expects)) latenciesMs.push(performance.now() - askedMs);
    else refusals.set(answer, (refusals.get(answer) ?? 0) + 1);
  });
}
await Promise.all(places);
for (const socket of sockets) socket?.destroy();
parentPort!.postMessage({ asked, served: latenciesMs.length, refusals, latenciesMs } satisfies VictimReport);

/**
 * The status line of the answer, or what came in its place. A connection that ended while it was idle is no answer
 * either.
 */
async function ask(place: number, text: string): Promise<string> {
  try {
    const socket = sockets[place] ?? connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
    sockets[place] = socket;
    if (socket.destroyed) throw new Error('no answer');
    const ended = new AbortController();
    const patience = setTimeout(() => ended.abort(), patienceMs).unref();
    const onClose = (): void => ended.abort();
    socket.once('close', onClose).write(text);
    const [chunk] = (await once(socket, 'data', { signal: ended.signal })) as [Buffer];
    clearTimeout(patience);
    socket.off('close', onClose);
    if (connections === 0) forget(place);
    return String(chunk).split('\r\n')[0]!;
  } catch {
    forget(place);
    return 'no answer';
  }
}

function forget(place: number): void {
  sockets[place]?.destroy();
  sockets[place] = undefined;
}
