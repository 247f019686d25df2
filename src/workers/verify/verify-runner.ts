/**
 * Verifies a store in another process: a truncated or damaged file may kill its reader (SIGBUS, SIGSEGV), which must
 * become a finding and must not end the node.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { OnProgress, VerifyReport } from '../../group/api.js';
import { UnreadError } from '../../group/ports/storage.js';
import type { VerifyMode } from '../../group/recovery/verification.js';
import { refuseIfFull } from '../../store/files/full-disk.js';
import { dataFileOf } from '../../store/files/lmdb-file.js';
import { logFolderOf } from '../../store/log/lmdb-log.js';

export type VerifyMessage =
  | { readonly progress: readonly [done: number, total: number] }
  | { readonly report: VerifyReport };

const entry = fileURLToPath(new URL('./verify-process.js', import.meta.url));

/** Signals by which others, never damage, end a process; SIGKILL also if it uses too much memory. */
const fromOutside: readonly string[] = ['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

export function reportOfDeath(dir: string, how: string): VerifyReport {
  const file = dataFileOf(logFolderOf(dir));
  const faults = [
    `the store cannot be read: its reader died (${how}), so ${file}, or a snapshot, is truncated or damaged`,
  ];
  return { ok: false, lastSeq: 0, batches: 0, records: 0, auditEntries: 0, snapshots: [], faults };
}

/**
 * Never rejects for damage; the report contains it. Rejects with an `AbortError` if `ending` aborts, and with
 * `UnreadError` if a full disk or an outside signal ended the process.
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
      // Ctrl-C is meant for the parent.
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
      // Ctrl-C also reaches a child that does not have its own process group yet. This death is not caused by damage.
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

/** Throws `UnreadError` if the reading process died by `signal` for a reason other than the store. */
function refuseUnread(dir: string, signal: string | null): void {
  if (signal === 'SIGBUS') refuseIfFull(dir);
  if (signal === null || !fromOutside.includes(signal)) return;
  throw new UnreadError(
    `the process that reads the store in ${dir} was ended from outside (${signal}), for example for lack of memory; the state of the store is unknown: try again`,
  );
}
