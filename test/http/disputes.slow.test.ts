/** Disputes over HTTP: who is told, and what of them leaves with the player. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesOfLiving } from '../support/living-folder.js';
import { startTestNode, type TestNode, weightsSettled } from '../support/node.js';
import { temporaryFolder } from '../support/process.js';
import { type Frame, StreamReader } from '../support/stream-reader.js';
import { ask } from './exchange.js';
import { newPlayer, type PeerClient, registerPeer } from './peer-client.js';

const salt = 'a salt of sixteen bytes';
const subjectOf = (player: string) => hash('sha256', player + salt, 'hex');

interface Group {
  node: TestNode;
  readonly reporter: PeerClient;
  readonly other: PeerClient;
  readonly disputing: PeerClient;
}

async function withGroup(run: (group: Group, restart: () => Promise<void>) => Promise<void>): Promise<void> {
  const dir = temporaryFolder();
  const start = () =>
    startTestNode({ DATA_DIR: dir, GROUP_SALT: salt, WEIGHTS_INTERVAL_MS: '50', SNAPSHOT_EVERY: '10' });
  const node = await start();
  const [reporter, other, disputing] = await Promise.all(['R', 'O', 'D'].map((name) => registerPeer(node.url, name)));
  const group: Group = { node, reporter: reporter!, other: other!, disputing: disputing! };
  try {
    await run(group, async () => {
      await group.node.close();
      group.node = await start();
    });
  } finally {
    await group.node.close();
  }
}

const dispute = ({ node }: Group, player: string, { key }: PeerClient, json: object = { text: 'not so' }) =>
  ask(node.url, `/api/v1/subjects/${subjectOf(player)}/disputes`, { key, json });

const listed = async ({ node }: Group, player: string, { key }: PeerClient) =>
  (await ask(node.url, `/api/v1/players/${player}/events`, { key })).body.data as { disputed?: true }[];

test('a dispute is noted, and only the operator reads its text', async () => {
  await withGroup(async (group, restart) => {
    const player = newPlayer();
    await group.reporter.submit({ player_id: player });
    const { status, body } = await dispute(group, player, group.disputing, {
      text: 'He was\nat a LAN event: SECRET-WORDS',
    });
    assert.is(status, 201);
    assert.equal(Object.keys(body).sort(), ['dispute_id', 'opened_at', 'status', 'subject_hash']);
    const again = await dispute(group, player, group.disputing);
    assert.equal(
      [again.status, again.body.code, again.body.details],
      [409, 'duplicate_dispute', { dispute_id: body.dispute_id }],
    );
    await restart();
    const [view] = group.node.group.disputes();
    assert.is(view!.text, 'He was\nat a LAN event: SECRET-WORDS');
    assert.equal(
      view!.reporters.map(({ peerId }) => peerId),
      [group.reporter.peerId],
    );
    const audit = await ask(group.node.url, '/api/v1/audit?limit=200', { key: group.reporter.key });
    assert.ok(
      audit.body.data.some(
        (one: { action: string; target: string }) => one.action === 'dispute_opened' && one.target === body.dispute_id,
      ),
    );
    const page = await ask(group.node.url, `/api/v1/players/${player}/events`, { key: group.reporter.key });
    for (const { text } of [audit, page]) assert.not(text.includes('SECRET-WORDS'));
    assert.not(audit.text.includes(subjectOf(player)));
  });
});

test('an invalid dispute is refused with a text that states the expected form', async () => {
  await withGroup(async (group) => {
    const player = newPlayer();
    await group.reporter.submit({ player_id: player });
    const answer = async (json: object, of = player) => {
      const { status, body } = await dispute(group, of, group.disputing, json);
      return [status, body.code, body.details?.field, body.details?.violation].filter((one) => one !== undefined);
    };
    assert.equal(await answer({}), [400, 'schema_validation_failed', '/text', 'required']);
    assert.equal(await answer({ text: '' }), [400, 'schema_validation_failed', '/text', 'minLength']);
    assert.equal(await answer({ text: ' \n ' }), [400, 'schema_validation_failed', '/text', 'pattern']);
    assert.equal(await answer({ text: 'x'.repeat(501) }), [400, 'schema_validation_failed', '/text', 'maxLength']);
    assert.equal(await answer({ text: 'a\u0007b' }), [400, 'schema_validation_failed', '/text', 'pattern']);
    assert.equal(await answer({ text: 'x', more: 1 }), [
      400,
      'schema_validation_failed',
      '/more',
      'additionalProperties',
    ]);
    assert.equal(await answer({ text: 'x', peer_id: 'nobody' }), [422, 'unknown_peer']);
    assert.equal(await answer({ text: 'x' }, newPlayer()), [404, 'subject_not_found']);
    const path = '/api/v1/subjects/xyz/disputes';
    const bad = await ask(group.node.url, path, { key: group.disputing.key, json: { text: 'x' } });
    assert.equal([bad.status, bad.body.code], [400, 'invalid_parameter']);
    assert.equal(await answer({ text: 'x', peer_id: group.other.peerId }), [422, 'nothing_to_dispute']);
    const named = { text: 'x'.repeat(500), peer_id: group.reporter.peerId };
    assert.is((await dispute(group, player, group.disputing, named)).status, 201);
  });
});

test('a dispute is one JSON document of bounded size', async () => {
  await withGroup(async (group) => {
    const answer = async (raw: string, type: string) => {
      const path = `/api/v1/subjects/${subjectOf(newPlayer())}/disputes`;
      const how = { method: 'POST', key: group.disputing.key, raw, headers: { 'Content-Type': type } };
      const { status, body } = await ask(group.node.url, path, how);
      return [status, body.code];
    };
    const json = 'application/json';
    assert.equal(await answer('{"text":"x"}', 'text/plain'), [415, 'unsupported_media_type']);
    assert.equal(await answer('{"text":', json), [400, 'malformed_json']);
    assert.equal(await answer(JSON.stringify({ text: 'x'.repeat(100_000) }), json), [413, 'payload_too_large']);
  });
});

test('only the reporting peer sees its events as disputed while they are disputed or void', async () => {
  await withGroup(async (group) => {
    const player = newPlayer();
    await group.reporter.submit({ player_id: player });
    await group.other.submit({ player_id: player });
    const flags = async () =>
      [await listed(group, player, group.reporter), await listed(group, player, group.other)].map(
        ([first]) => first!.disputed ?? false,
      );
    assert.equal(await flags(), [false, false]);
    const { dispute_id: id } = (await dispute(group, player, group.disputing)).body;
    assert.equal(await flags(), [true, true], 'it names nobody');
    const { group: operations } = group.node;
    assert.ok((await operations.decideDispute('uphold', id, [group.reporter.peerId], 'test')).ok);
    assert.equal(await flags(), [true, false]);
    assert.ok((await operations.decideDispute('undo', id, [], 'test')).ok);
    assert.ok((await operations.decideDispute('reject', id, [], 'test')).ok);
    assert.equal(await flags(), [false, false]);
    const named = await dispute(group, player, group.other, { text: 'x', peer_id: group.reporter.peerId });
    assert.is(named.status, 201);
    assert.equal(await flags(), [true, false]);
  });
});

test('the verdict stream shows a disputed player to the peer that reported it alone', async () => {
  await withGroup(async (group) => {
    const player = newPlayer();
    const subject = subjectOf(player);
    await group.reporter.submit({ player_id: player });
    // Later weights would change the player, too.
    await weightsSettled(group.node);
    const readers = [new StreamReader(group.reporter.key), new StreamReader(group.disputing.key)];
    const isOurs = (data: { changes?: { subject_hash: string }[]; players?: { subject_hash: string }[] }) =>
      [...(data.changes ?? []), ...(data.players ?? [])].some((row) => row.subject_hash === subject);
    const isChange = ({ event, data }: Frame) => event === 'change' && isOurs(data);
    try {
      for (const reader of readers) {
        const first = reader.next(({ data }) => isOurs(data));
        await reader.connect(group.node.url);
        await first;
      }
      const shown = () => readers.map(({ table }) => table.get(subject)?.disputed ?? false);
      assert.equal(shown(), [false, false]);
      const change = readers[0]!.next(isChange);
      const { dispute_id: id } = (await dispute(group, player, group.disputing)).body;
      await change;
      assert.equal(shown(), [true, false]);
      const voided = Promise.all(readers.map((reader) => reader.next(isChange)));
      assert.ok((await group.node.group.decideDispute('uphold', id, [], 'test')).ok);
      await voided;
      assert.equal(shown(), [true, false]);
      const changes = readers.map(({ frames }) => frames.filter(isChange).length);
      assert.equal(changes, [2, 1], 'nobody else learns that something is disputed');
      const late = new StreamReader(group.reporter.key);
      readers.push(late);
      const first = late.next(({ data }) => isOurs(data));
      await late.connect(group.node.url);
      await first;
      assert.is(late.table.get(subject)?.disputed, true, 'whoever comes later is told, too');
    } finally {
      await Promise.all(readers.map((reader) => reader.close()));
    }
  });
});

/** Reports players in one commit. */
async function report(node: TestNode, peer: PeerClient, players: readonly string[]): Promise<void> {
  const events = players.map((player_id) => peer.event({ player_id }));
  const { body } = await ask(node.url, '/api/v1/events/batch', { key: peer.key, json: { events } });
  assert.is(body.accepted, players.length);
}

