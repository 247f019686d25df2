/** Keeps numbered records in segment files as one queue, synced before they count. It knows nothing of events. */
import { type FileHandle, open, readdir, readFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { bounds } from '../../bounds.js';
import {
  decodeHeader,
  encodeHeader,
  encodeRecords,
  fileNameOf,
  firstSeqOf,
  HEADER_BYTES,
  piecesOf,
} from './spool-segment.js';

interface Segment {
  readonly path: string;
  readonly firstSeq: number;
  /** Number of synced records, including damaged ones. */
  count: number;
  bytes: number;
  isDamaged: boolean;
}

export interface Entry {
  readonly seq: number;
  readonly payload: Buffer;
}

export interface Stretch {
  readonly seq: number;
  readonly count: number;
  readonly bytes: number;
}

/** Consecutive records; none if the first requested one is damaged, with the damaged ones after it. */
export interface Read {
  readonly entries: Entry[];
  readonly damage: Stretch | null;
}

/** The torn end of a file that a start cut off, or a file without a whole record that it renamed, by its new name. */
export interface Cut {
  readonly file: string;
  readonly bytes: number;
}

export class Journal {
  readonly #folder: string;
  readonly #segments: Segment[];
  readonly cuts: readonly Cut[];
  nextSeq: number;
  /** Records up to this one are no longer needed. */
  #through: number;
  #active: FileHandle | null = null;
  /** Position at which the last read ended, so that the next one need not search for its own. */
  #place = { seq: -1, offset: 0 };

  private constructor(folder: string, segments: Segment[], cuts: readonly Cut[], through: number, nextSeq: number) {
    this.#folder = folder;
    this.#segments = segments;
    this.cuts = cuts;
    this.#through = through;
    this.nextSeq = nextSeq;
  }

  /** Cuts off torn ends and continues after the last record. Calls `onRecords` for records and damaged stretches. */
  static async open(folder: string, minNextSeq: number, onRecords: (stretch: Stretch) => void): Promise<Journal> {
    const starts = (await readdir(folder)).map(firstSeqOf).filter((seq) => seq !== null);
    starts.sort((a, b) => a - b);
    const segments: Segment[] = [];
    const cuts: Cut[] = [];
    for (const [index, firstSeq] of starts.entries()) {
      const { segment, cut } = await recover(
        join(folder, fileNameOf(firstSeq)),
        firstSeq,
        starts[index + 1],
        onRecords,
      );
      if (segment !== null) segments.push(segment);
      if (cut !== null) cuts.push(cut);
    }
    const last = segments.at(-1);
    const nextSeq = Math.max(minNextSeq, last === undefined ? 1 : last.firstSeq + last.count);
    return new Journal(folder, segments, cuts, minNextSeq - 1, nextSeq);
  }

  /** Resolves with the number of the first record once all are on disk. If it rejects, none counts. */
  async append(payloads: readonly Buffer[]): Promise<number> {
    const firstSeq = this.nextSeq;
    const { segment, handle } = await this.#writable();
    const bytes = encodeRecords(firstSeq, payloads);
    try {
      await writeAll(handle, bytes, segment.bytes);
      await handle.datasync();
    } catch (error) {
      // After a failed sync the content of the disk is unknown: the file gets no further records, and those of this
      // call are removed if possible.
      await this.#abandon(segment);
      throw error;
    }
    segment.bytes += bytes.byteLength;
    segment.count += payloads.length;
    this.nextSeq += payloads.length;
    return firstSeq;
  }

  /** Returns records from `seq` on within both bounds, at least one; ends before the next damaged one. */
  async read(seq: number, countMax: number, bytesMax: number): Promise<Read> {
    const segment = this.#segments.find((one) => seq < one.firstSeq + one.count);
    if (segment === undefined) return { entries: [], damage: null };
    const from = Math.max(seq, segment.firstSeq);
    // Taken before the bytes are read, so that the records of an append that ends meanwhile do not count.
    const end = segment.firstSeq + segment.count;
    const size = segment.bytes;
    const isPlace = this.#place.seq === from && from > segment.firstSeq;
    const start = isPlace ? this.#place : { seq: segment.firstSeq, offset: HEADER_BYTES };
    // A long backlog is read in pieces of what one call takes, as long as each has a whole record.
    const enough = isPlace ? Math.min(size, start.offset + bytesMax + 2 * bounds.spoolEventBytes) : size;
    let bytes = await bytesOf(segment.path, start.offset, enough);
    const [first] = piecesOf(bytes, start.seq, end, 0);
    if (enough < size && (first?.payload ?? null) === null) bytes = await bytesOf(segment.path, start.offset, size);
    const entries: Entry[] = [];
    let roomBytes = bytesMax;
    // Unless a piece says otherwise, the file was cut by another program.
    let damage = { seq: end - 1, count: end - from, bytes: size - start.offset - bytes.byteLength };
    for (const { seq: next, count, at, bytes: length, payload } of piecesOf(bytes, start.seq, end, 0)) {
      if (next + count <= from) continue;
      if (entries.length > 0 && (payload === null || entries.length === countMax || length > roomBytes)) break;
      roomBytes -= length;
      this.#place = { seq: next + count, offset: start.offset + at + length };
      if (payload === null) {
        damage = { seq: next + count - 1, count: next + count - from, bytes: length };
        break;
      }
      entries.push({ seq: next, payload });
    }
    if (entries.length > 0) return { entries, damage: null };
    segment.isDamaged = true;
    return { entries, damage };
  }

  async dropThrough(seq: number): Promise<void> {
    this.#through = seq;
    for (;;) {
      const first = this.#segments[0];
      if (first === undefined || first.firstSeq + first.count - 1 > seq) return;
      const isLast = this.#segments.length === 1;
      if (isLast && first.bytes < bounds.spoolSegmentBytes) return;
      this.#segments.shift();
      // An open file keeps its disk space.
      if (isLast) await this.close();
      if (first.isDamaged) await putAside(first.path);
      else await rm(first.path, { force: true });
    }
  }

  async close(): Promise<void> {
    const handle = this.#active;
    this.#active = null;
    await handle?.close();
  }

  async #writable(): Promise<{ segment: Segment; handle: FileHandle }> {
    const last = this.#segments.at(-1);
    const fits =
      last !== undefined && last.bytes < bounds.spoolSegmentBytes && last.firstSeq + last.count === this.nextSeq;
    if (fits) {
      this.#active ??= await open(last.path, 'r+');
      return { segment: last, handle: this.#active };
    }
    await this.close();
    // On a full disk, files that are no longer needed may be the only room left.
    await this.dropThrough(this.#through).catch(() => undefined);
    const path = join(this.#folder, fileNameOf(this.nextSeq));
    const handle = await open(path, 'w+', 0o600);
    try {
      await writeAll(handle, encodeHeader(this.nextSeq), 0);
      await handle.datasync();
      await syncFolder(this.#folder);
    } catch (error) {
      await handle.close();
      throw error;
    }
    const segment = { path, firstSeq: this.nextSeq, count: 0, bytes: HEADER_BYTES, isDamaged: false };
    // A file with the same name contained no whole record.
    if (this.#segments.at(-1)?.firstSeq === segment.firstSeq) this.#segments.pop();
    this.#segments.push(segment);
    this.#active = handle;
    return { segment, handle };
  }

  async #abandon(segment: Segment): Promise<void> {
    await this.close().catch(() => undefined);
    await truncate(segment.path, segment.bytes).catch(() => undefined);
    if (segment.count === 0) this.#segments.splice(this.#segments.indexOf(segment), 1);
    // The file then counts as full, so that the next append opens another one.
    else segment.bytes = Math.max(segment.bytes, bounds.spoolSegmentBytes);
  }
}

/** Keeps a file for inspection, under a unique name: numbers may occur again. Resolves with the name. */
async function putAside(path: string): Promise<string> {
  for (let copy = 0; ; copy++) {
    const aside = `${path}${copy === 0 ? '' : `.${copy}`}.damaged`;
    const isOccupied = await stat(aside).then(
      () => true,
      () => false,
    );
    if (isOccupied) continue;
    await rename(path, aside);
    return aside;
  }
}

/** Checks a file record by record up to the first record of the next file; cuts off a torn end. */
async function recover(
  path: string,
  firstSeq: number,
  nextStart: number | undefined,
  onRecords: (stretch: Stretch) => void,
): Promise<{ segment: Segment | null; cut: Cut | null }> {
  const bytes = await readFile(path);
  const pieces = [...piecesOf(bytes, firstSeq, nextStart ?? Number.POSITIVE_INFINITY)];
  const headIsWhole = decodeHeader(bytes) === firstSeq;
  // The file name states the same number as the header, and a whole record confirms it.
  if (!headIsWhole && pieces.every(({ payload }) => payload === null)) {
    // A file whose creation was interrupted is empty; any other is kept for inspection.
    const isEmpty = bytes.byteLength <= HEADER_BYTES;
    const file = isEmpty ? path : await putAside(path);
    if (isEmpty) await rm(path);
    return { segment: null, cut: { file, bytes: bytes.byteLength } };
  }
  let at = HEADER_BYTES;
  let next = firstSeq;
  let isDamaged = !headIsWhole;
  for (const piece of pieces) {
    at += piece.bytes;
    next += piece.count;
    isDamaged ||= piece.payload === null;
    onRecords({ seq: next - 1, count: piece.count, bytes: piece.bytes });
  }
  // A file with a damaged header counts as full, so that the next append opens another one.
  const counted = headIsWhole ? at : Math.max(at, bounds.spoolSegmentBytes);
  const segment = { path, firstSeq, count: next - firstSeq, bytes: counted, isDamaged };
  if (at === bytes.byteLength) return { segment, cut: null };
  await truncate(path, at);
  return { segment, cut: { file: path, bytes: bytes.byteLength - at } };
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    done += (await handle.write(bytes, done, bytes.byteLength - done, position + done)).bytesWritten;
  }
}

/** Returns the bytes of a file from `start` to `end`; fewer if another program cut it. */
async function bytesOf(path: string, start: number, end: number): Promise<Buffer> {
  if (start >= end) return Buffer.alloc(0);
  const file = await open(path, 'r');
  const parts: Buffer[] = [];
  // The stream closes the file.
  const stream = file.createReadStream({ start, end: end - 1, highWaterMark: bounds.spoolGroupBytes });
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
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
