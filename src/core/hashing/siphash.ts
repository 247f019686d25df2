/**
 * Computes HalfSipHash-1-3 (Aumasson and Bernstein, 2012, and its reference code) over 32-bit words, for all hash
 * tables. The key is the node's secret, so that a peer that chooses its subject hashes cannot choose their slots.
 */

/** Initial value of the third word of state, before the key is mixed in. */
const START_V2 = 0x6c796765;
const START_V3 = 0x74656462;
const FINAL_ROUNDS = 3;

export interface SipKey {
  readonly k0: number;
  readonly k1: number;
}

/** Builds a key from the first 8 bytes of a secret, little-endian. */
export function sipKey(secret: Uint8Array): SipKey {
  const view = new DataView(secret.buffer, secret.byteOffset, secret.byteLength);
  return { k0: view.getUint32(0, true), k1: view.getUint32(4, true) };
}

/** Hashes `count` words from `from` on to 32 signed bits: V8 discards code for small integers at a large one. */
export function sipHash(key: SipKey, words: Uint32Array, from: number, count: number): number {
  let v0 = key.k0;
  let v1 = key.k1;
  let v2 = START_V2 ^ key.k0;
  let v3 = START_V3 ^ key.k1;
  const last = (count * 4) << 24;
  // One round for each word and for the length, then three more that mix in nothing.
  for (let i = 0; i < count + 1 + FINAL_ROUNDS; i++) {
    const m = i < count ? words[from + i]! : i === count ? last : 0;
    if (i === count + 1) v2 ^= 0xff;
    v3 ^= m;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= m;
  }
  return v1 ^ v3;
}
