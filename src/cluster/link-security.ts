/** Secures the link by TLS with a pre-shared key that is derived from the cluster's secret. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { PROOF_NONCE_BYTES, SecretProof } from '../core/hashing/secret-proof.js';
import { limits } from '../limits.js';

/** Begins the authority of the CONNECT request that a node sends to the public port of another node. */
const AUTHORITY = 'ptf-cluster-2.';

/** Proves the secret before a connection takes room. A proof can be overheard: the last accepted ones are refused. */
export class LinkAuthority {
  readonly #proof: SecretProof;
  /** Proofs that were accepted, oldest first. */
  readonly #used = new Set<string>();

  constructor(secret: string, groupId: string) {
    this.#proof = new SecretProof(secret, groupId, 'link');
  }

  make(): string {
    return `${AUTHORITY}${this.#proof.of(randomBytes(PROOF_NONCE_BYTES)).toString('base64url')}:1`;
  }

  accepts(authority: string): boolean {
    if (!authority.startsWith(AUTHORITY)) return false;
    const proof = Buffer.from(authority.slice(AUTHORITY.length, -2), 'base64url');
    const name = proof.toString('latin1');
    if (this.#used.has(name) || !this.#proof.accepts(proof)) return false;
    this.#used.add(name);
    const [oldest = name] = this.#used;
    if (this.#used.size > limits.linkProofsMax) this.#used.delete(oldest);
    return true;
  }
}

/** The newest with pre-shared keys in Node. The key exchange is ephemeral: a later leak decrypts nothing recorded. */
const VERSION = 'TLSv1.2';
const CIPHERS = 'ECDHE-PSK-CHACHA20-POLY1305';
const IDENTITY = 'ptf-node';

function keyOf(secret: string, groupId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `peer trust federation nodes\0${groupId}`, 32));
}

const shared = { minVersion: VERSION, maxVersion: VERSION, ciphers: CIPHERS } as const;

export function serverSecurity(secret: string, groupId: string) {
  const key = keyOf(secret, groupId);
  return { ...shared, pskCallback: (_socket: unknown, identity: string) => (identity === IDENTITY ? key : null) };
}

export function clientSecurity(secret: string, groupId: string) {
  const psk = keyOf(secret, groupId);
  return {
    ...shared,
    pskCallback: () => ({ psk, identity: IDENTITY }),
    // There is no certificate. A completed handshake proves that the other end has the secret.
    checkServerIdentity: () => undefined,
  };
}
