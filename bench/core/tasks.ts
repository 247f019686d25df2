/**
 * Runs a task on the core alone, without a server, in its own process. Memory, pauses and garbage collection are
 * therefore those of the task. `entry.ts` lists the tasks.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../ending.js';
import { oneCoreOptions, onServerCore } from '../machine.js';
import { startProgress } from '../progress.js';
import type { TaskMessage, TaskName, TaskOrder, TaskResult } from './entry.js';

const heapMb = 12_288;

export async function runTask<N extends TaskName>(
  name: N,
  task: TaskOrder<N>['task'],
  what: string,
): Promise<TaskResult<N>> {
  const entry = fileURLToPath(new URL('./entry.js', import.meta.url));
  const v8Options = [...oneCoreOptions(), '--expose-gc', `--max-old-space-size=${heapMb}`];
  const options = [...v8Options, '--enable-source-maps', entry];
  const [command, args] = onServerCore(process.execPath, options);
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
  return result as TaskResult<N>;
}
