/** Reads JSON bodies: checks the head (encoding, media type, declared size), then the bytes. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { granted, type Outcome, type Refusal, refused } from '../../errors.js';
import { limits } from '../../limits.js';
import { type ApiReply, type BodyReading, then } from './request.js';

/** Returns `unsupported_media_type` or `payload_too_large` as far as the head alone shows them. */
export function bodyRefusal(headers: IncomingHttpHeaders, bytesMax: number): Refusal | undefined {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') return refused('unsupported_media_type');
  if (!isUtf8Json(headers['content-type'])) return refused('unsupported_media_type');
  return Number(headers['content-length'] ?? 0) > bytesMax ? refused('payload_too_large') : undefined;
}

function isUtf8Json(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  if (contentType === undefined) return false;
  const [mediaType, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (mediaType !== 'application/json') return false;
  return parameters.every((one) => !one.startsWith('charset') || /^charset="?utf-?8"?$/.test(one));
}

/** Whether an answer can still be sent. After the last one, such as a 408, nothing is carried out. */
export function isAnswerable({ socket }: IncomingMessage): boolean {
  return socket.writable;
}

/**
 * Resolves to the answer of `use`, which gets the parsed body or its refusal: `payload_too_large`, or `malformed_json`,
 * also if it ends early or arrives too late, since neither is an error of the node. Must keep neither body nor answer:
 * the request, its listeners and their references live until the next request of the connection.
 */
export function readJson(
  request: IncomingMessage,
  bytesMax: number,
  { arriving, check, inTurn, use }: BodyReading,
): Promise<ApiReply> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // A wrapper instead of `resolve`, which would reference the promise and so the answer.
    let pending: typeof resolve | undefined = resolve;
    const settle = (outcome: Outcome<unknown>): void => {
      chunks.length = 0;
      // A promise made now is young; the one that waited would keep its result until a full collection.
      pending?.(Promise.resolve(outcome).then(use));
      pending = undefined;
    };
    const giveUp = (): void => settle(malformed);
    if (arriving !== null) arriving.onDrop = giveUp;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) settle(refused('payload_too_large'));
      else if (arriving?.arrived(chunk.length) !== false) chunks.push(chunk);
    });
    request.once('end', () => {
      // A body that has arrived and waits for its turn does not count as slow.
      arriving?.end();
      if (pending === undefined) return;
      void then(inTurn(bytes), (refusal) => {
        const parse = () => (isAnswerable(request) ? parseJson(bodyText(joined(chunks))) : malformed);
        settle(refusal ?? check?.(chunks) ?? parse());
      });
    });
    request.once('error', giveUp);
  });
}

/** Bodies in several pieces are put together here: new memory for each would begin full collections sooner. */
const joinedBody = Buffer.allocUnsafeSlow(limits.batchBodyBytes);

function joined(pieces: readonly Buffer[]): Buffer {
  if (pieces.length === 1) return pieces[0]!;
  let bytes = 0;
  for (const piece of pieces) bytes += piece.copy(joinedBody, bytes);
  return joinedBody.subarray(0, bytes);
}

export function bodyText(bytes: Buffer): string | undefined {
  const text = bytes.toString();
  // Decoding replaces invalid UTF-8 by this mark. Only bodies with the mark need a check of the bytes.
  return text.includes('\uFFFD') && !isUtf8(bytes) ? undefined : text;
}

const malformed = refused('malformed_json');

/** A member named `__proto__` is parsed as an own property, so that the schema refuses it like any other. */
export function parseJson(text: string | undefined): Outcome<unknown> {
  if (text === undefined) return malformed;
  if (text === '') return refused('malformed_json', { text: 'the body is empty; it must be JSON' });
  try {
    return granted(JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as unknown);
  } catch {
    return malformed;
  }
}
