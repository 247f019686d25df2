/**
 * Stores the last line that a node logged in its data folder, for `ptf doctor`: at the start and at the end of its
 * process. A process that was killed leaves the line of its start.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataFileOf, isThere } from '../files/lmdb-file.js';
import { readText } from '../files/small-file.js';
import { logFolderOf } from './lmdb-log.js';

const name = 'last-line';

/** Writes nothing if the folder has no log, or cannot be written to. */
export function keepLastLine(dir: string, line: string): void {
  try {
    if (isThere(dataFileOf(logFolderOf(dir)))) writeFileSync(join(dir, name), line, { mode: 0o600 });
  } catch {
    // The line is a help for people, and the process may be ending because of the disk.
  }
}

/** Returns the time and the text of the line; undefined if there is none. */
export function readLastLine(dir: string): string | undefined {
  try {
    const { time, msg } = JSON.parse(readText(join(dir, name)) ?? '{}') as { time?: unknown; msg?: unknown };
    return typeof time === 'string' && typeof msg === 'string' ? `${time}: ${msg}` : undefined;
  } catch {
    return undefined;
  }
}
