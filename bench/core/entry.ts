/** Entry of a task process: reads one order from its channel, runs it, sends the result and exits. */
import type { OnProgress } from '../progress.js';
import { fill } from './fill.js';
import { grow } from './growth.js';
import { rebuild } from './rebuild.js';
import { recompute } from './recompute.js';
import { measureSteps } from './steps.js';

const tasks = { fill, growth: grow, rebuild, recompute, steps: measureSteps };

export type TaskName = keyof typeof tasks;

export type TaskResult<N extends TaskName> = Awaited<ReturnType<(typeof tasks)[N]>>;

export interface TaskOrder<N extends TaskName = TaskName> {
  readonly name: N;
  readonly task: Parameters<(typeof tasks)[N]>[0];
}

export type TaskMessage =
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'result'; readonly result: unknown };

const progressEveryMs = 250;
let lastProgressMs = 0;

const onProgress: OnProgress = (done, total) => {
  const nowMs = performance.now();
  if (nowMs - lastProgressMs < progressEveryMs) return;
  lastProgressMs = nowMs;
  send({ type: 'progress', done, total });
};

function send(message: TaskMessage): void {
  process.send?.(message);
}

process.once('message', async ({ name, task }: TaskOrder) => {
  try {
    const run = tasks[name] as (task: unknown, onProgress: OnProgress) => unknown;
    send({ type: 'result', result: await run(task, onProgress) });
    process.disconnect();
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
});