test('an erasure removes the disputes of the player with their texts from log and snapshots', async () => {
  await withGroup(async (group, restart) => {
    const [player, kept] = [newPlayer(), newPlayer()];
    for (const one of [player, kept]) await group.reporter.submit({ player_id: one });
    const { dispute_id: id } = (await dispute(group, player, group.disputing, { text: 'TEXT-OF-ERASED' })).body;
    await dispute(group, player, group.other, { text: 'ANOTHER-OF-ERASED' });
    await dispute(group, kept, group.disputing, { text: 'TEXT-OF-KEPT' });
    assert.ok((await group.node.group.decideDispute('uphold', id, [], 'test')).ok);
    await report(group.node, group.other, Array.from({ length: 30 }, newPlayer));
    for (const text of ['TEXT-OF-ERASED', 'ANOTHER-OF-ERASED'])
      assert.ok(bytesOfLiving(group.node.dir).includes(text), text);
    const { key } = group.reporter;
    const path = `/api/v1/subjects/${subjectOf(player)}`;
    assert.is((await ask(group.node.url, path, { method: 'DELETE', key })).status, 200);
    const check = () => {
      const bytes = bytesOfLiving(group.node.dir);
      for (const text of ['TEXT-OF-ERASED', 'ANOTHER-OF-ERASED', subjectOf(player)])
        assert.not(bytes.includes(text), text);
      assert.not(bytes.includes(Buffer.from(subjectOf(player), 'hex')));
      assert.ok(bytes.includes('TEXT-OF-KEPT'));
      assert.equal(
        group.node.group.disputes().map(({ text }) => text),
        ['TEXT-OF-KEPT'],
      );
    };
    check();
    await restart();
    check();
    assert.ok((await group.node.group.verify()).ok);
    const gone = await group.node.group.decideDispute('undo', id, [], 'test');
    assert.is(gone.ok ? 'decided' : gone.code, 'dispute_not_found');
  });
});

