/** Answers of the HTTP face to outcomes that only a group under load, in a fault, or with erased events gives. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Outcome, refused } from '../../../src/errors.js';
import type { AcceptedEvent } from '../../../src/group/api.js';
import { HOUR_MS, limits } from '../../../src/limits.js';
import { ask } from '../exchange.js';
import { startFace, type TestFace } from '../face.js';
import { activeKey, type Replaced } from '../group-double.js';
import { eventBody } from '../samples.js';

const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
/** The next answers of the group. */
let answers: Replaced = {};
let url = '';
let face: TestFace;

test.before(async () => {
  face = await startFace({
    group: {
      submit: (...given) => answers.submit!(...given),
      ownErasures: (...given) => answers.ownErasures!(...given),
      audit: (...given) => answers.audit!(...given),
      dispute: (...given) => answers.dispute!(...given),
    },
  });
  url = face.url;
});
test.after(() => face.drain());

const accepted: Outcome<AcceptedEvent> = { ok: true, value: { receivedAt: at } };

/** Sends a batch of two events to which the group gives these outcomes. */
function batch(outcomes: readonly Outcome<AcceptedEvent>[]) {
  answers = { submit: async () => [...outcomes] };
  const events = [eventBody({ event_id: 'a' }), eventBody({ event_id: 'b' })];
  return ask(url, '/api/v1/events/batch', { key: activeKey, json: { events } });
}

test('a batch of which the group could take nothing for now is refused as a whole', async () => {
  const { status, body } = await batch([refused('overloaded'), refused('dependency_unavailable')]);
  assert.equal([status, body.code], [503, 'overloaded']);
});

test('a batch of which the group took or judged one event is answered event by event', async () => {
  for (const [first, second] of [
    [refused('overloaded'), accepted],
    [accepted, refused('overloaded')],
    [refused('overloaded'), refused('timestamp_in_future')],
    [refused('timestamp_in_future'), refused('overloaded')],
  ] as const) {
    const { status, body } = await batch([first, second]);
    const results = body.results.map(({ status, code }: { status: number; code?: string }) => code ?? status);
    const said = [first, second].map((one) => (one.ok ? 201 : one.code));
    assert.equal([status, results], [200, said]);
  }
});

test('only the valid items of a batch reach the group, in one call', async () => {
  const calls: string[][] = [];
  answers = {
    submit: async (_caller, events) => {
      calls.push(events.map(({ eventId }) => eventId));
      return events.map(() => refused('timestamp_in_future'));
    },
  };
  const send = (events: unknown[]) => ask(url, '/api/v1/events/batch', { key: activeKey, json: { events } });
  const { body } = await send([{}, eventBody({ event_id: 'a' }), 3, eventBody({ event_id: 'b' })]);
  const results = body.results.map((one: { event_id: string; status: number }) => `${one.event_id} ${one.status}`);
  assert.equal(results, ['null 400', 'a 422', 'null 400', 'b 422']);
  await send([1]);
  assert.equal(calls, [['a', 'b']]);
});

test('a batch for which the group gives too many or too few outcomes is an internal error', async () => {
  for (const outcomes of [[accepted], [accepted, accepted, accepted]]) {
    const { status, body } = await batch(outcomes);
    assert.equal([status, body.code], [500, 'internal_error']);
  }
});

test('own erased events show when they were received, and the hour alone in which they were erased', async () => {
  const asked: unknown[] = [];
  answers = {
    ownErasures: ({ index }, from, limit) => {
      asked.push([index, from, limit]);
      return { total: 7, events: [{ receivedAt: at, erasedAt: at + HOUR_MS }], next: from === 0 ? 1 : null };
    },
  };
  const read = async (query: string) => (await ask(url, `/api/v1/events/erased${query}`, { key: activeKey })).body;
  const first = await read('?limit=1');
  assert.equal([first.total, typeof first.next_cursor], [7, 'string']);
  const data = [
    { status: 'subject_erased', received_at: '2026-01-02T03:04:05.678Z', erased_at: '2026-01-02T04:00:00.000Z' },
  ];
  assert.equal(first.data, data);
  assert.equal(await read(`?limit=1&cursor=${first.next_cursor}`), { total: 7, data, next_cursor: null });
  assert.equal(asked, [
    [0, 0, 1],
    [0, 1, 1],
  ]);
  for (const bad of ['?limit=0', '?cursor=x']) assert.is((await read(bad)).code, 'invalid_parameter');
});

test('with authentication off no caller has erased events', async () => {
  await using open = await startFace({
    group: { ownErasures: () => ({ total: 7, events: [], next: 1 }) },
    settings: { authEnabled: false },
  });
  const { body } = await ask(open.url, '/api/v1/events/erased');
  assert.equal(body, { total: 0, data: [], next_cursor: null });
});

test('a refused dispute and a refused read of the audit log are answered with the code of the refusal', async () => {
  const disputed: string[] = [];
  answers = {
    audit: async () => refused('overloaded'),
    dispute: async (_caller, subject) => {
      disputed.push(Buffer.from(subject).toString('hex'));
      return refused('nothing_to_dispute');
    },
  };
  const audit = await ask(url, '/api/v1/audit', { key: activeKey });
  assert.equal([audit.status, audit.body.code], [503, 'overloaded']);
  const dispute = (hash: string) =>
    ask(url, `/api/v1/subjects/${hash}/disputes`, { key: activeKey, json: { text: 'not so' } });
  assert.is((await dispute('no-hash')).body.code, 'invalid_parameter');
  assert.is((await dispute('AB'.repeat(32))).body.code, 'nothing_to_dispute');
  assert.equal(disputed, ['ab'.repeat(32)]);
});

test('a reader of the stream beyond the limit of its peer is refused', async () => {
  const path = '/api/v1/verdicts/stream';
  const ending = new AbortController();
  const read = () => fetch(url + path, { headers: { 'x-peer-api-key': activeKey }, signal: ending.signal });
  try {
    const opened = await Promise.all(Array.from({ length: limits.streamReadersPerPeer }, read));
    assert.ok(opened.every(({ status }) => status === 200));
    const { status, body } = await ask(url, path, { key: activeKey });
    assert.equal([status, body.code], [503, 'overloaded']);
  } finally {
    ending.abort();
  }
});

test.run();
