/**
 * Stores the players of the group in rows of 13 words; `SubjectIndex` finds a row by the full 32-byte subject hash.
 * The table grows by segments and shards, so that it never copies all rows. The words of a row are adjacent,
 * because a read of a player usually misses the CPU cache.
 *
 * | words | type       | bytes | meaning                                              |
 * |-------|------------|-------|------------------------------------------------------|
 * | 0-7   | Uint32 x 8 | 32    | key: the subject hash, as little-endian words        |
 * | 8-9   | Float64    | 8     | evidenceAt: ms since 1970 of the newest evidence     |
 * | 10    | Uint32     | 4     | updated: hour since 1970 of the newest record that changed the subject |
 * | 11    | Uint32     | 4     | entryAt: first of its peer entries                   |
 * | 12    | Uint16 x 2 | 4     | peers: number of peer entries, 0 for an empty row; the upper half holds the lowest bits of the hash |
 */
import { HOUR_MS, limits } from '../../limits.js';
import { copyKey, KEY_WORDS, sameKey } from '../columns/packed-keys.js';
import { Segment } from '../columns/segment.js';
import { type SipKey, sipHash } from '../hashing/siphash.js';
import type { EventColumns, KeyColumns } from './event-columns.js';
import { noEvidence, PeerEntries } from './peer-entries.js';
import { HOME_BITS, type KeyedRows, SubjectIndex } from './subject-index.js';

const SEGMENT_BITS = 14;
const SEGMENT_SIZE = 1 << SEGMENT_BITS;
const SEGMENT_MASK = SEGMENT_SIZE - 1;

const WORDS = 13;
const EVIDENCE_AT_BYTE = 32;
const UPDATED = 10;
const ENTRY_AT = 11;
const PEERS = 12;
const PEERS_BITS = 32 - HOME_BITS;
const PEERS_MASK = (1 << PEERS_BITS) - 1;
if (limits.peersMaxCeiling > PEERS_MASK) throw new Error('subjects: the peers of a row do not fit');

/** Converts a time in ms since 1970 to whole hours since 1970. */
export function hourOf(at: number): number {
  return Math.max(0, Math.floor(at / HOUR_MS));
}

/** Columns of consecutive rows: the results of `peerCount`, `firstEntry`, `evidenceAt` and `homeOf` for each. */
export interface RowColumns {
  readonly count: Uint16Array;
  readonly first: Uint32Array;
  readonly evidenceAt: Float64Array;
  readonly home: Uint16Array;
}

/** A key as words, reused from call to call; the table copies it on insertion. */
const wanted = new Uint32Array(KEY_WORDS);
const wantedBytes = new Uint8Array(wanted.buffer);
const oneRow = new Int32Array(1);

export class Subjects implements KeyedRows {
  readonly entries = new PeerEntries();
  readonly #key: SipKey;
  readonly #segments: Segment[] = [];
  readonly #index = new SubjectIndex(this);
  readonly #freeRows: number[] = [];
  rows = 0;

  constructor(key: SipKey) {
    this.#key = key;
  }

  get size(): number {
    return this.rows - this.#freeRows.length;
  }

  get full(): boolean {
    return this.size >= limits.subjectsMax;
  }

  reserve(count: number): void {
    this.#index.reserve(count);
  }

  /** True if a row holds a subject. The row of an erased subject is empty until it is reused. */
  has(row: number): boolean {
    return this.peerCount(row) > 0;
  }

  *held(): Generator<number> {
    for (let row = 0; row < this.rows; row++) if (this.has(row)) yield row;
  }

  *entriesOf(row: number): Generator<number> {
    const first = this.firstEntry(row);
    for (let entry = first; entry < first + this.peerCount(row); entry++) yield entry;
  }

  /** Returns the row of a subject, or -1. */
  find(subject: Uint8Array): number {
    wantedBytes.set(subject);
    return this.findFrom(wanted, 0);
  }

  /** Returns the row of the subject whose words begin at `from` of a column, or -1. */
  findFrom(keys: Uint32Array, from: number): number {
    return this.#index.find(keys, from, this.#hashOf(keys, from));
  }

  /** Returns the row of the subject of event `i` of prefetched columns, or -1. */
  findOfEvent({ keys, hashes, rows }: KeyColumns, i: number): number {
    const row = this.#findLikely(rows[i]!, keys, i * KEY_WORDS, hashes[i]!);
    rows[i] = row;
    return row;
  }

