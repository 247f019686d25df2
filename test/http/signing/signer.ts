/** Signs requests as a peer would, by a library that the node does not use: each is held to the other. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import { type Answer, ask } from '../exchange.js';

export interface SigningKey {
  readonly privateKey: KeyObject;
  /** 32 bytes, base64url. */
  readonly publicKey: string;
}

export function newSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey, publicKey: publicKey.export({ format: 'jwk' }).x! };
}

export interface Unsigned {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly key: string;
  readonly body?: string;
  /** Further header fields. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HowSigned {
  readonly fields?: readonly string[];
  /** Seconds since 1970. */
  readonly created?: number;
  readonly scheme?: 'http' | 'https';
}

export function digestOf(body: string, algorithm: 'sha-256' | 'sha-512' = 'sha-256'): string {
  return `${algorithm}=:${createHash(algorithm.replace('-', '')).update(body).digest('base64')}:`;
}

export const plainFields = ['@method', '@path', 'x-peer-api-key'];

let nonces = 0;

/** The header fields of the request, the signature among them; names in lower case. */
export async function signedHeaders(
  { method, path, key, body, headers }: Unsigned,
  { privateKey }: SigningKey,
  { created = Math.floor(Date.now() / 1000), scheme = 'http', fields }: HowSigned = {},
): Promise<Record<string, string>> {
  const bodyFields = body === undefined ? {} : { 'content-type': 'application/json', 'content-digest': digestOf(body) };
  nonces += 1;
  const message = await httpbis.signMessage(
    {
      key: { id: 'test', alg: 'ed25519', sign: async (data) => sign(null, data, privateKey) },
      fields: [...(fields ?? [...plainFields, ...(body === undefined ? [] : ['content-digest'])])],
      params: ['created', 'nonce', 'keyid', 'alg'],
      paramValues: { created: new Date(created * 1000), nonce: `nonce-${nonces}` },
    },
    {
      method,
      url: `${scheme}://node.example${path}`,
      headers: { ...bodyFields, 'x-peer-api-key': key, ...headers },
    },
  );
  const names = Object.entries(message.headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return Object.fromEntries(names);
}

/** Sends a request with these header fields. */
export function send(
  url: string,
  { method, path, body }: Unsigned,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  return ask(url, path, { method, headers, ...(body === undefined ? {} : { raw: body }) });
}

export async function sendSigned(url: string, request: Unsigned, key: SigningKey, how?: HowSigned): Promise<Answer> {
  return send(url, request, await signedHeaders(request, key, how));
}
