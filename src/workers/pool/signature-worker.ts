/** Runs as the worker that verifies signatures of requests, each of which takes longer than the rest of an event. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { SignedBase } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';

const keys = new Map<string, KeyObject>();

export function verifySignatures(batch: readonly SignedBase[]): boolean[] {
  return batch.map(({ base, publicKey, signature }) =>
    verify(null, Buffer.from(base, 'latin1'), keyOf(publicKey), signature),
  );
}

function keyOf(publicKey: string): KeyObject {
  const known = keys.get(publicKey);
  if (known !== undefined) return known;
  if (keys.size >= limits.signingKeysMax) keys.clear();
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  keys.set(publicKey, key);
  return key;
}

export function loaded(): void {}
export function close(): void {}
