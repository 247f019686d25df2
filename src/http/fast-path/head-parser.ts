/**
 * Reads the head of a request from the bytes of a connection, where it is of the plainest form of HTTP/1.1 (RFC 9112):
 * what a game server's client sends all day. Anything else is not refused here but left to node:http, which knows the
 * whole of HTTP.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { limits } from '../../limits.js';

export interface ParsedHead {
  readonly method: 'GET' | 'POST';
  /** The request target as sent. */
  readonly url: string;
  /**
   * The fields by lower-case name, each named once. One and the same object for a connection that sends the same fields
   * again, but for the length of the body, which is that of its newest head.
   */
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body; 0 where the request has none. */
  readonly contentLength: number;
  /** Where the body begins. */
  readonly end: number;
}

const PROTOCOL = ' HTTP/1.1\r\n';
const HEAD_END = '\r\n\r\n';

/** Each stands in a head only for a reason that node:http is to look at, whatever its value. */
const notPlain = new Set([
  'transfer-encoding',
  'content-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'proxy-connection',
]);

/**
 * A field line: a token, a colon, printable ASCII without spaces around it that matter. What RFC 9110 allows beyond
 * (folded lines, other bytes) is not plain. Spaces can be read in one way only: of two ways a line of spaces would try
 * every mixture.
 */
const fieldLine = /([!#$%&'*+.^_`|~\dA-Za-z-]+):[ \t]*(?:([\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)[ \t]*)?\r\n/y;

/** A body that more digits are needed for is larger than any. */
const lengthDigitsMax = String(limits.batchBodyBytes).length;
/**
 * A length in its plainest line: node:http takes some blanks around the digits and refuses others, so any more are left
 * to it.
 */
const plainLength = new RegExp(`(?:^|\\r\\n)content-length: ?\\d{1,${lengthDigitsMax}}\\r\\n`, 'i');

/** Where the value of a length begins. */
const lengthField = /(?:^|\r\n)content-length: ?/i;

/** Fields as they stand in a head: in two parts, with the length of the body between them where there is one. */
interface KnownFields {
  readonly before: string;
  readonly after: string;
  readonly hasLength: boolean;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Remembers the newest fields of one connection: most clients send the same ones with every request, but for the
 * length.
 */
export class HeadParser {
  #known: KnownFields | undefined;

  /** The head that begins at `at`, or undefined where it is not whole or not plain. `text`: bytes as latin1. */
  read(text: string, at: number): ParsedHead | undefined {
    const method = text.startsWith('GET /', at) ? 'GET' : text.startsWith('POST /', at) ? 'POST' : undefined;
    if (method === undefined) return undefined;
    const urlAt = at + method.length + 1;
    const urlEnd = text.indexOf(' ', urlAt);
    if (urlEnd < 0 || !text.startsWith(PROTOCOL, urlEnd)) return undefined;
    const fieldsAt = urlEnd + PROTOCOL.length;
    const end = this.#endOfKnown(text, fieldsAt) ?? this.#learn(text, fieldsAt);
    if (end === undefined || end - at > limits.fastPathHeadBytes) return undefined;
    const { headers, hasLength } = this.#known!;
    const contentLength = hasLength ? Number(headers['content-length']) : 0;
    if (method === 'GET' && contentLength > 0) return undefined;
    return { method, url: text.slice(urlAt, urlEnd), headers, contentLength, end };
  }

  /** Where the head ends, if its fields are the known ones. */
  #endOfKnown(text: string, at: number): number | undefined {
    const known = this.#known;
    if (known === undefined) return undefined;
    const { before, after, hasLength, headers } = known;
    const lengthAt = at + before.length;
    if (text.slice(at, lengthAt) !== before) return undefined;
    if (!hasLength) return lengthAt;
    let lengthEnd = lengthAt;
    while (isDigit(text, lengthEnd)) lengthEnd++;
    const end = lengthEnd + after.length;
    if (lengthEnd === lengthAt || lengthEnd - lengthAt > lengthDigitsMax) return undefined;
    if (text.slice(lengthEnd, end) !== after) return undefined;
    headers['content-length'] = text.slice(lengthAt, lengthEnd);
    return end;
  }

  /** Reads fields that are other ones than before, and gives where they end. */
  #learn(text: string, at: number): number | undefined {
    this.#known = undefined;
    const end = text.indexOf(HEAD_END, at) + HEAD_END.length;
    if (end < HEAD_END.length || end - at > limits.fastPathHeadBytes) return undefined;
    // A copy: parts of `text` would keep all that was read with it, bodies too, for as long as the connection lives.
    const fields = Buffer.from(text.slice(at, end), 'latin1').toString('latin1');
    const headers = headersOf(fields);
    if (headers === undefined) return undefined;
    const length = headers['content-length'];
    const found = length === undefined ? null : lengthField.exec(fields);
    const lengthAt = found === null ? fields.length : found.index + found[0].length;
    const after = fields.slice(lengthAt + (length ?? '').length);
    this.#known = { before: fields.slice(0, lengthAt), after, hasLength: found !== null, headers };
    return end;
  }
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/** The fields of a head that ends in an empty line, or undefined where they are not plain. */
function headersOf(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  let count = 0;
  fieldLine.lastIndex = 0;
  while (fieldLine.lastIndex < text.length - 2) {
    const found = fieldLine.exec(text);
    if (found === null || ++count > limits.headerCount) return undefined;
    const name = found[1]!.toLowerCase();
    if (Object.hasOwn(headers, name) || name === '__proto__' || notPlain.has(name)) return undefined;
    headers[name] = found[2] ?? '';
  }
  if (headers.host === undefined || (headers.connection ?? 'keep-alive').toLowerCase() !== 'keep-alive')
    return undefined;
  return headers['content-length'] === undefined || plainLength.test(text) ? headers : undefined;
}
