/** Somebody who does nothing wrong while others attack: how many of its requests are served, and how soon. */
import { Worker } from 'node:worker_threads';
import { quantile } from './clients.js';
import type { VictimReport, VictimTask } from './victim-thread.js';

export type VictimOptions = Pick<VictimTask, 'port' | 'request' | 'expects' | 'everyMs'> &
  Partial<Pick<VictimTask, 'connections' | 'localAddress'>>;

/** Asks from a thread of its own while `during` lasts: what else this process does is not counted. */
export async function watchVictim(options: VictimOptions, during: () => Promise<unknown>): Promise<VictimReport> {
  const over = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const task: VictimTask = { connections: 10, localAddress: '127.0.0.1', ...options, over };
  const thread = new Worker(new URL('./victim-thread.js', import.meta.url), { workerData: task });
  const reported = new Promise<VictimReport>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
  await during();
  Atomics.store(over, 0, 1);
  Atomics.notify(over, 0);
  return reported;
}

/** Share of the requests that were served. */
export const success = ({ asked, served }: VictimReport): number => served / asked;

/** In words, for a note. */
export function figures({ asked, served, refusals, latenciesMs }: VictimReport): string {
  const others = [...refusals].map(([answer, count]) => `, ${count} x ${answer}`).join('');
  return `${served} of ${asked} served${others}, median ${quantile(latenciesMs, 0.5).toFixed(1)} ms, p99 ${quantile(latenciesMs, 0.99).toFixed(1)} ms`;
}
