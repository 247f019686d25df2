/** Reads and writes the files beside a spool's segments: the delivered mark, and the events set aside. */
import { appendFile, type FileHandle, open, rename, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { bounds } from '../../bounds.js';

const SLOT_BYTES = 32;
const USED_BYTES = 20;

/**
 * The number of the last record that needs no delivery any more. Two slots are written in turn, so that one of them is
 * whole after any kill. The mark is not synced: if it is lost, the node answers the events that are sent again as
 * stored already. The file has its full length from the start, so that a disk that fills up later has room for it.
 */
export class DeliveredMark {
  readonly #handle: FileHandle;
  #turn: number;
  seq: number;

  private constructor(handle: FileHandle, turn: number, seq: number) {
    this.#handle = handle;
    this.#turn = turn;
    this.seq = seq;
  }

  static async open(folder: string): Promise<DeliveredMark> {
    const path = join(folder, 'delivered');
    const handle = await open(path, 'r+').catch(() => open(path, 'w+', 0o600));
    const bytes = Buffer.alloc(2 * SLOT_BYTES);
    const { bytesRead } = await handle.read(bytes, 0, bytes.byteLength, 0);
    if (bytesRead < bytes.byteLength) await handle.write(bytes, 0, bytes.byteLength, 0).catch(() => undefined);
    const newest = newestSlot(bytes);
    return new DeliveredMark(handle, newest.turn, newest.seq);
  }

  /** `seq` counts even if the write fails. The next write goes to the failed slot, because the other is whole. */
  async set(seq: number): Promise<void> {
    this.seq = seq;
    const turn = this.#turn + 1;
    const slot = Buffer.alloc(USED_BYTES);
    slot.writeBigUInt64LE(BigInt(turn), 0);
    slot.writeBigUInt64LE(BigInt(seq), 8);
    slot.writeUInt32LE(zlib.crc32(slot.subarray(0, 16)), 16);
    await this.#handle.write(slot, 0, USED_BYTES, (turn % 2) * SLOT_BYTES);
    this.#turn = turn;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** Returns the newest whole slot of a mark's file, which may be too short. */
export function newestSlot(file: Buffer): { readonly turn: number; readonly seq: number } {
  const bytes = Buffer.alloc(2 * SLOT_BYTES);
  file.copy(bytes);
  let newest = { turn: 0, seq: 0 };
  for (const at of [0, SLOT_BYTES]) {
    const slot = bytes.subarray(at, at + USED_BYTES);
    if (slot.readUInt32LE(16) !== zlib.crc32(slot.subarray(0, 16))) continue;
    const turn = Number(slot.readBigUInt64LE(0));
    if (turn > newest.turn) newest = { turn, seq: Number(slot.readBigUInt64LE(8)) };
  }
  return newest;
}

/** Appends lines to `set-aside.ndjson`. A full file replaces `set-aside.1.ndjson`. */
export async function setAside(folder: string, lines: readonly object[]): Promise<void> {
  const path = join(folder, 'set-aside.ndjson');
  const size = await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
  const isFull = size >= bounds.spoolSetAsideBytes;
  if (isFull) await rename(path, join(folder, 'set-aside.1.ndjson'));
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  try {
    await appendFile(path, text, { mode: 0o600, flush: true });
  } catch (error) {
    // A truncated line would damage the next one.
    await truncate(path, isFull ? 0 : size).catch(() => undefined);
    throw error;
  }
}
