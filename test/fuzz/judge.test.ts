/** The judge of the fuzz finds what it is for. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { errors } from '../../src/errors.js';
import type { Conversation, FuzzRequest } from './conversation.js';
import { areAlike, comparable, judge } from './judge.js';
import { answersOf } from './wire.js';

const head: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Request-Id': 'r',
  'Cache-Control': 'no-store',
  Vary: 'Accept',
  'Content-Type': 'application/json; charset=utf-8',
};

function answer(status: number, body: unknown, more: Readonly<Record<string, string>> = {}): string {
  const text = JSON.stringify(body);
  const fields = Object.entries({ ...head, 'Content-Length': String(text.length), ...more });
  return `HTTP/1.1 ${status} X\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`;
}

const read: FuzzRequest = {
  method: 'GET',
  target: '/api/v1/players/x/verdict',
  version: '1.1',
  fields: [['Host', 'x']],
  body: null,
  chunkBytes: null,
};

const asking = (requests: readonly FuzzRequest[], raw = ''): Conversation => ({ requests, raw, damages: [], cuts: [] });

const one = asking([read]);
const unknown = { error: 'x', code: 'player_not_found' };
const none = new Map<string, string>();

/** Not `assert.throws`, which lets assertions through. */
function fails(received: string, conversation = one): void {
  let found = false;
  try {
    judge(conversation, none, received);
  } catch {
    found = true;
  }
  assert.ok(found, `was let pass: ${received}`);
}

test('an answer in the contract is let pass', () => assert.is(judge(one, none, answer(404, unknown)).length, 1));

test('a 5xx, a code of another route, a wrong status, a wrong body and a missing header are found', () => {
  fails(answer(500, { error: 'internal error', code: 'internal_error', details: { request_id: 'r' } }));
  fails(answer(503, { error: 'x', code: 'dependency_unavailable' }, { 'Retry-After': '1' }));
  fails(answer(404, { error: 'x', code: 'event_not_found' }));
  fails(answer(400, unknown));
  fails(answer(404, { code: 'player_not_found' }));
  fails(answer(404, { ...unknown, stack: 'at x' }));
  fails(answer(200, { player_id: 'x' }));
  fails(answer(404, unknown).replace('X-Frame-Options: DENY\r\n', ''));
  fails(answer(404, unknown).replace('nosniff', 'sniff'));
});

test('a bound that is reached may be named with 503, a node that has too much to do may not', () => {
  const registration = asking([{ ...read, method: 'POST', target: '/api/v1/peers/register' }]);
  const title = errors.overloaded.text;
  const refusals = (error: string) => {
    const problem = { type: 'urn:ptf:error:overloaded', title, status: 503, detail: error };
    const asProblem = { 'Retry-After': '1', 'Content-Type': 'application/problem+json; charset=utf-8' };
    const body = { error, code: 'overloaded' };
    return [answer(503, body, { 'Retry-After': '1' }), answer(503, { ...problem, ...body }, asProblem)];
  };
  for (const one of refusals('the group has reached its maximum number of peers'))
    assert.is(judge(registration, none, one).length, 1);
  for (const one of refusals(title)) fails(one, registration);
});

test('an answer too few or too many, half an answer and bytes between answers are found', () => {
  fails('');
  fails(answer(404, unknown), asking([read, read]));
  fails(answer(404, unknown).repeat(2));
  fails(answer(404, unknown).slice(0, -1));
  fails(`${answer(404, unknown)}\n${answer(404, unknown)}`, asking([read, read]));
  // One that ends the connection is the last one.
  assert.is(judge(asking([read, read]), none, answer(404, unknown, { Connection: 'close' })).length, 1);
});

test('answers of two nodes compare as equal if and only if they differ only in random values', () => {
  const texts = (...received: string[]): string[] => answersOf(received.join(''), []).map(comparable);
  const at = (time: string, id: string): string =>
    answer(201, { receipt: id, erased_at: time, subject_hash: 'h' }, { 'X-Request-Id': id, Date: time });
  const [first, second] = [at('2026-01-01T00:00:00.000Z', 'a'), at('2026-01-01T00:00:01.000Z', 'b')];
  assert.ok(areAlike(one, texts(first), texts(second)));
  for (const other of [first.replace('"h"', '"g"'), first.replace('201', '200'), first.replace('no-store', 'public')])
    assert.not(areAlike(one, texts(first), texts(other)), other);
  assert.not(areAlike(one, texts(first), texts(first, first)));
  const broken = answer(400, { error: 'x', code: 'invalid_parameter' }, { Connection: 'close' });
  assert.not(areAlike(one, texts(first), texts(first, broken)));
  assert.ok(areAlike(asking([read], 'G'), texts(broken), texts(first, broken)));
});

test.run();
