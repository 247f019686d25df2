/**
 * Which row a subject has: open addressing in shards that hold 3/8 to 3/4 of their slots and grow one by one. A slot is 4 bytes: the
 * row + 1, and 5 bits of the hash, so that nearly every other key is passed over without a look at its row.
 */
import { limits } from '../limits.js';

const SHARD_BITS = 12;
const SHARDS = 1 << SHARD_BITS;
const SLOTS_MIN = 8;

/** Bits of a slot that hold the row + 1; the rest holds bits of the hash, beside those that choose shard and slot. */
const ROW_BITS = 27;
const ROW_MASK = (1 << ROW_BITS) - 1;
if (limits.subjectsMax > ROW_MASK) throw new Error('subjects: rows do not fit in a slot');
const TAG_SHIFT = 15;

/** Of a hash, the lowest bits choose the slot; a row keeps so many, more than the largest shard asks for. */
export const HOME_BITS = 16;

/** What the index asks of the rows. */
export interface KeyedRows {
  /** Whether a row's key is the one whose words begin at `from`. */
  hasKey(row: number, keys: Uint32Array, from: number): boolean;
  /** The lowest `HOME_BITS` of the hash of the row's key. */
  homeOf(row: number): number;
}

interface Shard {
  slots: Uint32Array;
  used: number;
}

/** What every shard starts with. */
const noSlots = new Uint32Array(0);

function slotValue(row: number, hash: number): number {
  return (((hash >>> TAG_SHIFT) << ROW_BITS) | (row + 1)) >>> 0;
}

/** The row of a slot, -1 for an empty one. */
function rowIn(stored: number): number {
  return (stored & ROW_MASK) - 1;
}

export class SubjectIndex {
  readonly #rows: KeyedRows;
  readonly #shards: Shard[] = Array.from({ length: SHARDS }, () => ({ slots: noSlots, used: 0 }));

  constructor(rows: KeyedRows) {
    this.#rows = rows;
  }

  /** The row of the key whose words begin at `from`, or -1. */
  find(keys: Uint32Array, from: number, hash: number): number {
    const { slots, used } = this.#shardOf(hash);
    return used === 0 ? -1 : rowIn(slots[this.#slotOf(slots, keys, from, hash)]!);
  }

  /** Reads the slot where a hash belongs, without a branch on what stands there: the next read need not wait for it. */
  warm(hash: number): number {
    const { slots } = this.#shardOf(hash);
    return slots.length === 0 ? 0 : slots[hash & (slots.length - 1)]!;
  }

  /** The row that a hash most likely means, found without a look at any row; -1 for none. */
  likelyRow(hash: number): number {
    const { slots, used } = this.#shardOf(hash);
    if (used === 0) return -1;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const stored = slots[slot]!;
      if (stored === 0) return -1;
      const row = rowIn(stored);
      if (stored === slotValue(row, hash)) return row;
    }
  }

  /** Takes in a row whose key is not there yet. */
  insert(row: number, hash: number): void {
    const shard = this.#shardOf(hash);
    if ((shard.used + 1) * 4 > shard.slots.length * 3) this.#grow(shard);
    putInto(shard.slots, hash, slotValue(row, hash));
    shard.used++;
  }

  /** Forgets the key whose words begin at `from`; returns the row that it had, or -1. */
  remove(keys: Uint32Array, from: number, hash: number): number {
    const shard = this.#shardOf(hash);
    if (shard.used === 0) return -1;
    const slot = this.#slotOf(shard.slots, keys, from, hash);
    const row = rowIn(shard.slots[slot]!);
    if (row >= 0) this.#vacate(shard, slot);
    return row;
  }

  #shardOf(hash: number): Shard {
    return this.#shards[hash >>> (32 - SHARD_BITS)]!;
  }

  /** The slot that holds the key, or the empty one where it belongs. */
  #slotOf(slots: Uint32Array, keys: Uint32Array, from: number, hash: number): number {
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const stored = slots[slot]!;
      if (stored === 0) return slot;
      const row = rowIn(stored);
      if (stored === slotValue(row, hash) && this.#rows.hasKey(row, keys, from)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #grow(shard: Shard): void {
    const old = shard.slots;
    if (old.length >> HOME_BITS !== 0) throw new Error('subjects: a shard is too large for what rows keep of hashes');
    shard.slots = new Uint32Array(Math.max(SLOTS_MIN, old.length * 2));
    // Rows lie anywhere: all are read before anything depends on one of them, so that none is waited for alone.
    const homes = new Uint16Array(old.length);
    for (let i = 0; i < old.length; i++) if (old[i] !== 0) homes[i] = this.#rows.homeOf(rowIn(old[i]!));
    for (let i = 0; i < old.length; i++) if (old[i] !== 0) putInto(shard.slots, homes[i]!, old[i]!);
  }

  /** Empties a slot and closes the gap, so that every key stays reachable from its own slot (backward shift). */
  #vacate(shard: Shard, slot: number): void {
    const { slots } = shard;
    const mask = slots.length - 1;
    let gap = slot;
    let next = (gap + 1) & mask;
    while (slots[next] !== 0) {
      const home = this.#rows.homeOf(rowIn(slots[next]!)) & mask;
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

function putInto(slots: Uint32Array, home: number, stored: number): void {
  const mask = slots.length - 1;
  let slot = home & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = stored;
}
