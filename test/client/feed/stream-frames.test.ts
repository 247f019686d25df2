import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { applyFrame, type FrameEffect } from '../../../src/client/feed/stream-frames.js';
import { TrustTable } from '../../../src/client/feed/trust-table.js';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];
const as_of = '2026-11-27T12:00:00.000Z';
const at = Date.parse(as_of);
const values = { score: 12, confidence: 0.5, verdict: 'untrusted' };

class Reader {
  readonly table = new TrustTable(1_000);
  readonly erased: string[] = [];

  take(event: string, data: object | string, id?: string): FrameEffect {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    const message = { event, data: text, id };
    return applyFrame(
      message,
      this.table,
      (ms) => ms - at + 7,
      (hash) => this.erased.push(hash),
    );
  }
}

test('a frame that lacks a member, or has one of another type, is malformed and names its kind', () => {
  const row = { subject_hash: A, ...values };
  const rows: unknown[] = [null, 7, [], { ...values }, { ...row, subject_hash: 'A' }, { ...row, subject_hash: 7 }];
  for (const name of Object.keys(values)) rows.push({ ...row, [name]: null });
  rows.push({ ...row, verdict: 'toString' });
  const hello = { version: 1, group_id: 'g', heartbeat_ms: 5_000, now: as_of };
  const faulty: [string, object | string][] = [
    ...['hello', 'snapshot', 'change', 'heartbeat'].flatMap((name): [string, object | string][] => [
      [name, ''],
      [name, '[]'],
      [name, '{'],
    ]),
    ...Object.keys(hello).flatMap((name): [string, object][] =>
      name === 'version' ? [] : [['hello', { ...hello, [name]: {} }]],
    ),
    ['hello', { ...hello, heartbeat_ms: 0 }],
    ['snapshot', { players: [], last: true }],
    ['snapshot', { players: [], as_of }],
    ['snapshot', { players: {}, last: true, as_of }],
    ['change', { changes: [] }],
    ['change', { changes: {}, as_of }],
    ['heartbeat', { as_of: 'soon' }],
    ...rows.flatMap((one): [string, object][] => [
      ['snapshot', { players: [one], last: false, as_of }],
      ['change', { changes: [one], as_of }],
    ]),
  ];
  for (const [event, data] of faulty) {
    const effect = new Reader().take(event, data);
    assert.is(effect.kind, 'bad', `${event} ${JSON.stringify(data)}`);
    if (event !== 'hello') assert.match((effect as { text: string }).text, `a ${event} frame`);
  }
  assert.match(JSON.stringify(new Reader().take('hello', { ...hello, version: 2 })), 'does not know the version');
  assert.equal(new Reader().take('hello', hello), { kind: 'hello', heartbeatMs: 5_000, now: at });
});

test('a snapshot in pieces replaces the table at its end, and changes follow it', () => {
  const reader = new Reader();
  const { table } = reader;
  const player = (subject_hash: string) => ({ subject_hash, ...values });
  const whole = { kind: 'current', at: 7, beat: false };
  assert.equal(reader.take('snapshot', { players: [player(A)], last: false, as_of }), { kind: 'snapshot' });
  assert.ok(table.inSnapshot);
  assert.equal(reader.take('snapshot', { players: [player(B)], last: true, as_of }), whole);
  assert.not(table.inSnapshot);
  assert.equal([table.get(A)?.published, table.size], [{ values: { ...values, known: true }, at: 7 }, 2]);
  const erasure = { changes: [{ subject_hash: A, gone: true, subject_erased: true }], as_of };
  assert.equal(reader.take('change', erasure), { kind: 'part' });
  assert.equal(reader.erased, [A]);
  assert.equal(reader.take('change', { changes: [{ ...player(B), allowed: true }], as_of }, '9'), whole);
  assert.is(table.size, 1);
  assert.equal(reader.take('snapshot', { players: [], last: true, as_of }), whole);
  assert.is(table.size, 0, 'a player that a snapshot does not name has no events');
  assert.equal(reader.take('heartbeat', { as_of }), { ...whole, beat: true });
});

test('the end of a stream says when to come back, and an unknown frame means nothing', () => {
  const reader = new Reader();
  assert.equal(reader.take('resume', { reason: 'limit', after_ms: 250 }), {
    kind: 'ended',
    text: 'the node ended the stream: limit',
    afterMs: 250,
  });
  for (const after_ms of [-1, 'x', undefined]) {
    assert.is((reader.take('resume', { reason: 'limit', after_ms }) as { afterMs: number }).afterMs, 0);
  }
  assert.equal(reader.take('reset', {}), { kind: 'part' });
  assert.equal(reader.take('later', {}), { kind: 'unknown' });
});

test.run();
