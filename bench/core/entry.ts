/** The process of a task: takes one order over its channel, does it, tells the result and ends. */
import { fill } from './fill.js';
import { grow } from './growth.js';
import { rebuild } from './rebuild.js';
import { recompute } from './recompute.js';
import { measureSteps } from './steps.js';
import type { OnProgress, TaskMessage, TaskName, TaskOrder, Tasks } from './tasks.js';

type Run<N extends TaskName> = (
  task: Tasks[N]['takes'],
  onProgress: OnProgress,
) => Tasks[N]['gives'] | Promise<Tasks[N]['gives']>;

const runs: { readonly [N in TaskName]: Run<N> } = {
  fill,
  growth: grow,
  rebuild,
  recompute,
  steps: measureSteps,
};

const progressEveryMs = 250;
let lastProgressMs = 0;

function onProgress(done: number, total: number): void {
  const nowMs = performance.now();
  if (nowMs - lastProgressMs < progressEveryMs) return;
  lastProgressMs = nowMs;
  tell({ type: 'progress', done, total });
}

function tell(message: TaskMessage): void {
  process.send?.(message);
}

function start<N extends TaskName>({ name, task }: TaskOrder<N>): void {
  Promise.resolve(runs[name](task, onProgress)).then(
    (result) => {
      tell({ type: 'result', result });
      process.disconnect();
    },
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}

process.once('message', (order: TaskOrder) => start(order));
