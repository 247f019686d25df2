/** `ptf-peer watch` as a process beside a real node: new bans, lifted ones, rotations, partial writes, kills. */
import { appendFileSync, copyFileSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode, type TestPeer } from '../../src/testing/test-node.js';
import type { Running } from '../support/child-process.js';
import { until } from '../support/until.js';
import { endChildren, PeerWorld, RecordingProxy } from './peer-world.js';

let node: TestNode;
let proxy: RecordingProxy;
let peer: TestPeer;
let world: PeerWorld;
let list = '';
let account = 4_294_000_000;

test.before(async () => {
  node = await startTestNode({ variables: { PLAYER_ID_KINDS: 'steam,minecraft' } });
  proxy = await RecordingProxy.start(() => node.url);
});
test.after(async () => {
  endChildren();
  await proxy.close();
  await node.close();
});
test.before.each(async () => {
  peer = await node.register('watcher');
  world = new PeerWorld();
  world.writeConfig({ url: proxy.url, ...peer, groupSalt: node.groupSalt });
  list = join(world.folder, 'banned_user.cfg');
});

/** A new player: its account number, and its id as all peers write it. */
function newPlayer(): { readonly line: string; readonly steam3: string; readonly id: string } {
  const number = account++;
  const id = String(76561197960265728n + BigInt(number));
  return { line: `banid 0 STEAM_1:${number % 2}:${Math.floor(number / 2)}\n`, steam3: `[U:1:${number}]`, id };
}

/** How many events of this peer's group count for a player. */
const events = async (id: string): Promise<number> => (await node.client(peer).explain(id))?.event_count ?? 0;

/** Starts a watch and resolves once it has read the list. */
async function watch(...args: string[]): Promise<Running> {
  const running = world.start(['watch', list, ...args]);
  await until(() => /reported|are known/.test(running.err()) || running.child.exitCode !== null);
  assert.is(running.child.exitCode, null, running.err());
  return running;
}

async function end({ child, ended }: Running, signal: NodeJS.Signals = 'SIGTERM') {
  child.kill(signal);
  return ended;
}

test('listed and new bans are reported once; lifted ones are withdrawn, and reported again', async () => {
  const [one, two, three] = [newPlayer(), newPlayer(), newPlayer()];
  writeFileSync(list, one.line + two.line);
  const running = await watch();
  await until(async () => (await events(one.id)) === 1 && (await events(two.id)) === 1);
  appendFileSync(list, three.line);
  await until(async () => (await events(three.id)) === 1);
  writeFileSync(list, one.line + three.line);
  await until(async () => (await events(two.id)) === 0);
  await until(() => /withdrew 1 bans/.test(running.err()));
  assert.equal([await events(one.id), await events(three.id)], [1, 1]);
  appendFileSync(list, two.line);
  await until(async () => (await events(two.id)) === 1);
  assert.is((await end(running)).code, 0);
});

test('of three new bans two are at the node within two seconds of their lines', async () => {
  const one = newPlayer();
  writeFileSync(list, one.line);
  const running = await watch();
  await until(async () => (await events(one.id)) === 1);
  const took: number[] = [];
  // A busy machine may hold up one of them.
  while (took.length < 3) {
    const before = proxy.count('/api/v1/events/batch');
    const addedAt = performance.now();
    appendFileSync(list, newPlayer().line);
    await until(() => proxy.count('/api/v1/events/batch') > before);
    took.push(performance.now() - addedAt);
  }
  // A poll of 250 ms, a sync and a call; the bound of the promise is the only one that is asked for.
  assert.ok(took.sort((a, b) => a - b)[1]! < 2_000, `it took ${took.map(Math.round).join(', ')} ms`);
  await end(running);
});

test('a rotation lifts no ban, whether the file is moved or copied and emptied', async () => {
  const [one, two, three] = [newPlayer(), newPlayer(), newPlayer()];
  writeFileSync(list, one.line);
  const running = await watch();
  await until(async () => (await events(one.id)) === 1);
  renameSync(list, `${list}.1`);
  writeFileSync(list, two.line);
  await until(async () => (await events(two.id)) === 1);
  copyFileSync(list, `${list}.2`);
  truncateSync(list, 0);
  await delay(600);
  appendFileSync(list, three.line);
  await until(async () => (await events(three.id)) === 1);
  // Longer than a list must lie still before what is missing counts as lifted.
  await delay(3_000);
  assert.equal([await events(one.id), await events(two.id)], [1, 1], running.err());
  assert.not.match((await end(running)).err, 'withdrew');
});

