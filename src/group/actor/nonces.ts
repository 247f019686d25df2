/** The nonces of turns, one of which is there before its turn: who waits for a turn need not wait for chance. */
import { NONCE_BYTES } from '../../core/records/batch.js';
import type { RandomSource } from '../ports/random.js';

export class Nonces {
  readonly #random: RandomSource;
  #ready: Uint8Array | null = null;

  constructor(random: RandomSource) {
    this.#random = random;
  }

  /** Each is given once. */
  next(): Uint8Array {
    const nonce = this.#ready ?? this.#random.bytes(NONCE_BYTES);
    this.#ready = null;
    return nonce;
  }

  /** When nobody waits. */
  prepare(): void {
    this.#ready ??= this.#random.bytes(NONCE_BYTES);
  }
}
