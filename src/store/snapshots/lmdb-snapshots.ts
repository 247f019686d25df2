/**
 * Snapshots, each its own LMDB environment in `snapshot-<seq>`: built under a temporary name, synced, renamed. A page
 * of LMDB has no checksum, so every value carries one over its place, its key and its bytes.
 */
import { closeSync, existsSync, fdatasyncSync, openSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { open, type RootDatabase } from 'lmdb';
import type { SnapshotBlock } from '../../core/snapshot/snapshot.js';
import type { SnapshotHeader, SnapshotStore } from '../../group/ports/snapshots.js';
import { DamagedError } from '../../group/ports/storage-errors.js';
import { syncPath } from '../files/durable-file.js';
import { checkEnvironmentFile, dataFileOf, isMissing } from '../files/environment-file.js';
import { demandRoom } from '../files/full-disk.js';

type Environment = RootDatabase<Uint8Array, Uint8Array>;

/** As stored: the header, and the number of blocks, so that a missing one is found. */
interface StoredHeader {
  readonly header: SnapshotHeader;
  readonly blocks: number;
}

const SEQ_DIGITS = 16;
const COMPLETE = /^snapshot-\d{16}$/;
/** With or without `REPLACED`. */
const LISTED = /^(?:\.old-)?snapshot-(\d{16})$/;
const LEFT_OVER = /^\.tmp-(gone-)?snapshot-\d{16}$/;
/** A new snapshot being built, or an old one on its way out. */
const BUILDING = '.tmp-';
const LEAVING = '.tmp-gone-';
/** A snapshot that its replacement pushed aside; without a replacement in place it is the snapshot. */
const REPLACED = '.old-';
const CRC_BYTES = 4;
const KEY_LENGTH_BYTES = 2;
const HEADER_INDEX = 0;
/**
 * So much of a snapshot that is being written waits for the disk, and a block: what the log commits meanwhile waits
 * behind it.
 */
const UNSYNCED_BYTES_MAX = 1_048_576;

export class LmdbSnapshotStore implements SnapshotStore {
  readonly #dir: string;
  readonly #mustEnd: (epoch: number) => boolean;

  /**
   * `dir` is the data folder, which exists. A write under an owner's epoch gives up, and rejects, once `mustEnd` says
   * so: a thread that is ended between the begin and the commit of one of its transactions never comes to its end, and
   * holds up the process for ever.
   */
  constructor(dir: string, mustEnd: (epoch: number) => boolean = () => false) {
    this.#dir = dir;
    this.#mustEnd = mustEnd;
  }

  list(): number[] {
    const seqs = this.#names()
      .map((name) => LISTED.exec(name)?.[1])
      .filter((digits) => digits !== undefined)
      .map(Number);
    return [...new Set(seqs)].sort((a, b) => b - a);
  }

  async write(header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void> {
    const name = nameOf(header.seq);
    const building = join(this.#dir, BUILDING + name);
    await rm(building, { recursive: true, force: true });
    try {
      await mkdir(building, { mode: 0o700 });
      // LMDB's lock file stays: to make one takes a page of the disk, which a full one does not have, and whoever opens
      // it then dies.
      await this.#build(building, header, blocks);
      await syncPath(dataFileOf(building));
      await syncPath(building);
      // Syncing takes long. One that an earlier owner made may hold a player whom the new one has erased.
      this.#goOn(header);
      await this.#replace(building, name);
    } catch (error) {
      // What filled the disk must not stay there: the next try has another name. The first error says more than one of
      // this.
      await rm(building, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
  }

  readHeader(seq: number): SnapshotHeader {
    const environment = this.#open(seq);
    try {
      return readStoredHeader(environment, seq).header;
    } finally {
      closeNow(environment);
    }
  }

  *borrowBlocks(seq: number): Iterable<SnapshotBlock> {
    const environment = this.#open(seq);
    try {
      const { blocks } = readStoredHeader(environment, seq);
      for (let index = 1; index <= blocks; index += 1) yield borrowedBlock(environment, seq, index);
    } finally {
      closeNow(environment);
    }
  }

  async remove(seq: number): Promise<void> {
    const name = nameOf(seq);
    const going = join(this.#dir, LEAVING + name);
    // The place of a replaced one first: from there a sweep brings it back as soon as the snapshot itself is gone.
    for (const relative of [REPLACED + name, BUILDING + name, name]) {
      await rm(going, { recursive: true, force: true });
      try {
        // Out of the list in one step: half a snapshot must never look like one.
        await rename(join(this.#dir, relative), going);
      } catch (error) {
        if (isMissing(error)) continue;
        throw error;
      }
      await syncPath(this.#dir);
    }
    await rm(going, { recursive: true, force: true });
  }

  async sweep(): Promise<void> {
    const names = this.#names();
    const complete = new Set(names.filter((name) => COMPLETE.test(name)));
    for (const name of names) {
      const path = join(this.#dir, name);
      const isReplaced = name.startsWith(REPLACED) && COMPLETE.test(name.slice(REPLACED.length));
      const replacedName = name.slice(REPLACED.length);
      if (isReplaced && !complete.has(replacedName)) await rename(path, join(this.#dir, replacedName));
      else if (isReplaced || LEFT_OVER.test(name)) await rm(path, { recursive: true, force: true });
    }
    await syncPath(this.#dir);
  }

  #names(): string[] {
    return readdirSync(this.#dir);
  }

  async #build(folder: string, header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void> {
    this.#goOn(header);
    // Synced as a file, now and then and when it is whole.
    const environment = openEnvironment(folder, { noSync: true });
    const values = new Values();
    try {
      let index = HEADER_INDEX;
      let unsyncedBytes = 0;
      // Each in a transaction of its own: one call that writes megabytes holds its core until it is done, whoever waits
      // for it.
      for (const block of blocks) {
        index += 1;
        // Before anything else reads from LMDB: a block of another snapshot is lent.
        const value = values.of(index, block);
        this.#goOn(header);
        environment.putSync(keyOf(index), value);
        unsyncedBytes += value.length;
        if (unsyncedBytes < UNSYNCED_BYTES_MAX) continue;
        syncNow(dataFileOf(folder));
        unsyncedBytes = 0;
      }
      this.#goOn(header);
      const stored: StoredHeader = { header, blocks: index };
      const bytes = Buffer.from(JSON.stringify(stored));
      environment.putSync(keyOf(HEADER_INDEX), values.withCrc(HEADER_INDEX, bytes));
    } finally {
      await environment.close();
    }
  }

  /** Before each write. */
  #goOn({ epoch }: SnapshotHeader): void {
    demandRoom(this.#dir);
    if (this.#mustEnd(epoch)) throw new Error('the snapshot was given up: whoever writes it must end');
  }

  /** A folder cannot be renamed onto one that holds files: the old one steps aside first. */
  async #replace(building: string, name: string): Promise<void> {
    const place = join(this.#dir, name);
    const aside = join(this.#dir, REPLACED + name);
    await rm(aside, { recursive: true, force: true });
    await rename(place, aside).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    await rename(building, place);
    await syncPath(this.#dir);
    await rm(aside, { recursive: true, force: true });
  }

  #open(seq: number): Environment {
    const place = join(this.#dir, nameOf(seq));
    const folder = existsSync(place) ? place : join(this.#dir, REPLACED + nameOf(seq));
    checkEnvironmentFile(dataFileOf(folder));
    try {
      return openEnvironment(folder, { readOnly: true });
    } catch (error) {
      // Its owner may have removed it since that look: then it is missing, as it would have been a moment later.
      removeGhost(folder);
      checkEnvironmentFile(dataFileOf(folder));
      throw error;
    }
  }
}

/**
 * On the calling thread, the replica's or that of a copy: the tables behind the blocks must not change while it waits.
 */
function syncNow(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function nameOf(seq: number): string {
  return `snapshot-${String(seq).padStart(SEQ_DIGITS, '0')}`;
}

function openEnvironment(folder: string, mode: { readonly readOnly?: true; readonly noSync?: true }): Environment {
  return open<Uint8Array, Uint8Array>(folder, {
    noSubdir: false,
    overlappingSync: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    compression: false,
    noMemInit: false,
    ...mode,
  });
}

/** lmdb-js makes a folder where it finds none, if only to read: it must not be taken for a snapshot. */
function removeGhost(folder: string): void {
  if (existsSync(dataFileOf(folder))) return;
  try {
    rmSync(join(folder, 'lock.mdb'), { force: true });
    rmdirSync(folder);
  } catch {
    // It is gone, or holds a new snapshot by now.
  }
}

/** A read-only environment closes at once; the promise lmdb-js gives is resolved already. */
function closeNow(environment: Environment): void {
  environment.resetReadTxn();
  void environment.close();
}

function keyOf(index: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(index);
  return key;
}

/**
 * Values as they are stored, all made in the same memory, as blocks are: each is good until the next is asked for. A
 * put in a transaction of its own has copied it by then.
 */
class Values {
  #memory = Buffer.alloc(0);

  of(index: number, block: SnapshotBlock): Buffer {
    const key = Buffer.from(block.key, 'utf8');
    const keyLength = Buffer.allocUnsafe(KEY_LENGTH_BYTES);
    keyLength.writeUInt16BE(key.length);
    return this.withCrc(index, keyLength, key, block.bytes);
  }

  /** CRC-32 (seeded with the place, so that two values that changed places are found) before the parts. */
  withCrc(index: number, ...parts: readonly Uint8Array[]): Buffer {
    const length = parts.reduce((sum, part) => sum + part.length, CRC_BYTES);
    if (length > this.#memory.length) this.#memory = Buffer.allocUnsafe(length);
    const value = this.#memory.subarray(0, length);
    let at = CRC_BYTES;
    for (const part of parts) {
      value.set(part, at);
      at += part.length;
    }
    value.writeUInt32BE(crc32(value.subarray(CRC_BYTES), index));
    return value;
  }
}

/**
 * The checked bytes behind the CRC, which the next read of LMDB on this thread overwrites; undefined where there is no
 * value or it fails.
 */
function checkedValue(environment: Environment, index: number): Buffer | undefined {
  const value = environment.getBinaryFast(keyOf(index));
  if (value === undefined || value.length < CRC_BYTES) return undefined;
  const bytes = Buffer.from(value.buffer, value.byteOffset + CRC_BYTES, value.length - CRC_BYTES);
  const stored = new DataView(value.buffer, value.byteOffset).getUint32(0);
  return crc32(bytes, index) === stored ? bytes : undefined;
}

function readStoredHeader(environment: Environment, seq: number): StoredHeader {
  const bytes = checkedValue(environment, HEADER_INDEX);
  if (bytes === undefined) throw new DamagedError(`${nameOf(seq)}: the header is missing or fails its checksum`);
  const stored = JSON.parse(bytes.toString('utf8')) as StoredHeader;
  if (stored.header.seq !== seq) throw new DamagedError(`${nameOf(seq)}: the header is of ${stored.header.seq}`);
  return stored;
}

function borrowedBlock(environment: Environment, seq: number, index: number): SnapshotBlock {
  const bytes = checkedValue(environment, index);
  const keyEnd = bytes === undefined ? 0 : KEY_LENGTH_BYTES + bytes.readUInt16BE(0);
  if (bytes === undefined) throw new DamagedError(`${nameOf(seq)}: block ${index} is missing or fails its checksum`);
  return {
    key: bytes.toString('utf8', KEY_LENGTH_BYTES, keyEnd),
    bytes: new Uint8Array(bytes.buffer, bytes.byteOffset + keyEnd, bytes.length - keyEnd),
  };
}
