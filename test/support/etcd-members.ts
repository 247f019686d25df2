/** Three members of etcd on loopback, for tests that ask the real thing. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../bench/free-ports.js';
import { EtcdClient } from '../../src/store/etcd/etcd-client.js';

export interface EtcdMembers {
  readonly endpoints: readonly string[];
  /** Returns the bytes of all files of the members. */
  readonly folder: string;
  /** By the number of the member; null while it is down. */
  readonly processes: (ChildProcess | null)[];
  /** Starts a member again that was killed. */
  start(member: number): void;
  end(): Promise<void>;
} /** Starts the members and waits until they have a leader. */
export async function startEtcd(members = 3, more: readonly string[] = []): Promise<EtcdMembers> {
  const folder = mkdtempSync(join(tmpdir(), 'ptf-etcd-'));
  const ports = await freePorts(members * 2);
  const url = (port: number) => `http://127.0.0.1:${port}`;
  const name = (member: number) => `m${member}`;
  const endpoints = Array.from({ length: members }, (_, member) => url(ports[member]!));
  const peers = Array.from({ length: members }, (_, member) => url(ports[members + member]!));
  const cluster = peers.map((peer, member) => `${name(member)}=${peer}`).join(',');
  const processes: (ChildProcess | null)[] = [];
  const start = (member: number) => {
    const args = [
      ['--name', name(member), '--data-dir', join(folder, name(member)), '--log-level', 'error'],
      ['--listen-client-urls', endpoints[member]!, '--advertise-client-urls', endpoints[member]!],
      ['--listen-peer-urls', peers[member]!, '--initial-advertise-peer-urls', peers[member]!],
      ['--initial-cluster', cluster, '--initial-cluster-state', 'new', '--initial-cluster-token', folder],
      more,
    ].flat();
    processes[member] = spawn('etcd', args, { stdio: 'ignore' });
  };
  for (let member = 0; member < members; member++) start(member);
  const settings = { endpoints, ca: null, cert: null, key: null, username: null, password: null };
  const client = new EtcdClient(settings);
  await client.range({ key: Buffer.from('any') }, 30_000);
  client.close();
  return {
    endpoints,
    folder,
    processes,
    start,
    async end() {
      for (const running of processes) {
        if (running === null || running.exitCode !== null || running.signalCode !== null) continue;
        const gone = once(running, 'exit');
        running.kill('SIGKILL');
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