  /** Returns the row of a key, or -1. `likely` is the probable row of its hash, -1 if there is none. */
  #findLikely(likely: number, keys: Uint32Array, from: number, hash: number): number {
    // If the subject was erased meanwhile, its row has a key of zeros, which a caller's hash may have, too.
    if (likely >= 0 && this.hasKey(likely, keys, from) && this.has(likely)) return likely;
    return this.#index.find(keys, from, hash);
  }

  /** Fills in the rows of all keys, -1 for an absent one, and prefetches what a read of the rows needs. */
  findAll(columns: KeyColumns): void {
    this.prefetch(columns);
    for (let i = 0; i < columns.count; i++) this.findOfEvent(columns, i);
  }

  /** Uniform signed 32-bit hash of a key and the node's secret. */
  #hashOf(keys: Uint32Array, from: number): number {
    return sipHash(this.#key, keys, from, KEY_WORDS);
  }

  /** Moves the time of a subject's newest change forward to `at`, in ms since 1970. */
  touch(subject: Uint8Array, at: number): void {
    const row = this.find(subject);
    if (row < 0) return;
    touch(this.#segments[row >>> SEGMENT_BITS]!, (row & SEGMENT_MASK) * WORDS, hourOf(at), this.evidenceAt(row));
  }

  /** Number of the subject's peer entries; `firstEntry` returns the first of them. */
  peerCount(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + PEERS]! & PEERS_MASK;
  }

  firstEntry(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + ENTRY_AT]!;
  }

  /** Time of the subject's newest change in ms since 1970, rounded down to the hour. */
  updatedAt(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + UPDATED]! * HOUR_MS;
  }

  /** Time of the subject's newest evidence in ms since 1970. */
  evidenceAt(row: number): number {
    const { view } = this.#segments[row >>> SEGMENT_BITS]!;
    return view.getFloat64((row & SEGMENT_MASK) * WORDS * 4 + EVIDENCE_AT_BYTE, true);
  }

  /** Returns a copy of the subject's 32 bytes. */
  keyOf(row: number): Uint8Array {
    const from = (row & SEGMENT_MASK) * WORDS;
    return new Uint8Array(this.#segments[row >>> SEGMENT_BITS]!.words.slice(from, from + KEY_WORDS).buffer);
  }

  copyKeyOf(row: number, words: Uint32Array, to: number): void {
    copyKey(this.#segments[row >>> SEGMENT_BITS]!.words, (row & SEGMENT_MASK) * WORDS, words, to);
  }

  /** `HOME_BITS` uniform bits, derived from the row's key and the node's secret. */
  homeOf(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + PEERS]! >>> PEERS_BITS;
  }

  hasKey(row: number, keys: Uint32Array, from: number): boolean {
    const { words } = this.#segments[row >>> SEGMENT_BITS]!;
    return sameKey(words, (row & SEGMENT_MASK) * WORDS, keys, from);
  }

  readRows(from: number, end: number, { count, first, evidenceAt, home }: RowColumns): void {
    for (let row = from; row < end; ) {
      const { words, view } = this.#segments[row >>> SEGMENT_BITS]!;
      const endHere = Math.min(end, (row | SEGMENT_MASK) + 1);
      for (let at = (row & SEGMENT_MASK) * WORDS; row < endHere; row++, at += WORDS) {
        const i = row - from;
        const peers = words[at + PEERS]!;
        count[i] = peers & PEERS_MASK;
        home[i] = peers >>> PEERS_BITS;
        first[i] = words[at + ENTRY_AT]!;
        evidenceAt[i] = view.getFloat64(at * 4 + EVIDENCE_AT_BYTE, true);
      }
    }
  }

  /** Prefetches both ends of a row, because most rows span two cache lines. */
  #prefetchRow(row: number): number {
    const { words } = this.#segments[row >>> SEGMENT_BITS]!;
    const at = (row & SEGMENT_MASK) * WORDS;
    return words[at]! + words[at + PEERS]!;
  }

  /** Returns the entry of a peer on a row, or -1. */
  findEntry(row: number, peer: number): number {
    const first = this.firstEntry(row);
    const place = this.entries.placeOf(first, this.peerCount(row), peer);
    return place < 0 ? -1 : first + place;
  }

  /** Returns the entry of a pair, an empty one if it is new; moves the subject's times forward (ms since 1970). */
  ensureEntry(subject: Uint8Array, peer: number, updatedAt: number, evidenceAt: number): number {
    wantedBytes.set(subject);
    oneRow[0] = -1;
    return this.ensureEntryAt(oneRow, 0, wanted, 0, this.#hashOf(wanted, 0), peer, hourOf(updatedAt), evidenceAt);
  }

  ensureEntryOfEvent(events: EventColumns, i: number, updatedAt: number, evidenceAt: number): number {
    const { keys, hashes, rows, peers } = events;
    const hour = hourOf(updatedAt);
    return this.ensureEntryAt(rows, i, keys, i * KEY_WORDS, hashes[i]!, peers[i]!, hour, evidenceAt);
  }

  /** Like `ensureEntry`, for a key of a column. `rows[i]`: the probable row or -1, becomes the row. `hour`: of now. */
  ensureEntryAt(
    rows: Int32Array,
    i: number,
    keys: Uint32Array,
    from: number,
    hash: number,
    peer: number,
    hour: number,
    evidenceAt: number,
  ): number {
    const row = this.#findLikely(rows[i]!, keys, from, hash);
    rows[i] = row;
    if (row < 0) {
      rows[i] = this.#admit(keys, from, hash, 1, hour, evidenceAt);
      const first = this.firstEntry(rows[i]!);
      this.entries.set(first, peer, noEvidence, 0, 0);
      return first;
    }
    const segment = this.#segments[row >>> SEGMENT_BITS]!;
    const at = (row & SEGMENT_MASK) * WORDS;
    touch(segment, at, hour, evidenceAt);
    const first = segment.words[at + ENTRY_AT]!;
    const place = this.entries.placeOf(first, segment.words[at + PEERS]! & PEERS_MASK, peer);
    return place < 0 ? this.#addPeer(segment.words, at, peer, ~place) : first + place;
  }

  fillHashes({ keys, hashes, count }: KeyColumns): void {
    for (let i = 0; i < count; i++) hashes[i] = this.#hashOf(keys, i * KEY_WORDS);
  }

  /**
   * Fills in hashes and prefetches slots, rows and entries, one kind after the other for all keys: single lookups
   * would wait for each. Returns a sum of the words read, without which a compiler could drop the reads.
   */
  prefetch(columns: KeyColumns): number {
    const { hashes, rows, count } = columns;
    this.fillHashes(columns);
    // With a single key there are no accesses that could overlap.
    if (count < 2) {
      rows.fill(-1, 0, count);
      return 0;
    }
    let sum = 0;
    for (let i = 0; i < count; i++) sum += this.#index.prefetch(hashes[i]!);
    for (let i = 0; i < count; i++) rows[i] = this.#index.likelyRow(hashes[i]!);
    for (let i = 0; i < count; i++) if (rows[i]! >= 0) sum += this.#prefetchRow(rows[i]!);
    for (let i = 0; i < count; i++)
      if (rows[i]! >= 0) sum += this.entries.prefetch(this.firstEntry(rows[i]!), this.peerCount(rows[i]!));
    return sum;
  }

  /** Inserts an absent subject, and returns the first of its `count` entries. The caller sets them, sorted by peer. */
  admit({ keys, hashes }: KeyColumns, i: number, count: number, updatedAt: number, evidenceAt: number): number {
    const from = i * KEY_WORDS;
    if (this.#index.find(keys, from, hashes[i]!) >= 0) throw new Error('subjects: the subject is in the table already');
    return this.firstEntry(this.#admit(keys, from, hashes[i]!, count, hourOf(updatedAt), evidenceAt));
  }

  #admit(keys: Uint32Array, from: number, hash: number, count: number, hour: number, evidenceAt: number): number {
    const row = this.#freeRows.pop() ?? this.rows++;
    if (row >>> SEGMENT_BITS >= this.#segments.length) this.#segments.push(new Segment(SEGMENT_SIZE * WORDS));
    const segment = this.#segments[row >>> SEGMENT_BITS]!;
    const { words, view } = segment;
    const at = (row & SEGMENT_MASK) * WORDS;
    copyKey(keys, from, words, at);
    words[at + ENTRY_AT] = this.entries.allocate(count);
    words[at + PEERS] = (hash << PEERS_BITS) | count;
    view.setFloat64(at * 4 + EVIDENCE_AT_BYTE, evidenceAt, true);
    touch(segment, at, hour, evidenceAt);
    this.#index.insert(row, hash);
    return row;
  }

  /** Adds an empty entry for a new peer of the row whose words begin at `at`, at `place` of its entries. */
  #addPeer(words: Uint32Array, at: number, peer: number, place: number): number {
    const first = this.entries.insert(words[at + ENTRY_AT]!, words[at + PEERS]! & PEERS_MASK, place);
    words[at + ENTRY_AT] = first;
    words[at + PEERS]!++;
    this.entries.set(first + place, peer, noEvidence, 0, 0);
    return first + place;
  }

  remove(subject: Uint8Array): void {
    wantedBytes.set(subject);
    const row = this.#index.remove(wanted, 0, this.#hashOf(wanted, 0));
    if (row < 0) return;
    this.entries.release(this.firstEntry(row), this.peerCount(row));
    const at = (row & SEGMENT_MASK) * WORDS;
    this.#segments[row >>> SEGMENT_BITS]!.words.fill(0, at, at + WORDS);
    this.#freeRows.push(row);
  }
}

/** Moves the times of the row whose words begin at `at` forward; a clock that was set back changes nothing. */
function touch({ words, view }: Segment, at: number, hour: number, evidenceAt: number): void {
  if (hour > words[at + UPDATED]!) words[at + UPDATED] = hour;
  const byte = at * 4 + EVIDENCE_AT_BYTE;
  if (evidenceAt > view.getFloat64(byte, true)) view.setFloat64(byte, evidenceAt, true);
}
