/** Answers bytes that are no request, or a late one, in the form of every other error, before there is a request. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, refused } from '../../errors.js';
import type { HttpDeps } from '../deps.js';
import { exchangeOf, recordAnswer } from '../request/answering.js';
import { refusalReply, replyText, wireReply } from '../request/reply.js';
import { closeGently } from './node-http.js';

export type RawCode = Extract<
  ErrorCode,
  'request_timeout' | 'payload_too_large' | 'uri_too_long' | 'headers_too_large' | 'invalid_parameter' | 'overloaded'
>;

/** Returns the code of the answer; undefined if the connection itself failed. */
export function parserFailureCode({ code, rawPacket }: { code?: unknown; rawPacket?: unknown }): RawCode | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (typeof code !== 'string' || !code.startsWith('HPE_')) return undefined;
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'payload_too_large';
  if (code !== 'HPE_HEADER_OVERFLOW') return 'invalid_parameter';
  return isMostlyTarget(rawPacket) ? 'uri_too_long' : 'headers_too_large';
}

/**
 * Returns whether the request line made a head too large, by the packet that crossed the bound: its first line begins
 * or ends like a request line, or has no end and contains only characters of a target.
 */
function isMostlyTarget(packet: unknown): boolean {
  if (!(packet instanceof Uint8Array)) return false;
  const text = Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength).toString('latin1');
  const end = text.indexOf('\r\n');
  const line = end < 0 ? text : text.slice(0, end);
  const isWholeLine = /^[A-Z-]{3,16} [^ ]/.test(line);
  if (end >= 0 && !/ HTTP\/\d\.\d$/.test(line)) return false;
  if (isWholeLine) return line.length > text.length - line.length;
  return end >= 0 || /^[\x21-\x7e]+$/.test(line);
}

/** Writes the error, ends the connection and records the answer. `headers`: of the faulty request, if known. */
export function answerRaw(
  deps: Pick<HttpDeps, 'metrics' | 'log'>,
  socket: Duplex,
  code: RawCode,
  headers: IncomingHttpHeaders = {},
): void {
  if (!socket.writable) return;
  const exchange = exchangeOf(headers);
  const reply = refusalReply(refused(code));
  const wire = wireReply(undefined, reply, exchange);
  closeGently(socket, replyText(wire, new Date().toUTCString(), 'Connection: close\r\n'));
  // For most failures neither a method nor an arrival time is known.
  recordAnswer(deps, { route: undefined, reply, method: '', requestId: exchange.requestId, ms: 0 });
}
