/** Snapshots, each in an LMDB environment built aside and renamed. LMDB has no checksums, so each value has one. */
import { existsSync, fdatasyncSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { open, type RootDatabase } from 'lmdb';
import type { SnapshotBlock } from '../../core/snapshot/snapshot.js';
import { hasCode } from '../../errors.js';
import { DamagedError, type SnapshotHeader, type SnapshotStore } from '../../group/ports/storage.js';
import { refuseWithoutCommitSpace } from '../files/full-disk.js';
import { checkEnvironmentFile, dataFileOf, withFile } from '../files/lmdb-file.js';
import { syncPath } from '../files/small-file.js';

type Environment = RootDatabase<Uint8Array, Uint8Array>;

/** The stored header with the number of blocks, so that a missing block is detected. */
interface StoredHeader {
  readonly header: SnapshotHeader;
  readonly blocks: number;
}

const SEQ_DIGITS = 16;
const COMPLETE = /^snapshot-\d{16}$/;
/** Matches names with or without `REPLACED`. */
const LISTED = /^(?:\.old-)?snapshot-(\d{16})$/;
const LEFT_OVER = /^\.tmp-(gone-)?snapshot-\d{16}$/;
/** Prefixes of a snapshot under construction, and of one that is being removed. */
const BUILDING = '.tmp-';
const LEAVING = '.tmp-gone-';
/** Prefix of a snapshot that was moved aside for its replacement. Without the replacement it is still valid. */
const REPLACED = '.old-';
const CRC_BYTES = 4;
const KEY_LENGTH_BYTES = 2;
const HEADER_INDEX = 0;
/** Unsynced bytes of a snapshot, plus one block: commits of the log wait behind unsynced data. */
const UNSYNCED_BYTES_MAX = 1_048_576;

/** Returns the file of a complete snapshot in the data folder `dir`. It never changes. */
export function snapshotFileOf(dir: string, seq: number): string {
  return dataFileOf(join(dir, nameOf(seq)));
}

export class LmdbSnapshotStore implements SnapshotStore {
  /** Writes reject once `mustEnd`: a thread that is terminated in a transaction blocks the process for ever. */
  constructor(
    private readonly dir: string,
    private readonly mustEnd: (epoch: number) => boolean = () => false,
  ) {}

  list(): number[] {
    const seqs = readdirSync(this.dir)
      .map((name) => LISTED.exec(name)?.[1])
      .filter((digits) => digits !== undefined)
      .map(Number);
    return [...new Set(seqs)].sort((a, b) => b - a);
  }

  async write(header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void> {
    const name = nameOf(header.seq);
    const building = join(this.dir, BUILDING + name);
    await rm(building, { recursive: true, force: true });
    try {
      await mkdir(building, { mode: 0o700 });
      // LMDB's lock file stays: on a full disk a process that opens the snapshot could not create one, and would die.
      await this.#build(building, header, blocks);
      await syncPath(dataFileOf(building));
      await syncPath(building);
      // Syncing takes long. A snapshot of an earlier owner may contain a player that the new owner has erased.
      this.#goOn(header);
      await this.#replace(building, name);
    } catch (error) {
      // Free the space: the next attempt uses another name. An error here is ignored, since the first is the cause.
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
    const going = join(this.dir, LEAVING + name);
    // Remove a replaced snapshot first: a sweep would bring it back as soon as the snapshot itself is gone.
    for (const relative of [REPLACED + name, BUILDING + name, name]) {
      await rm(going, { recursive: true, force: true });
      try {
        // Rename it off the list first, so that half a snapshot never looks complete.
        await rename(join(this.dir, relative), going);
      } catch (error) {
        if (hasCode(error, 'ENOENT')) continue;
        throw error;
      }
      await syncPath(this.dir);
    }
    await rm(going, { recursive: true, force: true });
  }

  async sweep(): Promise<void> {
    const names = readdirSync(this.dir);
    const complete = new Set(names.filter((name) => COMPLETE.test(name)));
    for (const name of names) {
      const path = join(this.dir, name);
      const isReplaced = name.startsWith(REPLACED) && COMPLETE.test(name.slice(REPLACED.length));
      const replacedName = name.slice(REPLACED.length);
      if (isReplaced && !complete.has(replacedName)) await rename(path, join(this.dir, replacedName));
      else if (isReplaced || LEFT_OVER.test(name)) await rm(path, { recursive: true, force: true });
    }
    await syncPath(this.dir);
  }

  async #build(folder: string, header: SnapshotHeader, blocks: Iterable<SnapshotBlock>): Promise<void> {
    this.#goOn(header);
    // The file is synced from time to time and when it is complete.
    const environment = openEnvironment(folder, { noSync: true });
    const values = new Values();
    try {
      let index = HEADER_INDEX;
      let unsyncedBytes = 0;
      // Each block has its own transaction, because one call that writes megabytes would block the thread.
      for (const block of blocks) {
        index += 1;
        // Encode before anything else reads from LMDB: a block of another snapshot is a borrowed view.
        const value = values.of(index, block);
        this.#goOn(header);
        environment.putSync(keyOf(index), value);
        unsyncedBytes += value.length;
        if (unsyncedBytes < UNSYNCED_BYTES_MAX) continue;
        // On this thread, because the tables behind the blocks must not change meanwhile.
        withFile(dataFileOf(folder), fdatasyncSync);
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

  /** Checks before each write whether to continue. */
  #goOn({ epoch }: SnapshotHeader): void {
    refuseWithoutCommitSpace(this.dir);
    if (this.mustEnd(epoch)) throw new Error('the snapshot was aborted, because its writer must end');
  }

  /** Replaces a snapshot. A folder cannot be renamed onto one that has files, so the old one is moved aside first. */
  async #replace(building: string, name: string): Promise<void> {
    const place = join(this.dir, name);
    const aside = join(this.dir, REPLACED + name);
    await rm(aside, { recursive: true, force: true });
    await rename(place, aside).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
    await rename(building, place);
    await syncPath(this.dir);
    await rm(aside, { recursive: true, force: true });
  }

  #open(seq: number): Environment {
    const place = join(this.dir, nameOf(seq));
    const folder = existsSync(place) ? place : join(this.dir, REPLACED + nameOf(seq));
    checkEnvironmentFile(dataFileOf(folder));
    try {
      return openEnvironment(folder, { readOnly: true });
    } catch (error) {
      // Its owner may have removed the snapshot meanwhile. It is then reported as missing.
      removeGhost(folder);
      checkEnvironmentFile(dataFileOf(folder));
      throw error;
    }
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

/** Removes an empty folder. lmdb-js creates a missing folder even for a read, and it must not look like a snapshot. */
function removeGhost(folder: string): void {
  if (existsSync(dataFileOf(folder))) return;
  try {
    rmSync(join(folder, 'lock.mdb'), { force: true });
    rmdirSync(folder);
  } catch {
    // The folder is gone, or has a new snapshot by now.
  }
}

/** Closes a read-only environment at once; the promise of lmdb-js is already resolved. */
function closeNow(environment: Environment): void {
  environment.resetReadTxn();
  void environment.close();
}

function keyOf(index: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(index);
  return key;
}

/** Encodes values in the same memory: a borrowed view until the next call; a put has copied it by then. */
class Values {
  #memory = Buffer.alloc(0);

  of(index: number, block: SnapshotBlock): Buffer {
    const key = Buffer.from(block.key, 'utf8');
    const keyLength = Buffer.allocUnsafe(KEY_LENGTH_BYTES);
    keyLength.writeUInt16BE(key.length);
    return this.withCrc(index, keyLength, key, block.bytes);
  }

  /** Prepends a CRC-32 to the parts. The index seeds the CRC, so that exchanged values are detected. */
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

/** A borrowed view of the checked bytes until the next read. Undefined without a value or with a wrong CRC. */
function checkedValue(environment: Environment, index: number): Buffer | undefined {
  const value = environment.getBinaryFast(keyOf(index));
  if (value === undefined || value.length < CRC_BYTES) return undefined;
  const bytes = Buffer.from(value.buffer, value.byteOffset + CRC_BYTES, value.length - CRC_BYTES);
  return crc32(bytes, index) === new DataView(value.buffer, value.byteOffset).getUint32(0) ? bytes : undefined;
}

function readStoredHeader(environment: Environment, seq: number): StoredHeader {
  const bytes = checkedValue(environment, HEADER_INDEX);
  if (bytes === undefined) throw new DamagedError(`${nameOf(seq)}: the header is missing or fails its checksum`);
  const stored = JSON.parse(bytes.toString('utf8')) as StoredHeader;
  if (stored.header.seq !== seq)
    throw new DamagedError(`${nameOf(seq)}: the header belongs to snapshot ${stored.header.seq}`);
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
