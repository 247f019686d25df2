/** The answer to a refused body or id, and the operator's log line about it. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { temporaryFolder } from '../../support/process.js';
import { type Answer, ask } from '../exchange.js';
import { newPlayer, type PeerClient, registerPeer } from '../peer-client.js';

let node: TestNode;
let peer: PeerClient;

test.before(async () => {
  node = await startTestNode({ METRICS_PORT: '0' });
  peer = await registerPeer(node.url);
});

test.after(() => node.close());

const invisible = [' a', 'a ', 'a\u0000b', 'a\u200bb', '\u202ea', 'a\u0085'];

function submit(more: object): Promise<Answer> {
  return ask(node.url, '/api/v1/events', { key: peer.key, json: { ...peer.event(), ...more } });
}

const sendBatch = (json: unknown): Promise<Answer> => ask(node.url, '/api/v1/events/batch', { key: peer.key, json });

/** How often ids were refused since the start, by their name. */
async function refusedIds(): Promise<Record<string, number>> {
  const text = await (await fetch(`${node.metricsUrl}/metrics`)).text();
  const rows = [...text.matchAll(/^ptf_ids_refused_total\{id="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(rows.map(([, name, count]) => [name, Number(count)]));
}

test('the answer to an event with several faults describes them all, the first as before', async () => {
  const { status, body } = await submit({ event_type: 'cheat', severity: 2, timestamp: 1_732_000_000 });
  assert.is(status, 400);
  assert.match(body.error, /^event_type must be one of report_cheating, .*; got "cheat"$/);
  assert.equal(body.details, {
    field: '/event_type',
    violation: 'enum',
    more: [
      { field: '/severity', violation: 'maximum', actual: 2, limit: 1, error: 'severity must be at most 1; got 2' },
      {
        field: '/timestamp',
        violation: 'type',
        error:
          'timestamp must be RFC 3339 in UTC, e.g. 2026-11-20T10:00:00Z; got a number; did you mean 2024-11-19T07:06:40Z?',
      },
    ],
  });
});

test('the refusal of a bare array as a batch says that an object with events is expected', async () => {
  const { status, body } = await sendBatch([peer.event()]);
  assert.equal([status, body.details], [400, { field: '', violation: 'type' }]);
  assert.is(body.error, 'the body must be an object with the field events; got an array');
});

test('a batch of invalid events explains the first of them in full and the others by their first error', async () => {
  const { body } = await sendBatch({ events: Array(limits.batchEventsMax).fill({}) });
  const further: number[] = body.results.map((one: Answer['body']) => one.details.more?.length ?? 0);
  assert.equal(
    further,
    further.map((_, place) => (place < limits.batchFaultsExplained ? limits.furtherFaultsMax - 1 : 0)),
  );
  assert.is(body.results[499].error, 'schema_version is missing; it must be a semantic version, e.g. 1.0.0');
});

test('a large body of nothing but unknown fields is answered with at most nine faults', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`u${i}`, 0]));
  const { status, body, text } = await sendBatch({ ...unknown, events: [] });
  assert.is(status, 400);
  assert.is(body.details.more.length, limits.furtherFaultsMax);
  assert.ok(text.length < 4_096, `${text.length}`);
});

