/**
 * The players of the group under their hashes: a row per subject in segments, found over all 32 bytes of the key by
 * `SubjectIndex`, its evidence in `PeerEntries`. No object per player; growth is by segments and shards, never the
 * whole at once. A row lies in one piece, since a read of a player meets it cold.
 *
 * | words | type       | bytes | meaning                                              |
 * |-------|------------|-------|------------------------------------------------------|
 * | 0-7   | Uint32 x 8 | 32    | key: the subject hash, as little-endian words        |
 * | 8-9   | Float64    | 8     | evidenceAt: ms since 1970 of the newest evidence     |
 * | 10    | Uint32     | 4     | updated: hour since 1970 of the newest record that touched it |
 * | 11    | Uint32     | 4     | entryAt: first of its peer entries                   |
 * | 12    | Uint16 x 2 | 4     | peers: number of peer entries, 0 for an empty row; above it the lowest bits of the hash |
 */
import { HOUR_MS, limits } from '../../limits.js';
import { copyKey, KEY_WORDS, sameKey } from '../columns/packed-keys.js';
import { Segment } from '../columns/segment.js';
import { type SipKey, sipHash } from '../hashing/siphash.js';
import type { EventColumns, KeyColumns } from './event-columns.js';
import { PeerEntries } from './peer-entries.js';
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

/** The hour of a moment (ms since 1970), counted from then. */
export function hourOf(at: number): number {
  return Math.max(0, Math.floor(at / HOUR_MS));
}

function evidenceByte(row: number): number {
  return (row & SEGMENT_MASK) * WORDS * 4 + EVIDENCE_AT_BYTE;
}

/** Times in ms since 1970: of a subject's newest record, and of its newest evidence. */
export interface SubjectTimes {
  readonly updatedAt: number;
  readonly evidenceAt: number;
}

/** Rows one after the other: what `peerCount`, `firstEntry`, `evidenceAt` and `homeOf` say of each. */
export interface RowColumns {
  readonly count: Uint16Array;
  readonly first: Uint32Array;
  readonly evidenceAt: Float64Array;
  readonly home: Uint16Array;
}

/** A key as words, reused from call to call: the table copies it when it inserts. */
const wanted = new Uint32Array(KEY_WORDS);
const wantedBytes = new Uint8Array(wanted.buffer);

export class Subjects implements KeyedRows {
  readonly entries = new PeerEntries();
  readonly #key: SipKey;
  readonly #segments: Segment[] = [];
  readonly #index = new SubjectIndex(this);
  readonly #freeRows: number[] = [];
  #rowsUsed = 0;

  constructor(key: SipKey) {
    this.#key = key;
  }

  get size(): number {
    return this.#rowsUsed - this.#freeRows.length;
  }

  /** Whether no new subject may come. */
  get full(): boolean {
    return this.size >= limits.subjectsMax;
  }

  /** Makes room in the index for so many subjects at once. */
  reserve(count: number): void {
    this.#index.reserve(count);
  }

  /** Finds the likely rows of the first `count` hashes, and makes room in the index for the subjects that have none. */
  makeRoom(hashes: Int32Array, rows: Int32Array, count: number): void {
    this.#index.makeRoom(hashes, rows, count);
  }

  /** Rows ever used: an upper bound for a walk over `has`. */
  get rows(): number {
    return this.#rowsUsed;
  }

  /** Whether a row holds a subject (an erased one's row is empty until it is used again). */
  has(row: number): boolean {
    return this.peerCount(row) > 0;
  }

  /** The row of a subject, or -1. */
  find(subject: Uint8Array): number {
    wantedBytes.set(subject);
    return this.findFrom(wanted, 0);
  }

  /** The row of the subject whose words begin at `from` of a column, or -1. */
  findFrom(keys: Uint32Array, from: number): number {
    return this.#index.find(keys, from, this.#hashOf(keys, from));
  }

  /** The row of the subject of event `i` of columns that are warm, or -1. */
  findOfEvent({ keys, hashes, rows }: KeyColumns, i: number): number {
    const row = this.#findLikely(rows[i]!, keys, i * KEY_WORDS, hashes[i]!);
    rows[i] = row;
    return row;
  }

