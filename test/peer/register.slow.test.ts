/** `ptf-peer register` and the doctor against a real node. */
import { readFileSync, statSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { generateSigningKey } from '../../src/client/transport/request-signer.js';
import { TrustClient } from '../../src/client/trust-client.js';
import { startTestNode, type TestNode } from '../../src/testing/test-node.js';
import { PeerWorld } from './peer-world.js';

let node: TestNode;
let world: PeerWorld;

test.before(async () => {
  node = await startTestNode();
});
test.after(() => node.close());
test.before.each(() => {
  world = new PeerWorld();
});

test('register writes a configuration of mode 0600 with which the doctor finds nothing wrong', async () => {
  const games = ['--game', 'arena', '--game', 'chess'];
  const args = ['register', '--url', node.url, '--name', 'Arena', ...games, '--state-dir', world.stateDir];
  const { code, out } = await world.run(args, { PTF_PEER_GROUP_SALT: node.groupSalt });
  assert.is(code, 0);
  assert.match(out, /Registered as [0-9a-f-]{36}/);
  assert.is(statSync(world.configPath).mode & 0o777, 0o600);
  assert.equal(JSON.parse(readFileSync(world.configPath, 'utf8')).game_ids, ['arena', 'chess']);
  const doctor = await world.run(['doctor', '--json']);
  assert.is(doctor.code, 0, doctor.out + doctor.err);
  const { ok, findings } = JSON.parse(doctor.out) as { ok: boolean; findings: { check: string; result: string }[] };
  const checks = ['configuration', 'state', 'node', 'clock', 'salt', 'ids', 'peer', 'games', 'games', 'spool'];
  const results = findings.map(({ check, result }) => `${check} ${result}`);
  assert.equal([ok, results], [true, checks.map((check) => `${check} ok`)]);
  assert.not.match(out + doctor.out, node.groupSalt);
});

test('a key that belongs to another peer is found by the doctor', async () => {
  const [one, two] = [await node.register('one'), await node.register('two')];
  world.writeConfig({ url: node.url, peerId: one.peerId, apiKey: two.apiKey, groupSalt: node.groupSalt });
  const { code, out } = await world.run(['doctor']);
  assert.is(code, 1);
  assert.match(out, 'the key belongs to another peer');
});

test('a peer with a public key passes the doctor with its signing key, and not without it', async () => {
  const { signingKey, publicKey } = generateSigningKey();
  const guest = new TrustClient({ url: node.url });
  const { peerId, apiKey } = await guest.register({ peerName: 'Signing', gameIds: ['arena'], publicKey });
  await guest.close();
  world.writeConfig({ url: node.url, peerId, apiKey, groupSalt: node.groupSalt });
  assert.is((await world.run(['doctor'])).code, 1);
  assert.is((await world.run(['doctor'], { PTF_PEER_SIGNING_KEY: signingKey })).code, 0);
  const bad = await world.run(['doctor'], { PTF_PEER_SIGNING_KEY: 'no key' });
  assert.is(bad.code, 2);
  assert.match(bad.err, 'PTF_PEER_SIGNING_KEY');
});

test.run();
