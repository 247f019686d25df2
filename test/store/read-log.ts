/** A thread that reads the log of the data folder it is given, over and over, until it is told to end. */
import { setImmediate as turn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { openLogReader } from '../../src/store/log/lmdb-log.js';

const reader = openLogReader(String(workerData));
let firstSeq = 0;
let isFirst = true;
let isOver = false;
parentPort?.once('message', () => {
  isOver = true;
});
while (!isOver) {
  const batches = reader.from(firstSeq, 50, 1_000_000);
  firstSeq = batches.length === 0 ? 0 : batches.at(-1)!.firstSeq + 1;
  if (isFirst) parentPort?.postMessage('reading');
  isFirst = false;
  await turn();
}
await reader.close();
parentPort?.postMessage('closed');
