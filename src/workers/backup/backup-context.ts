/** Provides what backups and restores share: progress, cancellation, the check of the written store, error codes. */
import { hasCode, messageOf, NamedError } from '../../errors.js';
import type { VerifyReport } from '../../group/api.js';
import type { CopyCode, CopyRefusal, CopyStatus } from '../../group/backup/backup-tasks.js';
import { ForeignLogError } from '../../group/backup/restore-store.js';
import { DamagedError } from '../../group/ports/storage.js';
import { NotEmptyError } from '../../store/backup/backup-folder.js';
import { FolderOwnedError } from '../../store/ownership/owner.js';
import { verifyInChild } from '../verify/verify-runner.js';
import { writeCopiedHead } from './copy-folder.js';

export interface CopyContext {
  nonce(bytes: number): Uint8Array;
  isCancelled(): boolean;
  onStatus(status: CopyStatus): void;
}

export class CopyError extends NamedError {
  constructor(
    readonly code: CopyCode,
    message: string,
  ) {
    super(message);
  }
}

export function refuseIfCancelled(context: CopyContext): void {
  if (context.isCancelled()) throw new CopyError('cancelled', 'cancelled; the unfinished copy was removed');
}

export function backingUp(context: CopyContext): (done: number, total: number) => void {
  return (done, total) => {
    refuseIfCancelled(context);
    context.onStatus({ phase: 'copying', done, total });
  };
}

export async function verifyWritten(
  store: string,
  head: { readonly lastSeq: number; readonly chain: Uint8Array },
  context: CopyContext,
): Promise<VerifyReport> {
  await writeCopiedHead(store, head);
  const report = await verifyInChild(store, 'full', (done, total) =>
    context.onStatus({ phase: 'verifying', done, total }),
  );
  refuseIfCancelled(context);
  if (!report.ok) throw new CopyError('copy_failed', `the written store is damaged: ${report.faults.join('; ')}`);
  if (report.lastSeq !== head.lastSeq) {
    throw new CopyError('copy_failed', `the written store ends at record ${report.lastSeq}; expected ${head.lastSeq}`);
  }
  return report;
}

export function refusalOf(error: unknown): CopyRefusal {
  return { ok: false, code: codeOf(error), error: messageOf(error) };
}

function codeOf(error: unknown): CopyCode {
  if (error instanceof CopyError) return error.code;
  if (error instanceof NotEmptyError) return 'not_empty';
  if (error instanceof FolderOwnedError) return 'folder_in_use';
  if (error instanceof ForeignLogError) return 'erasures_unknown';
  if (hasCode(error, 'EACCES')) return 'access_denied';
  return error instanceof DamagedError ? 'store_damaged' : 'copy_failed';
}
