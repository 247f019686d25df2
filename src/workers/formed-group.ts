/** What group a data folder was formed as, told by its first record, and whether a start with some configuration would take it. */
import { Batch } from '../core/batch.js';
import type { GroupFormed } from '../core/records.js';
import type { GroupIdentity } from '../group/api.js';
import { groupFaults } from '../group/formation.js';
import { DamagedError, type LogReader } from '../group/ports.js';
import { keptSalt } from '../store/kept-salt.js';
import { openLogReader } from '../store/lmdb-log.js';
import { unfitness } from '../store/restore-folder.js';

/** Throws `DamagedError` where the log does not start with the formation of a group. */
export function formationOf(log: LogReader): GroupFormed {
  const first = log.at(1);
  const formed = first === undefined ? undefined : new Batch(first.bytes).record(1);
  if (formed?.type !== 'group_formed') throw new DamagedError('the log does not start with the formation of a group');
  return formed;
}

/**
 * Why a start on the folder `dir`, whose store was verified and is not empty, would be refused; empty where it would not. `salt`: the
 * configured one, or null.
 */
export async function startFaults(
  dir: string,
  identity: GroupIdentity,
  salt: string | null,
): Promise<readonly string[]> {
  const unfit = unfitness(dir);
  if (unfit !== undefined) return [unfit];
  const kept = keptSalt(dir, salt);
  if (!kept.ok) return [kept.fault];
  const log = openLogReader(dir, { alone: true });
  try {
    return groupFaults({ identity, salt: Buffer.from(kept.salt) }, formationOf(log));
  } catch (error) {
    // A start has its group from a snapshot, and passes damage so far back over; `ptf verify` tells it.
    if (error instanceof DamagedError) return [];
    throw error;
  } finally {
    await log.close();
  }
}
