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
import { ScrubDeferredError } from '../../group/ports/storage.js';
import { batchFrom } from '../../group/recovery/recovery.js';
import { writeExpectedHead } from '../../store/files/folder-files.js';
import { acquireFolder } from '../../store/ownership/owner.js';

export interface CopiedInto extends CopiedLog {
  readonly isRewritten: boolean;
}

export interface CopyHooks {
  readonly progress: CopyProgress;
  /** Called once, before the first change of the folder's log. */
  readonly beforeChange?: () => Promise<void>;
  /** Replaced bytes are left in the free space, because the scrub must wait or was aborted. */
  readonly scrubDeferred?: () => void;
  readonly signal?: AbortSignal;
}

/**
 * Copies a log into `dir`, which this process owns meanwhile, from where its log ends. Rejects with what `copyFrom`
 * throws, and without `scrubDeferred` with `ScrubDeferredError`.
 */
export async function copyIntoFolder(
  dir: string,
  source: LogSource,
  { progress, beforeChange, scrubDeferred, signal }: CopyHooks,
): Promise<CopiedInto> {
  const writer = await acquireFolder(dir);
  try {
    let before: Promise<void> | undefined;
    let isRewritten = false;
    const changing = () => {
      before ??= beforeChange?.() ?? Promise.resolve();
      return before;
    };
    const sink: LogSink = {
      async add(batches) {
        await changing();
        await writer.appendAll(batches);
      },
      async replace(batches) {
        await changing();
        isRewritten = true;
        await writer.append(null, batches);
      },
    };
    const last = writer.last();
    const start = last === undefined ? undefined : batchFrom(last);
    const copied = await copyFrom(source, sink, progress, start);
    if (isRewritten) {
      await writer.scrub(signal).catch((error: unknown) => {
        if (scrubDeferred === undefined || !(error instanceof ScrubDeferredError)) throw error;
        scrubDeferred();
      });
    }
    return { ...copied, isRewritten };
  } finally {
    await writer.close();
  }
}

/** Also removes the heartbeat of the process that made the copy. */
export async function writeCopiedHead(dir: string, { lastSeq, chain }: CopyStart): Promise<void> {
  rmSync(join(dir, 'heartbeat'), { force: true });
  await writeExpectedHead(dir, { lastSeq, chain: Buffer.from(chain).toString('hex') }, { sync: true });
}
