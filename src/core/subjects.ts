/**
 * The players of the group under their hashes: an open-addressing table over all 32 bytes of the key, with a row per subject in
 * segments and its evidence in `PeerEntries`. No object per player; growth is by segments and shards, never the whole at once. A
 * row lies in one piece, since a read of a player meets it cold.
 *
 * | words | type       | bytes | meaning                                              |
 * |-------|------------|-------|------------------------------------------------------|
 * | 0-7   | Uint32 x 8 | 32    | key: the subject hash, as little-endian words        |
 * | 8-9   | Float64    | 8     | evidenceAt: ms since 1970 of the newest evidence     |
 * | 10    | Uint32     | 4     | updated: hour since 1970 of the newest record that touched it |
 * | 11    | Uint32     | 4     | entryAt: first of its peer entries                   |
 * | 12    | Uint32     | 4     | peers: number of peer entries, 0 for an empty row    |
 * | index | Uint32     | 5-11  | row + 1 and 5 bits of the hash, in shards that hold 3/8 to 3/4 of their slots |
 */
import { limits } from '../limits.js';
import { PeerEntries } from './peer-entries.js';
import { type SipKey, sipHash } from './siphash.js';

const KEY_WORDS = 8;
const SEGMENT_BITS = 14;
const SEGMENT_SIZE = 1 << SEGMENT_BITS;
const SEGMENT_MASK = SEGMENT_SIZE - 1;
const SHARD_BITS = 12;
const SHARDS = 1 << SHARD_BITS;
const SLOTS_MIN = 8;
const HOUR_MS = 3_600_000;

const WORDS = 13;
const EVIDENCE_AT_BYTE = 32;
const UPDATED = 10;
const ENTRY_AT = 11;
const PEERS = 12;

class Segment {
  readonly words = new Uint32Array(SEGMENT_SIZE * WORDS);
  /** For the time of evidence: rows lie on whole words, not on whole doubles. */
  readonly view = new DataView(this.words.buffer);
}

/** Bits of a slot that hold the row + 1; the rest holds bits of the hash. */
const ROW_BITS = 27;
const ROW_MASK = (1 << ROW_BITS) - 1;
if (limits.subjectsMax > ROW_MASK) throw new Error('subjects: rows do not fit in a slot');
/** Of the hash, beside those that choose shard and slot. */
const TAG_SHIFT = 15;

function slotValue(row: number, hash: number): number {
  return (((hash >>> TAG_SHIFT) << ROW_BITS) | (row + 1)) >>> 0;
}

/** The row of a slot, -1 for an empty one. */
function rowIn(stored: number): number {
  return (stored & ROW_MASK) - 1;
}

function evidenceByte(row: number): number {
  return (row & SEGMENT_MASK) * WORDS * 4 + EVIDENCE_AT_BYTE;
}

/** Times in ms since 1970: of a subject's newest record, and of its newest evidence. */
export interface SubjectTimes {
  readonly updatedAt: number;
  readonly evidenceAt: number;
}

interface Shard {
  slots: Uint32Array;
  used: number;
}

/** What every shard starts with. */
const noSlots = new Uint32Array(0);

/** A key as words, reused from call to call: the table copies it when it inserts. */
const wanted = new Uint32Array(KEY_WORDS);
const wantedBytes = new Uint8Array(wanted.buffer);

export class Subjects {
  readonly entries = new PeerEntries();
  readonly #key: SipKey;
  readonly #segments: Segment[] = [];
  readonly #shards: Shard[] = Array.from({ length: SHARDS }, () => ({ slots: noSlots, used: 0 }));
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
    const hash = sipHash(this.#key, wanted, 0, KEY_WORDS);
    const shard = this.#shards[hash >>> (32 - SHARD_BITS)]!;
    if (shard.used === 0) return -1;
    const slot = this.#slotOf(shard, hash);
    return rowIn(shard.slots[slot]!);
  }

  /** Number of the subject's peer entries, and where they begin. */
  peerCount(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + PEERS]!;
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