  /** The row of a key, or -1; `likely`: where a look for its hash alone found it, -1 for nowhere. */
  #findLikely(likely: number, keys: Uint32Array, from: number, hash: number): number {
    // One that was erased meanwhile has a key of zeros, as a caller's hash may be.
    if (likely >= 0 && this.hasKey(likely, keys, from) && this.has(likely)) return likely;
    return this.#index.find(keys, from, hash);
  }

  /**
   * Fills in the rows of all keys of columns, -1 for one that is not there; what a read of them needs next is at hand.
   */
  findAll(columns: KeyColumns): void {
    this.prefetch(columns);
    for (let i = 0; i < columns.count; i++) this.findOfEvent(columns, i);
  }

  /** Uniform 32 bits, signed, that a key and the node's secret decide. */
  #hashOf(keys: Uint32Array, from: number): number {
    return sipHash(this.#key, keys, from, KEY_WORDS);
  }

  /** Moves the time of a subject's newest change forward to `at`, in ms since 1970. */
  touch(subject: Uint8Array, at: number): void {
    const row = this.find(subject);
    if (row < 0) return;
    touch(this.#segments[row >>> SEGMENT_BITS]!, (row & SEGMENT_MASK) * WORDS, hourOf(at), this.evidenceAt(row));
  }

  /** Number of the subject's peer entries, and where they begin. */
  peerCount(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + PEERS]! & PEERS_MASK;
  }

  firstEntry(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + ENTRY_AT]!;
  }

  /** ms since 1970 of the subject's newest change, cut to the hour. */
  updatedAt(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + UPDATED]! * HOUR_MS;
  }

  /** ms since 1970 of the subject's newest evidence. */
  evidenceAt(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.view.getFloat64(evidenceByte(row), true);
  }

  /** The subject's 32 bytes, a copy. */
  keyOf(row: number): Uint8Array {
    const from = (row & SEGMENT_MASK) * WORDS;
    const words = this.#segments[row >>> SEGMENT_BITS]!.words.slice(from, from + KEY_WORDS);
    return new Uint8Array(words.buffer);
  }

  /** Copies the words of a row's key to `to` of a column. */
  copyKeyOf(row: number, words: Uint32Array, to: number): void {
    copyKey(this.#segments[row >>> SEGMENT_BITS]!.words, (row & SEGMENT_MASK) * WORDS, words, to);
  }

  /** Uniform `HOME_BITS` bits that the row's key and the node's secret decide. */
  homeOf(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + PEERS]! >>> PEERS_BITS;
  }

  hasKey(row: number, keys: Uint32Array, from: number): boolean {
    const { words } = this.#segments[row >>> SEGMENT_BITS]!;
    return sameKey(words, (row & SEGMENT_MASK) * WORDS, keys, from);
  }

  /** Reads the rows from `from` up to `end` into columns. */
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

  /** Reads both ends of a row, which most often lies in two cache lines. */
  prefetchRow(row: number): number {
    const { words } = this.#segments[row >>> SEGMENT_BITS]!;
    const at = (row & SEGMENT_MASK) * WORDS;
    return words[at]! + words[at + PEERS]!;
  }

  #prefetchEntries(row: number): number {
    return this.entries.prefetch(this.firstEntry(row), this.peerCount(row));
  }

  /** The entry of a peer on a row, or -1. */
  findEntry(row: number, peer: number): number {
    const first = this.firstEntry(row);
    const place = this.entries.placeOf(first, this.peerCount(row), peer);
    return place < 0 ? -1 : first + place;
  }

  /** The entry of a (subject, peer) pair, made empty where there is none; moves the subject's times forward. */
  ensureEntry(subject: Uint8Array, peer: number, { updatedAt, evidenceAt }: SubjectTimes): number {
    wantedBytes.set(subject);
    return this.ensureEntryAt(-1, wanted, 0, this.#hashOf(wanted, 0), peer, hourOf(updatedAt), evidenceAt);
  }

  /** The same for event `i` of columns that are warm. */
  ensureEntryOfEvent(events: EventColumns, i: number, updatedAt: number, evidenceAt: number): number {
    const { keys, hashes, rows, peers } = events;
    const hour = hourOf(updatedAt);
    return this.ensureEntryAt(rows[i]!, keys, i * KEY_WORDS, hashes[i]!, peers[i]!, hour, evidenceAt);
  }

  /**
   * The same for the key whose words begin at `from` of a column, and its hash. `likely`: the row that a look for the
   * hash alone found, -1 for none, or where nobody looked; `hour` is that of the change.
   */
  ensureEntryAt(
    likely: number,
    keys: Uint32Array,
    from: number,
    hash: number,
    peer: number,
    hour: number,
    evidenceAt: number,
  ): number {
    const row = this.#findLikely(likely, keys, from, hash);
    if (row < 0) {
      const first = this.firstEntry(this.#admit(keys, from, hash, 1, hour, evidenceAt));
      this.entries.set(first, peer, 0, 0, 0, 0);
      return first;
    }
    const segment = this.#segments[row >>> SEGMENT_BITS]!;
    const at = (row & SEGMENT_MASK) * WORDS;
    touch(segment, at, hour, evidenceAt);
    const first = segment.words[at + ENTRY_AT]!;
    const place = this.entries.placeOf(first, segment.words[at + PEERS]! & PEERS_MASK, peer);
    return place < 0 ? this.#addPeer(segment.words, at, peer, ~place) : first + place;
  }

  /** Fills in the hashes of keys. */
  fillHashes({ keys, hashes, count }: KeyColumns): void {
    for (let i = 0; i < count; i++) hashes[i] = this.#hashOf(keys, i * KEY_WORDS);
  }

  /**
   * Fills in the hashes of keys, and reads slots, rows and entries where they belong, each of them for all keys at a
   * time, so that the memory behind comes side by side: look-ups one after the other would wait for each. Returns a sum
   * of what it read, which means nothing; without it a compiler could leave the reading out.
   */
  prefetch(columns: KeyColumns): number {
    const { hashes, rows, count } = columns;
    this.fillHashes(columns);
    // One alone has nothing to come side by side with.
    if (count < 2) {
      rows.fill(-1, 0, count);
      return 0;
    }
    let sum = 0;
    for (let i = 0; i < count; i++) sum += this.#index.prefetch(hashes[i]!);
    for (let i = 0; i < count; i++) rows[i] = this.#index.likelyRow(hashes[i]!);
    for (let i = 0; i < count; i++) if (rows[i]! >= 0) sum += this.prefetchRow(rows[i]!);
    for (let i = 0; i < count; i++) if (rows[i]! >= 0) sum += this.#prefetchEntries(rows[i]!);
    return sum;
  }

  /**
   * The first of `count` entries, side by side, of the subject with key `i` of columns that are warm, which is not
   * there yet. The caller sets them all, in the order of their peers.
   */
  admit({ keys, hashes }: KeyColumns, i: number, count: number, updatedAt: number, evidenceAt: number): number {
    const from = i * KEY_WORDS;
    if (this.#index.find(keys, from, hashes[i]!) >= 0) throw new Error('subjects: a subject is there already');
    return this.firstEntry(this.#admit(keys, from, hashes[i]!, count, hourOf(updatedAt), evidenceAt));
  }

  /** A row for the key whose words begin at `from`, which is not there yet. */
  #admit(keys: Uint32Array, from: number, hash: number, count: number, hour: number, evidenceAt: number): number {
    const row = this.#freeRows.pop() ?? this.#rowsUsed++;
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

  /** An empty entry for a peer that the row whose words begin at `at` has not yet, at `place` of its entries. */
  #addPeer(words: Uint32Array, at: number, peer: number, place: number): number {
    const first = this.entries.insert(words[at + ENTRY_AT]!, words[at + PEERS]! & PEERS_MASK, place);
    words[at + ENTRY_AT] = first;
    words[at + PEERS]!++;
    this.entries.set(first + place, peer, 0, 0, 0, 0);
    return first + place;
  }

  /** Removes a subject and all of its evidence, leaving none of its bytes behind. */
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

/** Moves the times of the row whose words begin at `at` forward; a clock that was set back moves nothing. */
function touch({ words, view }: Segment, at: number, hour: number, evidenceAt: number): void {
  if (hour > words[at + UPDATED]!) words[at + UPDATED] = hour;
  const byte = at * 4 + EVIDENCE_AT_BYTE;
  if (evidenceAt > view.getFloat64(byte, true)) view.setFloat64(byte, evidenceAt, true);
}
