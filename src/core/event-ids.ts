/**
 * Every `event_id` ever accepted, as an 80-bit keyed tag with the event's sequence number and peer: the idempotency of the group.
 * Open addressing in shards of packed 16-bit words; a shard grows by an eighth, so that the table stays four fifths full.
 *
 * | words | bytes | meaning                                    |
 * |-------|-------|--------------------------------------------|
 * | 0-4   | 10    | tag: the first 80 bits of the keyed digest |
 * | 5-7   | 6     | sequence number, 0 for an empty slot       |
 * | 8     | 2     | the peer's number                          |
 */
import { limits } from '../limits.js';
import type { EventColumns } from './event-columns.js';

/** 10 characters of code 0 to 255: the tag's bytes as a latin1 string. */
export type IdTag = string;

export const ID_TAG_BYTES = 10;

/** 16-bit words that a tag takes in a column of tags. */
export const TAG_WORDS = 5;

const WORDS = 9;
const SHARD_BITS = 9;
const SHARDS = 1 << SHARD_BITS;

/** The table's parts, of which each lies in one piece, and the one where the tag at `from` of a column belongs. */
export const ID_PARTS: number = SHARDS;
export function idPartOf(tags: Uint16Array, from: number): number {
  return tags[from]! & (SHARDS - 1);
}

const SLOTS_MIN = 8;
const LOAD_MAX = 0.85;
/** Of room that is made beforehand: as full as shards are on average that grew. */
const LOAD_RESERVED = 0.8;
const GROWTH = 1.125;
const LINE_WORDS = 32;

interface Shard {
  words: Uint16Array;
  slots: number;
  used: number;
}

/** What every shard starts with. */
const noWords = new Uint16Array(0);

const wanted = new Uint16Array(TAG_WORDS);

/** Writes a tag's words to `at` of a column of tags. */
export function writeTag(tag: IdTag, words: Uint16Array, at: number): void {
  for (let i = 0; i < TAG_WORDS; i++) words[at + i] = tag.charCodeAt(2 * i) | (tag.charCodeAt(2 * i + 1) << 8);
}

/** An id in its slot, while a walk is there. */
export class HeldId {
  words: Uint16Array = noWords;
  at = 0;

  /** One of the tag's words, 0 to 4. */
  tagWord(i: number): number {
    return this.words[this.at + i]!;
  }

  get seq(): number {
    return seqAt(this.words, this.at);
  }

  get peer(): number {
    return this.words[this.at + 8]!;
  }
}

export class EventIds {
  readonly #shards: Shard[] = Array.from({ length: SHARDS }, () => ({ words: noWords, slots: 0, used: 0 }));
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get full(): boolean {
    return this.#size >= limits.eventIdsMax;
  }

