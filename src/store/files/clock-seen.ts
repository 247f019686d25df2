/**
 * When a node last ran with a clock that it trusted, in a small file of the data folder: a group at rest writes no
 * record that would tell.
 */
import { join } from 'node:path';
import { replaceFile } from './durable-file.js';
import { readText } from './small-file.js';

/** ms since 1970; 0 where no node said so yet, or the file does not hold a time. */
export function readClockSeen(dataDir: string): number {
  return Date.parse(readText(fileOf(dataDir)) ?? '') || 0;
}

export async function writeClockSeen(dataDir: string, at: number): Promise<void> {
  await replaceFile(fileOf(dataDir), new Date(at).toISOString(), { sync: false });
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'clock-seen');
}
