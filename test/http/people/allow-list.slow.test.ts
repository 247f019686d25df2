/** Reads of a player on the group's allow list, everywhere, their duration, and the remains of an entry. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TrustClient } from '../../../src/client/trust-client.js';
import { bytesOfLiving } from '../../support/living-folder.js';
import { startTestNode, type TestNode, weightsSettled } from '../../support/node.js';
import { liveReader } from '../../support/stream-reader.js';
import { until } from '../../support/until.js';
import { type Answer, ask } from '../exchange.js';
import { newPlayer, registerPeer } from '../peer-client.js';

const salt = 'a salt of sixteen bytes';
const hourMs = 3_600_000;
const hashOf = (player: string): string => hash('sha256', player + salt, 'hex');
const subjectOf = (player: string): Buffer => Buffer.from(hashOf(player), 'hex');

/** A player of whom three peers say nothing good. */
async function group() {
  let aheadMs = 0;
  const clock = { now: () => Date.now() + aheadMs };
  const node = await startTestNode({ GROUP_SALT: salt, WEIGHTS_INTERVAL_MS: '50', HALF_LIFE_DAYS: '0' }, { clock });
  const peers = await Promise.all(['A', 'B', 'C'].map((name) => registerPeer(node.url, name)));
  const player = newPlayer();
  for (const peer of peers) {
    for (let i = 0; i < 3; i++) {
      assert.is((await peer.submit({ player_id: player, event_type: 'ban_applied', severity: 1 })).status, 201);
    }
  }
  await weightsSettled(node);
  return {
    node,
    key: peers[0]!.key,
    player,
    async allow(note = 'note', of = player): Promise<void> {
      const until = Date.now() + hourMs;
      const outcome = await node.group.allowPlayer(subjectOf(of), until, note, 'operator:test');
      assert.is(outcome.ok && outcome.value.until, Math.ceil(until / 60_000) * 60_000, 'the end of its minute');
    },
    /** Moves the node's clock. */
    later(ms: number): void {
      aheadMs += ms;
    },
    [Symbol.asyncDispose]: () => node.close(),
  };
}

const read = (node: TestNode, path: string, tag?: string): Promise<Answer> =>
  ask(node.url, path, tag === undefined ? {} : { headers: { 'if-none-match': tag } });

test('every read shows a neutral verdict with its reason and a separate tag, until the entry ends', async () => {
  await using given = await group();
  const { node, player } = given;
  const score = `/api/v1/players/${player}/trust-score`;
  const match = `/api/v1/trust-scores?ids=${player},nobody,${hashOf(player)}`;
  const [before, matchBefore] = [await read(node, score), await read(node, match)];
  assert.ok(before.body.score < 50);
  await given.allow();
  const during = await read(node, score, before.headers.etag);
  assert.is(during.status, 200);
  const { score: shown, confidence, verdict, allowed, event_count } = during.body;
  assert.equal([shown, confidence, verdict, allowed, event_count], [50, 0, 'neutral', true, 9]);
  const matched = await read(node, match, matchBefore.headers.etag);
  assert.equal(
    matched.body.data.map((one: Answer['body']) => one.allowed),
    [true, undefined, true],
  );
  const { body } = await read(node, `/api/v1/players/${player}/verdict`);
  assert.equal([body.verdict, body.confidence, body.allowed], ['neutral', 0, true]);
  const { explain } = (await read(node, `${score}?explain=true`)).body;
  assert.match(explain.reasons.join(), /allow list/);
  assert.ok(explain.lowering > 0, 'the evidence is still there');
  given.later(hourMs + 120_000);
  const after = await read(node, score, during.headers.etag);
  assert.equal([after.status, after.body.allowed], [200, undefined]);
  assert.equal(after.body, before.body);
  assert.is((await read(node, match, matched.headers.etag)).status, 200);
});

test('the stream sends the begin and the end of an entry, and a client and its cache honour it', async () => {
  await using given = await group();
  const { node, key, player } = given;
  await using reader = await liveReader(node.url, key);
  const client = new TrustClient({ url: node.url, apiKey: key, groupSalt: salt, readBudgetMs: 60_000 });
  const feed = client.follow();
  await feed.live();
  const row = () => reader.table.get(hashOf(player));
  await until(() => row() !== undefined);
  assert.is(row()?.allowed, undefined);
  await given.allow();
  await until(() => row()?.allowed === true);
  assert.equal([row()?.verdict, row()?.score, row()?.confidence], ['neutral', 50, 0]);
  await until(async () => (await client.score(player)).allowed === true);
  const cached = await client.score(player);
  assert.equal([cached.source, cached.verdict], ['cache', 'neutral']);
  given.later(hourMs + 120_000);
  await until(() => row()?.allowed === undefined);
  assert.ok(row()!.score < 50);
  await until(async () => (await client.score(player)).allowed === undefined);
  await client.close();
});

test('the audit names who made and ended an entry, and neither the player nor the note', async () => {
  await using given = await group();
  const { node, key, player } = given;
  await given.allow('a note that nobody else reads');
  await node.group.disallowPlayer(subjectOf(player), 'operator:test');
  const { text, body } = await ask(node.url, '/api/v1/audit?limit=200', { key });
  const entries = body.data.slice(-2);
  assert.equal(
    entries.map(({ action, actor }: Answer['body']) => [action, actor]),
    [
      ['player_allowed', 'operator:test'],
      ['player_allowance_ended', 'operator:test'],
    ],
  );
  assert.is(entries[0].target, entries[1].target);
  for (const needle of [hashOf(player), 'nobody else reads']) assert.not.ok(text.includes(needle));
});

test('an erasure takes every record of the allow list with it, also where the player has no events', async () => {
  await using given = await group();
  const { node, player } = given;
  const unseen = newPlayer();
  const notes = ['first words of a note', 'later words of a note', 'words on an unseen player'];
  await given.allow(notes[0]);
  await given.allow(notes[1]);
  await node.group.disallowPlayer(subjectOf(player), 'operator');
  await given.allow(notes[2], unseen);
  assert.is(node.group.trust(subjectOf(unseen)), undefined);
  const before = bytesOfLiving(node.dir);
  for (const note of notes) assert.ok(before.includes(note), note);
  for (const one of [player, unseen]) assert.ok((await node.group.confirmErasure(subjectOf(one), 'operator')).ok);
  assert.equal(node.group.allowedPlayers(), []);
  const after = bytesOfLiving(node.dir);
  for (const note of notes) assert.not.ok(after.includes(note), note);
  for (const one of [player, unseen])
    for (const form of [subjectOf(one), hashOf(one)]) assert.not.ok(after.includes(form));
  assert.ok((await node.group.verify()).ok);
});

test.run();
