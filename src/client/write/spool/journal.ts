/** Keeps numbered records in files as one queue, synced before they count, and how much of it is delivered. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { bounds } from '../../bounds.js';
import * as records from './spool-record.js';

interface Segment {
  readonly path: string;
  readonly firstSeq: number;
  /** The number after the last synced record, including damaged ones. */
  end: number;
  bytes: number;
  isDamaged: boolean;
}

export interface Entry {
  readonly seq: number;
  readonly payload: Buffer;
}

export type Stretch = Pick<records.Piece, 'seq' | 'count' | 'bytes'>;

/** Consecutive records; none if the first requested one is damaged, with the damaged ones after it. */
export interface Read {
  readonly entries: Entry[];
  readonly damage: Stretch | null;
}

export class Journal {
  readonly #segments: Segment[] = [];
  /** The torn ends of files that the start cut off. */
  readonly cuts: { readonly file: string; readonly bytes: number }[] = [];
  nextSeq = 1;
  /** Size of the records after `through` at the start. */
  waitingBytes = 0;
  #active: FileHandle | null = null;
  /** Position at which the last read ended, so that the next one need not search for its own. */
  #place = { seq: -1, offset: 0 };

  private constructor(
    private readonly folder: string,
    /**
     * The file that states `through`. It is not synced: if the number is lost, the node answers the events that are
     * sent again as stored already. It has its full length from the start, so that a disk that fills up later has room
     * for it.
     */
    private readonly mark: FileHandle,
    /** Records up to this one are delivered. */
    public through: number,
  ) {}

  /** Cuts off a torn end and continues after the last record. */
  static async open(folder: string): Promise<Journal> {
    const path = join(folder, 'delivered');
    const mark = await open(path, 'r+').catch(() => open(path, 'w+', 0o600));
    try {
      const { buffer } = await mark.read(Buffer.alloc(records.RECORD_EXTRA_BYTES), 0, records.RECORD_EXTRA_BYTES, 0);
      const journal = new Journal(folder, mark, records.deliveredIn(buffer));
      const files = records.recordFiles(await readdir(folder));
      for (const { name, firstSeq, end } of files) await journal.#recover(join(folder, name), firstSeq, end);
      journal.through = Math.max(journal.through, (files[0]?.firstSeq ?? 1) - 1);
      journal.nextSeq = Math.max(journal.through + 1, journal.#segments.at(-1)?.end ?? 1);
      await journal.#writeMark();
      return journal;
    } catch (error) {
      await mark.close();
      throw error;
    }
  }

  /** Number of records that are not delivered. */
  get waiting(): number {
    return this.nextSeq - 1 - this.through;
  }

  /** Checks a file record by record up to the first record of the next file; cuts off a torn end. */
  async #recover(path: string, firstSeq: number, nextStart: number): Promise<void> {
    const bytes = await readFile(path);
    records.refuseEarlier(path, bytes);
    const segment = { path, firstSeq, end: firstSeq, bytes: 0, isDamaged: false };
    for (const { seq, count, at, bytes: length, payload } of records.piecesOf(bytes, firstSeq, nextStart)) {
      segment.end = seq + count;
      segment.bytes = at + length;
      segment.isDamaged ||= payload === null;
      if (seq + count - 1 > this.through) this.waitingBytes += length;
    }
    this.#segments.push(segment);
    if (segment.bytes === bytes.byteLength) return;
    await truncate(path, segment.bytes);
    this.cuts.push({ file: path, bytes: bytes.byteLength - segment.bytes });
  }

  /** Resolves with the number of the first record once all are on disk. If it rejects, none counts. */
  async append(payloads: readonly Buffer[]): Promise<number> {
    const firstSeq = this.nextSeq;
    const { segment, handle } = await this.#writable();
    const bytes = Buffer.concat(payloads.map((payload, index) => records.encodeRecord(firstSeq + index, payload)));
    try {
      await writeAll(handle, bytes, segment.bytes);
      await handle.datasync();
    } catch (error) {
      // After a failed sync the content of the disk is unknown, so that the file counts as full.
      await this.#closeActive().catch(() => undefined);
      await truncate(segment.path, segment.bytes).catch(() => undefined);
      segment.bytes = Math.max(segment.bytes, bounds.spoolSegmentBytes);
      throw error;
    }
    segment.bytes += bytes.byteLength;
    this.nextSeq += payloads.length;
    segment.end = this.nextSeq;
    return firstSeq;
  }

