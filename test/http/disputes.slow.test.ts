/** Disputes over HTTP: who is told, and what of them leaves with the player. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesOfLiving } from '../support/living-folder.js';
import { startTestNode, weightsSettled } from '../support/node.js';
import { temporaryFolder } from '../support/process.js';
import { type Frame, liveReader } from '../support/stream-reader.js';
import { ask } from './exchange.js';
import { newPlayer, type PeerClient, registerPeer } from './peer-client.js';

const salt = 'a salt of sixteen bytes';
const subjectOf = (player: string) => hash('sha256', player + salt, 'hex');
const pathOf = (player: string) => `/api/v1/subjects/${subjectOf(player)}/disputes`;

async function openGroup() {
  const variables = { DATA_DIR: temporaryFolder(), GROUP_SALT: salt, WEIGHTS_INTERVAL_MS: '50', SNAPSHOT_EVERY: '10' };
  const node = await startTestNode(variables);
  const [reporter, other, disputing] = await Promise.all(['R', 'O', 'D'].map((name) => registerPeer(node.url, name)));
  const group = {
    node,
    reporter: reporter!,
    other: other!,
    disputing: disputing!,
    dispute: (player: string, { key }: PeerClient, json: object = { text: 'not so' }) =>
      ask(group.node.url, pathOf(player), { key, json }),
    /** A player that the reporter has reported. */
    async reported(): Promise<string> {
      const player = newPlayer();
      await group.reporter.submit({ player_id: player });
      return player;
    },
    async restart(): Promise<void> {
      await group.node.close();
      group.node = await startTestNode(variables);
    },
    [Symbol.asyncDispose]: (): Promise<void> => group.node.close(),
  };
  return group;
}

test('a dispute is noted, and only the operator reads its text', async () => {
  await using group = await openGroup();
  const { reporter, disputing } = group;
  const player = await group.reported();
  const text = 'He was\nat a LAN event: SECRET-WORDS';
  const { status, body } = await group.dispute(player, disputing, { text });
  assert.is(status, 201);
  assert.equal(Object.keys(body).sort(), ['dispute_id', 'opened_at', 'status', 'subject_hash']);
  const again = (await group.dispute(player, disputing)).body;
  assert.equal([again.code, again.details], ['duplicate_dispute', { dispute_id: body.dispute_id }]);
  await group.restart();
  const [view] = group.node.group.disputes();
  assert.equal([view!.text, view!.reporters.map(({ peerId }) => peerId)], [text, [reporter.peerId]]);
  const audit = await ask(group.node.url, '/api/v1/audit?limit=200', { key: reporter.key });
  const opened = audit.body.data.filter(({ action }: { action: string }) => action === 'dispute_opened');
  assert.equal(
    opened.map(({ target }: { target: string }) => target),
    [body.dispute_id],
  );
  const page = await ask(group.node.url, `/api/v1/players/${player}/events`, { key: reporter.key });
  for (const answer of [audit, page]) assert.not(answer.text.includes('SECRET-WORDS'));
  assert.not(audit.text.includes(subjectOf(player)));
});

test('a dispute is one JSON document of bounded size about a player and a peer that the group knows', async () => {
  await using group = await openGroup();
  const player = await group.reported();
  const codeOf = async (raw: string, path = pathOf(player), type = 'application/json') => {
    const how = { method: 'POST', key: group.disputing.key, raw, headers: { 'Content-Type': type } };
    const { status, body } = await ask(group.node.url, path, how);
    return body.code ?? status;
  };
  const naming = (peer_id: string) => JSON.stringify({ text: 'x'.repeat(500), peer_id });
  const plain = '{"text":"x"}';
  assert.is(await codeOf(plain, pathOf(player), 'text/plain'), 'unsupported_media_type');
  assert.is(await codeOf('{"text":'), 'malformed_json');
  assert.is(await codeOf(JSON.stringify({ text: 'x'.repeat(100_000) })), 'payload_too_large');
  assert.is(await codeOf('{"text":""}'), 'schema_validation_failed');
  assert.is(await codeOf(plain, '/api/v1/subjects/xyz/disputes'), 'invalid_parameter');
  assert.is(await codeOf(plain, pathOf(newPlayer())), 'subject_not_found');
  assert.is(await codeOf(naming('nobody')), 'unknown_peer');
  assert.is(await codeOf(naming(group.other.peerId)), 'nothing_to_dispute');
  assert.is(await codeOf(naming(group.reporter.peerId)), 201);
});

test('only the reporting peer sees its events as disputed while they are disputed or void', async () => {
  await using group = await openGroup();
  const { reporter, other, disputing } = group;
  const { group: operations, url } = group.node;
  const player = await group.reported();
  await other.submit({ player_id: player });
  const flagFor = async ({ key }: PeerClient) =>
    (await ask(url, `/api/v1/players/${player}/events`, { key })).body.data[0].disputed ?? false;
  const flags = async () => [await flagFor(reporter), await flagFor(other)];
  assert.equal(await flags(), [false, false]);
  const { dispute_id: id } = (await group.dispute(player, disputing)).body;
  assert.equal(await flags(), [true, true], 'it names nobody');
  assert.ok((await operations.decideDispute('uphold', id, [reporter.peerId], 'test')).ok);
  assert.equal(await flags(), [true, false]);
  assert.ok((await operations.decideDispute('undo', id, [], 'test')).ok);
  assert.ok((await operations.decideDispute('reject', id, [], 'test')).ok);
  assert.equal(await flags(), [false, false]);
  assert.is((await group.dispute(player, other, { text: 'x', peer_id: reporter.peerId })).status, 201);
  assert.equal(await flags(), [true, false]);
});

