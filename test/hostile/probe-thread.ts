/**
 * The thread behind `startProbe`. It asks at fixed times, one request after the other on one connection, and counts
 * from when each was due: while one waits, those behind it are late as well, and are counted as late.
 */
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { open, type ProbeTask } from './clients.js';

const { port, request, everyMs, over } = workerData as ProbeTask;
const socket = await open(port);
const lost = once(socket, 'close').then(() => {
  throw new Error('a caller that did nothing wrong lost its connection');
});
// It is heard where it is raced.
lost.catch(() => {});
const latencies: number[] = [];
const startedMs = performance.now();
for (let i = 0; Atomics.load(over, 0) === 0; i++) {
  const dueMs = startedMs + i * everyMs;
  // Nothing is on its way meanwhile; a timer would add up to a millisecond to every latency.
  Atomics.wait(over, 0, 0, Math.max(0, dueMs - performance.now()));
  socket.write(request);
  await Promise.race([once(socket, 'data'), lost]);
  latencies.push(performance.now() - dueMs);
}
parentPort!.postMessage(latencies);
socket.destroy();
