/** Checks the size of a request's head, parses its target and decodes percent-encoding, before the route is known. */
import { limits } from '../../limits.js';

export interface Target {
  /** The path as sent, not decoded. */
  readonly path: string;
  /** The query as sent, without `?`. */
  readonly query: string;
}

/**
 * Returns the refusal of a request's head, or undefined. A head over `limits.headBytes` is refused for its larger part
 * (414 or 431), over `limits.headerCount` fields with 431. Every character of `rawHeaders` and of the URL is one byte.
 */
export function headRefusal(url: string, rawHeaders: readonly string[]) {
  let headerBytes = 0;
  for (const part of rawHeaders) headerBytes += part.length;
  if (url.length + headerBytes > limits.headBytes)
    return url.length > headerBytes ? 'uri_too_long' : 'headers_too_large';
  return rawHeaders.length > 2 * limits.headerCount ? 'headers_too_large' : undefined;
}

export function hostCount(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((text, i) => i % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host').length;
}

/** Scheme and authority of a target in absolute form: a name or an address (IPv6 in brackets), up to path or query. */
const authority = /^https?:\/\/(?:[^/?[\]]+|\[[^/?[\]]+\](?::\d*)?)(?=[/?]|$)/i;

/**
 * Splits a target in origin or absolute form; undefined for other forms and for characters that a target may not
 * contain: those beyond ASCII have no agreed meaning. An empty path becomes `/` (RFC 9110, section 4.2.3).
 */
export function parseTarget(url: string): Target | undefined {
  if (!/^[\x21\x22\x24-\x7e]+$/.test(url)) return undefined;
  const rest = url.startsWith('/') ? url : url.replace(authority, '');
  if (rest === url && !url.startsWith('/')) return undefined;
  const origin = rest.startsWith('/') ? rest : `/${rest}`;
  const mark = origin.indexOf('?');
  return mark < 0 ? { path: origin, query: '' } : { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}

/** Percent-decodes once; undefined unless the result is UTF-8. `+` stays a plus: the query is no form. */
export function decodeText(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** `name` is ASCII. Decodes without `decodeText`, which throws for a faulty name: a query may have thousands. */
export function rawQueryValues(query: string, name: string): string[] {
  const values: string[] = [];
  if (query === '') return values;
  for (const part of query.split('&')) {
    const equals = part.indexOf('=');
    const partName = equals < 0 ? part : part.slice(0, equals);
    const decoded = partName.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
    if (decoded === name) values.push(equals < 0 ? '' : part.slice(equals + 1));
  }
  return values;
}

const requestIdPattern = new RegExp(`^[A-Za-z0-9._-]{1,${limits.requestIdLength}}$`);

export function isRequestId(text: string | undefined): text is string {
  return text !== undefined && requestIdPattern.test(text);
}
