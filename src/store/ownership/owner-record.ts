/**
 * The record of a data folder's owner, a plain file `owner-<epoch>.json`. Everybody reads it before anything opens
 * LMDB, whose table of readers cannot tell processes of two PID namespaces apart. The record with the highest epoch
 * counts.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../files/durable-file.js';
import { checkEnvironmentFile, dataFileOf, newestMeta, treeOf } from '../files/environment-file.js';
import { readText } from '../files/small-file.js';
import { logFolderOf } from '../log/lmdb-log.js';
import { META_NAME, OWNER_KEY } from '../log/log-environment.js';
import { Pages, walk } from '../log/pages.js';
import type { ProcessIdentity } from './process-identity.js';

export interface OwnerRecord {
  /** One more than the epoch of the owner before. */
  readonly epoch: number;
  readonly pid: number;
  readonly process_start: string | null;
  readonly boot_id: string | null;
  readonly pid_namespace: string | null;
  /** ISO 8601; for people only. */
  readonly claimed_at: string;
  /** True once the owner closed the folder in good order. */
  readonly released: boolean;
}

const NAME = /^owner-(\d+)\.json$/;
/** lmdb-js stores the version of a value in front of it. */
const VERSION_BYTES = 8;

export function recordOf(identity: ProcessIdentity, epoch: number): OwnerRecord {
  return {
    epoch,
    pid: identity.pid,
    process_start: identity.processStart,
    boot_id: identity.bootId,
    pid_namespace: identity.pidNamespace,
    claimed_at: new Date().toISOString(),
    released: false,
  };
}

export function ownerFileOf(dir: string, epoch: number): string {
  return join(dir, `owner-${epoch}.json`);
}

/** The newest owner of the data folder `dir`; undefined where it never had one. */
export function readOwner(dir: string): OwnerRecord | undefined {
  const epoch = newestEpoch(dir);
  // Earlier builds write no file, and may have run on the folder last.
  const stored = ownerInLog(dir);
  if (stored !== undefined && stored.epoch > epoch) return stored;
  if (epoch === 0) return undefined;
  const record = parsed(readText(ownerFileOf(dir, epoch)) ?? '');
  // A power cut may leave an empty file: its owner cannot be looked up, and only its heartbeat can show that it lives.
  return record?.epoch === epoch ? record : { ...recordOf(noOwner, epoch), claimed_at: 'an unknown time' };
}

/** The highest epoch that a file in `dir` names; 0 for none. */
export function newestEpoch(dir: string): number {
  return Math.max(0, ...epochsIn(dir));
}

/**
 * Makes `record` the newest of the folder; false, with nothing changed, where somebody else has its epoch or a later
 * one.
 */
export function putOwner(dir: string, record: OwnerRecord): boolean {
  const file = ownerFileOf(dir, record.epoch);
  const aside = join(dir, `.tmp-owner-${randomUUID()}`);
  try {
    writeFileSync(aside, textOf(record), { mode: 0o600 });
    // Of two who link the same name one succeeds, and the file is whole from then on.
    linkSync(aside, file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  // A claimant that was paused may link an epoch that others left behind long ago.
  const isNewest = newestEpoch(dir) === record.epoch;
  const stale = isNewest ? epochsIn(dir).filter((epoch) => epoch < record.epoch) : [record.epoch];
  for (const epoch of stale) rmSync(ownerFileOf(dir, epoch), { force: true });
  return isNewest;
}

/** Marks the folder free for the next owner. */
export async function putReleased(dir: string, record: OwnerRecord): Promise<void> {
  await replaceFile(ownerFileOf(dir, record.epoch), textOf({ ...record, released: true }), { sync: false });
}

/** The record that a text holds; undefined where the text makes no sense. */
export function parsed(text: string): OwnerRecord | undefined {
  try {
    const record = JSON.parse(text) as OwnerRecord;
    return Number.isSafeInteger(record?.epoch) ? record : undefined;
  } catch {
    return undefined;
  }
}

const noOwner: ProcessIdentity = { pid: 0, processStart: null, bootId: null, pidNamespace: null };

function epochsIn(dir: string): number[] {
  return readdirSync(dir).flatMap((name) => NAME.exec(name)?.slice(1).map(Number) ?? []);
}

function textOf(record: OwnerRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * The record in the log's environment, by plain reads. Undefined where pages make no sense: the claim of the log
 * reports that.
 */
function ownerInLog(dir: string): OwnerRecord | undefined {
  const file = dataFileOf(logFolderOf(dir));
  let descriptor: number | undefined;
  try {
    checkEnvironmentFile(file);
    descriptor = openSync(file, 'r');
    const meta = newestMeta(descriptor)!;
    const pages = new Pages(descriptor, meta);
    let owner: OwnerRecord | undefined;
    walk(pages, meta.main, 'whole', ignore, (database) => {
      const tree = database.key.equals(META_NAME) ? treeOf(database.inPage) : undefined;
      if (tree === undefined) return;
      walk(pages, tree, 'whole', ignore, (leaf) => {
        if (leaf.key.equals(OWNER_KEY)) owner = parsed(pages.valueOf(leaf).toString('utf8', VERSION_BYTES));
      });
    });
    return owner;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function ignore(): void {}
