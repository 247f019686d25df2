/** A folder with a short life of a group in it, as a killed node left it, and what must be found there again. */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import type { LogReader } from '../../src/group/ports/storage.js';
import { lastSeqOf, type Recovered, recover, snapshotAt } from '../../src/group/recovery/recovery.js';
import { LmdbSnapshotStore } from '../../src/store/snapshots/lmdb-snapshots.js';

const entry = fileURLToPath(new URL('./leave-life.js', import.meta.url));

export const lifeSalt = 'a salt of sixteen bytes or more';
/** A player with one event, under the hash of this id and the salt. */
export const knownPlayer = 'the known player';
/** Password of the dashboard, if the node has one. */
export const knownPassword = 'correct horse battery staple';

/** Fills the folder `dir`; the process that does so is killed in the end. */
export async function leaveLife(dir: string, events = 200): Promise<void> {
  const child = fork(entry, [dir, String(events)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [, signal] = await once(child, 'exit');
  if (signal !== 'SIGKILL') throw new Error('the life on the folder ended before its time');
  // A socket can be copied nowhere.
  rmSync(join(dir, 'operator.sock'), { force: true });
}

/** Returns the state that a start on the folder would serve. */
export function recovered(
  dir: string,
  log: LogReader,
): { digest: string; snapshotSeq: number; faults: Recovered['problems']; follower: Recovered['follower'] } {
  const found = recover(log, new LmdbSnapshotStore(dir), Buffer.from(lifeSalt), lastSeqOf(log));
  if (found === null) throw new Error('the log is empty');
  const { follower, snapshotSeq, problems } = found;
  return { digest: stateDigest(follower.state), snapshotSeq, faults: problems, follower };
}

/** Digest of the state in each snapshot, the newest first. */
export function snapshotsOf(dir: string): (readonly [seq: number, digest: string])[] {
  const snapshots = new LmdbSnapshotStore(dir);
  return snapshots
    .list()
    .map((seq) => [seq, stateDigest(snapshotAt(snapshots, seq, Buffer.from(lifeSalt)).state)] as const);
}

/** Digest of every byte of every batch. */
export function contentOf(log: LogReader): string {
  const digest = createHash('sha256');
  for (const { firstSeq, bytes } of log.from(0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))
    digest.update(`${firstSeq} ${bytes.length} `).update(bytes);
  return digest.digest('hex');
}
