/** How an answer of a node is read: its length, its pause, and whether its refusal leaves the outcome open. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { readText, refusalOf, retryAfterMs } from '../../../src/client/transport/caller.js';
import type { TransportResponse } from '../../../src/client/transport/transport.js';
import type { TrustError } from '../../../src/client/trust-error.js';
import { rejection } from '../../store/log-contract.js';

/** An answer whose body has the given chunks. */
function responseOf(chunks: readonly Uint8Array[], status = 200): TransportResponse {
  async function* body() {
    yield* chunks;
  }
  return { status, header: () => undefined, body: body() };
}

test('an answer may be as long as its bound, in any pieces, and a character may be in two of them', async () => {
  const half = new Uint8Array(bounds.answerBytes / 2);
  assert.is((await readText(responseOf([half, half]))).length, bounds.answerBytes);
  const error = await rejection(readText(responseOf([half, half, new Uint8Array(1)])));
  assert.equal(
    [(error as TrustError).code, (error as Error).message],
    ['unexpected_answer', 'the answer is too large'],
  );
  const text = Buffer.from('ü');
  assert.is(await readText(responseOf([text.subarray(0, 1), text.subarray(1)])), 'ü');
  assert.is(await readText(responseOf([text.subarray(0, 1)])), '\uFFFD');
});

test('a pause is a number of seconds or a date, never negative, and unknown if it is neither', () => {
  const now = Date.UTC(2026, 0, 1);
  const rows: readonly [string | undefined, number | undefined][] = [
    [undefined, undefined],
    ['0', 0],
    ['12', 12_000],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 0],
    ['soon', undefined],
  ];
  for (const [value, ms] of rows) assert.is(retryAfterMs(value, now), ms, value);
});

test('a refusal leaves the outcome open if the service failed or has recorded the command', () => {
  const errorOf = (status: number, body: unknown) => refusalOf(responseOf([], status), body, 0);
  const body = { code: 'some_code', error: 'text' };
  const isOpen = (status: number, details?: unknown) => errorOf(status, { ...body, details }).outcomeUnknown;
  assert.equal(
    [isOpen(500), isOpen(503), isOpen(503, { recorded: true }), isOpen(409, { recorded: 1 })],
    [true, false, true, false],
  );
  for (const other of [null, {}, { code: 'c' }, { error: 'e' }])
    assert.is(errorOf(404, other).code, 'unexpected_answer');
  assert.equal([errorOf(414, null).code, errorOf(431, null).code], ['uri_too_long', 'headers_too_large']);
});

test.run();
