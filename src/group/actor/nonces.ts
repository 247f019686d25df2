/** The nonces of turns, one of which is there before its turn: who waits for a turn need not wait for chance. */
import { NONCE_BYTES } from '../../core/records/batch.js';
import type { Entropy } from '../ports/random.js';

export class Nonces {
  readonly #entropy: Entropy;
  #ready: Uint8Array | null = null;

  constructor(entropy: Entropy) {
    this.#entropy = entropy;
  }

  /** Each is given once. */
  take(): Uint8Array {
    const nonce = this.#ready ?? this.#entropy.bytes(NONCE_BYTES);
    this.#ready = null;
    return nonce;
  }

  /** When nobody waits. */
  prepare(): void {
    this.#ready ??= this.#entropy.bytes(NONCE_BYTES);
  }
}
