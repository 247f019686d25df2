/**
 * Makes and checks the proof in etcd of the secret that the nodes of a group share. The proof is a random text and its
 * HMAC under a key derived from the secret, so that it does not reveal the secret, which has at least 32 bytes.
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const NONCE_BYTES = 32;

export class GroupSecret {
  readonly #key: Buffer;

  constructor(secret: string, groupId: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `peer trust federation proof\0${groupId}`, 32));
  }

  proof(nonce: Buffer = randomBytes(NONCE_BYTES)): Buffer {
    return Buffer.concat([nonce, createHmac('sha256', this.#key).update(nonce).digest()]);
  }

  /** Returns whether `proof` was made with this secret. */
  isProvedBy(proof: Buffer): boolean {
    const expected = this.proof(proof.subarray(0, NONCE_BYTES));
    return proof.length === expected.length && timingSafeEqual(proof, expected);
  }
}
