/**
 * Stores every `event_id` ever accepted as an 80-bit keyed tag with the event's sequence number and peer, which makes
 * submissions idempotent. Open addressing in shards of packed 16-bit words, each shard in pages of its own. A shard
 * grows by about a fifth, so that the table stays nearly four fifths full.
 *
 * | words | bytes | meaning                                    |
 * |-------|-------|--------------------------------------------|
 * | 0-4   | 10    | tag: the first 80 bits of the keyed digest |
 * | 5-7   | 6     | sequence number                            |
 * | 8     | 2     | the peer's number + 1, 0 for an empty slot |
 */
import { limits } from '../../limits.js';
import { copyTag, type IdTag, TAG_WORDS, writeTag } from '../columns/packed-keys.js';
import { tableMemory } from '../columns/segment.js';
import type { EventColumns } from './event-columns.js';

const WORDS = 9;
const SHARD_BITS = 10;
const SHARDS = 1 << SHARD_BITS;

/** Number of the table's shards. `idPartOf` returns the one of the tag whose words begin at `from`. */
export const ID_PARTS: number = SHARDS;
export function idPartOf(tags: Uint16Array, from: number): number {
  return tags[from]! & (SHARDS - 1);
}

const LOAD_MAX = 0.85;
/** Smallest and largest growth of a shard. They differ: ids spread so evenly that all would be full at once. */
const GROWTH_MIN = 0.15;
const GROWTH_MAX = 0.23;
/** Number of different fill levels among shards with reserved room, so that they do not become full together. */
const RESERVED_PHASES = 16;
const LINE_WORDS = 32;

const PAGE_BITS = 8;
const PAGE_SLOTS = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_SLOTS - 1;
const PAGE_WORDS = PAGE_SLOTS * WORDS;
/** Pages of one array (power of two): the garbage collector visits each array, so fewer are better. */
const BLOCK_BITS = 6;
const BLOCK_PAGES = 1 << BLOCK_BITS;
const BLOCK_MASK = BLOCK_PAGES - 1;
/** Slots after the home slots of a shard, for ids that are displaced from the last of them. */
const TAIL_SLOTS = 32;

/** Ids are displaced upwards and never wrap around the end; the very last slot is always empty. */
interface Shard {
  pages: number[];
  slots: number;
  used: number;
  readonly growth: number;
}

const wanted: Uint16Array = new Uint16Array(TAG_WORDS);

