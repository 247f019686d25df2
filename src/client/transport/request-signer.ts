/** Signs each attempt of a write with the peer's Ed25519 key (RFC 9421, RFC 9530), and generates such keys. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import { invalidArgument } from '../trust-error.js';
import type { Runtime } from './time.js';
import type { TransportRequest } from './transport.js';

/** A key pair for signed requests. @public */
export interface SigningKeyPair {
  /** The private key as PEM (PKCS #8): the client's `signingKey`. It must stay on the game server. */
  readonly signingKey: string;
  /** The public key, 32 bytes in base64url, to be given to the node by the operator or by the registration. */
  readonly publicKey: string;
}

/** Generates a new Ed25519 key pair for signed requests. @public */
export function generateSigningKey(): SigningKeyPair {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { signingKey: pem, publicKey: publicKeyOf(privateKey) };
}

/**
 * Returns the public key of a private one in the node's form: 32 bytes in base64url. Throws `invalid_argument` if the
 * text is no Ed25519 key.
 * @param signingKey - the private key as PEM.
 * @public
 */
export function signingPublicKey(signingKey: string): string {
  return publicKeyOf(privateKeyOf(signingKey));
}

function publicKeyOf(privateKey: KeyObject): string {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (x === undefined) throw new Error('a public key without bytes');
  return x;
}

function privateKeyOf(signingKey: string): KeyObject {
  try {
    const key = createPrivateKey(signingKey);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // No key at all.
  }
  throw invalidArgument('signingKey must be an Ed25519 private key as PEM (PKCS #8), without a password');
}

/** Returns the header fields of a request with its signature. `path` is the path that the node receives. */
export type RequestSigner = (request: Omit<TransportRequest, 'signal'>) => Promise<Record<string, string>>;

/** Throws `invalid_argument` if the text is no Ed25519 key. */
export function requestSigner(signingKey: string, peerId: string | undefined, runtime: Runtime): RequestSigner {
  const privateKey = privateKeyOf(signingKey);
  return async ({ method, path, headers, body }) => {
    const sha256 = createHash('sha256').update(body ?? '');
    const digest = body === undefined ? {} : { 'content-digest': `sha-256=:${sha256.digest('base64')}:` };
    const { headers: signed } = await httpbis.signMessage(
      {
        key: { alg: 'ed25519', sign: async (base) => sign(null, base, privateKey) },
        name: 'sig1',
        fields: ['@method', '@path', ...Object.keys(digest), 'x-peer-api-key'],
        params: ['created', 'nonce', 'keyid', 'alg'],
        paramValues: {
          created: new Date(runtime.now()),
          nonce: runtime.uuid(),
          ...(peerId === undefined ? {} : { keyid: peerId }),
        },
        // Signs the path as sent; the library would parse it as a URL, which normalises it.
        componentParser: (name) => (name === '@path' ? [path] : null),
      },
      { method, url: 'http://node', headers: { ...headers, ...digest } },
    );
    return Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), String(value)]));
  };
}
