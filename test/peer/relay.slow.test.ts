/** `ptf-peer relay` as a process between a real node and a receiver: signatures, resume, players that are removed. */
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { subjectHash } from '../../src/client/ids/subject.js';
import { startTestNode, type TestNode, type TestPeer } from '../../src/testing/test-node.js';
import type { Running } from '../support/child-process.js';
import { until } from '../support/until.js';
import { type FakeNode, fakeNode } from './fake-node.js';
import { endChildren, PeerWorld } from './peer-world.js';

let node: TestNode;
let peers: TestPeer[];
let receiver: FakeNode;
let world: PeerWorld;

test.before(async () => {
  node = await startTestNode();
  peers = await node.seed({ bad: ['known-bad'], good: ['known-good'] });
});
test.after(async () => {
  endChildren();
  await node.close();
});
test.before.each(async () => {
  receiver = await fakeNode(() => ({ status: 204, body: {} }));
  world = new PeerWorld();
  world.writeConfig({ url: node.url, ...peers[0]!, groupSalt: node.groupSalt });
});
test.after.each(() => receiver.close());

/** The webhooks about a player that were received so far. */
function received(player: string) {
  const subject = subjectHash(player, node.groupSalt);
  const all = receiver.asked.map(({ headers, text }) => ({ headers, text, body: JSON.parse(text) }));
  return all.filter(({ body }) => body.data.subject_hash === subject);
}

const isUntrusted = (player: string) => received(player).some(({ body }) => body.data.verdict === 'untrusted');

async function relay(...args: string[]): Promise<Running> {
  const running = world.start(['relay', '--webhook', `${receiver.url}/hooks?token=a-secret-token`, ...args]);
  await until(() => /follows the stream/.test(running.err()));
  return running;
}

/** Makes a player untrusted, by all peers. */
async function condemn(playerId: string): Promise<void> {
  for (const [index, peer] of peers.entries()) {
    const at = Date.now() - index;
    const event = { eventType: 'ban_applied', playerId, gameId: 'arena', severity: 1 } as const;
    await node.client(peer).submitMany([0, 1, 2].map((n) => ({ ...event, at: at - n * 1_000 })));
  }
}

async function end({ child, ended }: Running, signal: NodeJS.Signals = 'SIGTERM') {
  child.kill(signal);
  return ended;
}

test('a change of a verdict arrives as a webhook with a valid signature', async () => {
  const running = await relay();
  await condemn('relayed-1');
  await until(() => isUntrusted('relayed-1'));
  const secret = readFileSync(/secret in (.*)$/m.exec(running.out())![1]!, 'utf8').trim();
  let before = 'neutral';
  for (const { headers, text, body } of received('relayed-1')) {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    assert.equal([body.type, body.data.previous_verdict], ['verdict.changed', before]);
    before = body.data.verdict;
  }
  assert.equal(received('known-bad'), [], 'what was known before the first start is no news');
  const { code, err } = await end(running);
  assert.is(code, 0);
  assert.not.match(err, 'a-secret-token');
});

test('after a kill the relay goes on from the last delivery and misses no change', async () => {
  const first = await relay();
  await condemn('relayed-3');
  await until(() => isUntrusted('relayed-3'));
  await end(first, 'SIGKILL');
  await condemn('relayed-4');
  await node.settled();
  const second = await relay();
  await until(() => isUntrusted('relayed-4'));
  const verdicts = received('relayed-3').map(({ headers, body }) => [headers['webhook-id'], body.data.verdict]);
  const once = Object.values(Object.fromEntries(verdicts));
  assert.is(once.filter((verdict) => verdict === 'untrusted').length, 1);
  await end(second);
});

test('with --discord each webhook is an embed', async () => {
  const running = await relay('--discord', '--all');
  await until(() => receiver.asked.length > 0);
  assert.equal(Object.keys(JSON.parse(receiver.asked[0]!.text)), ['allowed_mentions', 'embeds']);
  await end(running);
});

test('--all sends the players known at the first start, and an erased player is sent as removed', async () => {
  await condemn('relayed-5');
  await node.settled();
  const running = await relay('--all');
  await until(() => received('relayed-5').length > 0);
  await node.client(peers[0]!).eraseSubject('relayed-5');
  await until(() => received('relayed-5').some(({ body }) => body.type === 'player.removed'));
  await end(running);
});

test.run();
