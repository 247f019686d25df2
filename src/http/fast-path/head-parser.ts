/** Parses a head in the plainest form of HTTP/1.1 (RFC 9112), as game servers send it; others are left to node:http. */
import type { IncomingHttpHeaders } from 'node:http';
import { limits } from '../../limits.js';

export interface ParsedHead {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly contentLength: number;
  readonly end: number;
}

const PROTOCOL = ' HTTP/1.1\r\n';
const HEAD_END = '\r\n\r\n';

/** Fields that node:http must process, whatever their value. */
const notPlain = new Set('transfer-encoding content-encoding expect upgrade te trailer proxy-connection'.split(' '));

/** A field line. Blanks match in one way only, because two ways would backtrack over every combination. */
const fieldLine = /([!#$%&'*+.^_`|~\dA-Za-z-]+):[ \t]*(?:([\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)[ \t]*)?\r\n/y;

/** A body whose length needs more digits exceeds every bound. */
const lengthDigitsMax = String(limits.batchBodyBytes).length;
/** A content length in its plainest form. node:http accepts some blanks around the digits and refuses others. */
const plainLength = new RegExp(`(?:^|\\r\\n)content-length: ?\\d{1,${lengthDigitsMax}}\\r\\n`, 'i');

const lengthField = /(?:^|\r\n)content-length: ?/i;

/** The text of a header block, split at the value of the content length if there is one. */
interface KnownFields {
  readonly before: string;
  readonly after: string;
  readonly hasLength: boolean;
  readonly headers: IncomingHttpHeaders;
}

/** Caches the newest header block of one connection, which most clients repeat except for the length. */
export class HeadParser {
  #known: KnownFields | undefined;

  /** Returns the head at `at`; undefined if it is incomplete or not plain. `text` is the bytes as latin1. */
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

  #learn(text: string, at: number): number | undefined {
    const end = text.indexOf(HEAD_END, at) + HEAD_END.length;
    if (end < HEAD_END.length || end - at > limits.fastPathHeadBytes) return undefined;
    // A substring would keep the whole read in memory, bodies included, as long as the connection lives.
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
