/**
 * Reads the head of a request from the bytes of a connection, where it is of the plainest form of HTTP/1.1 (RFC 9112): what a
 * game server's client sends all day. Anything else is not refused here but left to node:http, which knows the whole of HTTP.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { limits } from '../limits.js';

/** The fields of a head. One and the same object for a connection that sends the same fields again. */
export interface PlainFields {
  /** By lower-case name, each named once. */
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body; 0 where the request has none. */
  readonly contentLength: number;
}

export interface PlainHead {
  readonly method: 'GET' | 'POST';
  /** The request target as sent. */
  readonly url: string;
  readonly fields: PlainFields;
  /** Where the body begins. */
  readonly end: number;
}

const PROTOCOL = ' HTTP/1.1\r\n';
const HEAD_END = '\r\n\r\n';

/** Each stands in a head only for a reason that node:http is to look at, whatever its value. */
const notPlain = new Set(['transfer-encoding', 'content-encoding', 'expect', 'upgrade', 'te', 'trailer']);

/**
 * A field line: a token, a colon, printable ASCII without spaces around it that matter. What RFC 9110 allows beyond (folded
 * lines, other bytes) is not plain.
 */
const fieldLine = /([!#$%&'*+.^_`|~\dA-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?[ \t]*\r\n/y;

/** Remembers the newest fields of one connection: most clients send the same ones with every request. */
export class PlainHeadReader {
  #known = '';
  #fields: PlainFields | undefined;

  /** The head that begins at `at`, or undefined where it is not whole or not plain. `text`: bytes as latin1. */
  read(text: string, at: number): PlainHead | undefined {
    const method = text.startsWith('GET /', at) ? 'GET' : text.startsWith('POST /', at) ? 'POST' : undefined;
    if (method === undefined) return undefined;
    const urlAt = at + method.length + 1;
    const urlEnd = text.indexOf(' ', urlAt);
    if (urlEnd < 0 || !text.startsWith(PROTOCOL, urlEnd)) return undefined;
    const fieldsAt = urlEnd + PROTOCOL.length;
    if (this.#fields === undefined || text.slice(fieldsAt, fieldsAt + this.#known.length) !== this.#known) {
      const fieldsEnd = text.indexOf(HEAD_END, fieldsAt) + HEAD_END.length;
      if (fieldsEnd < HEAD_END.length) return undefined;
      this.#known = text.slice(fieldsAt, fieldsEnd);
      this.#fields = fieldsOf(this.#known);
      if (this.#fields === undefined) return undefined;
    }
    const end = fieldsAt + this.#known.length;
    if (end - at > limits.plainHeadBytes) return undefined;
    if (method === 'GET' && this.#fields.contentLength > 0) return undefined;
    return { method, url: text.slice(urlAt, urlEnd), fields: this.#fields, end };
  }
}

/** The fields of a head that ends in an empty line, or undefined where they are not plain. */
function fieldsOf(text: string): PlainFields | undefined {
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
  const contentLength = headers['content-length'] ?? '0';
  if (!/^\d{1,7}$/.test(contentLength)) return undefined;
  return { headers, contentLength: Number(contentLength) };
}
