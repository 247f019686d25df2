/** Erasures of players that others reported are counted, and a peer whose erasure waits or is refused hears why. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DAY_MS } from '../../../src/limits.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { type Answer, ask } from '../exchange.js';
import { newPlayer, type PeerClient, registerPeer } from '../peer-client.js';

const salt = 'a salt of sixteen bytes';
const hashOf = (player: string): string => hash('sha256', player + salt, 'hex');

async function erase(node: TestNode, peer: PeerClient, player: string): Promise<Answer> {
  return ask(node.url, `/api/v1/subjects/${hashOf(player)}`, { method: 'DELETE', key: peer.key });
}

async function reported(...peers: readonly PeerClient[]): Promise<string> {
  const player = newPlayer();
  // Independent of the clock that a test sets.
  const timestamp = '2026-01-01T00:00:00Z';
  for (const peer of peers) assert.is((await peer.submit({ player_id: player, timestamp })).status, 201);
  return player;
}

function reasonsAt({ group }: TestNode): string[] {
  const requests = group.pendingErasures().flatMap((pending) => pending.requests);
  return requests.map(({ reason }) => reason).sort();
}

test('the audit counts the erasures of a peer that others reported, and those of nobody else', async () => {
  await using node = await startTestNode({ GROUP_SALT: salt, ERASURE_MODE: 'operator' });
  const [one, other] = [await registerPeer(node.url, 'One'), await registerPeer(node.url, 'Other')];
  for (const peers of [[one], [one, other], [other]]) await erase(node, one, await reported(...peers));
  await node.group.confirmErasure(Buffer.from(hashOf(await reported(one, other)), 'hex'), 'operator');
  const { body } = await ask(node.url, '/api/v1/audit?limit=200', { key: other.key });
  const noted = body.data.filter(({ action }: Answer['body']) => action === 'shared_erasure_asked');
  const counts = noted.map(({ actor, target }: Answer['body']) => `${actor}: ${target}`);
  assert.equal(counts, [`${one.peerId}: 1 so far`, `${one.peerId}: 2 so far`]);
});

test('the answer to a waiting erasure states the reason', async () => {
  let aheadMs = -2 * DAY_MS;
  const clock = { now: () => Date.now() + aheadMs };
  const node = await startTestNode({ GROUP_SALT: salt, ERASURE_MODE: 'own' }, { clock });
  const [old, other] = [await registerPeer(node.url, 'Old'), await registerPeer(node.url, 'Other')];
  const shared = await reported(old, other);
  const own = await reported(old);
  const tooNew = await erase(node, old, own);
  assert.equal([tooNew.status, tooNew.body.reason], [202, 'peer_too_new']);
  for (let step = 0; step < 2; step++) {
    aheadMs += DAY_MS - 5_000;
    await registerPeer(node.url, `Step ${step}`);
  }
  const byOthers = await erase(node, old, shared);
  assert.equal([byOthers.status, byOthers.body.status, byOthers.body.reason], [202, 'pending', 'reported_by_others']);
  assert.is((await erase(node, old, await reported(old))).status, 200);
  assert.equal(reasonsAt(node), ['peer_too_new', 'reported_by_others'], 'the operator reads the same reasons later');
  await node.close();
  await using cautious = await startTestNode({ GROUP_SALT: salt, ERASURE_MODE: 'operator' });
  const peer = await registerPeer(cautious.url);
  assert.is((await erase(cautious, peer, await reported(peer))).body.reason, 'operator_mode');
  assert.equal(reasonsAt(cautious), ['operator_mode']);
});

test('the answer to a refused erasure states whose quota is used up', async () => {
  await using node = await startTestNode({ GROUP_SALT: salt, ERASURE_QUOTA_PER_DAY: '1' });
  const peers: PeerClient[] = [];
  for (let i = 0; i < 11; i++) peers.push(await registerPeer(node.url, `Peer ${i}`));
  for (const peer of peers.slice(0, 10)) assert.is((await erase(node, peer, await reported(peer))).status, 200);
  for (const [peer, details] of [
    [peers[0]!, { quota: 'peer', per_day: 1 }],
    [peers[10]!, { quota: 'group', per_day: 10 }],
  ] as const) {
    const { status, body } = await erase(node, peer, await reported(peer));
    assert.equal([status, body.code, body.details], [429, 'erasure_quota_exceeded', details]);
  }
});

test.run();
