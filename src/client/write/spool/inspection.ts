/** Reads the folder of a spool without claiming or changing it, so that a tool can inspect it while its owner works. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newestSlot } from './side-files.js';
import { firstSeqOf, piecesOf } from './spool-segment.js';

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

/**
 * Returns the facts about the folder; null if there is no folder. Rejects with the system's error if it cannot be read.
 */
export async function inspectSpool(folder: string): Promise<SpoolFacts | null> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (names === null) return null;
  const { seq: through } = newestSlot((await readOrNone(join(folder, 'delivered'))) ?? Buffer.alloc(0));
  let pending = 0;
  let damaged = names.filter((name) => name.endsWith('.damaged')).length;
  const starts = names.filter((name) => firstSeqOf(name) !== null).sort();
  for (const [index, name] of starts.entries()) {
    const bytes = await readOrNone(join(folder, name));
    const next = starts[index + 1];
    const end = next === undefined ? Number.POSITIVE_INFINITY : firstSeqOf(next)!;
    // The owner may have removed the file meanwhile.
    if (bytes === null) continue;
    for (const { seq, count, payload } of piecesOf(bytes, firstSeqOf(name)!, end)) {
      const waiting = Math.max(0, seq + count - 1 - Math.max(through, seq - 1));
      if (payload === null) damaged += waiting;
      else pending += waiting;
    }
  }
  const files = ['set-aside.1.ndjson', 'set-aside.ndjson'].map((name) => linesOf(join(folder, name)));
  const lines = (await Promise.all(files)).flat();
  return { pending, setAside: lines.length, lastSetAsideCode: codeIn(lines.at(-1)), damaged };
}

async function readOrNone(path: string): Promise<Buffer | null> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

async function linesOf(path: string): Promise<string[]> {
  const text = (await readOrNone(path))?.toString('utf8') ?? '';
  return text.split('\n').filter((line) => line !== '');
}

function codeIn(line: string | undefined): string | null {
  try {
    const value: unknown = line === undefined ? null : JSON.parse(line);
    return typeof value === 'object' && value !== null && 'code' in value ? String(value.code) : null;
  } catch {
    return null;
  }
}
