/** Reads the fields of RFC 9421 (section 4) and RFC 9530, and checks the signer's choices by this service's rules. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type InnerList, isInnerList, parseDictionary, serializeInnerList } from 'structured-headers';
import { granted, type Outcome, type Refusal, refused } from '../../errors.js';
import { limits } from '../../limits.js';

export interface RequestSignature {
  readonly components: readonly string[];
  readonly params: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** 64 bytes. */
  readonly bytes: Uint8Array;
}

type Coverage = Readonly<Record<'body' | 'query', boolean>>;

/** RFC 8032: 32 bytes of a point, and 32 of a number. */
const SIGNATURE_BYTES = 64;

const pathComponents = ['@path', '@request-target', '@target-uri'];
const queryComponents = ['@query', '@request-target', '@target-uri'];

/** Refuses with signature_missing, signature_invalid or signature_expired. `now`: seconds since 1970. */
export function readSignature(headers: IncomingHttpHeaders, covers: Coverage, now: number): Outcome<RequestSignature> {
  const inputs = dictionaryOf(headers['signature-input']);
  const signatures = dictionaryOf(headers.signature);
  if (inputs === null || signatures === null) return invalid('Signature-Input and Signature must be dictionaries');
  if (inputs.size === 0 || signatures.size === 0) return refused('signature_missing');
  if (inputs.size > limits.signaturesMax) {
    return invalid(`a request may carry at most ${limits.signaturesMax} signatures`);
  }
  let refusal: Refusal | undefined;
  for (const [label, input] of inputs) {
    const signature = signatures.get(label)?.[0];
    const read = isInnerList(input) ? readInput(input, covers, now) : invalid('Signature-Input must hold inner lists');
    if (!read.ok) {
      refusal ??= read;
      continue;
    }
    if (!(signature instanceof ArrayBuffer) || signature.byteLength !== SIGNATURE_BYTES) {
      refusal ??= invalid(`Signature must hold ${SIGNATURE_BYTES} bytes under the label of Signature-Input`);
      continue;
    }
    return granted({ ...read.value, bytes: new Uint8Array(signature) });
  }
  return refusal ?? refused('signature_missing');
}

/** Parses a field, whose lines are joined by commas (RFC 9421). Null if it is no dictionary. */
function dictionaryOf(field: string | string[] | undefined): ReturnType<typeof parseDictionary> | null {
  const text = Array.isArray(field) ? field.join(', ') : (field ?? '');
  if (text.length > limits.signatureFieldLength) return null;
  try {
    return parseDictionary(text);
  } catch {
    return null;
  }
}

function readInput(input: InnerList, covers: Coverage, now: number): Outcome<Omit<RequestSignature, 'bytes'>> {
  const [items, params] = input;
  if (items.length > limits.signatureComponentsMax) {
    return invalid(`a signature may cover at most ${limits.signatureComponentsMax} components`);
  }
  const components: string[] = [];
  for (const [name, parameters] of items) {
    if (typeof name !== 'string') return invalid('covered components must be strings');
    if (parameters.size > 0) return invalid('covered components must have no parameters');
    if (components.includes(name)) return invalid('a component is covered twice');
    components.push(name);
  }
  const missing = uncovered(components, covers);
  if (missing !== undefined) return invalid(`the signature must cover ${missing}`);
  const alg = params.get('alg');
  if (alg !== undefined && alg !== 'ed25519') return invalid('the algorithm must be ed25519');
  const created = params.get('created');
  if (!isWhole(created)) return invalid('the signature must have the parameter created');
  const expires = params.get('expires');
  if (expires !== undefined && !isWhole(expires)) return invalid('the parameter expires must be a whole number');
  if (Math.abs(now - created) > limits.signatureWindowS || (expires !== undefined && now > expires)) {
    return refused('signature_expired', {
      text: `created must be within ${limits.signatureWindowS} s of the node's clock, and expires not in the past`,
    });
  }
  return granted({ components, params: serializeInnerList(input), created });
}

