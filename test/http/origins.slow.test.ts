/** Origins and references over HTTP: what is refused, and who sees them. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventBody } from '../../src/contract/request-bodies.js';
import { bytesOfLiving } from '../support/living-folder.js';
import { startTestNode, type TestNode } from '../support/node.js';
import { type Answer, ask } from './exchange.js';
import { newPlayer, type PeerClient, registerPeer } from './peer-client.js';

const salt = 'a salt of sixteen bytes';

/** A node whose operator has declared these origins. */
async function nodeWith(...origins: readonly string[]): Promise<TestNode> {
  const node = await startTestNode({ GROUP_SALT: salt, SNAPSHOT_EVERY: '20' });
  for (const name of origins) assert.ok((await node.group.changeOrigin('add', name, 'test')).ok);
  return node;
}

const labelled = (more: Partial<EventBody>) => ({ schema_version: '1.1.0', player_id: newPlayer(), ...more });

async function sendBatch({ url, key }: PeerClient, events: readonly EventBody[]): Promise<Answer> {
  return ask(url, '/api/v1/events/batch', { key, json: { events } });
}

test('origin and reference are fields from schema version 1.1.0 on, and come back as they were sent', async () => {
  await using node = await nodeWith('list');
  const peer = await registerPeer(node.url);
  for (const field of [{ origin: 'list' }, { reference: '\u{1F600}'.repeat(128) }]) {
    const { status, body } = await peer.submit({ schema_version: '1.0.0', ...field });
    assert.equal([status, body.details.violation], [400, 'additionalProperties']);
    const taken = await peer.submit(labelled(field));
    assert.equal([taken.status, { ...taken.body, ...field }], [201, taken.body]);
  }
  const major2 = await peer.submit({ schema_version: '2.0.0', origin: 'list' });
  assert.is(major2.body.code, 'unsupported_schema_version');
  const plain = await peer.submit(labelled({}));
  assert.equal([plain.status, 'origin' in plain.body, 'reference' in plain.body], [201, false, false]);
});

test('an undeclared origin is 422, alone and in a batch', async () => {
  await using node = await nodeWith('list');
  const peer = await registerPeer(node.url);
  const events = ['list', 'another'].map((origin) => peer.event(labelled({ origin })));
  const { body: batch } = await sendBatch(peer, events);
  const codes = batch.results.map((one: Answer['body']) => one.code ?? one.status);
  assert.equal(codes, [201, 'unknown_origin']);
  assert.ok((await node.group.changeOrigin('remove', 'list', 'test')).ok);
  const { status, body } = await peer.submit(labelled({ origin: 'list' }));
  assert.equal([status, body.code], [422, 'unknown_origin']);
  assert.is((await sendBatch(peer, events)).body.results[0].status, 409, 'a stored event stays a duplicate');
});

test('a peer lists its own events and those that it carries, newest first, page by page', async () => {
  await using node = await nodeWith('a', 'b');
  const [peer, other] = [await registerPeer(node.url), await registerPeer(node.url)];
  const player_id = newPlayer();
  const path = `/api/v1/players/${player_id}/events`;
  const sent: unknown[] = [];
  for (let i = 0; i < 9; i++) {
    const labels = [{}, { origin: 'a', reference: `case ${i}` }, { origin: 'b' }][i % 3];
    sent.unshift((await peer.submit(labelled({ player_id, ...labels }))).body);
    await other.submit(labelled({ player_id, origin: 'a', reference: `theirs-${i}` }));
  }
  const seen: unknown[] = [];
  for (let query: string | null = 'limit=2'; query !== null; ) {
    const { body }: Answer = await ask(node.url, `${path}?${query}`, { key: peer.key });
    seen.push(...body.data);
    query = body.next_cursor && `limit=2&cursor=${body.next_cursor}`;
  }
  assert.equal(seen, sent);
  const open = await ask(node.url, path);
  assert.not(open.text.includes('case 7'));
  const summary = [{ event_type: 'other', count: 18 }];
  assert.equal([open.body.total, open.body.summary], [18, summary], 'two peers, whatever they carry');
});

test('a reference leaves log and snapshots with its event: by withdrawal, and by an erasure', async () => {
  await using node = await nodeWith('list');
  const peer = await registerPeer(node.url);
  const players = { WITHDRAWN: newPlayer(), ERASED: newPlayer(), KEPT: newPlayer() };
  for (const [name, player_id] of Object.entries(players)) {
    await peer.submit(labelled({ origin: 'list', player_id, event_id: name, reference: `TICKET-OF-${name}` }));
  }
  await sendBatch(
    peer,
    Array.from({ length: 40 }, () => peer.event({ player_id: newPlayer() })),
  );
  const found = () => Object.keys(players).filter((name) => bytesOfLiving(node.dir).includes(`TICKET-OF-${name}`));
  assert.equal(found(), ['WITHDRAWN', 'ERASED', 'KEPT']);
  for (const path of ['events/WITHDRAWN', `subjects/${hash('sha256', players.ERASED + salt, 'hex')}`]) {
    assert.is((await ask(node.url, `/api/v1/${path}`, { method: 'DELETE', key: peer.key })).status, 200);
  }
  assert.equal(found(), ['KEPT']);
});

test.run();
