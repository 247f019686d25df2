/** Whether a start with some configuration would take a data folder, by the group that it was formed as. */
import type { GroupIdentity } from '../../group/api.js';
import { DamagedError } from '../../group/ports/storage-errors.js';
import { formationProblems } from '../../group/recovery/formation.js';
import { formationOf } from '../../group/recovery/recovery.js';
import { refusalOfTarget } from '../../store/backup/restore-folder.js';
import { storedSalt } from '../../store/files/stored-salt.js';
import { openLogReader } from '../../store/log/lmdb-log.js';

/**
 * Why a start on the folder `dir`, whose store was verified and is not empty, would be refused; empty where it would
 * not. `salt`: the configured one, or null.
 */
export async function startProblems(
  dir: string,
  identity: GroupIdentity,
  salt: string | null,
): Promise<readonly string[]> {
  const unfit = refusalOfTarget(dir);
  if (unfit !== undefined) return [unfit];
  const kept = storedSalt(dir, salt);
  if (!kept.ok) return [kept.fault];
  const log = openLogReader(dir, { alone: true });
  try {
    return formationProblems({ identity, salt: Buffer.from(kept.salt) }, formationOf(log));
  } catch (error) {
    // A start has its group from a snapshot, and passes damage so far back over; `ptf verify` tells it.
    if (error instanceof DamagedError) return [];
    throw error;
  } finally {
    await log.close();
  }
}
