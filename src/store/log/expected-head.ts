/**
 * A lower bound of what the log must reach, kept outside it in `head.json`: LMDB opens a file of 0 bytes as an empty
 * store, and this is what tells a lost log from a new one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DamagedError } from '../../group/ports/storage-errors.js';
import type { ExpectedHead } from '../../group/recovery/verification.js';
import { replaceFile } from '../files/durable-file.js';
import { isMissing } from '../files/environment-file.js';

/**
 * Null where none was ever written, and for an empty file, which is what a power cut can leave of one that was not
 * synced. Throws `DamagedError` where the file holds anything else than a head.
 */
export function readExpectedHead(dataDir: string): ExpectedHead | null {
  const file = fileOf(dataDir);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  if (text === '') return null;
  const head = parse(text);
  if (head === undefined) throw new DamagedError(`${file}: no head of a log stands in it`);
  return head;
}

/**
 * Without `sync` a power cut may bring the head before back, a lower bound as well, or an empty file, which is none.
 */
export async function writeExpectedHead(
  dataDir: string,
  head: ExpectedHead,
  options: { readonly sync: boolean } = { sync: false },
): Promise<void> {
  const text = JSON.stringify({ last_seq: head.lastSeq, chain: head.chain });
  await replaceFile(fileOf(dataDir), `${text}\n`, options);
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'head.json');
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