  /** Makes room for so many ids at once, as far as they spread evenly; only in an empty table. */
  reserve(count: number): void {
    const slots = Math.ceil(Math.min(count, limits.eventIdsMax) / SHARDS / LOAD_RESERVED) + 1;
    if (this.#size > 0 || slots < SLOTS_MIN) return;
    for (const shard of this.#shards) {
      shard.slots = slots;
      shard.words = new Uint16Array(slots * WORDS);
    }
  }

  /** The sequence number under which the id was accepted, or 0. */
  seqOf(tag: IdTag): number {
    writeTag(tag, wanted, 0);
    const shard = this.#shardOf(wanted, 0);
    if (shard.slots === 0) return 0;
    return seqAt(shard.words, slotOf(shard, wanted, 0) * WORDS);
  }

  /** The number of the peer that sent it; call only for a tag that is there. */
  peerOf(tag: IdTag): number {
    writeTag(tag, wanted, 0);
    const shard = this.#shardOf(wanted, 0);
    return shard.words[slotOf(shard, wanted, 0) * WORDS + 8]!;
  }

  insert(tag: IdTag, seq: number, peer: number): void {
    writeTag(tag, wanted, 0);
    this.insertFrom(wanted, 0, seq, peer);
  }

  /** The id of event `i`, as record `seq`. */
  insertEvent({ tags, peers }: EventColumns, i: number, seq: number): void {
    this.insertFrom(tags, i * TAG_WORDS, seq, peers[i]!);
  }

  /** The id whose tag's words begin at `from` of a column. */
  insertFrom(tags: Uint16Array, from: number, seq: number, peer: number): void {
    const shard = this.#shardOf(tags, from);
    if (shard.used + 1 > shard.slots * LOAD_MAX) grow(shard);
    const at = slotOf(shard, tags, from) * WORDS;
    const { words } = shard;
    if (isTaken(words, at)) throw new Error(`event ids: record ${seq} repeats an id`);
    for (let i = 0; i < TAG_WORDS; i++) words[at + i] = tags[from + i]!;
    words[at + 5] = seq & 0xffff;
    words[at + 6] = Math.floor(seq / 0x10000) & 0xffff;
    words[at + 7] = Math.floor(seq / 0x100000000);
    words[at + 8] = peer;
    shard.used++;
    this.#size++;
  }

  /**
   * Reads the slots where the ids of events belong, so that the memory behind comes for all of them at a time, as in
   * `Subjects.warm`.
   */
  warm({ tags, count }: EventColumns): number {
    let sum = 0;
    for (let from = 0; from < count * TAG_WORDS; from += TAG_WORDS) {
      const { words, slots } = this.#shardOf(tags, from);
      if (slots === 0) continue;
      const at = homeOf(tags[from + 1]!, tags[from + 2]!, slots) * WORDS;
      // Slots are passed over until one fits, most often into the next cache line.
      sum += words[at]! + words[Math.min(at + LINE_WORDS, words.length - 1)]!;
    }
    return sum;
  }

  /** Each id held, shard by shard: the same object at every step, moved on. */
  *[Symbol.iterator](): IterableIterator<HeldId> {
    const held = new HeldId();
    for (const { words } of this.#shards) {
      held.words = words;
      for (held.at = 0; held.at < words.length; held.at += WORDS) if (isTaken(words, held.at)) yield held;
    }
  }

  #shardOf(tags: Uint16Array, from: number): Shard {
    return this.#shards[idPartOf(tags, from)]!;
  }
}

/** The slot of the tag at `from`, or the empty one where it belongs. */
function slotOf({ words, slots }: Shard, tags: Uint16Array, from: number): number {
  const high = tags[from + 2]!;
  let slot = homeOf(tags[from + 1]!, high, slots);
  for (;;) {
    const at = slot * WORDS;
    if (!isTaken(words, at)) return slot;
    // What tells slots of one neighbourhood apart comes first.
    if (
      words[at + 1] === tags[from + 1] &&
      words[at + 2] === high &&
      words[at + 3] === tags[from + 3] &&
      words[at + 4] === tags[from + 4] &&
      words[at] === tags[from]
    ) {
      return slot;
    }
    slot = slot + 1 === slots ? 0 : slot + 1;
  }
}

function isTaken(words: Uint16Array, at: number): boolean {
  return (words[at + 5]! | words[at + 6]! | words[at + 7]!) !== 0;
}

function seqAt(words: Uint16Array, at: number): number {
  return words[at + 5]! + words[at + 6]! * 0x10000 + words[at + 7]! * 0x100000000;
}

/** Spreads 32 bits of the tag, which is uniform already, over any number of slots. */
function homeOf(low: number, high: number, slots: number): number {
  return Math.floor(((high * 0x10000 + low) / 0x100000000) * slots);
}

function grow(shard: Shard): void {
  const { words: old, slots: oldSlots } = shard;
  const slots = Math.max(SLOTS_MIN, Math.ceil(oldSlots * GROWTH) + 1);
  const words = new Uint16Array(slots * WORDS);
  for (let from = 0; from < oldSlots * WORDS; from += WORDS) {
    if (!isTaken(old, from)) continue;
    let slot = homeOf(old[from + 1]!, old[from + 2]!, slots);
    while (isTaken(words, slot * WORDS)) slot = slot + 1 === slots ? 0 : slot + 1;
    for (let i = 0, to = slot * WORDS; i < WORDS; i++) words[to + i] = old[from + i]!;
  }
  shard.slots = slots;
  shard.words = words;
}
