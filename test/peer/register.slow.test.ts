/** `ptf-peer register` and the configuration: what is written, and what is refused before a peer is made. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

const salt = () => ({ PTF_PEER_GROUP_SALT: node.groupSalt });
const register = (...more: string[]) => ['register', '--url', node.url, '--name', 'Arena', '--game', 'arena', ...more];

async function peers(): Promise<number> {
  const answer = await fetch(`${node.url}/api/v1/peers?limit=200`);
  return ((await answer.json()) as { data: unknown[] }).data.length;
}

test('register writes a configuration of mode 0600 with which the doctor finds nothing wrong', async () => {
  const { code, out } = await world.run(register('--game', 'chess', '--state-dir', world.stateDir), salt());
  assert.is(code, 0);
  assert.match(out, /Registered as [0-9a-f-]{36}/);
  assert.is(statSync(world.configPath).mode & 0o777, 0o600);
  assert.equal(JSON.parse(readFileSync(world.configPath, 'utf8')).game_ids, ['arena', 'chess']);
  const doctor = await world.run(['doctor', '--json']);
  assert.is(doctor.code, 0, doctor.out + doctor.err);
  const { ok, findings } = JSON.parse(doctor.out) as { ok: boolean; findings: { check: string; result: string }[] };
  assert.ok(ok);
  assert.equal(
    findings.map(({ check, result }) => `${check} ${result}`),
    [
      'configuration ok',
      'state ok',
      'node ok',
      'clock ok',
      'salt ok',
      'ids ok',
      'peer ok',
      'games ok',
      'games ok',
      'spool ok',
    ],
  );
  assert.not.match(out + doctor.out, node.groupSalt);
});

test('register refuses to replace a configuration, unless forced', async () => {
  assert.is((await world.run(register(), salt())).code, 0);
  const before = readFileSync(world.configPath, 'utf8');
  const { code, err } = await world.run(register(), salt());
  assert.is(code, 2);
  assert.match(err, '--force');
  assert.is(readFileSync(world.configPath, 'utf8'), before);
  assert.is((await world.run(register('--force'), salt())).code, 0);
  assert.is.not(readFileSync(world.configPath, 'utf8'), before);
});

test('register with a wrong salt, without a salt or without a node makes no peer and writes no file', async () => {
  const before = await peers();
  for (const [args, env, code, text] of [
    [register(), { PTF_PEER_GROUP_SALT: 'another salt of 16 bytes' }, 2, 'salt_mismatch'],
    [register(), { PTF_PEER_GROUP_SALT: 'short' }, 2, 'at least 16 bytes'],
    [register(), {}, 2, '--salt-file'],
    [['register', '--url', 'http://127.0.0.1:9', '--name', 'A', '--game', 'g'], salt(), 3, '127.0.0.1:9'],
    [['register', '--url', 'ftp://x', '--name', 'A', '--game', 'g'], salt(), 2, 'http or https'],
    [['register', '--url', node.url, '--name', 'A'], salt(), 2, '--game'],
  ] as const) {
    const ran = await world.run(args, env);
    assert.is(ran.code, code, ran.err);
    assert.match(ran.err, text);
  }
  assert.is(await peers(), before);
  assert.is((await world.run(['doctor'])).code, 2);
});

test('a salt file is named in the configuration and not copied', async () => {
  const file = join(world.folder, 'salt');
  writeFileSync(file, `${node.groupSalt}\n`);
  assert.is((await world.run(register('--salt-file', file))).code, 0);
  const text = readFileSync(world.configPath, 'utf8');
  assert.not.match(text, node.groupSalt);
  assert.is(JSON.parse(text).group_salt_file, file);
  assert.is((await world.run(['doctor'])).code, 0);
});

test('a peer that the operator registered can be used with its key', async () => {
  const { peerId, apiKey } = await node.register('by the operator');
  const file = join(world.folder, 'key');
  writeFileSync(file, `${apiKey}\n`);
  const args = ['register', '--url', node.url, '--peer-id', peerId, '--api-key-file', file, '--game', 'arena'];
  const before = await peers();
  assert.is((await world.run(args, salt())).code, 0);
  assert.is(await peers(), before);
  assert.is((await world.run(['doctor'])).code, 0);
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

test('variables replace members of the configuration', async () => {
  const { peerId, apiKey } = await node.register('by variables');
  const env = {
    PTF_PEER_URL: node.url,
    PTF_PEER_ID: peerId,
    PTF_PEER_API_KEY: apiKey,
    PTF_PEER_GROUP_SALT: node.groupSalt,
    PTF_PEER_GAME_IDS: 'arena',
    PTF_PEER_STATE_DIR: world.stateDir,
  };
  world.writeConfig({ url: 'http://127.0.0.1:9', peerId: 'x', apiKey: 'y', groupSalt: 'another salt of 16 bytes' });
  assert.is((await world.run(['doctor'], env)).code, 0);
});

test.run();
