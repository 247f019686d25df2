/**
 * The bytes that a signature signs (RFC 9421, section 2.5), for components without parameters. Written out here, since
 * a library that admits every component of the RFC takes as long as a third of the whole event; the tests hold it to
 * that library and to the vectors of the RFC.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestSignature } from './signature-fields.js';

/** A request as it arrived. */
export interface SignedRequest {
  readonly method: string;
  /** As sent, not decoded. */
  readonly path: string;
  /** As sent, without `?`. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** Behind a proxy that ends TLS a node cannot know the scheme that was signed. */
export type Scheme = 'http' | 'https';

/** Whether the base of a signature depends on the scheme. */
export function namesScheme({ components }: RequestSignature): boolean {
  return components.includes('@target-uri') || components.includes('@scheme');
}

/** Undefined where the request lacks a component, or this service knows none of that name. */
export function signatureBase(signature: RequestSignature, request: SignedRequest, scheme: Scheme): Buffer | undefined {
  let base = '';
  for (const name of signature.components) {
    const value = name.startsWith('@') ? derived(name, request, scheme) : fieldOf(request.headers, name);
    if (value === undefined) return undefined;
    base += `"${name}": ${value}\n`;
  }
  // A character of a field is one byte of it.
  return Buffer.from(`${base}"@signature-params": ${signature.params}`, 'latin1');
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

/** Section 2.2.3: in lower case, without the default port. */
function authorityOf({ host }: IncomingHttpHeaders): string | undefined {
  return host?.toLowerCase().replace(/:(?:80|443)$/, '');
}

/** Section 2.1. Several lines of one field were joined by ", ", and blanks around its value were removed. */
function fieldOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  // A name in capital letters, or one with a line break, is none that a signer may write.
  if (!/^[!#$%&'*+.^_`|~\da-z-]+$/.test(name) || !Object.hasOwn(headers, name)) return undefined;
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
