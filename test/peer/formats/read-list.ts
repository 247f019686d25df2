/** A worker that reads the list of its data, and answers how many entries and refusals it has. */
import { parentPort, workerData } from 'node:worker_threads';
import { importPlan } from '../import/plans.js';

const { entries, refused } = importPlan(workerData.bytes, {}, workerData.format);
parentPort!.postMessage({ entries: entries.length, refused: refused.length });
