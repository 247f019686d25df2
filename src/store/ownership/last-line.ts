/** Stores the last line of a node's log for `ptf doctor`, at the start and the end of its process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText } from '../files/small-file.js';
import { isOwnOrFree, thisProcess } from './owner-record.js';

const name = 'last-line';

/** Writes nothing if another process may own the folder, or the folder cannot be written to. */
export function keepLastLine(dir: string, line: string): void {
  try {
    if (isOwnOrFree(dir, thisProcess())) writeFileSync(join(dir, name), line, { mode: 0o600 });
  } catch {
    // The line is a help for people, and the process may be ending because of the disk.
  }
}

export function readLastLine(dir: string): string | undefined {
  try {
    const { time, msg } = JSON.parse(readText(join(dir, name)) ?? '{}') as { time?: unknown; msg?: unknown };
    return typeof time === 'string' && typeof msg === 'string' ? `${time}: ${msg}` : undefined;
  } catch {
    return undefined;
  }
}
