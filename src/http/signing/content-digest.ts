/** Reads `Content-Digest` (RFC 9530) and checks a body against the digests of the field. */
import { createHash } from 'node:crypto';
import { parseDictionary } from 'structured-headers';
import { granted, type Outcome, type Refusal } from '../../errors.js';
import { limits } from '../../limits.js';
import { invalid } from './signature-fields.js';

export type BodyCheck = (chunks: readonly Uint8Array[]) => Refusal | undefined;

/** Algorithms of RFC 9530, section 5, without the broken ones. */
const algorithms: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

const mismatch = invalid('the digest of the body must equal Content-Digest');

/** Returns a check of the body against the field; `signature_invalid` if the field is absent or has no known digest. */
export function bodyCheckOf(field: string | string[] | undefined): Outcome<BodyCheck> {
  const stated = digestsOf(Array.isArray(field) ? field.join(', ') : (field ?? ''));
  if (stated.length === 0) return invalid('Content-Digest must state the sha-256 or sha-512 of the body');
  return granted((chunks) => {
    for (const { algorithm, digest } of stated) {
      const hash = createHash(algorithm);
      for (const chunk of chunks) hash.update(chunk);
      if (!hash.digest().equals(digest)) return mismatch;
    }
    return undefined;
  });
}

function digestsOf(text: string): { readonly algorithm: string; readonly digest: Uint8Array }[] {
  if (text === '' || text.length > limits.signatureFieldLength) return [];
  try {
    const stated: { algorithm: string; digest: Uint8Array }[] = [];
    for (const [name, [value]] of parseDictionary(text)) {
      const algorithm = algorithms.get(name);
      if (algorithm === undefined) continue;
      if (!(value instanceof ArrayBuffer)) return [];
      stated.push({ algorithm, digest: new Uint8Array(value) });
    }
    return stated;
  } catch {
    return [];
  }
}