test('ids with outer blanks, control or invisible characters are refused in bodies, paths and matches', async () => {
  for (const id of invisible) {
    for (const field of ['player_id', 'event_id', 'game_id']) {
      const { status, body } = await submit({ [field]: id });
      assert.equal([status, body.details], [400, { field: `/${field}`, violation: 'pattern' }], JSON.stringify(id));
      assert.match(body.error, new RegExp(`^${field} must not `));
    }
    const registration = await ask(node.url, '/api/v1/peers/register', { json: { peer_name: id, game_ids: [id] } });
    assert.equal(registration.body.details.field, '/peer_name');
    assert.equal([registration.body.details.more[0].field, registration.body.details.more.length], ['/game_ids/0', 1]);
    const encoded = encodeURIComponent(id);
    for (const [path, parameter] of [
      [`players/${encoded}/trust-score`, 'id'],
      [`players/${encoded}/verdict`, 'id'],
      [`players/${encoded}/events`, 'id'],
      [`trust-scores?ids=a,${encoded}`, 'ids'],
    ] as const) {
      const { status, body } = await ask(node.url, `/api/v1/${path}`);
      assert.equal([status, body.code], [400, 'invalid_parameter'], path);
      assert.equal(body.details, { parameter, violation: 'pattern' });
      assert.match(body.error, 'must not ');
    }
    const withdrawal = await ask(node.url, `/api/v1/events/${encoded}`, { method: 'DELETE', key: peer.key });
    assert.equal([withdrawal.status, withdrawal.body.details], [400, { parameter: 'event_id', violation: 'pattern' }]);
  }
});

test('a game id contains no comma, and the refusal of games in one string shows the right form', async () => {
  const register = (game_ids: unknown) =>
    ask(node.url, '/api/v1/peers/register', { json: { peer_name: 'a', game_ids } });
  const item = await register(['arena, chess']);
  assert.is(item.body.error, 'game_ids[0] must not contain a comma; each game is a separate item');
  const text = await register('arena, chess');
  assert.match(text.body.error, 'did you mean ["arena","chess"]?');
});

test('how often ids were refused is counted, by their name and wherever they stood', async () => {
  const before = await refusedIds();
  await submit({ player_id: 'a ', game_id: ' a' });
  await sendBatch({ events: [peer.event({ player_id: 'a\u0000' }), peer.event({ player_id: newPlayer() })] });
  await ask(node.url, '/api/v1/players/a%20/verdict');
  await ask(node.url, '/api/v1/trust-scores?ids=a,%20b');
  await ask(node.url, '/api/v1/peers/register', { json: { peer_name: ' a', game_ids: ['a,b'] } });
  await ask(node.url, '/api/v1/events/%20a', { method: 'DELETE', key: peer.key });
  // None of these is about the characters of an id.
  await submit({ player_id: '' });
  await submit({ severity: 2 });
  await ask(node.url, `/api/v1/players/${'x'.repeat(129)}/verdict`);
  const after = await refusedIds();
  const counted = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]);
  assert.equal(Object.fromEntries(counted), { player_id: 4, game_id: 2, peer_name: 1, event_id: 1 });
});

test('names and games that were stored before these rules keep loading and stay readable', async () => {
  const dir = temporaryFolder();
  const names = { peerName: ' zero\u200bwidth\u0000', gameIds: ['arena, chess', ' x '] };
  const first = await startTestNode({ DATA_DIR: dir, GROUP_SALT: 'a salt of sixteen bytes' });
  const registered = await first.group.register(names, 'test');
  if (!registered.ok) throw new Error(registered.code);
  const { peer: old, apiKey } = registered.value;
  const subject = hash('sha256', 'a\u0000ba salt of sixteen bytes', 'buffer');
  const stored = await first.group.submit(first.group.peerById(old.peerId) ?? null, [
    {
      schemaVersion: '1.0.0',
      eventId: 'old',
      eventType: 'report_cheating',
      peerId: old.peerId,
      subject: { words: new Uint32Array(new Uint8Array(subject).buffer), at: 0 },
      gameId: 'arena, chess',
      severity: 1,
      timestamp: Date.now(),
    },
  ]);
  assert.ok(stored[0]?.ok);
  await first.close();
  await using second = await startTestNode({ DATA_DIR: dir, GROUP_SALT: 'a salt of sixteen bytes' });
  const { body } = await ask(second.url, '/api/v1/peers');
  assert.equal([body.data[0].peer_name, body.data[0].game_ids], [names.peerName, names.gameIds]);
  const events = await ask(second.url, `/api/v1/players/${subject.toString('hex')}/events`, { key: apiKey });
  assert.equal([events.status, events.body.data[0].game_id], [200, 'arena, chess']);
});

test.run();
