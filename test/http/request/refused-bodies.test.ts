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

test('a batch of invalid events explains the first of them in full and the others by their first error', async () => {
  const { body } = await sendBatch({ events: Array(limits.batchEventsMax).fill({}) });
  const further: number[] = body.results.map((one: Answer['body']) => one.details.more?.length ?? 0);
  assert.equal(
    further,
    further.map((_, place) => (place < limits.batchFaultsExplained ? limits.furtherFaultsMax - 1 : 0)),
  );
  assert.is(body.results[499].error, 'schema_version is missing; it must be a semantic version, e.g. 1.0.0');
});

test('how often ids were refused is counted, by their name and wherever they stood', async () => {
  const before = await refusedIds();
  await submit({ player_id: 'a ', game_id: ' a' });
  await sendBatch({ events: [peer.event({ player_id: 'a\u0000' }), peer.event({ player_id: newPlayer() })] });
  for (const read of ['trust-score', 'verdict', 'events']) await ask(node.url, `/api/v1/players/a%20/${read}`);
  await ask(node.url, '/api/v1/trust-scores?ids=a,%20b');
  await ask(node.url, '/api/v1/peers/register', { json: { peer_name: ' a', game_ids: ['a,b'] } });
  await ask(node.url, '/api/v1/events/%20a', { method: 'DELETE', key: peer.key });
  // None of these is about the characters of an id.
  await submit({ player_id: '' });
  await submit({ severity: 2 });
  await ask(node.url, `/api/v1/players/${'x'.repeat(129)}/verdict`);
  const after = await refusedIds();
  const counted = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]);
  assert.equal(Object.fromEntries(counted), { player_id: 6, game_id: 2, peer_name: 1, event_id: 1 });
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