  /** Moves a subject's times forward; a clock that was set back moves nothing. */
  #touch(row: number, times: SubjectTimes): void {
    const { words, view } = this.#segments[row >>> SEGMENT_BITS]!;
    const updated = (row & SEGMENT_MASK) * WORDS + UPDATED;
    const hour = Math.max(0, Math.floor(times.updatedAt / HOUR_MS));
    if (hour > words[updated]!) words[updated] = hour;
    if (times.evidenceAt > this.evidenceAt(row)) view.setFloat64(evidenceByte(row), times.evidenceAt, true);
  }

  /** The subject's 32 bytes, a copy. */
  keyOf(row: number): Uint8Array {
    const from = (row & SEGMENT_MASK) * WORDS;
    const words = this.#segments[row >>> SEGMENT_BITS]!.words.slice(from, from + KEY_WORDS);
    return new Uint8Array(words.buffer);
  }

  /** One word (0 to 7) of a row's key. */
  keyWord(row: number, word: number): number {
    return this.#segments[row >>> SEGMENT_BITS]!.words[(row & SEGMENT_MASK) * WORDS + word]!;
  }

  /** Uniform unsigned 32 bits that the row's key and the node's secret decide. */
  mixOf(row: number): number {
    return this.#hashOfRow(row);
  }

  /** The entry of a peer on a row, or -1. */
  entryOf(row: number, peer: number): number {
    const first = this.firstEntry(row);
    const place = this.#placeOf(row, peer);
    return place < this.peerCount(row) && this.entries.peer(first + place) === peer ? first + place : -1;
  }

  /** Where a peer stands, or would, among the row's entries: the number of peers below it. */
  #placeOf(row: number, peer: number): number {
    const first = this.firstEntry(row);
    let low = 0;
    let high = this.peerCount(row);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.entries.peer(first + middle) < peer) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The entry of a (subject, peer) pair, made empty where there is none; moves the subject's times forward. */
  entryFor(subject: Uint8Array, peer: number, times: SubjectTimes): number {
    let row = this.find(subject);
    if (row < 0) {
      row = this.#admit(subject, 1, times);
      this.entries.set(this.firstEntry(row), peer, 0, 0, 0, 0);
      return this.firstEntry(row);
    }
    this.#touch(row, times);
    const known = this.entryOf(row, peer);
    return known >= 0 ? known : this.#addPeer(row, peer);
  }

  /**
   * The first of `count` entries of a subject that is not there yet, side by side. The caller sets them all, in the order of
   * their peers.
   */
  admit(subject: Uint8Array, count: number, times: SubjectTimes): number {
    if (this.find(subject) >= 0) throw new Error('subjects: a subject is there already');
    return this.firstEntry(this.#admit(subject, count, times));
  }

  #admit(subject: Uint8Array, count: number, times: SubjectTimes): number {
    const row = this.#insert(subject);
    const { words, view } = this.#segments[row >>> SEGMENT_BITS]!;
    const at = (row & SEGMENT_MASK) * WORDS;
    words[at + ENTRY_AT] = this.entries.allocate(count);
    words[at + PEERS] = count;
    view.setFloat64(evidenceByte(row), times.evidenceAt, true);
    this.#touch(row, times);
    return row;
  }

  #addPeer(row: number, peer: number): number {
    const { words } = this.#segments[row >>> SEGMENT_BITS]!;
    const at = (row & SEGMENT_MASK) * WORDS;
    const place = this.#placeOf(row, peer);
    const first = this.entries.insert(words[at + ENTRY_AT]!, words[at + PEERS]!, place);
    words[at + ENTRY_AT] = first;
    words[at + PEERS]!++;
    this.entries.set(first + place, peer, 0, 0, 0, 0);
    return first + place;
  }

  /** Removes a subject and all of its evidence, leaving none of its bytes behind. */
  remove(subject: Uint8Array): void {
    wantedBytes.set(subject);
    const hash = sipHash(this.#key, wanted, 0, KEY_WORDS);
    const shard = this.#shards[hash >>> (32 - SHARD_BITS)]!;
    if (shard.used === 0) return;
    const slot = this.#slotOf(shard, hash);
    const row = rowIn(shard.slots[slot]!);
    if (row < 0) return;
    this.#vacate(shard, slot);
    this.entries.release(this.firstEntry(row), this.peerCount(row));
    const at = (row & SEGMENT_MASK) * WORDS;
    this.#segments[row >>> SEGMENT_BITS]!.words.fill(0, at, at + WORDS);
    this.#freeRows.push(row);
  }

  /** A row for the key in `wanted`. */
  #insert(subject: Uint8Array): number {
    const row = this.#freeRows.pop() ?? this.#rowsUsed++;
    if (row >>> SEGMENT_BITS >= this.#segments.length) this.#segments.push(new Segment());
    wantedBytes.set(subject);
    this.#segments[row >>> SEGMENT_BITS]!.words.set(wanted, (row & SEGMENT_MASK) * WORDS);
    const hash = sipHash(this.#key, wanted, 0, KEY_WORDS);
    const shard = this.#shards[hash >>> (32 - SHARD_BITS)]!;
    if ((shard.used + 1) * 4 > shard.slots.length * 3) this.#growShard(shard);
    shard.slots[this.#slotOf(shard, hash)] = slotValue(row, hash);
    shard.used++;
    return row;
  }

  /** The slot that holds the key in `wanted`, or the empty one where it belongs. */
  #slotOf(shard: Shard, hash: number): number {
    const mask = shard.slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const stored = shard.slots[slot]!;
      if (stored === 0) return slot;
      // Bits of the hash beside the row: nearly every other key is passed over without a look at its row.
      const row = rowIn(stored);
      if (stored === slotValue(row, hash) && this.#isWanted(row)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isWanted(row: number): boolean {
    const { words } = this.#segments[row >>> SEGMENT_BITS]!;
    const from = (row & SEGMENT_MASK) * WORDS;
    for (let i = 0; i < KEY_WORDS; i++) if (words[from + i] !== wanted[i]) return false;
    return true;
  }

  #hashOfRow(row: number): number {
    return sipHash(this.#key, this.#segments[row >>> SEGMENT_BITS]!.words, (row & SEGMENT_MASK) * WORDS, KEY_WORDS);
  }

  #growShard(shard: Shard): void {
    const old = shard.slots;
    shard.slots = new Uint32Array(Math.max(SLOTS_MIN, old.length * 2));
    const mask = shard.slots.length - 1;
    for (const stored of old) {
      if (stored === 0) continue;
      let slot = this.#hashOfRow(rowIn(stored)) & mask;
      while (shard.slots[slot] !== 0) slot = (slot + 1) & mask;
      shard.slots[slot] = stored;
    }
  }

  /** Empties a slot and closes the gap, so that every key stays reachable from its own slot (backward shift). */
  #vacate(shard: Shard, slot: number): void {
    const { slots } = shard;
    const mask = slots.length - 1;
    let gap = slot;
    let next = (gap + 1) & mask;
    while (slots[next] !== 0) {
      const home = this.#hashOfRow(rowIn(slots[next]!)) & mask;
      if (((next - home) & mask) >= ((next - gap) & mask)) {
        slots[gap] = slots[next]!;
        gap = next;
      }
      next = (next + 1) & mask;
    }
    slots[gap] = 0;
    shard.used--;
  }
}
