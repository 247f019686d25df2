/** A folder of one's own for a test, in the system's place for such. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProcessIdentity, thisProcess } from '../../src/store/ownership/owner-record.js';

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'ptf-store-'));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** This process's number with another start: to every other starter a process that ended. */
export function deadProcess(): ProcessIdentity {
  return { ...thisProcess(), processStart: '1' };
}
