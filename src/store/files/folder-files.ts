/**
 * The small files of a data folder: the mark of its cluster, the generated salt, the last trusted time and the
 * head of its log. Nodes without a cluster read them, so this must not load etcd's client.
 */
import { join } from 'node:path';
import { messageOf } from '../../errors.js';
import { DamagedError } from '../../group/ports/storage.js';
import type { ExpectedHead } from '../../group/recovery/verification.js';
import { limits } from '../../limits.js';
import { readIfThere, readText, replaceFile } from './small-file.js';

export interface ClusterMark {
  readonly cluster_id: string;
  readonly node_id: string;
  /** Present if the folder's log is not the group's: the next start must replace it with a copy from another node. */
  readonly diverged?: true;
}

export function markFile(dir: string): string {
  return join(dir, 'cluster.json');
}

/** Returns null for a folder without a mark. Throws `DamagedError`. */
export function readMark(dir: string): ClusterMark | null {
  const text = readText(markFile(dir));
  try {
    return text === undefined ? null : (JSON.parse(text) as ClusterMark);
  } catch {
    throw new DamagedError(`DATA_DIR: ${markFile(dir)} is no JSON document; restore the folder from a backup`);
  }
}

export async function writeMark(dir: string, mark: ClusterMark): Promise<void> {
  await replaceFile(markFile(dir), `${JSON.stringify(mark)}\n`, { sync: true });
}

/** A node without a cluster would append records that the group never gets, and could not go back to the shared log. */
export function refusalOfMarked(dir: string): string | undefined {
  let mark: ClusterMark | null;
  try {
    mark = readMark(dir);
  } catch (error) {
    return messageOf(error);
  }
  if (mark === null) return undefined;
  return (
    `DATA_DIR: ${dir} belongs to node ${mark.node_id} of the cluster ${mark.cluster_id}, and CLUSTER is none; ` +
    "set CLUSTER=etcd, or run ptf export-data with that node's variables to serve the group from this folder alone"
  );
}

export type StoredSalt = { readonly ok: true; readonly salt: string } | { readonly ok: false; readonly fault: string };

export function saltFile(dir: string): string {
  return join(dir, 'group-salt');
}

/** Returns the salt. `configured` is null if no salt is set. A fault applies only to a folder with a group. */
export function storedSalt(dir: string, configured: string | null): StoredSalt {
  if (configured !== null) return { ok: true, salt: configured };
  const file = saltFile(dir);
  const salt = readIfThere(file);
  if (salt !== null && salt.length >= limits.saltBytesMin) return { ok: true, salt };
  const why = salt === null ? 'this data folder was formed with one' : `${file}, the generated salt, is truncated`;
  return { ok: false, fault: `GROUP_SALT is unset, but ${why}` };
}

/** Returns ms since 1970; 0 if no node wrote a time, or if the file has no valid time. */
export function readClockSeen(dataDir: string): number {
  return Date.parse(readText(join(dataDir, 'clock-seen')) ?? '') || 0;
}

export async function writeClockSeen(dataDir: string, at: number): Promise<void> {
  await replaceFile(join(dataDir, 'clock-seen'), new Date(at).toISOString(), { sync: false });
}

/** A lower bound of the log's head; null if none was written, or after a power cut. Throws `DamagedError`. */
export function readExpectedHead(dataDir: string): ExpectedHead | null {
  const file = join(dataDir, 'head.json');
  const text = readText(file) ?? '';
  if (text === '') return null;
  const head = parse(text);
  if (head === undefined) throw new DamagedError(`${file}: expected the head of a log: {"last_seq", "chain"}`);
  return head;
}

/** Without `sync` a power cut may leave the previous head, a lower bound too, or an empty file. */
export async function writeExpectedHead(
  dataDir: string,
  head: ExpectedHead,
  options: { readonly sync: boolean } = { sync: false },
): Promise<void> {
  const text = JSON.stringify({ last_seq: head.lastSeq, chain: head.chain });
  await replaceFile(join(dataDir, 'head.json'), `${text}\n`, options);
}

function parse(text: string): ExpectedHead | undefined {
  try {
    const { last_seq: lastSeq, chain } = JSON.parse(text) as { last_seq?: unknown; chain?: unknown };
    const isHead = typeof lastSeq === 'number' && Number.isSafeInteger(lastSeq) && typeof chain === 'string';
    return isHead ? { lastSeq, chain } : undefined;
  } catch {
    return undefined;
  }
}
