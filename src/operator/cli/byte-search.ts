/** Searches a member of etcd: once no file has the marker of a scrub, none has anything erased before it. */
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../../errors.js';
import { limits } from '../../limits.js';
import { OperatorError } from './node-client.js';

/**
 * Returns the files below a folder that contain the bytes. One that disappears meanwhile counts as one without them.
 */
export async function filesWith(folder: string, bytes: Buffer): Promise<string[]> {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await holds(path, bytes))) found.push(path);
  }
  return found;
}

async function holds(path: string, bytes: Buffer): Promise<boolean> {
  // The end of the bytes read so far, because a match may lie across two pieces.
  let before = Buffer.alloc(0);
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
      const joined = Buffer.concat([before, piece]);
      if (joined.includes(bytes)) return true;
      before = joined.subarray(Math.max(0, joined.length - bytes.length + 1));
    }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  return false;
}

export interface SearchTimes {
  readonly walPurgeMs: number;
  readonly walSearchEveryMs: number;
}

/**
 * Resolves once no file of the member at `folder` contains the marker; waits while the member deletes its old files.
 * Rejects with `marker_found`, `access_denied`, or `no_store` if the folder is not a member's.
 */
export async function awaitPurged(folder: string, marker: string, times: SearchTimes = limits): Promise<void> {
  if (!existsSync(join(folder, 'member', 'wal'))) {
    throw new OperatorError('no_store', `${folder} is not a data folder of etcd: member/wal is missing`);
  }
  const bytes = Buffer.from(marker, 'hex');
  const endMs = performance.now() + times.walPurgeMs;
  for (;;) {
    const found = await filesWith(folder, bytes).catch((error: unknown) => {
      if (!hasCode(error, 'EACCES')) throw error;
      throw new OperatorError('access_denied', `this user has no access to ${folder}; run as root`);
    });
    if (found.length === 0) return;
    if (performance.now() >= endMs) {
      const text = `what was erased before the last scrub may still be in ${found.join(', ')}`;
      throw new OperatorError('marker_found', text, 1, { files: found });
    }
    await delay(times.walSearchEveryMs);
  }
}
