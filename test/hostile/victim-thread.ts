/**
 * The thread behind `watchVictim`. It asks at fixed times, at most one request at a time, and counts from when each was due: while one
 * waits, those behind it are late as well.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface VictimTask {
  readonly port: number;
  /** `@` stands for the request's number, in eight digits. */
  readonly request: string;
  /** What the answer begins with where the victim was served. */
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
  /** What it was answered where it was not served, by status line. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Of those that were served. */
  readonly latenciesMs: readonly number[];
}

/** A caller that waits for longer has given up. */
const patienceMs = 10_000;

const { port, request, expects, everyMs, connections, localAddress, over } = workerData as VictimTask;
const refusals = new Map<string, number>();
const latenciesMs: number[] = [];
const sockets: (Socket | undefined)[] = new Array(Math.max(1, connections)).fill(undefined);
let asked = 0;
const startedMs = performance.now();
while (Atomics.load(over, 0) === 0) {
  const dueMs = startedMs + asked * everyMs;
  // Nothing is on its way meanwhile; a timer would add up to a millisecond to every latency.
  Atomics.wait(over, 0, 0, Math.max(0, dueMs - performance.now()));
  const answer = await ask(asked % sockets.length, request.replaceAll('@', String(asked).padStart(8, '0')));
  asked++;
  if (answer.startsWith(expects)) latenciesMs.push(performance.now() - dueMs);
  else refusals.set(answer, (refusals.get(answer) ?? 0) + 1);
}
for (const socket of sockets) socket?.destroy();
parentPort!.postMessage({ asked, served: latenciesMs.length, refusals, latenciesMs } satisfies VictimReport);

/** The status line of the answer, or what came in its place. A connection that ended while it was idle is no answer either. */
async function ask(place: number, text: string): Promise<string> {
  try {
    const socket = sockets[place] ?? connect({ port, host: '127.0.0.1', localAddress });
    sockets[place] = socket;
    // It is heard where it is raced.
    socket.on('error', () => {});
    const signal = AbortSignal.timeout(patienceMs);
    const closed = socket.destroyed ? Promise.resolve() : once(socket, 'close', { signal });
    closed.catch(() => {});
    socket.write(text);
    const answer = once(socket, 'data', { signal }).then(([chunk]) => String(chunk).split('\r\n')[0]!);
    answer.catch(() => {});
    const line = await Promise.race([answer, closed.then(() => 'no answer')]);
    if (connections === 0 || line === 'no answer') forget(place);
    return line;
  } catch (error) {
    forget(place);
    return error instanceof Error ? error.message : String(error);
  }
}

function forget(place: number): void {
  sockets[place]?.destroy();
  sockets[place] = undefined;
}
