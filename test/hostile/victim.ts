/**
 * A node under attack, and somebody who does nothing wrong meanwhile: how many requests are served, and how soon.
 */
import { Worker } from 'node:worker_threads';
import * as assert from 'uvu/assert';
import { ask } from '../http/exchange.js';
import { endAll, type NodeProcess, startProcess, temporaryFolder } from '../support/process.js';
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

/** The value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export const serves = async ({ url }: NodeProcess): Promise<boolean> =>
  (await ask(url, '/api/v1/health')).status === 200;

/** Runs an attack on a node of its own process, which must serve afterwards, stop well and log no error. */
export async function withNode(
  env: Record<string, string>,
  run: (node: NodeProcess, port: number) => Promise<void>,
): Promise<void> {
  const node = await startProcess({ DATA_DIR: temporaryFolder(), ...env });
  try {
    await run(node, Number(new URL(node.url).port));
    assert.ok(await serves(node));
    assert.is(await node.kill('SIGTERM'), 0, node.output());
    // Nothing of what a caller does is an error of ours.
    assert.not(/"level":"(error|fatal)"/.test(node.output()), node.output());
  } finally {
    endAll();
  }
}
