/** `ptf-peer watch` as a process beside a real node: new bans, lifted ones, kills, outages and its options. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** A new player: its line in the list, and its id as all peers write it. */
function newPlayer(): { readonly line: string; readonly id: string } {
  const number = account++;
  const id = String(76561197960265728n + BigInt(number));
  return { line: `banid 0 STEAM_1:${number % 2}:${Math.floor(number / 2)}\n`, id };
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
  const { code, err, out } = await end(running);
  assert.is(code, 0);
  const digits = /STEAM_1:\d:(\d+)/.exec(readFileSync(list, 'utf8'))![1]!;
  for (const [where, text] of Object.entries({ wire: proxy.sent.join('\n'), disk: world.stateText(), err, out })) {
    for (const id of [digits, one.id]) assert.not.match(text, id, `${where} holds an id of the list`);
  }
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
  await until(() => /"owed":\["/.test(world.stateText()));
  await node.start();
  await until(() => /withdrew 1 bans/.test(running.err()));
  assert.equal([await events(two.id), await events(three.id)], [0, 1]);
  await end(running);
});

test('--new-only reports no ban of the first start, and --allow-mass-lift withdraws most of a list', async () => {
  const [known, ...players] = Array.from({ length: 4 }, newPlayer);
  writeFileSync(list, known!.line);
  const running = await watch('--new-only');
  appendFileSync(list, players.map(({ line }) => line).join(''));
  await until(async () => (await events(players[2]!.id)) === 1);
  assert.is(await events(known!.id), 0);
  writeFileSync(list, known!.line);
  await until(() => /3 bans are missing at once/.test(running.err()));
  assert.is(await events(players[2]!.id), 1);
  await end(running);
  const allowed = world.start(['watch', list, '--allow-mass-lift']);
  await until(() => /withdrew 3 bans/.test(allowed.err()));
  assert.is(await events(players[2]!.id), 0);
  await end(allowed);
});

test.run();
