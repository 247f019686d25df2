/**
 * The damage that fresh keys can do together in an open group: condemn, erase, and fill the list of peers. Each test is
 * one attack against a real node with production's mode of erasure and no pre-trusted peers, and prints its figures.
 */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DAY_MS, limits } from '../../src/limits.js';
import { ask } from '../http/exchange.js';
import { newPlayer, type PeerClient, registerPeer } from '../http/peer-client.js';
import { startTestNode, type TestNode, weightsSettled } from '../support/node.js';

const salt = 'a salt of sixteen bytes';
const subjectOf = (player: string): string => hash('sha256', player + salt, 'hex');

/** A node whose clock the test sets forward, in steps that a node takes for time that passed. */
async function openGroup(env: Record<string, string> = {}) {
  let aheadMs = 0;
  const clock = { now: () => Date.now() - 10 * DAY_MS + aheadMs };
  const node = await startTestNode({ GROUP_SALT: salt, ERASURE_MODE: 'own', ...env }, { clock });
  const peers = (count: number, name: string) =>
    Promise.all(Array.from({ length: count }, (_, i) => registerPeer(node.url, `${name} ${i}`)));
  const passDays = async (days: number) => {
    for (let day = 0; day < days; day += 1) {
      aheadMs += DAY_MS - 5_000;
      // A turn looks at the clock before the next step.
      await node.group.withdraw(null, 'nothing');
    }
  };
  const passSeconds = (seconds: number) => {
    aheadMs += seconds * 1_000;
  };
  const timestamp = () => new Date(clock.now()).toISOString();
  return { node, peers, passDays, passSeconds, timestamp };
}

function told(name: string, figures: Record<string, unknown>): void {
  process.stdout.write(`  ${name}: ${JSON.stringify(figures)}\n`);
}

async function send(peer: PeerClient, events: readonly object[]): Promise<void> {
  const { status, body } = await ask(peer.url, '/api/v1/events/batch', { key: peer.key, json: { events } });
  assert.equal([status, body.accepted], [200, events.length]);
}

async function scoreOf({ url }: TestNode, player: string): Promise<{ score: number; verdict: string }> {
  return (await ask(url, `/api/v1/players/${player}/trust-score`)).body;
}

/** Where all peers are fresh no key is fresher than another, and three bans condemn as `docs/SCORING.md` promises. */
test('three fresh keys condemn no player of an older group, neither at once nor once weights are computed', async () => {
  const { node, peers, passDays, passSeconds, timestamp } = await openGroup();
  const ban = (peer: PeerClient, player_id: string) =>
    peer.event({ player_id, event_type: 'ban_applied', severity: 1, timestamp: timestamp() });
  const banned = newPlayer();
  for (const peer of await peers(3, 'Old')) await send(peer, [ban(peer, banned)]);
  await passDays(3);
  await weightsSettled(node);
  passSeconds(5);
  const player = newPlayer();
  for (const peer of await peers(3, 'Fresh')) await send(peer, [ban(peer, player)]);
  const atOnce = await scoreOf(node, player);
  await weightsSettled(node);
  const settled = await scoreOf(node, player);
  const byOldKeys = await scoreOf(node, banned);
  told('three fresh keys', { atOnce: atOnce.score, settled: settled.score, byOldKeys: byOldKeys.score });
  assert.is(byOldKeys.verdict, 'untrusted');
  assert.is(atOnce.verdict, 'neutral');
  assert.is(settled.verdict, 'neutral');
  await node.close();
});

for (const [age, days] of [
  ['a group with a past', 3],
  ['a group of seconds', 0],
] as const) {
  test(`33 fresh keys with 20 events each move no player of ${age} by more than ten points`, () =>
    waveOfFreshKeys(age, days));
}

async function waveOfFreshKeys(age: string, days: number): Promise<void> {
  const { node, peers, passDays, passSeconds, timestamp } = await openGroup();
  const honest = await peers(6, 'Honest');
  const players = Array.from({ length: 20 }, newPlayer);
  const isBad = (place: number) => place % 4 === 0;
  for (const peer of honest) {
    const events = players.map((player_id, place) => {
      const event_type = isBad(place) ? 'ban_applied' : 'commendation';
      return peer.event({ player_id, event_type, severity: 1, timestamp: timestamp() });
    });
    await send(peer, events);
  }
  await passDays(days);
  const scores = () => Promise.all(players.map(async (player) => (await scoreOf(node, player)).score));
  await weightsSettled(node);
  const before = await scores();
  passSeconds(5);
  for (const peer of await peers(33, 'Fresh')) {
    const events = players.map((player_id, place) => {
      const event_type = isBad(place) ? 'commendation' : 'ban_applied';
      return peer.event({ player_id, event_type, severity: 1, timestamp: timestamp() });
    });
    await send(peer, events);
  }
  const atOnce = await scores();
  await weightsSettled(node);
  const settled = await scores();
  const moved = (after: readonly number[]) => Math.max(...after.map((score, i) => Math.abs(score - before[i]!)));
  told(`33 fresh keys, ${age}`, { movedAtOnce: moved(atOnce), movedSettled: moved(settled) });
  assert.ok(Math.min(...before.filter((_, place) => !isBad(place))) > 60, 'the group knew its good players');
  assert.ok(moved(atOnce) <= 10 && moved(settled) <= 10);
  await node.close();
}

