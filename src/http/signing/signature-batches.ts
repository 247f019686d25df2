/**
 * Hands signatures to a thread in batches, since a message to a thread costs about as much as a verification, and what
 * is answered together is written together. A batch takes holders in turn, so that a flood of one delays no other.
 */
import { FairQueue } from '../../core/fair-queue.js';
import type { Holder, SignedBase, VerifySignatures } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';

interface Waiting {
  readonly signed: SignedBase;
  readonly hasLeft: () => boolean;
  readonly resolve: (isValid: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

export class SignatureBatches {
  readonly #waiting = new FairQueue<Holder, Waiting>(1, () => 1);
  #isVerifying = false;

  constructor(private readonly verifyBatch: VerifySignatures) {}

  /** Resolves with false, without a verification, if the caller has left by its turn. */
  verify(holder: Holder, signed: SignedBase, hasLeft: () => boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(holder, { signed, hasLeft, resolve, reject });
      this.#schedule();
    });
  }

  /** Requests that arrive in one turn of the event loop share a batch. */
  #schedule(): void {
    if (this.#isVerifying || this.#waiting.empty) return;
    this.#isVerifying = true;
    setImmediate(async () => {
      await this.#verifyNext();
      this.#isVerifying = false;
      this.#schedule();
    });
  }

  async #verifyNext(): Promise<void> {
    let room: number = limits.signaturesInBatch;
    const batch: Waiting[] = [];
    for (const one of this.#waiting.take(() => room-- > 0)) {
      if (one.hasLeft()) one.resolve(false);
      else batch.push(one);
    }
    if (batch.length === 0) return;
    try {
      const valid = await this.verifyBatch(batch.map(({ signed }) => signed));
      for (const [place, { resolve }] of batch.entries()) resolve(valid[place] === true);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