function uncovered(components: readonly string[], covers: Coverage): string | undefined {
  const hasOne = (names: readonly string[]) => names.some((name) => components.includes(name));
  if (!components.includes('@method')) return '"@method"';
  if (!hasOne(pathComponents)) return '"@path"';
  if (covers.query && !hasOne(queryComponents)) return '"@query"';
  if (!components.includes('x-peer-api-key')) return '"x-peer-api-key"';
  return covers.body && !components.includes('content-digest') ? '"content-digest"' : undefined;
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}

export function invalid(text: string): Refusal {
  return refused('signature_invalid', { text });
}

export type BodyCheck = (chunks: readonly Uint8Array[]) => Refusal | undefined;

/** Algorithms of RFC 9530, section 5, without the broken ones. */
const algorithms: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

/** Returns a check of the body against the field; `signature_invalid` if the field is absent or has no known digest. */
export function bodyCheckOf(field: string | string[] | undefined): Outcome<BodyCheck> {
  const stated = digestsOf(field);
  if (stated.length === 0) return invalid('Content-Digest must state the sha-256 or sha-512 of the body');
  return granted((chunks) => {
    for (const { algorithm, digest } of stated) {
      const hash = createHash(algorithm);
      for (const chunk of chunks) hash.update(chunk);
      if (!hash.digest().equals(digest)) return invalid('the digest of the body must equal Content-Digest');
    }
    return undefined;
  });
}

/** Returns the digests of the field; none if one of a known algorithm is malformed. */
function digestsOf(field: string | string[] | undefined) {
  const stated: { algorithm: string; digest: Uint8Array }[] = [];
  for (const [name, [value]] of dictionaryOf(field) ?? []) {
    const algorithm = algorithms.get(name);
    if (algorithm === undefined) continue;
    if (!(value instanceof ArrayBuffer)) return [];
    stated.push({ algorithm, digest: new Uint8Array(value) });
  }
  return stated;
}

export interface SignedRequest {
  readonly method: string;
  /** The path as sent, not decoded. */
  readonly path: string;
  /** The query as sent, without `?`. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** The scheme that was signed. A node behind a proxy that ends TLS cannot know it. */
export type Scheme = 'http' | 'https';

export function namesScheme({ components }: RequestSignature): boolean {
  return components.includes('@target-uri') || components.includes('@scheme');
}

/**
 * Builds the text that a signature signs (RFC 9421, section 2.5), each character one byte, for components without
 * parameters; undefined if the request lacks one, or its name is unknown. A library for every component takes a third
 * of the time of an event.
 */
export function signatureBase(signature: RequestSignature, request: SignedRequest, scheme: Scheme): string | undefined {
  let base = '';
  for (const name of signature.components) {
    const value = name.startsWith('@') ? derived(name, request, scheme) : fieldOf(request.headers, name);
    if (value === undefined) return undefined;
    base += `"${name}": ${value}\n`;
  }
  return `${base}"@signature-params": ${signature.params}`;
}

function derived(name: string, request: SignedRequest, scheme: Scheme): string | undefined {
  const { method, path, query, headers } = request;
  switch (name) {
    case '@method':
      return method;
    case '@path':
      return path;
    case '@query':
      return `?${query}`;
    case '@request-target':
      return targetOf(path, query);
    case '@authority':
      return authorityOf(headers);
    case '@scheme':
      return scheme;
    case '@target-uri': {
      const authority = authorityOf(headers);
      return authority === undefined ? undefined : `${scheme}://${authority}${targetOf(path, query)}`;
    }
    default:
      return undefined;
  }
}

function targetOf(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** Returns the host in lower case, without the default port (section 2.2.3). */
function authorityOf({ host }: IncomingHttpHeaders): string | undefined {
  return host?.toLowerCase().replace(/:(?:80|443)$/, '');
}

/** Returns the value of a field (section 2.1): its lines joined by ", ", without surrounding blanks. */
function fieldOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  // A signer may not use names with capital letters or line breaks.
  if (!/^[!#$%&'*+.^_`|~\da-z-]+$/.test(name) || !Object.hasOwn(headers, name)) return undefined;
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
