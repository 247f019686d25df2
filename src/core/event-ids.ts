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

/** 10 characters of code 0 to 255: the tag's bytes as a latin1 string. */
export type IdTag = string;

export const ID_TAG_BYTES = 10;

const WORDS = 9;
const SHARD_BITS = 12;
const SHARDS = 1 << SHARD_BITS;
const SLOTS_MIN = 8;
const LOAD_MAX = 0.85;
const GROWTH = 1.125;

interface Shard {
  words: Uint16Array;
  slots: number;
  used: number;
}

/** What every shard starts with. */
const noWords = new Uint16Array(0);

const wanted = new Uint16Array(5);

function read(tag: IdTag): void {
  for (let i = 0; i < 5; i++) wanted[i] = tag.charCodeAt(2 * i) | (tag.charCodeAt(2 * i + 1) << 8);
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
    const slots = Math.ceil(Math.min(count, limits.eventIdsMax) / SHARDS / LOAD_MAX) + 1;
    if (this.#size > 0 || slots < SLOTS_MIN) return;
    for (const shard of this.#shards) {
      shard.slots = slots;
      shard.words = new Uint16Array(slots * WORDS);
    }
  }

  /** The sequence number under which the id was accepted, or 0. */
  seqOf(tag: IdTag): number {
    read(tag);
    const shard = this.#shard();
    if (shard.slots === 0) return 0;
    return seqAt(shard, this.#slot(shard));
  }

  /** The number of the peer that sent it; call only for a tag that is there. */
  peerOf(tag: IdTag): number {
    read(tag);
    const shard = this.#shard();
    return shard.words[this.#slot(shard) * WORDS + 8]!;
  }

  insert(tag: IdTag, seq: number, peer: number): void {
    read(tag);
    const shard = this.#shard();
    if (shard.used + 1 > shard.slots * LOAD_MAX) grow(shard);
    const slot = this.#slot(shard);
    if (seqAt(shard, slot) !== 0) throw new Error(`event ids: record ${seq} repeats an id`);
    const at = slot * WORDS;
    shard.words.set(wanted, at);
    shard.words[at + 5] = seq & 0xffff;
    shard.words[at + 6] = Math.floor(seq / 0x10000) & 0xffff;
    shard.words[at + 7] = Math.floor(seq / 0x100000000);
    shard.words[at + 8] = peer;
    shard.used++;
    this.#size++;
  }

  /** Calls back with each id held, shard by shard: tag, sequence number, peer. */
  *[Symbol.iterator](): IterableIterator<[tag: IdTag, seq: number, peer: number]> {
    for (const shard of this.#shards) {
      for (let slot = 0; slot < shard.slots; slot++) {
        const seq = seqAt(shard, slot);
        if (seq === 0) continue;
        const at = slot * WORDS;
        let tag = '';
        for (let i = 0; i < 5; i++) tag += String.fromCharCode(shard.words[at + i]! & 255, shard.words[at + i]! >>> 8);
        yield [tag, seq, shard.words[at + 8]!];
      }
    }
  }

  #shard(): Shard {
    return this.#shards[wanted[0]! & (SHARDS - 1)]!;
  }

  /** The slot of the tag in `wanted`, or the empty one where it belongs. */
  #slot(shard: Shard): number {
    const { words, slots } = shard;
    let slot = homeOf(wanted[1]!, wanted[2]!, slots);
    for (;;) {
      const at = slot * WORDS;
      if (seqAt(shard, slot) === 0) return slot;
      if (
        words[at] === wanted[0] &&
        words[at + 1] === wanted[1] &&
        words[at + 2] === wanted[2] &&
        words[at + 3] === wanted[3] &&
        words[at + 4] === wanted[4]
      ) {
        return slot;
      }
      slot = slot + 1 === slots ? 0 : slot + 1;
    }
  }
}

function seqAt(shard: Shard, slot: number): number {
  const at = slot * WORDS;
  return shard.words[at + 5]! + shard.words[at + 6]! * 0x10000 + shard.words[at + 7]! * 0x100000000;
}

/** Spreads 32 bits of the tag, which is uniform already, over any number of slots. */
function homeOf(low: number, high: number, slots: number): number {
  return Math.floor(((high * 0x10000 + low) / 0x100000000) * slots);
}

function grow(shard: Shard): void {
  const { words: old, slots: oldSlots } = shard;
  shard.slots = Math.max(SLOTS_MIN, Math.ceil(oldSlots * GROWTH) + 1);
  shard.words = new Uint16Array(shard.slots * WORDS);
  for (let from = 0; from < oldSlots; from++) {
    const at = from * WORDS;
    if (old[at + 5] === 0 && old[at + 6] === 0 && old[at + 7] === 0) continue;
    let slot = homeOf(old[at + 1]!, old[at + 2]!, shard.slots);
    while (seqAt(shard, slot) !== 0) slot = slot + 1 === shard.slots ? 0 : slot + 1;
    shard.words.set(old.subarray(at, at + WORDS), slot * WORDS);
  }
}
