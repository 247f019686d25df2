/** Restores a backup in memory, and looks through the restored log. */
import { type RestoredLog, restoreLog } from '../../../src/group/backup/restore-store.js';
import type { LogReader } from '../../../src/group/ports/storage.js';
import { subjectOf } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { everyByte, PLAYERS, sinkInto, stateOf } from '../life.js';
import { assertHolds, recordsOf } from '../removal/lived.js';

const noSalt = new Uint8Array(0);

export async function restored(
  backup: LogReader,
  old: LogReader | null,
  between?: () => Promise<void>,
): Promise<RestoredLog & { readonly log: MemoryLog }> {
  const log = new MemoryLog();
  const report = await restoreLog({
    backup,
    stateOfBackup: () => stateOf(backup, noSalt),
    old,
    sink: sinkInto(log, between),
    nonce: () => Buffer.alloc(16, 9),
    progress: () => undefined,
  });
  return { ...report, log };
}

/** Asserts that a restored log is intact up to the head that its restore reported. */
export function assertRestored(log: LogReader, { lastSeq, chain }: RestoredLog, why = ''): void {
  assertHolds(log, why, { lastSeq, chain: Buffer.from(chain).toString('hex') });
}

/** The players that a log names anywhere. */
export function playersIn(log: LogReader): number[] {
  const bytes = everyByte(log);
  const hex = recordsOf(log).map(({ record }) =>
    'subject' in record && typeof record.subject === 'string' ? record.subject : '',
  );
  return Array.from({ length: PLAYERS }, (_, player) => player).filter((player) => {
    const subject = subjectOf(`player ${player}`);
    return bytes.includes(subject) || hex.includes(subject.toString('hex'));
  });
}
