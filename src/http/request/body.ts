/**
 * Reads a JSON body through koa-bodyparser, after a check of the head (encoding, media type, declared size) and before
 * a check of the bytes (UTF-8). Maps each failure to the contract's code.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { granted, type Outcome, type Refusal, refused } from '../../errors.js';
import type { BodyCheck } from '../signing/content-digest.js';
import { isAnswerable } from './answering.js';
import type { ArrivingBody } from './request.js';

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

/**
 * Reads a body. `arriving` receives the byte counts, if the bytes are counted. `check` checks the bytes before the
 * parsed value.
 */
export type BodyReader = (
  ctx: Context,
  arriving: ArrivingBody | null,
  check: BodyCheck | null,
) => Promise<Outcome<unknown>>;

/**
 * Creates a reader of JSON bodies up to `bytesMax`. Gives the parsed value, `payload_too_large` or `malformed_json`.
 * A member named `__proto__` is parsed as an own property, so that the schema refuses it like any other.
 */
export function createBodyReader(bytesMax: number): BodyReader {
  const options = {
    enableTypes: ['json'],
    jsonLimit: String(bytesMax),
    strict: false,
    detectJSON: () => true,
    onProtoPoisoning: 'ignore',
  };
  const parse = bodyParser(options);
  return async (ctx, arriving, check) => {
    // The body parser would not accept `identity` in another case.
    delete ctx.req.headers['content-encoding'];
    const chunks: Uint8Array[] = [];
    const tap = (chunk: Uint8Array): void => {
      if (arriving?.arrived(chunk.length) !== false) chunks.push(chunk);
    };
    if (arriving !== null) {
      arriving.onDrop = () => {
        chunks.length = 0;
        // koa-bodyparser keeps the bytes that it has read for as long as the connection lives.
        ctx.req.socket.once('finish', () => ctx.req.socket.destroy());
      };
    }
    ctx.req.on('data', tap);
    try {
      await parse(ctx, async () => {});
    } catch (error) {
      const refusal = readRefusal(error);
      // An incomplete body has no digest.
      return refusal.code === 'malformed_json' && ctx.req.complete ? (check?.(chunks) ?? refusal) : refusal;
    } finally {
      ctx.req.off('data', tap);
    }
    const digestRefusal = check?.(chunks);
    if (digestRefusal !== undefined) return digestRefusal;
    const text = ctx.request.rawBody;
    // Free the text, which a pending commit would keep in memory.
    ctx.request.rawBody = '';
    if (text === '') return refused('malformed_json', { text: 'the body is empty; it must be JSON' });
    if (typeof text !== 'string' || !isAnswerable(ctx.req)) return refused('malformed_json');
    // The parser replaces invalid UTF-8 by this mark. Only bodies with the mark need a check of the bytes.
    if (text.includes('\uFFFD') && !isUtf8(Buffer.concat(chunks))) return refused('malformed_json');
    return granted(ctx.request.body);
  };
}

/**
 * The parser's errors carry a status: 413 for the size, 400 for invalid JSON and for a body that ended early. Other
 * errors are internal.
 */
function readRefusal(error: unknown): Refusal {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (status === 413) return refused('payload_too_large');
  if (status === 400) return refused('malformed_json');
  throw error;
}
