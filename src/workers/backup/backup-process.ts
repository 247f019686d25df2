/**
 * Entry of the process that makes a backup or a restore: the task is in its arguments, what comes of it goes to its
 * parent. It reads files that may be damaged, and whatever ends it, by a signal or with its parent, ends it with
 * nothing half done in place.
 */
import { randomBytes } from 'node:crypto';
import type { BackupTask, CopyOutcome, CopyStatus, RestoreTask } from '../../group/backup/backup-tasks.js';
import { type CopyContext, refusalOf } from './backup-context.js';
import { backUp } from './backup-task.js';
import { restore } from './restore-task.js';

/** What comes before the end. */
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
  stands(status) {
    if (performance.now() - reportedAt < REPORT_EVERY_MS || !process.connected) return;
    reportedAt = performance.now();
    process.send?.({ status } satisfies CopyMessage);
  },
};

const [kind, task] = process.argv.slice(2) as ['backup' | 'restore', string];
// No one else may read what is written here.
process.umask(0o077);
const work =
  kind === 'backup'
    ? backUp(JSON.parse(task) as BackupTask, context)
    : restore(JSON.parse(task) as RestoreTask, context);
const outcome = await work.then((value): CopyOutcome<unknown> => ({ ok: true, value }), refusalOf);
if (process.connected) process.send?.({ outcome } satisfies CopyMessage, () => process.disconnect());
