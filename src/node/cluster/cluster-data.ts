/**
 * Moves a data folder between a node that serves its group alone and a cluster. Nothing runs on the folder meanwhile.
 * Loaded by `ptf import-data` and `ptf export-data` only, since it brings the client of etcd along.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { formationProblems } from '../../group/recovery/formation.js';
import { formationOf } from '../../group/recovery/recovery.js';
import { openLogReader } from '../../store/log/lmdb-log.js';
import { refuseLiving } from '../../store/ownership/owner.js';
import { verifyInChild } from '../../workers/verify/verify-runner.js';
import type { Config } from '../config.js';
import { openEtcdLog } from './cluster-folder.js';
import { markFile, readMark, writeMark } from './cluster-mark.js';

/** It was not done; the message says why. */
export class MoveRefusedError extends Error {
  override readonly name = 'MoveRefusedError';
}

export interface Moved {
  readonly cluster_id: string;
  readonly last_seq: number;
}

/** How long the lease lasts under which a shared log is begun. */
const LEASE_S = 10;

/**
 * Begins the shared log of an empty cluster with the log of a folder: the node that starts on the folder has it all,
 * and the others fetch copies from that node.
 */
export async function importData(config: Config, dir: string): Promise<Moved> {
  const { lastSeq } = await wholeFolder(dir);
  if (readMark(dir) !== null)
    throw new MoveRefusedError(`${dir} belongs to a cluster already; run ptf export-data first`);
  if (config.salt === null || config.nodeId === null) throw new MoveRefusedError('CLUSTER must be etcd');
  await refuseOtherGroup(config, config.salt, dir);
  const log = openEtcdLog(config);
  try {
    const lease = String((randomBytes(8).readBigUInt64BE() >> 2n) + 1n);
    await log.grantLease(lease, LEASE_S);
    const fence = await log.campaign(
      { nodeId: config.nodeId, url: 'import', since: Date.now(), cause: 'a folder was moved in' },
      lease,
    );
    if (fence === null) throw new MoveRefusedError('a node leads in this cluster already');
    try {
      if ((await log.clusterId()) !== null) {
        throw new MoveRefusedError('etcd holds a log under ETCD_PREFIX already; name another prefix');
      }
      const clusterId = randomUUID();
      await writeMark(dir, { cluster_id: clusterId, node_id: config.nodeId });
      await log.begin(fence, clusterId, lastSeq);
      return { cluster_id: clusterId, last_seq: lastSeq };
    } finally {
      await log.revokeLease(lease);
    }
  } finally {
    log.client.close();
  }
}

/** Makes the folder of a node of a cluster one that a node serves alone. The cluster is not changed. */
export async function exportData(config: Config, dir: string): Promise<Moved> {
  const { lastSeq } = await wholeFolder(dir);
  const mark = readMark(dir);
  if (mark === null) throw new MoveRefusedError(`${dir} belongs to no cluster`);
  const log = openEtcdLog(config);
  try {
    if ((await log.clusterId()) === mark.cluster_id) {
      const { slots, trimmed } = await log.view(lastSeq + 1, 1);
      if (slots.length > 0 || trimmed > lastSeq) {
        throw new MoveRefusedError(
          `${dir} ends at record ${lastSeq}, and the cluster has more: let its node catch up first`,
        );
      }
    }
  } finally {
    log.client.close();
  }
  rmSync(markFile(dir));
  return { cluster_id: mark.cluster_id, last_seq: lastSeq };
}

async function wholeFolder(dir: string): Promise<{ readonly lastSeq: number }> {
  await refuseLiving(dir);
  const report = await verifyInChild(dir, 'start');
  if (!report.ok) throw new MoveRefusedError(`the store in ${dir} is damaged: ${report.faults.join('; ')}`);
  if (report.lastSeq === 0) throw new MoveRefusedError(`${dir} holds no store`);
  return report;
}

async function refuseOtherGroup(config: Config, salt: string, dir: string): Promise<void> {
  const log = openLogReader(dir);
  try {
    const { groupId, identityMode, environment } = config;
    const identity = { groupId, identityMode, environment };
    const faults = formationProblems({ identity, salt: Buffer.from(salt) }, formationOf(log));
    if (faults.length > 0) throw new MoveRefusedError(faults.join('; '));
  } finally {
    await log.close();
  }
}
