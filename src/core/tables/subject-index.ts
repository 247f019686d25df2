/** Maps a subject to its row: open addressing, 5 bits of the hash beside each row, so that most others are skipped. */
import { limits } from '../../limits.js';

const SHARD_BITS = 12;
const SHARDS = 1 << SHARD_BITS;
const SLOTS_MIN = 32;
const LOAD_MAX = 3 / 4;

/** Bits of a slot for the row + 1. The rest holds hash bits other than those that choose shard and slot. */
const ROW_BITS = 27;
const ROW_MASK = (1 << ROW_BITS) - 1;
if (limits.subjectsMax > ROW_MASK) throw new Error('subjects: too many rows for the bits of a slot');
const TAG_SHIFT = 15;

/** Number of low bits of a hash that a row stores. They choose the slot, and are more than the largest shard needs. */
export const HOME_BITS = 16;
const HOME_MASK = (1 << HOME_BITS) - 1;

export interface KeyedRows {
  hasKey(row: number, keys: Uint32Array, from: number): boolean;
  homeOf(row: number): number;
}

const noSlots = new Int32Array(0);

/** Low hash bits of the rows of a growing shard, reused from shard to shard. */
let homes = new Uint16Array(0);

function slotValue(row: number, hash: number): number {
  return ((hash >>> TAG_SHIFT) << ROW_BITS) | (row + 1);
}

/** Returns the row of a slot, or -1 if the slot is empty. */
function rowIn(stored: number): number {
  return (stored & ROW_MASK) - 1;
}

export class SubjectIndex {
  /** Slots of each shard, and number of used ones: separate arrays, because a lookup waits for each object. */
  readonly #slots: Int32Array[] = Array.from({ length: SHARDS }, () => noSlots);
  readonly #used = new Uint32Array(SHARDS);

  constructor(private readonly rows: KeyedRows) {}

  /** Reserves room for `count` keys, assuming that they spread evenly. Call only for an empty index. */
  reserve(count: number): void {
    let slots = 0;
    while (count / SHARDS > slots * LOAD_MAX) slots = slotsAfter(slots);
    for (let shard = 0; shard < SHARDS; shard++)
      if (this.#used[shard] === 0) this.#slots[shard] = new Int32Array(slots);
  }

  /** Returns the row of the key whose words begin at `from`, or -1. */
  find(keys: Uint32Array, from: number, hash: number): number {
    const slots = this.#slots[shardOf(hash)]!;
    return slots.length === 0 ? -1 : rowIn(slots[this.#slotOf(slots, keys, from, hash)]!);
  }

  /** Reads the slot where a hash belongs, without a branch on its content: the next read need not wait. */
  prefetch(hash: number): number {
    const slots = this.#slots[shardOf(hash)]!;
    return slots.length === 0 ? 0 : slots[slotFor(hash, slots)]!;
  }

  /** Returns the probable row of a hash without a look at any row, or -1 if there is none. */
  likelyRow(hash: number): number {
    const slots = this.#slots[shardOf(hash)]!;
    if (slots.length === 0) return -1;
    for (let slot = slotFor(hash, slots); ; slot = next(slot, slots)) {
      const stored = slots[slot]!;
      if (stored === 0) return -1;
      const row = rowIn(stored);
      if (stored === slotValue(row, hash)) return row;
    }
  }

  insert(row: number, hash: number): void {
    const shard = shardOf(hash);
    const used = ++this.#used[shard]!;
    if (used > this.#slots[shard]!.length * LOAD_MAX) this.#grow(shard);
    putInto(this.#slots[shard]!, hash, slotValue(row, hash));
  }

  /** Removes the key whose words begin at `from`; returns its former row, or -1. */
  remove(keys: Uint32Array, from: number, hash: number): number {
    const shard = shardOf(hash);
    const slots = this.#slots[shard]!;
    if (slots.length === 0) return -1;
    const slot = this.#slotOf(slots, keys, from, hash);
    const row = rowIn(slots[slot]!);
    if (row < 0) return row;
    this.#vacate(slots, slot);
    this.#used[shard]!--;
    return row;
  }

  #slotOf(slots: Int32Array, keys: Uint32Array, from: number, hash: number): number {
    for (let slot = slotFor(hash, slots); ; slot = next(slot, slots)) {
      const stored = slots[slot]!;
      if (stored === 0) return slot;
      const row = rowIn(stored);
      if (stored === slotValue(row, hash) && this.rows.hasKey(row, keys, from)) return slot;
    }
  }

  #grow(shard: number): void {
    const old = this.#slots[shard]!;
    if (old.length >> HOME_BITS !== 0)
      throw new Error('subjects: a shard has more slots than the stored hash bits can address');
    const slots = new Int32Array(slotsAfter(old.length));
    this.#slots[shard] = slots;
    // Rows are scattered in memory. All are read before any result is used, so that the reads overlap.
    if (homes.length < old.length) homes = new Uint16Array(old.length);
    for (let i = 0; i < old.length; i++) if (old[i] !== 0) homes[i] = this.rows.homeOf(rowIn(old[i]!));
    for (let i = 0; i < old.length; i++) if (old[i] !== 0) putInto(slots, homes[i]!, old[i]!);
  }

  /** Empties a slot and closes the gap, so that every key can still be found from its home slot (backward shift). */
  #vacate(slots: Int32Array, slot: number): void {
    let gap = slot;
    for (let from = next(gap, slots); slots[from] !== 0; from = next(from, slots)) {
      const home = slotFor(this.rows.homeOf(rowIn(slots[from]!)), slots);
      if (distance(home, from, slots) < distance(gap, from, slots)) continue;
      slots[gap] = slots[from]!;
      gap = from;
    }
    slots[gap] = 0;
  }
}

function shardOf(hash: number): number {
  return hash >>> (32 - SHARD_BITS);
}

/** Returns the slot for the low bits of a hash. The highest of them, which the slot stores as well, matters least. */
function slotFor(home: number, slots: Int32Array): number {
  const spread = ((home << 1) | ((home & HOME_MASK) >>> (HOME_BITS - 1))) & HOME_MASK;
  return Math.imul(spread, slots.length) >>> HOME_BITS;
}

function next(slot: number, slots: Int32Array): number {
  return slot + 1 === slots.length ? 0 : slot + 1;
}

function distance(from: number, to: number, slots: Int32Array): number {
  return to >= from ? to - from : to - from + slots.length;
}

/** Returns the next size: powers of two alternate with one and a half times a power of two. */
function slotsAfter(slots: number): number {
  if (slots === 0) return SLOTS_MIN;
  return (slots & (slots - 1)) === 0 ? slots * 1.5 : (slots / 3) * 4;
}

function putInto(slots: Int32Array, home: number, stored: number): void {
  let slot = slotFor(home, slots);
  while (slots[slot] !== 0) slot = next(slot, slots);
  slots[slot] = stored;
}
