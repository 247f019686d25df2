/** Lists for `ptf doctor` why a node would refuse to start on a data folder; the node itself runs `node/startup.ts`. */
import type { GroupIdentity } from '../../group/api.js';
import { clockProblem } from '../../group/health/clock-guard.js';
import { DamagedError } from '../../group/ports/storage.js';
import { formationProblems } from '../../group/recovery/formation.js';
import { batchFrom, formationOf } from '../../group/recovery/recovery.js';
import { refusalOfTarget } from '../../store/backup/restore-folder.js';
import { readClockSeen, storedSalt } from '../../store/files/folder-files.js';
import { openLogReader } from '../../store/log/lmdb-log.js';

export interface StartClock {
  readonly now: number;
  /** `CLOCK_ACCEPTED_UNTIL`, in ms since 1970. */
  readonly acceptedUntil: number | null;
}

/** The store of `dir` was verified and is not empty. `salt` is the configured salt, or null. */
export async function startProblems(
  dir: string,
  identity: GroupIdentity,
  salt: string | null,
  { now, acceptedUntil }: StartClock,
): Promise<readonly string[]> {
  const folderProblem = refusalOfTarget(dir);
  if (folderProblem !== undefined) return [folderProblem];
  const saltOutcome = storedSalt(dir, salt);
  if (!saltOutcome.ok) return [saltOutcome.fault];
  const log = openLogReader(dir, { alone: true });
  try {
    const last = log.last();
    const seenAt = Math.max(last === undefined ? 0 : batchFrom(last).at, readClockSeen(dir));
    const clock = identity.environment === 'dev' ? null : clockProblem(now, seenAt, acceptedUntil);
    const formation = formationProblems({ identity, salt: Buffer.from(saltOutcome.salt) }, formationOf(log));
    return clock === null ? formation : [...formation, clock];
  } catch (error) {
    // A start reads the group from a snapshot and skips damage before that snapshot. `ptf verify` reports the damage.
    if (error instanceof DamagedError) return [];
    throw error;
  } finally {
    await log.close();
  }
}
