/** Events in the words of the contract, and what each result of a batch means for its event. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { checkEventId, resultsOf, wireEvent } from '../../../src/client/write/client-event.js';
import { VirtualRuntime } from '../virtual-runtime.js';

const event = { eventType: 'report_cheating', playerId: 'p', gameId: 'g', severity: 0.5 } as const;
const runtime = new VirtualRuntime();
const wire = (more: object = {}) => wireEvent({ ...event, ...more }, 'peer', (id) => `hash of ${id}`, runtime);
const isRefused = (error: unknown) => error instanceof TrustError && error.code === 'invalid_argument';

/** Returns the result of one row as its status, or as `later` with the outcome that is open. */
function resultOf(row: unknown, peerId = 'peer'): unknown[] {
  const [result] = resultsOf({ results: [row] }, [wire({ eventId: 'e' })], peerId);
  if (result === undefined) throw new Error('no result');
  if ('later' in result) return ['later', result.later.code, result.later.message, result.later.outcomeUnknown];
  assert.is(result.eventId, 'e');
  return [result.status, result.code, result.reason];
}

test('a result stores, rejects or defers its event, and states whether a deferred one may be stored', () => {
  const code = 'invalid_parameter';
  const rows: readonly [row: unknown, result: unknown[]][] = [
    [{ status: 201 }, ['accepted', null, null]],
    [{ status: 409 }, ['duplicate', null, null]],
    [
      { status: 409, details: { owner: 'other' }, code: 'duplicate_event' },
      ['rejected', 'duplicate_event', 'duplicate_event'],
    ],
    [{ status: 400, code, error: 'text' }, ['rejected', code, 'text']],
    [{ status: 428, code }, ['rejected', code, code]],
    [{ status: 429, code: 'overloaded' }, ['later', 'overloaded', 'overloaded', false]],
    [{ status: 430, code }, ['rejected', code, code]],
    [{ status: 499, code }, ['rejected', code, code]],
    [{ status: 500, code: 'internal_error' }, ['later', 'internal_error', 'internal_error', true]],
    [{ status: 501, code: 'internal_error' }, ['later', 'internal_error', 'internal_error', false]],
    [{ status: 399 }, ['later', 'unexpected_answer', 'unexpected_answer', true]],
    [{}, ['later', 'unexpected_answer', 'unexpected_answer', true]],
    ['no row', ['later', 'unexpected_answer', 'unexpected_answer', true]],
    [{ status: 403, code: 'unknown_peer' }, ['later', 'unknown_peer', 'unknown_peer', false]],
    [{ status: 403, code: 'peer_id_mismatch' }, ['later', 'peer_id_mismatch', 'peer_id_mismatch', false]],
  ];
  for (const [row, result] of rows) assert.equal(resultOf(row), result, JSON.stringify(row));
  // The spool of another peer holds the event.
  assert.is(resultOf({ status: 403, code: 'peer_id_mismatch' }, 'another')[0], 'rejected');
});

test('an event has the version of its members, an id and a time of its own unless they are given', () => {
  const made = wire();
  assert.equal(
    [made.schema_version, made.player_id, made.timestamp],
    ['1.0.0', 'hash of p', '2026-01-01T00:00:00.000Z'],
  );
  assert.match(made.event_id, /^[\da-f-]{36}$/);
  assert.not.ok('origin' in made || 'reference' in made);
  const labels = [{ origin: 'o' }, { reference: 'r' }, { origin: 'o', reference: 'r' }];
  for (const label of labels)
    assert.equal(wire({ ...label, eventId: 'e' }), { ...wire({ eventId: 'e' }), ...label, schema_version: '1.1.0' });
  assert.is(wire({ at: new Date(0) }).timestamp, '1970-01-01T00:00:00.000Z');
  assert.throws(() => wire({ at: Number.NaN }), isRefused);
});

test('an event id has 1 to 128 of the permitted characters', () => {
  for (const id of ['a', 'Z_0.9:-', 'a'.repeat(bounds.eventIdLength)]) checkEventId(id);
  for (const id of ['', 'a b', 'ä', 'a\n', 'a'.repeat(bounds.eventIdLength + 1), 5 as unknown as string])
    assert.throws(() => checkEventId(id), isRefused, String(id));
});

test.run();
