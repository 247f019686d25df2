/** A lower bound of the log's head, outside the log: LMDB opens a file of 0 bytes as an empty store. */
import { join } from 'node:path';
import { DamagedError } from '../../group/ports/storage-errors.js';
import type { ExpectedHead } from '../../group/recovery/verification.js';
import { readText, replaceFile } from '../files/small-file.js';

/** Null if no head was written, and for an empty file of a power cut. Throws `DamagedError` for any other text. */
export function readExpectedHead(dataDir: string): ExpectedHead | null {
  const file = fileOf(dataDir);
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
