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
    const { write, read, match } = await runTask('steps', task, 'steps').finally(() => folder.remove());
    for (const { name, ns } of write) report.figure(`event: ${name}`, 'ns', 'less', ns);
    for (const { name, ns } of read) report.figure(`score read: ${name}`, 'ns', 'less', ns);
    for (const { name, ns } of match) report.figure(`match of 50: ${name}`, 'ns', 'less', ns);
    report.note('Each step runs alone and warm: their sum is a lower bound, without the socket, Node and the kernel.');
  },
});
