/**
 * The newest batches once more, in a value of the log's own file: LMDB makes it once, and as nobody puts it again, its pages stay where they
 * are. A batch is written there in place, without LMDB, before its commit. The commit's sync of its data is one of the whole file
 * and covers it, so that nobody waits for a second one, of the meta page: where a power cut takes the newest commit back, the next owner finds the batch here.
 */
import { closeSync, fdatasync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { DamagedError, type StoredBatch } from '../group/ports.js';
import { newestMeta, PAGE_HEADER_BYTES, treeOf } from './environment-file.js';
import { PageError, Pages, type Run, walk } from './pages.js';

/** The database that has the value, as LMDB spells it, and the value's key there. */
export const META_NAME = Buffer.from('meta\0');
export const KEPT_KEY = Buffer.from('kept');
/** The value's version: of how slots lie in it. */
export const KEPT_LAYOUT = 1;

// A slot: what it holds, and the batch. Numbers are little-endian.
const SLOT_BYTES = 65_536;
/** CRC-32 of all that follows. */
const CRC_AT = 0;
const CRC_BYTES = 4;
const LENGTH_AT = 4;
const EPOCH_AT = 8;
const FIRST_SEQ_AT = 16;
/** First sequence number of the batch before. */
const BEFORE_AT = 24;
const BATCH_AT = 32;

/** One takes a batch while the other still holds the one before, whose meta page is on disk only with the next commit. */
const SLOTS_PER_OWNER = 2;
/** An owner that was paused may wake up and write to its slots once more: the next one has others. */
const OWNERS = 2;
const SLOTS = OWNERS * SLOTS_PER_OWNER;

const KEPT_BYTES = SLOTS * SLOT_BYTES;
/** In front of the value of a database with versions. */
const VERSION_BYTES = 8;

/** The value as LMDB is to make it. */
export function emptyKept(): Buffer {
  return Buffer.alloc(KEPT_BYTES);
}

/** The slots of the owner of a folder. */
export class KeptBatches {
  readonly #descriptor: number;
  readonly #at: number;
  readonly #epoch: number;
  /** Of this owner's pair. */
  readonly #first: number;
  readonly #bytes = Buffer.alloc(SLOT_BYTES);
  /** Bytes of each slot that may be other than 0. */
  readonly #used: number[] = new Array<number>(SLOTS).fill(SLOT_BYTES);
  #turn = 0;

  /** Of the owner of `epoch`, whose claim made sure that `file` has them. Throws `DamagedError` where it has none. */
  constructor(file: string, epoch: number) {
    this.#descriptor = openSync(file, 'r+');
    this.#epoch = epoch;
    this.#first = (epoch % OWNERS) * SLOTS_PER_OWNER;
    try {
      const at = placeOf(this.#descriptor, file);
      if (at === undefined) throw new DamagedError(`${file}: the place of kept batches is missing`);
      this.#at = at;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Puts down `batch`, which follows the one at `before`; false where it is too long. On disk with the next sync of the file. */
  keep({ firstSeq, bytes }: StoredBatch, before: number): boolean {
    const end = BATCH_AT + bytes.length;
    if (end > SLOT_BYTES) return false;
    const slot = this.#first + this.#turn;
    const content = this.#bytes;
    content.writeUInt32LE(bytes.length, LENGTH_AT);
    content.writeDoubleLE(this.#epoch, EPOCH_AT);
    content.writeDoubleLE(firstSeq, FIRST_SEQ_AT);
    content.writeDoubleLE(before, BEFORE_AT);
    content.set(bytes, BATCH_AT);
    content.writeUInt32LE(crc32(content.subarray(CRC_BYTES, end)), CRC_AT);
    this.#write(slot, end);
    this.#turn = (this.#turn + 1) % SLOTS_PER_OWNER;
    return true;
  }

  /** Overwrites what this owner kept, and nothing of another's. On disk with the next sync of the file. */
  wipe(): void {
    for (let turn = 0; turn < SLOTS_PER_OWNER; turn += 1) this.#wipe(this.#first + turn);
  }

  /** Overwrites what anybody kept: of an owner whose claim, with what it brought back, is on disk. */
  wipeAll(): void {
    for (let slot = 0; slot < SLOTS; slot += 1) this.#wipe(slot);
  }

  /** Resolves once all that was written to the file is on disk, meta pages included. */
  async sync(): Promise<void> {
    await promisify(fdatasync)(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** All of it: an owner that was paused may have written to it meanwhile. */
  #wipe(slot: number): void {
    this.#used[slot] = SLOT_BYTES;
    this.#write(slot, 0);
  }

  /** The first `end` bytes, and zeros where more was used before. */
  #write(slot: number, end: number): void {
    const length = Math.max(end, this.#used[slot]!);
    this.#bytes.fill(0, end, length);
    this.#used[slot] = length;
    const written = writeSync(this.#descriptor, this.#bytes, 0, length, this.#at + slot * SLOT_BYTES);
    if (written < length) throw new Error(`only ${written} of ${length} bytes could be kept`);
    this.#used[slot] = end;
  }
}

/**
 * What the owner of `epoch` kept in `file`, where it follows the batch at `before`; undefined for nothing. Throws `DamagedError` where
 * pages on the way make no sense.
 */
export function keptBatch(file: string, epoch: number, before: number): StoredBatch | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const at = placeOf(descriptor, file);
    if (at === undefined) return undefined;
    const bytes = emptyKept();
    readSync(descriptor, bytes, 0, bytes.length, at);
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const content = bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES);
      const end = BATCH_AT + content.readUInt32LE(LENGTH_AT);
      const isWhole = end <= SLOT_BYTES && content.readUInt32LE(CRC_AT) === crc32(content.subarray(CRC_BYTES, end));
      if (!isWhole || content.readDoubleLE(EPOCH_AT) !== epoch || content.readDoubleLE(BEFORE_AT) !== before) continue;
      return { firstSeq: content.readDoubleLE(FIRST_SEQ_AT), bytes: content.subarray(BATCH_AT, end) };
    }
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** Where in the file the slots begin; undefined where there are none, as in one of an earlier release. */
function placeOf(descriptor: number, file: string): number | undefined {
  const meta = newestMeta(descriptor);
  if (meta === undefined) return undefined;
  const pages = new Pages(descriptor, meta);
  const found: Run[] = [];
  try {
    walk(pages, meta.main, 'whole', ignore, (database) => {
      const tree = database.isTree && database.key.equals(META_NAME) ? treeOf(database.inPage) : undefined;
      if (tree === undefined) return;
      walk(pages, tree, 'whole', ignore, (leaf) => {
        if (!leaf.key.equals(KEPT_KEY)) return;
        const run = pages.runOf(leaf);
        if (run === null || leaf.valueBytes !== VERSION_BYTES + KEPT_BYTES)
          throw new DamagedError(`${file}: the place of kept batches has another size`);
        found.push(run);
      });
    });
  } catch (error) {
    if (error instanceof PageError) throw new DamagedError(`${file}: ${error.message}`);
    throw error;
  }
  return found[0] && found[0].first * meta.pageBytes + PAGE_HEADER_BYTES + VERSION_BYTES;
}

function ignore(): void {}
