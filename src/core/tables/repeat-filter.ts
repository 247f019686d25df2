/**
 * Stores 32-bit hashes of the content of every event (player, peer, type and timestamp), to find out whether an event
 * may repeat an earlier one. An absent hash proves that the event is new; a present one requires a look into the log,
 * since hashes collide and events leave the log. Open addressing in shards, five to seven bytes per event. Nothing is
 * ever removed; therefore hashes are keyed with the salt, which is not stored, so that the remaining hash of an erased
 * event means nothing without the salt.
 */
import { hash as digest } from 'node:crypto';
import { type SipKey, sipHash, sipKey } from '../hashing/siphash.js';

const SHARD_BITS = 10;
const SHARDS = 1 << SHARD_BITS;
/** Shift that leaves those bits of a hash that spread it over a shard. */
const PLACE_SHIFT = 32 - SHARD_BITS;
const PLACES = 1 << PLACE_SHIFT;
const LOAD_MAX = 0.85;
const GROWTH = 1.25;
const SLOTS_MIN = 8;

interface Shard {
  slots: Uint32Array;
  used: number;
}

/** The hashed words: number of the event type and its peer, then the timestamp as a double. */
const said = new Uint32Array(4);
const saidDouble = new Float64Array(said.buffer);

/** Derives the key of a group's hashes. `salt` is not stored. */
export function repeatKey(secret: Uint8Array, salt: Uint8Array): SipKey {
  return sipKey(digest('sha256', Buffer.concat([Buffer.from('repeats'), secret, salt]), 'buffer'));
}

export class RepeatFilter {
  readonly #key: SipKey;
  readonly #shards: Shard[] = Array.from({ length: SHARDS }, () => ({ slots: new Uint32Array(SLOTS_MIN), used: 0 }));
  size = 0;
  /** Sum of all hashes, modulo 2^32: a check of the hashes that a snapshot restored. */
  sum = 0;

  constructor(key: SipKey) {
    this.#key = key;
  }

  /** Returns an event's hash, unsigned and never 0. `timestamp`: ms since 1970. */
  hashOf(subjectHash: number, peer: number, eventType: number, timestamp: number): number {
    saidDouble[1] = timestamp;
    said[0] = subjectHash;
    said[1] = peer * 0x100 + eventType;
    return sipHash(this.#key, said, 0, said.length) >>> 0 || 1;
  }

  /** Makes room for the hashes of a snapshot, whose order by place would crowd one end of each small shard. */
  reserve(count: number): void {
    const slots = Math.max(SLOTS_MIN, Math.ceil((count / SHARDS / LOAD_MAX) * 1.1));
    for (const shard of this.#shards) shard.slots = new Uint32Array(slots);
  }

  has(hash: number): boolean {
    const { slots } = this.#shards[hash >>> PLACE_SHIFT]!;
    return slots[slotOf(slots, hash)] === hash;
  }

  add(hash: number): void {
    const shard = this.#shards[hash >>> PLACE_SHIFT]!;
    const slot = slotOf(shard.slots, hash);
    if (shard.slots[slot] === hash) return;
    shard.slots[slot] = hash;
    this.size++;
    this.sum = (this.sum + hash) >>> 0;
    if (++shard.used > shard.slots.length * LOAD_MAX) grow(shard);
  }

  *held(): Generator<number> {
    for (const { slots } of this.#shards) for (const hash of slots) if (hash !== 0) yield hash;
  }
}

function slotOf(slots: Uint32Array, hash: number): number {
  let slot = Math.floor(((hash & (PLACES - 1)) / PLACES) * slots.length);
  while (slots[slot] !== 0 && slots[slot] !== hash) if (++slot === slots.length) slot = 0;
  return slot;
}

function grow(shard: Shard): void {
  const old = shard.slots;
  shard.slots = new Uint32Array(Math.ceil(old.length * GROWTH));
  for (const hash of old) if (hash !== 0) shard.slots[slotOf(shard.slots, hash)] = hash;
}
