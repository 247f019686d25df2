/**
 * Runs one backup or restore as a process, since the files that it reads may be damaged and kill it. If a signal or the
 * end of the parent ends it, no unfinished result stays in place.
 */
import { randomBytes } from 'node:crypto';
import type { BackupTask, CopyOutcome, CopyStatus, RestoreTask } from '../../group/backup/backup-tasks.js';
import { type CopyContext, refusalOf } from './backup-context.js';
import { backUp, restore } from './backup-task.js';

export type CopyMessage = { readonly status: CopyStatus } | { readonly outcome: CopyOutcome<unknown> };

const REPORT_EVERY_MS = 100;

let isCancelled = false;
const cancel = () => {
  isCancelled = true;
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, cancel);
process.on('disconnect', cancel);

let reportedAt = 0;
const context: CopyContext = {
  nonce: (bytes) => randomBytes(bytes),
  isCancelled: () => isCancelled,
  onStatus(status) {
    if (performance.now() - reportedAt < REPORT_EVERY_MS || !process.connected) return;
    reportedAt = performance.now();
    process.send?.({ status } satisfies CopyMessage);
  },
};

const [kind, task] = process.argv.slice(2) as ['backup' | 'restore', string];
// The created files are private to this user.
process.umask(0o077);
const work =
  kind === 'backup'
    ? backUp(JSON.parse(task) as BackupTask, context)
    : restore(JSON.parse(task) as RestoreTask, context);
const outcome = await work.then((value): CopyOutcome<unknown> => ({ ok: true, value }), refusalOf);
if (process.connected) process.send?.({ outcome } satisfies CopyMessage, () => process.disconnect());
