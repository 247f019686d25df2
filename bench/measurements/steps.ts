/** Measures the time budget of the hot requests: the cost of each step by itself. */
import { runTask } from '../core/tasks.js';
import { temporaryFolder } from '../ending.js';
import { measured } from '../run.js';

/** Events of 256 connections in one commit. */
const batch = 128;

export const steps = measured({
  name: 'steps',
  summary: 'each step of an event, a score read and a match, ns',
  players: 100_000,
  async measure({ options: { players, peers, seed }, report }) {
    const folder = temporaryFolder('ptf-bench-steps-');
    const task = { players, peers, seed, batch, folder: folder.path };
    const costs = await runTask('steps', task, 'steps').finally(() => folder.remove());
    for (const { name, ns } of costs) report.figure(name, 'ns', 'less', ns);
    report.note('Each step runs alone and warm: their sum is a lower bound, without the socket, Node and the kernel.');
  },
});
