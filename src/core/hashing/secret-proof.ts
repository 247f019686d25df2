/** Proves that its maker has a secret, for one purpose: a nonce and its HMAC under a key derived from the secret. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export const PROOF_NONCE_BYTES = 32;

export class SecretProof {
  readonly #key: Buffer;

  constructor(secret: string, groupId: string, purpose: 'secret' | 'link') {
    const info = `peer trust federation proof\0${purpose}\0${groupId}`;
    this.#key = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), info, 32));
  }

  of(nonce: Uint8Array): Buffer {
    return Buffer.concat([nonce, createHmac('sha256', this.#key).update(nonce).digest()]);
  }

  accepts(proof: Buffer): boolean {
    const expected = this.of(proof.subarray(0, PROOF_NONCE_BYTES));
    return proof.length === expected.length && timingSafeEqual(proof, expected);
  }
}
