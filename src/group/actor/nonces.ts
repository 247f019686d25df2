/** The nonces of turns. One is prepared in advance, so that no turn waits for random bytes. */
import { NONCE_BYTES } from '../../core/records/batch.js';
import type { RandomSource } from '../ports/random.js';

export class Nonces {
  readonly #random: RandomSource;
  #ready: Uint8Array | null = null;

  constructor(random: RandomSource) {
    this.#random = random;
  }

  /** Returns a nonce; each is returned once. */
  next(): Uint8Array {
    const nonce = this.#ready ?? this.#random.bytes(NONCE_BYTES);
    this.#ready = null;
    return nonce;
  }

  /** Prepares the next nonce. Call while no command waits. */
  prepare(): void {
    this.#ready ??= this.#random.bytes(NONCE_BYTES);
  }
}
