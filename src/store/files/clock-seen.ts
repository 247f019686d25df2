/** Stores the last time of a trusted clock in the data folder, because an idle group writes no record. */
import { join } from 'node:path';
import { readText, replaceFile } from './small-file.js';

/** Returns ms since 1970; 0 if no node wrote a time, or if the file has no valid time. */
export function readClockSeen(dataDir: string): number {
  return Date.parse(readText(fileOf(dataDir)) ?? '') || 0;
}

export async function writeClockSeen(dataDir: string, at: number): Promise<void> {
  await replaceFile(fileOf(dataDir), new Date(at).toISOString(), { sync: false });
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'clock-seen');
}
