/** Entry of the verifying process: verifies the folder in its arguments, sends one report, and ends. */
import { existsSync } from 'node:fs';
import type { VerifyReport } from '../group/api.js';
import { type VerifyMode, verifyStore } from '../group/verification.js';
import { dataFileOf } from '../store/environment-file.js';
import { readExpectedHead } from '../store/expected-head.js';
import { logFolderOf, openLogReader } from '../store/lmdb-log.js';
import { LmdbSnapshotStore } from '../store/lmdb-snapshots.js';
import type { VerifyMessage } from './verification.js';

function send(message: VerifyMessage, sent: () => void = () => {}): void {
  process.send?.(message, sent);
}

async function verify(dir: string, mode: VerifyMode): Promise<VerifyReport> {
  const nothing = { lastSeq: 0, batches: 0, records: 0, auditEntries: 0, snapshots: [] };
  try {
    const expected = readExpectedHead(dir);
    const snapshots = new LmdbSnapshotStore(dir);
    const isNew = expected === null && snapshots.list().length === 0 && !existsSync(dataFileOf(logFolderOf(dir)));
    if (isNew) return { ok: true, ...nothing, faults: [] };
    const log = openLogReader(dir);
    try {
      return verifyStore(log, snapshots, expected, mode, (done, total) => send({ progress: [done, total] }));
    } finally {
      await log.close();
    }
  } catch (error) {
    return { ok: false, ...nothing, faults: [error instanceof Error ? error.message : String(error)] };
  }
}

const [dir, mode] = process.argv.slice(2) as [string, VerifyMode];
const report = await verify(dir, mode);
send({ report }, () => process.disconnect());