test('a decision is answered as it was made, also where an erasure removes the dispute at once', async () => {
  await withGroup(async (group) => {
    const player = newPlayer();
    await group.reporter.submit({ player_id: player });
    const { dispute_id: id } = (await dispute(group, player, group.disputing)).body;
    const { group: operations } = group.node;
    const [decided, erased] = await Promise.all([
      operations.decideDispute('uphold', id, [], 'test'),
      operations.confirmErasure(Buffer.from(subjectOf(player), 'hex'), 'test'),
    ]);
    assert.ok(decided.ok && erased.ok);
    assert.equal([decided.value.id, decided.value.status], [id, 'upheld']);
    assert.equal(operations.disputes(), []);
  });
});

test('a peer may open a limited number of disputes a day, and learns when the next one is possible', async () => {
  await withGroup(async (group) => {
    const players = Array.from({ length: 51 }, newPlayer);
    await report(group.node, group.reporter, players);
    let last = 0;
    for (let i = 0; i < 51; i++) {
      const { status, body, headers } = await dispute(group, players[i]!, group.disputing);
      last = status;
      if (status === 201) continue;
      assert.equal([i, status, body.code], [50, 429, 'dispute_quota_exceeded']);
      assert.ok(Number(headers['retry-after']) > 80_000);
    }
    assert.is(last, 429);
  });
});

test.run();
