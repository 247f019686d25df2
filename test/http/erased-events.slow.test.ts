/** A peer's view of its own events that were removed with another's erasure, and the facts that no other sees. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode } from '../support/node.js';
import { temporaryFolder } from '../support/process.js';
import { type Frame, liveReader } from '../support/stream-reader.js';
import { type Answer, ask } from './exchange.js';
import { newPlayer, type PeerClient, registerPeer } from './peer-client.js';

const salt = 'a salt of sixteen bytes';
const path = '/api/v1/events/erased';
const subjectOf = (player: string) => hash('sha256', player + salt, 'hex');

async function openGroup() {
  const variables = { DATA_DIR: temporaryFolder(), GROUP_SALT: salt };
  const node = await startTestNode(variables);
  const [owner, other, eraser] = await Promise.all(
    ['Owner', 'Other', 'Eraser'].map((name) => registerPeer(node.url, name)),
  );
  const group = {
    node,
    owner: owner!,
    other: other!,
    eraser: eraser!,
    /** Sends an event of a peer; the body of a first answer says when it was received. */
    send: (peer: PeerClient, eventId: string, player = newPlayer()): Promise<Answer> => {
      const json = peer.event({ event_id: eventId, player_id: player });
      return ask(group.node.url, '/api/v1/events', { key: peer.key, json });
    },
    remove: async (what: string, { key }: PeerClient): Promise<void> => {
      assert.is((await ask(group.node.url, `/api/v1/${what}`, { method: 'DELETE', key })).status, 200);
    },
    listed: ({ key }: PeerClient): Promise<Answer> => ask(group.node.url, path, { key }),
    async restart(): Promise<void> {
      await group.node.close();
      group.node = await startTestNode(variables);
    },
    [Symbol.asyncDispose]: (): Promise<void> => group.node.close(),
  };
  return group;
}

test('the owner of an erased event learns of it in the 409 and in its listing, also after a restart', async () => {
  await using group = await openGroup();
  const { owner, other, eraser } = group;
  const player = newPlayer();
  const first = (await group.send(owner, 'erased-1', player)).body.received_at;
  const second = (await group.send(owner, 'erased-2', player)).body.received_at;
  await group.send(owner, 'stored');
  await group.send(owner, 'withdrawn', player);
  await group.send(other, 'of-other', player);
  await group.remove('events/withdrawn', owner);
  await group.remove(`subjects/${subjectOf(player)}`, eraser);
  for (const restarted of [false, true]) {
    if (restarted) await group.restart();
    const again = await group.send(owner, 'erased-1');
    const details = { event_id: 'erased-1', originally_received_at: first, reason: 'subject_erased' };
    assert.equal([again.status, again.body.details], [409, details]);
    const events = ['erased-2', 'stored', 'withdrawn'].map((event_id) => owner.event({ event_id }));
    const batch = await ask(group.node.url, '/api/v1/events/batch', { key: owner.key, json: { events } });
    assert.equal(
      batch.body.results.map((one: Answer['body']) => one.details.reason),
      ['subject_erased', undefined, undefined],
    );
    const { body, text } = await group.listed(owner);
    assert.equal([body.total, body.next_cursor], [2, null]);
    assert.equal(new Set(body.data.map((one: Answer['body']) => one.received_at)), new Set([first, second]));
    for (const said of [text, again.text]) assert.not(said.includes(eraser.peerId), 'by whom');
  }
});

test('neither a 409 nor a listing reveals that an event of another peer was erased', async () => {
  await using group = await openGroup();
  const { owner, other, eraser } = group;
  const player = newPlayer();
  await group.send(owner, 'erased', player);
  await group.remove(`subjects/${subjectOf(player)}`, eraser);
  for (const restarted of [false, true]) {
    if (restarted) await group.restart();
    for (const peer of [other, eraser]) {
      const { status, body } = await group.send(peer, 'erased');
      assert.equal([status, body.details], [409, { event_id: 'erased', owner: 'other' }]);
      assert.equal((await group.listed(peer)).body, { total: 0, data: [], next_cursor: null });
    }
  }
});

test('the verdict stream notifies peers of their erased events, and others only that the player was erased', async () => {
  await using group = await openGroup();
  const { node, owner, other, eraser } = group;
  const player = newPlayer();
  await group.send(owner, 'erased', player);
  await group.send(other, 'withdrawn', player);
  await group.remove('events/withdrawn', other);
  const readers = await Promise.all([owner, other, eraser].map(({ key }) => liveReader(node.url, key)));
  const isGone = ({ data }: Frame): boolean => data.changes?.some((row: object) => 'gone' in row) === true;
  const notices = Promise.all(readers.map((reader) => reader.next(isGone)));
  await group.remove(`subjects/${subjectOf(player)}`, eraser);
  await notices;
  const gone = { subject_hash: subjectOf(player), gone: true };
  assert.equal(
    readers.map(({ frames }) => frames.find(isGone)?.data.changes),
    [[{ ...gone, subject_erased: true }], [gone], [gone]],
  );
  for (const reader of readers) await reader.close();
});

test.run();
