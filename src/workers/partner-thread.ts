/** Entry of a partner's thread: hands the core back to the one that handed it over, again and again (`partner.ts`). */
import { workerData } from 'node:worker_threads';
import { type Turn, turns } from './partner.js';

const turn = workerData as Turn;
for (;;) {
  Atomics.store(turn, 0, turns.owner);
  Atomics.notify(turn, 0);
  Atomics.wait(turn, 0, turns.owner);
}
