/** Reads the folder of a spool without claiming or changing it, so that a tool can inspect it while its owner works. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord, jsonIn } from '../../json-text.js';
import { deliveredIn, piecesOf, recordFiles } from './spool-record.js';

export interface SpoolFacts {
  /** Number of waiting events on disk. */
  readonly pending: number;
  /** Number of events that the service will never accept, in the two files of them. */
  readonly setAside: number;
  /** The code of the newest of these; null if there is none. */
  readonly lastSetAsideCode: string | null;
  /** Number of damaged records among the waiting ones, and of files renamed as damaged. */
  readonly damaged: number;
}

/** Null if there is no folder. Rejects with the system's error if it cannot be read. */
export async function inspectSpool(folder: string): Promise<SpoolFacts | null> {
  const names = await readdir(folder).catch(orNone);
  if (names === null) return null;
  const through = deliveredIn((await readFile(join(folder, 'delivered')).catch(orNone)) ?? Buffer.alloc(0));
  let pending = 0;
  let damaged = names.filter((name) => name.endsWith('.damaged')).length;
  for (const { name, firstSeq, end } of recordFiles(names)) {
    const bytes = await readFile(join(folder, name)).catch(orNone);
    // The owner may have removed the file meanwhile.
    if (bytes === null) continue;
    for (const { seq, count, payload } of piecesOf(bytes, firstSeq, end)) {
      const waiting = Math.max(0, seq + count - 1 - Math.max(through, seq - 1));
      if (payload === null) damaged += waiting;
      else pending += waiting;
    }
  }
  const files = ['set-aside.1.ndjson', 'set-aside.ndjson'].map((name) => linesOf(join(folder, name)));
  const lines = (await Promise.all(files)).flat();
  return { pending, setAside: lines.length, lastSetAsideCode: codeIn(lines.at(-1)), damaged };
}

function orNone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function linesOf(path: string): Promise<string[]> {
  const text = (await readFile(path, 'utf8').catch(orNone)) ?? '';
  return text.split('\n').filter((line) => line !== '');
}

function codeIn(line: string | undefined): string | null {
  const value = jsonIn(line ?? '');
  return isRecord(value) && 'code' in value ? String(value.code) : null;
}
