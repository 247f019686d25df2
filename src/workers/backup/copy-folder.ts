/** Copies a log into a data folder, or continues the log that the folder has. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CopiedLog,
  type CopyProgress,
  type CopyStart,
  copyFrom,
  type LogSink,
  type LogSource,
} from '../../group/backup/copy-store.js';
import { ScrubDeferredError } from '../../group/ports/storage-errors.js';
import { batchFrom } from '../../group/recovery/recovery.js';
import { writeExpectedHead } from '../../store/log/expected-head.js';
import { claimFolder } from '../../store/ownership/owner.js';

/** The result of a copy into a folder. */
export interface CopiedInto extends CopiedLog {
  /** True if batches that the folder already had were replaced. */
  readonly isRewritten: boolean;
}

/**
 * Copies a log into the folder `dir`, which this process owns meanwhile, from where the log of the folder ends. An
 * erased byte does not stay in the free space; `deferred` is called if that takes another scrub. Rejects with what
 * `copyFrom` throws, and without `deferred` with `ScrubDeferredError`.
 */
export async function copyIntoFolder(
  dir: string,
  source: LogSource,
  progress: CopyProgress,
  deferred?: () => void,
): Promise<CopiedInto> {
  const writer = await claimFolder(dir);
  try {
    let isRewritten = false;
    const sink: LogSink = {
      add: (batches) => writer.appendAll(batches),
      replace(batches) {
        isRewritten = true;
        return writer.append(null, batches);
      },
    };
    const last = writer.last();
    const start = last === undefined ? undefined : batchFrom(last);
    const copied = await copyFrom(source, sink, progress, start);
    if (isRewritten) {
      await writer.scrub().catch((error: unknown) => {
        if (deferred === undefined || !(error instanceof ScrubDeferredError)) throw error;
        deferred();
      });
    }
    return { ...copied, isRewritten };
  } finally {
    await writer.close();
  }
}

/** Writes the head that the log of the copy must reach. Removes the heartbeat of the process that made the copy. */
export async function writeCopiedHead(dir: string, { lastSeq, chain }: CopyStart): Promise<void> {
  rmSync(join(dir, 'heartbeat'), { force: true });
  await writeExpectedHead(dir, { lastSeq, chain: Buffer.from(chain).toString('hex') }, { sync: true });
}