export class EventIds {
  readonly #shards: Shard[] = Array.from({ length: SHARDS }, (_, i) => ({
    pages: [],
    slots: 0,
    used: 0,
    growth: GROWTH_MIN + ((GROWTH_MAX - GROWTH_MIN) * i) / SHARDS,
  }));
  readonly #blocks: Uint16Array[] = [];
  readonly #freePages: number[] = [];
  size = 0;
  /** Slot where the last search ended: the number of the array that holds its page, and the slot's offset within it. */
  #block = 0;
  #at = 0;

  get full(): boolean {
    return this.size >= limits.eventIdsMax;
  }

  /** Reserves room for `count` ids, assuming that they spread evenly. Call only for an empty table. */
  reserve(count: number): void {
    const slots = Math.min(count, limits.eventIdsMax) / SHARDS / LOAD_MAX;
    if (this.size > 0 || slots < PAGE_SLOTS) return;
    for (const [i, shard] of this.#shards.entries()) {
      const grown = slots * (1 + (shard.growth * ((i % RESERVED_PHASES) + 1)) / RESERVED_PHASES);
      this.#extend(shard, Math.ceil((grown + TAIL_SLOTS) / PAGE_SLOTS));
    }
  }

  /** Returns the sequence number under which the id was accepted; 0 if it was not. */
  seqOf(tag: IdTag): number {
    writeTag(tag, wanted, 0);
    return this.#seqFrom(wanted, 0);
  }

  seqOfEvent({ tags }: EventColumns, i: number): number {
    return this.#seqFrom(tags, i * TAG_WORDS);
  }

  #seqFrom(tags: Uint16Array, from: number): number {
    const shard = this.#shardOf(tags, from);
    if (shard.slots === 0) return 0;
    this.#search(shard, tags, from);
    const words = this.#blocks[this.#block]!;
    return isOccupied(words, this.#at) ? seqAt(words, this.#at) : 0;
  }

  /** Call only for an id in the table. */
  peerOfEvent({ tags }: EventColumns, i: number): number {
    this.#search(this.#shardOf(tags, i * TAG_WORDS), tags, i * TAG_WORDS);
    return peerAt(this.#blocks[this.#block]!, this.#at);
  }

  insert(tag: IdTag, seq: number, peer: number): void {
    writeTag(tag, wanted, 0);
    this.insertFrom(wanted, 0, seq, peer);
  }

  /** Inserts the id whose tag's words begin at `from` of a column. */
  insertFrom(tags: Uint16Array, from: number, seq: number, peer: number): void {
    this.makeRoom(idPartOf(tags, from), 1);
    this.insertWithRoom(tags, from, seq, peer);
  }

  makeRoom(part: number, count: number): void {
    const shard = this.#shards[part]!;
    while (shard.used + count > shard.slots * LOAD_MAX) this.#grow(shard);
  }

  /** Like `insertFrom`, after `makeRoom`. Never leads to a growth, at which V8 would discard compiled code. */
  insertWithRoom(tags: Uint16Array, from: number, seq: number, peer: number): void {
    const shard = this.#shardOf(tags, from);
    this.#keepLastEmpty(shard, this.#search(shard, tags, from));
    const words = this.#blocks[this.#block]!;
    const at = this.#at;
    if (isOccupied(words, at)) throw new Error(`event ids: record ${seq} repeats an id`);
    copyTag(tags, from, words, at);
    words[at + 5] = seq & 0xffff;
    words[at + 6] = Math.floor(seq / 0x10000) & 0xffff;
    words[at + 7] = Math.floor(seq / 0x100000000);
    words[at + 8] = peer + 1;
    shard.used++;
    this.size++;
  }

  /** Prefetches the slots of the ids, all at the same time, as in `Subjects.prefetch`. */
  prefetch({ tags, count }: EventColumns): number {
    let sum = 0;
    for (let from = 0; from < count * TAG_WORDS; from += TAG_WORDS) {
      const shard = this.#shardOf(tags, from);
      if (shard.slots === 0) continue;
      const slot = homeOf(tags[from + 1]!, tags[from + 2]!, shard.slots);
      const page = shard.pages[slot >>> PAGE_BITS]!;
      const words = this.#blockOf(page);
      const at = startOf(page) + (slot & PAGE_MASK) * WORDS;
      // A search skips slots until one matches, which most often leads into the next cache line.
      sum += words[at]! + words[Math.min(at + LINE_WORDS, words.length - 1)]!;
    }
    return sum;
  }

  /** Yields one object for each id in turn, whose tag begins at `at` of `words`; it is valid until the next. */
  *held() {
    const id = { words: wanted, at: 0, seq: 0, peer: 0 };
    for (const page of this.#shards.flatMap(({ pages }) => pages)) {
      const words = this.#blockOf(page);
      id.words = words;
      for (let at = startOf(page); at < startOf(page) + PAGE_WORDS; at += WORDS) {
        if (!isOccupied(words, at)) continue;
        id.at = at;
        id.seq = seqAt(words, at);
        id.peer = peerAt(words, at);
        yield id;
      }
    }
  }

  #shardOf(tags: Uint16Array, from: number): Shard {
    return this.#shards[idPartOf(tags, from)]!;
  }

  #blockOf(page: number): Uint16Array {
    return this.#blocks[page >>> BLOCK_BITS]!;
  }

  /** Moves to the slot of the tag at `from`, or to the empty one where it belongs; returns its number in the shard. */
  #search({ pages, slots }: Shard, tags: Uint16Array, from: number): number {
    const low = tags[from + 1]!;
    const high = tags[from + 2]!;
    let slot = homeOf(low, high, slots);
    let page = pages[slot >>> PAGE_BITS]!;
    let words = this.#blockOf(page);
    let at = startOf(page) + (slot & PAGE_MASK) * WORDS;
    while (isOccupied(words, at)) {
      // The words that differ within a neighbourhood come first, and two of them together: with one alone, V8 learns
      // only after 65,000 ids that the other is needed at all, and discards its compiled code.
      if (
        ((words[at + 1]! ^ low) | (words[at + 2]! ^ high)) === 0 &&
        words[at + 3] === tags[from + 3] &&
        words[at + 4] === tags[from + 4] &&
        words[at] === tags[from]
      ) {
        break;
      }
      at += WORDS;
      if ((++slot & PAGE_MASK) !== 0) continue;
      page = pages[slot >>> PAGE_BITS]!;
      words = this.#blockOf(page);
      at = startOf(page);
    }
    this.#block = page >>> BLOCK_BITS;
    this.#at = at;
    return slot;
  }

  /** Extends a shard to `pages` pages, which all serve as home slots except the tail. */
  #extend(shard: Shard, pages: number): void {
    while (shard.pages.length < pages) shard.pages.push(this.#newPage());
    shard.slots = pages * PAGE_SLOTS - TAIL_SLOTS;
  }

  /** Keeps the very last slot of a shard empty. Call before a slot is taken. */
  #keepLastEmpty({ pages }: Shard, slot: number): void {
    if (slot === pages.length * PAGE_SLOTS - 1) pages.push(this.#newPage());
  }

  #newPage(): number {
    if (this.#freePages.length === 0) {
      const first = this.#blocks.length * BLOCK_PAGES;
      this.#blocks.push(new Uint16Array(tableMemory(BLOCK_PAGES * PAGE_WORDS * 2)));
      for (let page = first; page < first + BLOCK_PAGES; page++) this.#freePages.push(page);
    }
    return this.#freePages.pop()!;
  }

  /** Moves a shard to new pages and keeps the old ones for the next, so that no memory is released. */
  #grow(shard: Shard): void {
    const old = shard.pages.splice(0);
    this.#extend(shard, old.length + Math.max(1, Math.floor(old.length * shard.growth)));
    for (const page of old) {
      const words = this.#blockOf(page);
      const start = startOf(page);
      const end = start + PAGE_WORDS;
      for (let from = start; from < end; from += WORDS) if (isOccupied(words, from)) this.#put(shard, words, from);
      words.fill(0, start, end);
      this.#freePages.push(page);
    }
  }

  /** Inserts the id whose words begin at `from` and which is not in the shard yet. */
  #put(shard: Shard, words: Uint16Array, from: number): void {
    this.#keepLastEmpty(shard, this.#search(shard, words, from));
    const to = this.#blocks[this.#block]!;
    const at = this.#at;
    for (let i = 0; i < WORDS; i++) to[at + i] = words[from + i]!;
  }
}

function startOf(page: number): number {
  return (page & BLOCK_MASK) * PAGE_WORDS;
}

function isOccupied(words: Uint16Array, at: number): boolean {
  return words[at + 8] !== 0;
}

function peerAt(words: Uint16Array, at: number): number {
  return words[at + 8]! - 1;
}

function seqAt(words: Uint16Array, at: number): number {
  return words[at + 5]! + words[at + 6]! * 0x10000 + words[at + 7]! * 0x100000000;
}

/** Maps 32 bits of the tag, which is uniformly distributed already, to any number of slots. */
function homeOf(low: number, high: number, slots: number): number {
  return Math.floor(((high * 0x10000 + low) / 0x100000000) * slots);
}
