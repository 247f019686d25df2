/**
 * Work on the core itself, without a server around it, in a process of its own: its memory, its pauses and its garbage collector
 * are then the work's alone.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { oneCoreOptions, onServerCore } from '../cores.js';
import { atEnd } from '../ending.js';
import { startProgress } from '../progress.js';
import type { FillResult, FillTask } from './fill.js';
import type { GrowthResult, GrowthTask } from './growth.js';
import type { RebuildResult, RebuildTask } from './rebuild.js';
import type { RecomputeResult, RecomputeTask } from './recompute.js';
import type { StepsResult, StepsTask } from './steps.js';

/** What each task takes and gives. */
export interface Tasks {
  /** Writes events into a folder, with the rules of the service but without a node. */
  readonly fill: { readonly takes: FillTask; readonly gives: FillResult };
  /** Grows a table to many players and watches its memory and its pauses. */
  readonly growth: { readonly takes: GrowthTask; readonly gives: GrowthResult };
  /** From a folder to a state, by snapshot and by replay, beside filling the same tables from memory. */
  readonly rebuild: { readonly takes: RebuildTask; readonly gives: RebuildResult };
  /** The peer-trust computation on a drawn group. */
  readonly recompute: { readonly takes: RecomputeTask; readonly gives: RecomputeResult };
  /** What each step of the hot requests costs by itself. */
  readonly steps: { readonly takes: StepsTask; readonly gives: StepsResult };
}

export type TaskName = keyof Tasks;

/** What the process is told, and what it tells. */
export interface TaskOrder<N extends TaskName = TaskName> {
  readonly name: N;
  readonly task: Tasks[N]['takes'];
}

export type TaskMessage =
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'result'; readonly result: unknown };

/** Lets a task tell how far it is. */
export type OnProgress = (done: number, total: number) => void;

const heapMb = 12_288;

/** Runs a task on the server's core; rejects where its process fails. */
export async function runTask<N extends TaskName>(
  name: N,
  task: Tasks[N]['takes'],
  what: string,
): Promise<Tasks[N]['gives']> {
  const entry = fileURLToPath(new URL('./entry.js', import.meta.url));
  const [command, args] = onServerCore(process.execPath, [
    ...oneCoreOptions(),
    '--enable-source-maps',
    '--expose-gc',
    `--max-old-space-size=${heapMb}`,
    entry,
  ]);
  const [first, ...rest] = args;
  const child = fork(first!, rest, { execPath: command, execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] });
  const forget = atEnd(() => child.kill('SIGKILL'));
  const progress = startProgress(what, 100);
  let percent = 0;
  let result: unknown;
  child.on('message', (message: TaskMessage) => {
    if (message.type === 'result') {
      result = message.result;
      return;
    }
    const now = Math.floor((message.done / message.total) * 100);
    progress.advance(now - percent);
    percent = now;
  });
  const order: TaskOrder<N> = { name, task };
  child.send(order);
  const [code, signal] = await once(child, 'exit');
  forget();
  progress.stop();
  if (code !== 0 || result === undefined) throw new Error(`the task ${name} ended with ${code ?? signal}`);
  return result as Tasks[N]['gives'];
}
