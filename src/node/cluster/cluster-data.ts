/** Moves a folder without a node into or out of a cluster. Only `ptf` loads this file, and with it etcd's client. */
import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { drawLeaseId } from '../../cluster/lease.js';
import { NamedError } from '../../errors.js';
import { formationProblems } from '../../group/recovery/formation.js';
import { formationOf } from '../../group/recovery/recovery.js';
import type { MovedData } from '../../operator/cli/command-context.js';
import type { EtcdLog } from '../../store/etcd/etcd-log.js';
import { markFile, readMark, writeMark } from '../../store/files/folder-files.js';
import { openLogReader } from '../../store/log/lmdb-log.js';
import { refuseLiving } from '../../store/ownership/owner.js';
import { verifyInChild } from '../../workers/verify/verify-runner.js';
import { type Config, identityOf } from '../config.js';
import { version } from '../version.js';
import { openEtcdLog } from './cluster-folder.js';
import { isIncomplete, removeUnfinished } from './copy-fetch.js';
import { scrubIfDue } from './local-scrub.js';

export class MoveRefusedError extends NamedError {}

const LEASE_S = 10;

/** Starts an empty cluster's log after the folder's last record. Its node then has all earlier ones for the others. */
export async function importData(config: Config, dir: string): Promise<MovedData> {
  const { lastSeq } = await verifiedFolder(dir);
  if (readMark(dir) !== null)
    throw new MoveRefusedError(`${dir} already belongs to a cluster; run ptf export-data first`);
  const { salt, nodeId } = config;
  if (salt === null || nodeId === null) throw new MoveRefusedError('CLUSTER must be etcd');
  await refuseOtherGroup(config, salt, dir);
  const log = openEtcdLog(config);
  return beginLogAfter(lastSeq, { log, dir, nodeId }).finally(() => log.client.close());
}

export interface EmptyCluster {
  readonly log: Pick<
    EtcdLog,
    'grantLease' | 'revokeLease' | 'hasSecret' | 'putNode' | 'campaign' | 'clusterId' | 'begin'
  >;
  readonly dir: string;
  readonly nodeId: string;
}

/** Begins the shared log after record `lastSeq`, which the folder has, and marks the folder. */
export async function beginLogAfter(lastSeq: number, { log, dir, nodeId }: EmptyCluster): Promise<MovedData> {
  const lease = drawLeaseId({ bytes: randomBytes });
  await log.grantLease(lease, LEASE_S);
  if (!(await log.hasSecret())) throw new MoveRefusedError('CLUSTER_SECRET differs from the secret of the group');
  const progress = { applied: 0, durable: 0, snapshot: 0 };
  const state = { role: 'joining', ...progress, version, format: 0, started: 0, reason: null };
  if ((await log.putNode({ nodeId, url: 'import', ...state }, lease)) !== null)
    throw new MoveRefusedError(`node ${nodeId} is running: stop it first`);
  const leader = { nodeId, url: 'import', since: Date.now(), cause: 'a data folder was imported' };
  const fence = await log.campaign(leader, lease);
  if (fence === null) throw new MoveRefusedError('a node already leads this cluster');
  try {
    if ((await log.clusterId()) !== null) {
      throw new MoveRefusedError('etcd already has a log under ETCD_PREFIX; set another prefix');
    }
    const clusterId = randomUUID();
    await writeMark(dir, { cluster_id: clusterId, node_id: nodeId });
    await log.begin(fence, clusterId, lastSeq).catch((error: unknown) => {
      // Without a log in etcd, the folder remains the one of a node without a cluster.
      rmSync(markFile(dir));
      throw error;
    });
    return { cluster_id: clusterId, last_seq: lastSeq };
  } finally {
    await log.revokeLease(lease);
  }
}

/** Turns the folder of a node of a cluster into one of a node without a cluster. The cluster is not changed. */
export async function exportData(config: Config, dir: string): Promise<MovedData> {
  if (isIncomplete(dir))
    throw new MoveRefusedError(`the data in ${dir} is being replaced: start its node first, or export another one`);
  const { lastSeq } = await verifiedFolder(dir);
  const mark = readMark(dir);
  if (mark === null) throw new MoveRefusedError(`${dir} belongs to no cluster`);
  if (mark.diverged === true) {
    throw new MoveRefusedError(
      `${dir} holds another history than the group's: export the folder of another node, or, if none is left, delete "diverged" from ${markFile(dir)} first`,
    );
  }
  const log = openEtcdLog(config);
  await refuseBehind(lastSeq, { log, dir, clusterId: mark.cluster_id }).finally(() => log.client.close());
  await scrubIfDue(dir);
  removeUnfinished(dir);
  rmSync(markFile(dir));
  return { cluster_id: mark.cluster_id, last_seq: lastSeq };
}

export interface FolderOfCluster {
  readonly log: Pick<EtcdLog, 'clusterId' | 'view'>;
  readonly dir: string;
  readonly clusterId: string;
}

/** Rejects if the cluster of the folder has records after `lastSeq`. A cluster that is gone has none. */
export async function refuseBehind(lastSeq: number, { log, dir, clusterId }: FolderOfCluster): Promise<void> {
  if ((await log.clusterId()) !== clusterId) return;
  const { slots, trimmed } = await log.view(lastSeq + 1, 1);
  if (slots.length === 0 && trimmed <= lastSeq) return;
  throw new MoveRefusedError(
    `${dir} ends at record ${lastSeq}, and the cluster has more records: let its node catch up first`,
  );
}

async function verifiedFolder(dir: string): Promise<{ readonly lastSeq: number }> {
  await refuseLiving(dir);
  const report = await verifyInChild(dir, 'start');
  if (!report.ok) throw new MoveRefusedError(`the store in ${dir} is damaged: ${report.faults.join('; ')}`);
  if (report.lastSeq === 0) throw new MoveRefusedError(`${dir} contains no store`);
  return report;
}

/** Rejects if the folder's log is of another group than the configuration. */
export async function refuseOtherGroup(config: Config, salt: string, dir: string): Promise<void> {
  const log = openLogReader(dir);
  try {
    const faults = formationProblems({ identity: identityOf(config), salt: Buffer.from(salt) }, formationOf(log));
    if (faults.length > 0) throw new MoveRefusedError(faults.join('; '));
  } finally {
    await log.close();
  }
}
