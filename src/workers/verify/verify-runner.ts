/**
 * Verification in a process of its own: a cut or flipped file may kill whoever reads it (SIGBUS, SIGSEGV), and that
 * must be a finding, not the end of a node.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { OnProgress, VerifyReport } from '../../group/api.js';
import { UnreadError } from '../../group/ports/storage-errors.js';
import type { VerifyMode } from '../../group/recovery/verification.js';
import { dataFileOf } from '../../store/files/environment-file.js';
import { refuseIfFull } from '../../store/files/full-disk.js';
import { logFolderOf } from '../../store/log/lmdb-log.js';

/** What the verifying process says: how far it has come, and in the end its report. */
export type VerifyMessage =
  | { readonly progress: readonly [done: number, total: number] }
  | { readonly report: VerifyReport };

const entry = fileURLToPath(new URL('./verify-process.js', import.meta.url));

/**
 * Signals by which others end a process; damage never does. SIGKILL is also how a system ends one that takes too much
 * memory.
 */
const fromOutside: readonly string[] = ['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/** What a reader that died leaves as its report. */
export function reportOfDeath(dir: string, how: string): VerifyReport {
  const file = dataFileOf(logFolderOf(dir));
  const faults = [`the store cannot be read: its reader died (${how}), so ${file}, or a snapshot, is cut or damaged`];
  return { ok: false, lastSeq: 0, batches: 0, records: 0, auditEntries: 0, snapshots: [], faults };
}

/**
 * Verifies the store in the data folder `dir`. Never rejects for damage: the report says it. Rejects with an
 * `AbortError` where `ending` ends it, and with `UnreadError` where a full disk or somebody else ended it.
 */
export function verifyInChild(
  dir: string,
  mode: VerifyMode,
  onProgress?: OnProgress,
  ending?: AbortSignal,
): Promise<VerifyReport> {
  return new Promise((resolve, reject) => {
    const child = fork(entry, [dir, mode], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
      // Ctrl-C is for the parent.
      detached: true,
      ...(ending === undefined ? {} : { signal: ending, killSignal: 'SIGKILL' }),
    });
    let report: VerifyReport | null = null;
    child.on('message', (text) => {
      const message = text as VerifyMessage;
      if ('report' in message) report = message.report;
      else onProgress?.(...message.progress);
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (report !== null) return resolve(report);
      // Ctrl-C reaches a process that was made this moment and has no group of its own yet: that is no death over a
      // damaged store.
      if (signal === 'SIGINT') return resolve(verifyInChild(dir, mode, onProgress, ending));
      try {
        refuseUnread(dir, signal);
        resolve(reportOfDeath(dir, signal ?? `exit code ${code}`));
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** Throws `UnreadError` where a reader that died by `signal` did not die of what it read. */
function refuseUnread(dir: string, signal: string | null): void {
  if (signal === 'SIGBUS') refuseIfFull(dir);
  if (signal === null || !fromOutside.includes(signal)) return;
  throw new UnreadError(
    `the process that reads the store in ${dir} was ended from outside (${signal}), as where memory is short; nothing is known of the store: try again`,
  );
}
