/**
 * A peer's view of its own events that were removed with another's erasure, and the facts that no other caller sees.
 */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode } from '../support/node.js';
import { temporaryFolder } from '../support/process.js';
import { type Frame, StreamReader } from '../support/stream-reader.js';
import { type Answer, ask } from './exchange.js';
import { newPlayer, type PeerClient, registerPeer } from './peer-client.js';

const salt = 'a salt of sixteen bytes';
const path = '/api/v1/events/erased';

interface Group {
  node: TestNode;
  readonly owner: PeerClient;
  readonly other: PeerClient;
  readonly eraser: PeerClient;
}

async function withGroup(run: (group: Group, restart: () => Promise<void>) => Promise<void>): Promise<void> {
  const dir = temporaryFolder();
  const start = () => startTestNode({ DATA_DIR: dir, GROUP_SALT: salt });
  const node = await start();
  const [owner, other, eraser] = await Promise.all(
    ['Owner', 'Other', 'Eraser'].map((name) => registerPeer(node.url, name)),
  );
  const group: Group = { node, owner: owner!, other: other!, eraser: eraser! };
  try {
    await run(group, async () => {
      await group.node.close();
      group.node = await start();
    });
  } finally {
    await group.node.close();
  }
}

/** Sends an event of a peer; the body of a first answer says when it was received. */
function send({ node }: Group, peer: PeerClient, eventId: string, player = newPlayer()): Promise<Answer> {
  const json = peer.event({ event_id: eventId, player_id: player });
  return ask(node.url, '/api/v1/events', { key: peer.key, json });
}

async function erase({ node, eraser }: Group, player: string): Promise<void> {
  const subject = hash('sha256', player + salt, 'hex');
  const { status } = await ask(node.url, `/api/v1/subjects/${subject}`, { method: 'DELETE', key: eraser.key });
  assert.is(status, 200);
}

const listed = ({ node }: Group, { key }: PeerClient, query = '') => ask(node.url, `${path}${query}`, { key });

test('the owner of an erased event learns of it in the 409 and in its listing, also after a restart', async () => {
  await withGroup(async (group, restart) => {
    const { owner, other, eraser } = group;
    const player = newPlayer();
    const first = (await send(group, owner, 'erased-1', player)).body.received_at;
    const second = (await send(group, owner, 'erased-2', player)).body.received_at;
    await send(group, owner, 'stored');
    await send(group, owner, 'withdrawn', player);
    await send(group, other, 'of-other', player);
    const withdrawal = await ask(group.node.url, '/api/v1/events/withdrawn', { method: 'DELETE', key: owner.key });
    assert.is(withdrawal.status, 200);
    await erase(group, player);
    for (const restarted of [false, true]) {
      if (restarted) await restart();
      const again = await send(group, owner, 'erased-1');
      assert.equal(again.status, 409);
      assert.equal(again.body.details, {
        event_id: 'erased-1',
        originally_received_at: first,
        reason: 'subject_erased',
      });
      const events = ['erased-2', 'stored', 'withdrawn'].map((event_id) => owner.event({ event_id }));
      const batch = await ask(group.node.url, '/api/v1/events/batch', { key: owner.key, json: { events } });
      assert.equal(
        batch.body.results.map(({ details }: { details: { reason?: string } }) => details.reason),
        ['subject_erased', undefined, undefined],
      );

      const { status, body, text } = await listed(group, owner);
      assert.equal([status, body.total, body.next_cursor], [200, 2, null]);
      assert.equal(new Set(body.data.map((one: { received_at: string }) => one.received_at)), new Set([first, second]));
      for (const one of body.data) {
        assert.equal(Object.keys(one), ['status', 'received_at', 'erased_at']);
        assert.is(one.status, 'subject_erased');
        assert.match(one.erased_at, /:00:00\.000Z$/);
      }
      for (const said of [text, again.text]) assert.not(said.includes(eraser.peerId), 'by whom');
    }
  });
});

test('neither a 409 nor a listing reveals that an event of another peer was erased', async () => {
  await withGroup(async (group, restart) => {
    const { owner, other, eraser } = group;
    const player = newPlayer();
    await send(group, owner, 'erased', player);
    await erase(group, player);
    for (const restarted of [false, true]) {
      if (restarted) await restart();
      for (const peer of [other, eraser]) {
        const { status, body } = await send(group, peer, 'erased');
        assert.equal([status, body.details], [409, { event_id: 'erased', owner: 'other' }]);
        assert.equal((await listed(group, peer)).body, { total: 0, data: [], next_cursor: null });
      }
      assert.is((await ask(group.node.url, path)).status, 401);
    }
  });
});

test('the listing comes in pages, and its cursor goes on where it stopped', async () => {
  await withGroup(async (group) => {
    const { owner } = group;
    const player = newPlayer();
    for (let i = 0; i < 5; i++) await send(group, owner, `erased-${i}`, player);
    await erase(group, player);
    const whole = (await listed(group, owner)).body.data;
    const seen: unknown[] = [];
    for (let query = '?limit=2'; query !== ''; ) {
      const { body } = await listed(group, owner, query);
      seen.push(...body.data);
      query = body.next_cursor === null ? '' : `?limit=2&cursor=${body.next_cursor}`;
    }
    assert.equal([seen.length, seen], [5, whole]);
    for (const bad of ['?limit=0', '?cursor=x']) {
      assert.is((await listed(group, owner, bad)).body.code, 'invalid_parameter', bad);
    }
  });
});

test('the verdict stream notifies peers of their erased events, and others only that the player was erased', async () => {
  await withGroup(async (group) => {
    const { node, owner, other, eraser } = group;
    const player = newPlayer();
    await send(group, owner, 'erased', player);
    await send(group, other, 'withdrawn', player);
    await ask(node.url, '/api/v1/events/withdrawn', { method: 'DELETE', key: other.key });
    const readers = await Promise.all(
      [owner, other, eraser].map(async ({ key }) => {
        const reader = new StreamReader(key);
        const live = reader.next(({ event }) => event === 'heartbeat');
        await reader.connect(node.url);
        await live;
        return reader;
      }),
    );
    const isGone = ({ data }: Frame): boolean => data.changes?.some((row: object) => 'gone' in row) === true;
    const notices = Promise.all(readers.map((reader) => reader.next(isGone)));
    await erase(group, player);
    await notices;
    const subject_hash = hash('sha256', player + salt, 'hex');
    assert.equal(
      readers.map(({ frames }) => frames.find(isGone)?.data.changes),
      [
        [{ subject_hash, gone: true, subject_erased: true }],
        [{ subject_hash, gone: true }],
        [{ subject_hash, gone: true }],
      ],
    );
    for (const reader of readers) await reader.close();
  });
});

test('with authentication off the listing is empty, since the caller is unknown', async () => {
  await using node = await startTestNode({ PEER_AUTH_ENABLED: 'false', GROUP_SALT: salt });
  assert.equal((await ask(node.url, path)).body, { total: 0, data: [], next_cursor: null });
});

test.run();