test('fresh keys erase nothing that others reported, and exhaust one quota of the group', async () => {
  const quota = 3;
  const { node, peers } = await openGroup({ ERASURE_QUOTA_PER_DAY: String(quota) });
  const reporter = await registerPeer(node.url, 'Reporter');
  const players = Array.from({ length: quota + 1 }, newPlayer);
  for (const player_id of players)
    assert.is((await reporter.submit({ player_id, timestamp: '2026-01-01T00:00:00Z' })).status, 201);
  const statuses: Record<number, number> = {};
  for (const { key } of await peers(limits.groupErasuresFactor + 2, 'Fresh')) {
    for (const player of players) {
      const { status } = await ask(node.url, `/api/v1/subjects/${subjectOf(player)}`, { key, method: 'DELETE' });
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }
  const read = await Promise.all(players.map((player) => ask(node.url, `/api/v1/players/${player}/verdict`)));
  told('erasures by fresh keys', { statuses, destroyed: read.filter(({ status }) => status !== 200).length });
  assert.equal(Object.keys(statuses), ['202', '429']);
  assert.ok(read.every(({ status }) => status === 200));
  await node.close();
});

test('fresh keys that use up the quotas of the group leave erasures to an old peer, and disputes to all', async () => {
  const quota = 2;
  const { node, peers, passDays, timestamp } = await openGroup({ ERASURE_QUOTA_PER_DAY: String(quota) });
  const old = await registerPeer(node.url, 'Old');
  await passDays(2);
  const reported = Array.from({ length: limits.disputeQuotaPerDay }, newPlayer);
  await send(
    old,
    reported.map((player_id) => old.event({ player_id, timestamp: timestamp() })),
  );
  const erase = ({ key }: PeerClient, player: string) =>
    ask(node.url, `/api/v1/subjects/${subjectOf(player)}`, { key, method: 'DELETE' });
  const dispute = ({ key }: PeerClient, player: string) =>
    ask(node.url, `/api/v1/subjects/${subjectOf(player)}/disputes`, { key, json: { text: 'not so' } });
  const fresh = await peers(Math.max(limits.groupErasuresFactor, limits.groupDisputesFactor), 'Fresh');
  for (const peer of fresh) {
    for (const player of reported.slice(0, quota)) assert.is((await erase(peer, player)).status, 202);
    const answers = await Promise.all(reported.map((player) => dispute(peer, player)));
    assert.ok(answers.every(({ status }) => status === 201));
  }
  const late = await registerPeer(node.url, 'Late');
  const [first = '', second = ''] = reported;
  assert.is((await erase(late, first)).body.code, 'erasure_quota_exceeded');
  assert.is((await dispute(late, first)).status, 201);
  assert.is((await dispute(old, second)).status, 201);
  assert.is((await erase(old, first)).status, 200);
  told('quotas of the group', { erasures: fresh.length * quota, disputes: fresh.length * reported.length });
  await node.close();
});

test('a flood of registrations neither excludes the operator nor fills the list permanently', async () => {
  const peersMax = 8;
  const { node, peers, passDays } = await openGroup({ PEERS_MAX: String(peersMax) });
  await peers(peersMax, 'Flood');
  const register = () => ask(node.url, '/api/v1/peers/register', { json: { peer_name: 'Late', game_ids: ['arena'] } });
  assert.is((await register()).status, 503);
  const added = await node.group.register({ peerName: 'Added', gameIds: ['arena'] }, 'operator', true);
  assert.ok(added.ok, 'the operator has places of its own');
  await passDays(2);
  const purged = await node.group.purgePeers(DAY_MS, 'operator');
  assert.ok(purged.ok);
  told('a flood of registrations', { filled: peersMax, purged: purged.ok ? purged.value.length : 0 });
  assert.is((await register()).status, 201);
  await node.close();
});

test.run();
