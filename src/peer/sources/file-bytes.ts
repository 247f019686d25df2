/** Reads the file of a list whole, within its bound. */
import { readFile, stat } from 'node:fs/promises';
import { bounds } from '../../client/bounds.js';
import { type PeerError, wrongUsage } from '../peer-error.js';

export async function fileBytes(path: string): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > bounds.importFileBytes) throw tooLarge(path);
  return readFile(path);
}

export function tooLarge(label: string): PeerError {
  return wrongUsage(`${label} is larger than ${bounds.importFileBytes} bytes; split it`);
}