test('a line that is written in two pieces is never read as half of a number', async () => {
  const [one, two] = [newPlayer(), newPlayer()];
  writeFileSync(list, one.line);
  const running = await watch();
  await until(async () => (await events(one.id)) === 1);
  const before = proxy.count('/api/v1/events/batch');
  appendFileSync(list, two.line.slice(0, -4));
  await delay(3_000);
  assert.is(proxy.count('/api/v1/events/batch'), before);
  appendFileSync(list, two.line.slice(-4));
  await until(async () => (await events(two.id)) === 1);
  await end(running);
});

test('a document that is being written is not read before it is complete', async () => {
  list = join(world.folder, 'banned-players.json');
  const uuid = (n: number) => `b0a6f1c5-1111-4222-8333-44445555${String(6000 + n)}`;
  const entry = (n: number) => ({
    uuid: uuid(n),
    name: `Name${n}`,
    created: '2026-11-20 12:00:00 +0000',
    source: 'Server',
    expires: 'forever',
    reason: 'secret reason',
  });
  writeFileSync(list, JSON.stringify([entry(1), entry(2), entry(4)]));
  const running = await watch();
  await until(async () => (await events(uuid(2))) === 1);
  const text = JSON.stringify([entry(1), entry(3), entry(4)]);
  writeFileSync(list, text.slice(0, text.length / 2));
  await delay(3_000);
  assert.is(await events(uuid(2)), 1);
  writeFileSync(list, text);
  await until(async () => (await events(uuid(2))) === 0 && (await events(uuid(3))) === 1);
  writeFileSync(list, '[]');
  await until(() => /3 bans are missing at once/.test(running.err()));
  assert.equal([await events(uuid(1)), await events(uuid(3))], [1, 1]);
  const { err } = await end(running);
  for (const text of [err, world.stateText(), proxy.sent.join('\n')])
    assert.not.match(text, /secret reason|Name1|b0a6f1c5/);
});

test('changes during a killed watch are processed later, and nothing is reported twice', async () => {
  const [one, two, three, four] = [newPlayer(), newPlayer(), newPlayer(), newPlayer()];
  writeFileSync(list, one.line + two.line + four.line);
  const first = await watch();
  await until(async () => (await events(one.id)) === 1 && (await events(two.id)) === 1);
  await end(first, 'SIGKILL');
  writeFileSync(list, one.line + three.line + four.line);
  const second = await watch();
  await until(async () => (await events(three.id)) === 1 && (await events(two.id)) === 0);
  assert.is(await events(one.id), 1);
  await end(second);
});

test('changes during an outage of the node arrive afterwards, a lifted ban not at all', async () => {
  const [one, two, three] = [newPlayer(), newPlayer(), newPlayer()];
  writeFileSync(list, one.line);
  const running = await watch();
  await until(async () => (await events(one.id)) === 1);
  await node.stop();
  appendFileSync(list, two.line + three.line);
  await until(() => /reported 2 bans/.test(running.err()));
  writeFileSync(list, one.line + three.line);
  await delay(3_000);
  await node.start();
  await until(() => /withdrew 1 bans/.test(running.err()));
  assert.equal([await events(two.id), await events(three.id)], [0, 1]);
  await end(running);
});

test('most bans that leave the list at once are not withdrawn, unless that is allowed', async () => {
  const players = Array.from({ length: 8 }, newPlayer);
  writeFileSync(list, players.map(({ line }) => line).join(''));
  const running = await watch();
  await until(async () => (await events(players[7]!.id)) === 1);
  writeFileSync(list, players[0]!.line);
  await until(() => /7 bans are missing at once/.test(running.err()));
  assert.is(await events(players[7]!.id), 1);
  await end(running);
  const allowed = world.start(['watch', list, '--allow-mass-lift']);
  await until(() => /withdrew 7 bans/.test(allowed.err()));
  assert.is(await events(players[7]!.id), 0);
  await end(allowed);
});

test('with --new-only the bans that are there at the first start are not reported', async () => {
  const [one, two] = [newPlayer(), newPlayer()];
  writeFileSync(list, one.line);
  const running = await watch('--new-only');
  appendFileSync(list, two.line);
  await until(async () => (await events(two.id)) === 1);
  assert.is(await events(one.id), 0);
  await end(running);
});

test('neither wire nor disk nor log of a watch holds an id of the list', async () => {
  const player = newPlayer();
  writeFileSync(list, player.line);
  const running = await watch();
  await until(async () => (await events(player.id)) === 1);
  const { err, out } = await end(running);
  const digits = /STEAM_1:\d:(\d+)/.exec(readFileSync(list, 'utf8'))![1]!;
  for (const text of [proxy.sent.join('\n'), world.stateText(), err, out]) {
    assert.not.match(text, digits);
    assert.not.match(text, player.id);
  }
});

test.run();
