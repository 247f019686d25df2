/**
 * The replica: a worker that holds a state of its own and follows the log with the same `apply`. Each task first catches up to
 * the record that it is given, then does its work, so that the main thread never stops for it.
 */
import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { stateDigest } from '../core/digest.js';
import { momentOf } from '../core/score.js';
import { SNAPSHOT_VERSION, snapshotBlocks } from '../core/snapshot.js';
import { gatherEvidence } from '../core/trust/gather.js';
import { computePeerTrust } from '../core/trust/peer-trust.js';
import { countVerdicts, type VerdictCounts } from '../core/verdict-counts.js';
import type { SnapshotMade } from '../group/ports.js';
import { type Follower, lastSeqOf, recover } from '../group/recovery.js';
import { type RedactionPiece, type RedactionWork, redactPiece } from '../group/redaction.js';
import type { WeightsComputed } from '../group/weights.js';
import { limits } from '../limits.js';
import { openLogReader } from '../store/lmdb-log.js';
import { LmdbSnapshotStore } from '../store/lmdb-snapshots.js';
import type { WorkerFolder } from './pool.js';

const PRIORITY = 19;

const { dir, salt } = workerData as WorkerFolder;
const log = openLogReader(dir);
const snapshots = new LmdbSnapshotStore(dir);
let follower: Follower | null = null;

// On Linux this lowers the calling thread only. Elsewhere it would lower the whole node.
if (process.platform === 'linux') setPriority(0, PRIORITY);

/** The state at record `upTo`, or behind it where an earlier task went further. */
function catchUp(upTo: number): Follower {
  const loaded = follower ?? recover(log, snapshots, salt, upTo)?.follower;
  if (loaded === undefined) throw new Error('replica: the log is empty');
  // Until it has caught up, what it holds may be half of a batch.
  follower = null;
  loaded.catchUp(log, upTo);
  follower = loaded;
  return loaded;
}

export async function snapshot(task: { readonly upTo: number; readonly epoch: number }): Promise<SnapshotMade> {
  const started = performance.now();
  const { state, chain } = catchUp(task.upTo);
  const digest = stateDigest(state);
  const header = {
    version: SNAPSHOT_VERSION,
    seq: state.lastSeq,
    chain: Buffer.from(chain).toString('hex'),
    digest,
    epoch: task.epoch,
  };
  await snapshots.write(header, snapshotBlocks(state));
  return { seq: state.lastSeq, digest, ms: performance.now() - started };
}

export function redact(work: RedactionWork): RedactionPiece {
  // Only the key of the tags is needed of the state: where it stands does not matter.
  const { state } = follower ?? catchUp(lastSeqOf(log));
  return redactPiece(log, work, (eventId) => state.tagOf(eventId));
}

export function follow(upTo: number): void {
  catchUp(upTo);
}

export function weights(task: { readonly upTo: number; readonly at: number }): WeightsComputed {
  const { state } = catchUp(task.upTo);
  const { evidence, sample, facts, reported, shared } = gatherEvidence(state, task.at);
  const { tau, a, b, pi, pairs } = computePeerTrust(evidence, facts, sample);
  return { basedOnSeq: state.lastSeq, computedAt: task.at, pi, tau, a, b, signals: { pairs, reported, shared } };
}

export function verdicts(task: { readonly upTo: number; readonly at: number }): VerdictCounts {
  const { state } = catchUp(task.upTo);
  return countVerdicts(state, momentOf(state, task.at), limits.verdictRowsMax);
}

/** The last task: gives the environment back. */
export function close(): Promise<void> {
  return log.close();
}
