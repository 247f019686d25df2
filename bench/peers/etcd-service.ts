/** Three members of etcd on this machine, as a group on several nodes needs them. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { freePorts } from '../free-ports.js';
import { Daemon } from './daemon.js';

export interface EtcdService {
  readonly endpoints: readonly string[];
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** Null where this machine has no etcd. */
export async function startEtcd(count = 3): Promise<EtcdService | null> {
  if (spawnSync('etcd', ['--version']).error !== undefined) return null;
  const ports = await freePorts(2 * count);
  const url = (at: number) => `http://127.0.0.1:${ports[at]}`;
  const names = Array.from({ length: count }, (_, i) => `m${i}`);
  const cluster = names.map((name, i) => `${name}=${url(count + i)}`).join(',');
  const daemons = names.map(() => new Daemon());
  const stop = async () => void (await Promise.all(daemons.map((daemon) => daemon.stop())));
  const isHealthy = (endpoint: string) =>
    fetch(`${endpoint}/health`).then(
      async (response) => ((await response.json()) as { health?: string }).health === 'true',
      () => false,
    );
  try {
    await Promise.all(
      daemons.map((daemon, i) => {
        const args = [
          ['--name', names[i]!, '--data-dir', join(daemon.dir, 'data'), '--log-level', 'error'],
          ['--listen-client-urls', url(i), '--advertise-client-urls', url(i)],
          ['--listen-peer-urls', url(count + i), '--initial-advertise-peer-urls', url(count + i)],
          ['--initial-cluster', cluster, '--initial-cluster-state', 'new'],
          ['--quota-backend-bytes', String(512 * 1024 * 1024), '--max-wals', '2', '--max-snapshots', '2'],
        ].flat();
        return daemon.start('etcd', args, () => isHealthy(url(i)));
      }),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoints: names.map((_, i) => url(i)), pids: daemons.map(({ pid }) => pid), stop };
}