test('the verdict stream shows a disputed player to the peer that reported it alone', async () => {
  await using group = await openGroup();
  const { node, reporter, disputing } = group;
  const player = await group.reported();
  const subject = subjectOf(player);
  // Later weights would change the player, too.
  await weightsSettled(node);
  const isChange = ({ event, data }: Frame) =>
    event === 'change' && data.changes.some((row: { subject_hash: string }) => row.subject_hash === subject);
  await using own = await liveReader(node.url, reporter.key);
  await using foreign = await liveReader(node.url, disputing.key);
  const readers = [own, foreign];
  const shown = () => readers.map(({ table }) => table.get(subject)?.disputed ?? false);
  assert.equal(shown(), [false, false]);
  const change = own.next(isChange);
  const { dispute_id: id } = (await group.dispute(player, disputing)).body;
  await change;
  assert.equal(shown(), [true, false]);
  const voided = Promise.all(readers.map((reader) => reader.next(isChange)));
  assert.ok((await node.group.decideDispute('uphold', id, [], 'test')).ok);
  await voided;
  assert.equal(shown(), [true, false]);
  const changes = readers.map(({ frames }) => frames.filter(isChange).length);
  assert.equal(changes, [2, 1], 'nobody else learns that something is disputed');
  await using late = await liveReader(node.url, reporter.key);
  assert.is(late.table.get(subject)?.disputed, true, 'whoever comes later is told, too');
});

/** Reports players in one commit. */
async function report(url: string, peer: PeerClient, players: readonly string[]): Promise<void> {
  const events = players.map((player_id) => peer.event({ player_id }));
  const { body } = await ask(url, '/api/v1/events/batch', { key: peer.key, json: { events } });
  assert.is(body.accepted, players.length);
}

test('an erasure removes the disputes of the player with their texts from log and snapshots', async () => {
  await using group = await openGroup();
  const { reporter, other, disputing } = group;
  const [player, kept] = [await group.reported(), await group.reported()];
  const { dispute_id: id } = (await group.dispute(player, disputing, { text: 'TEXT-OF-ERASED' })).body;
  await group.dispute(player, other, { text: 'ANOTHER-OF-ERASED' });
  await group.dispute(kept, disputing, { text: 'TEXT-OF-KEPT' });
  assert.ok((await group.node.group.decideDispute('uphold', id, [], 'test')).ok);
  await report(group.node.url, other, Array.from({ length: 30 }, newPlayer));
  const erased = ['TEXT-OF-ERASED', 'ANOTHER-OF-ERASED'];
  for (const text of erased) assert.ok(bytesOfLiving(group.node.dir).includes(text), text);
  const path = `/api/v1/subjects/${subjectOf(player)}`;
  assert.is((await ask(group.node.url, path, { method: 'DELETE', key: reporter.key })).status, 200);
  const checkFiles = () => {
    const bytes = bytesOfLiving(group.node.dir);
    const needles = [...erased, subjectOf(player), Buffer.from(subjectOf(player), 'hex')];
    for (const needle of needles) assert.not(bytes.includes(needle), String(needle));
    assert.ok(bytes.includes('TEXT-OF-KEPT'));
    assert.equal(
      group.node.group.disputes().map(({ text }) => text),
      ['TEXT-OF-KEPT'],
    );
  };
  checkFiles();
  await group.restart();
  checkFiles();
  assert.ok((await group.node.group.verify()).ok);
  const gone = await group.node.group.decideDispute('undo', id, [], 'test');
  assert.is(gone.ok || gone.code, 'dispute_not_found');
});

test('a decision is answered as it was made, also where an erasure removes the dispute at once', async () => {
  await using group = await openGroup();
  const { group: operations } = group.node;
  const player = await group.reported();
  const { dispute_id: id } = (await group.dispute(player, group.disputing)).body;
  const [decided, erased] = await Promise.all([
    operations.decideDispute('uphold', id, [], 'test'),
    operations.confirmErasure(Buffer.from(subjectOf(player), 'hex'), 'test'),
  ]);
  assert.ok(decided.ok && erased.ok);
  assert.equal([decided.value.id, decided.value.status], [id, 'upheld']);
  assert.equal(operations.disputes(), []);
});

test('a peer may open a limited number of disputes a day, and learns when the next one is possible', async () => {
  await using group = await openGroup();
  const players = Array.from({ length: 51 }, newPlayer);
  await report(group.node.url, group.reporter, players);
  for (const player of players.slice(1)) assert.is((await group.dispute(player, group.disputing)).status, 201);
  const { body, headers } = await group.dispute(players[0]!, group.disputing);
  assert.is(body.code, 'dispute_quota_exceeded');
  assert.ok(Number(headers['retry-after']) > 80_000);
});

test.run();