  /** Returns records from `seq` on within both bounds, at least one; ends before the next damaged one. */
  async read(seq: number, countMax: number, bytesMax: number): Promise<Read> {
    const segment = this.#segments.find((one) => seq < one.end);
    if (segment === undefined) return { entries: [], damage: null };
    const from = Math.max(seq, segment.firstSeq);
    // Taken before the bytes are read, so that the records of an append that ends meanwhile do not count.
    const { end, bytes: size } = segment;
    const isPlace = this.#place.seq === from && from > segment.firstSeq;
    const start = isPlace ? this.#place : { seq: segment.firstSeq, offset: 0 };
    const bytes = await bytesOf(segment.path, start.offset, size);
    const entries: Entry[] = [];
    let roomBytes = bytesMax;
    for (const { seq: next, count, at, bytes: length, payload } of records.piecesOf(bytes, start.seq, end)) {
      if (next + count <= from) continue;
      if (entries.length > 0 && (payload === null || entries.length === countMax || length > roomBytes)) break;
      roomBytes -= length;
      this.#place = { seq: next + count, offset: start.offset + at + length };
      if (payload === null) {
        segment.isDamaged = true;
        return { entries, damage: { seq: next + count - 1, count: next + count - from, bytes: length } };
      }
      entries.push({ seq: next, payload });
    }
    return { entries, damage: null };
  }

  /** Notes that the records up to this one are delivered, and removes the files that hold no other. */
  async passed(seq: number): Promise<void> {
    this.through = seq;
    await this.#writeMark();
    await this.#drop();
  }

  async close(): Promise<void> {
    await this.#closeActive();
    await this.mark.close();
  }

  /** A number that cannot be written counts all the same: see `mark`. */
  async #writeMark(): Promise<void> {
    await this.mark.write(records.encodeRecord(this.through, Buffer.alloc(0)), 0, null, 0).catch(() => undefined);
  }

  async #drop(): Promise<void> {
    for (;;) {
      const [first] = this.#segments;
      if (first === undefined || first.end - 1 > this.through) return;
      const isLast = this.#segments.length === 1;
      if (isLast && first.bytes < bounds.spoolSegmentBytes) return;
      this.#segments.shift();
      // An open file keeps its disk space.
      if (isLast) await this.#closeActive();
      // A damaged file is kept for inspection, under a unique name: numbers may occur again.
      if (first.isDamaged) await rename(first.path, `${first.path}.${randomUUID().slice(0, 8)}.damaged`);
      else await rm(first.path, { force: true });
    }
  }

  async #closeActive(): Promise<void> {
    const handle = this.#active;
    this.#active = null;
    await handle?.close();
  }

  async #writable(): Promise<{ segment: Segment; handle: FileHandle }> {
    const last = this.#segments.at(-1);
    if (last !== undefined && last.bytes < bounds.spoolSegmentBytes && last.end === this.nextSeq) {
      this.#active ??= await open(last.path, 'r+');
      return { segment: last, handle: this.#active };
    }
    await this.#closeActive();
    // On a full disk, files that are no longer needed may be the only room left.
    await this.#drop().catch(() => undefined);
    const path = join(this.folder, records.fileNameOf(this.nextSeq));
    const handle = await open(path, 'w+', 0o600);
    try {
      await syncFolder(this.folder);
    } catch (error) {
      await handle.close();
      throw error;
    }
    const segment = { path, firstSeq: this.nextSeq, end: this.nextSeq, bytes: 0, isDamaged: false };
    // A file with the same name contained no whole record.
    if (this.#segments.at(-1)?.firstSeq === segment.firstSeq) this.#segments.pop();
    this.#segments.push(segment);
    this.#active = handle;
    return { segment, handle };
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    done += (await handle.write(bytes, done, bytes.byteLength - done, position + done)).bytesWritten;
  }
}

/** Returns the bytes of a file from `start` to `end`; fewer if another program cut it. */
async function bytesOf(path: string, start: number, end: number): Promise<Buffer> {
  const file = await open(path, 'r');
  const reading = file.read(Buffer.alloc(Math.max(0, end - start)), 0, null, start);
  const { buffer, bytesRead } = await reading.finally(() => file.close());
  return buffer.subarray(0, bytesRead);
}

/** A new file's name is on disk only once its folder is synced. Some systems cannot sync a folder, and need not. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, 'r');
    await handle.sync();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EISDIR' && code !== 'EPERM' && code !== 'EINVAL') throw error;
  } finally {
    await handle?.close();
  }
}
