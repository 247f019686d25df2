/** The budget of the hot requests: what each of their steps costs by itself. */
import { runTask } from '../core/tasks.js';
import { temporaryFolder } from '../ending.js';
import { type LoadOptions, measured } from '../measured.js';
import type { Report } from '../report.js';

/** What 256 connections put into one commit. */
const batch = 128;

export const steps = measured(
  'steps',
  'each step of an event, a score read and a match, ns',
  { players: 100_000 },
  run,
);

async function run({ players, peers, seed }: LoadOptions, to: Report): Promise<void> {
  const folder = temporaryFolder('ptf-bench-steps-');
  const task = { players, peers, seed, batch, folder: folder.path };
  const { write, read, match } = await runTask('steps', task, 'steps').finally(() => folder.remove());
  for (const { name, ns } of write) to.figure(`event: ${name}`, 'ns', 'less', ns);
  for (const { name, ns } of read) to.figure(`score read: ${name}`, 'ns', 'less', ns);
  for (const { name, ns } of match) to.figure(`match of 50: ${name}`, 'ns', 'less', ns);
  to.note(
    'Each step runs alone and warm: their sum is a lower bound. The rest of a request is the socket, Node and the kernel.',
  );
}
