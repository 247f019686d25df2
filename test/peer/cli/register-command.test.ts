/** The command that registers a peer with its group, or takes over a peer's key, and writes its configuration. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { saltCheckOf } from '../../../src/client/ids/salt-check.js';
import { onFailingDisk } from '../../support/failing-disk.js';
import { type FakeNode, fakeNode, groupAnswer } from '../fake-node.js';
import { PeerWorld } from '../peer-world.js';

const salt = 'a salt of sixteen bytes';
let node: FakeNode;
let world: PeerWorld;
/** Size of the file that keeps the room for the configuration, at each registration. */
let reserved: number[];

test.before.each(async () => {
  world = new PeerWorld();
  reserved = [];
  node = await fakeNode(({ method }) => {
    if (method !== 'POST') return groupAnswer({ salt_check: saltCheckOf(salt) });
    reserved.push(statSync(`${world.configPath}.ptf-probe`).size);
    return { status: 201, body: { peer_id: 'new-peer', api_key: 'new-key', status: 'active' } };
  });
});
test.after.each(() => node.close());

const config = () => JSON.parse(readFileSync(world.configPath, 'utf8'));
const posted = () => node.asked.filter(({ method }) => method === 'POST').map(({ text }) => JSON.parse(text));

test('a new peer is registered with its games, and its configuration is for its owner alone', async () => {
  const named = ['register', '--url', node.url, '--name', 'Arena', '--game', 'a', '--game', 'b', '--email', 'x@y.org'];
  const { code, out } = await world.run(named, { PTF_PEER_GROUP_SALT: salt });
  assert.is(code, 0, out);
  const next = `The configuration is ${world.configPath}; it contains the key.\nNext: ptf-peer doctor\n`;
  assert.is(out, `Registered as new-peer.\n${next}`);
  assert.equal(posted(), [{ peer_name: 'Arena', game_ids: ['a', 'b'], contact_email: 'x@y.org' }]);
  const members = { url: node.url, peer_id: 'new-peer', api_key: 'new-key', group_salt: salt, game_ids: ['a', 'b'] };
  assert.equal([config(), statSync(world.configPath).mode & 0o777], [members, 0o600]);
});

test('a peer of the operator is taken over with its key, and files of secrets are named and not copied', async () => {
  const [saltFile, keyFile] = [join(world.folder, 'salt'), join(world.folder, 'key')];
  writeFileSync(saltFile, `${salt}\n`);
  writeFileSync(keyFile, 'its-key\n');
  const taken = ['--json', 'register', '--url', node.url, '--peer-id', 'old-peer', '--game', 'a'];
  const more = ['--salt-file', saltFile, '--state-dir', 'state'];
  const { out } = await world.run([...taken, ...more, '--api-key-file', keyFile]);
  assert.equal(JSON.parse(out), { peer_id: 'old-peer', config: world.configPath });
  const members = { url: node.url, peer_id: 'old-peer', api_key: 'its-key', group_salt_file: resolve(saltFile) };
  assert.equal([config(), posted()], [{ ...members, game_ids: ['a'], state_dir: resolve('state') }, []]);
  const env = { PTF_PEER_API_KEY: 'another-key', PTF_PEER_GROUP_SALT_FILE: saltFile };
  assert.is((await world.run([...taken, '--force'], env)).code, 0);
  assert.equal([config().api_key, config().group_salt_file], ['another-key', resolve(saltFile)]);
});

test('no peer is registered unless the room for its configuration is reserved on the disk', async () => {
  const args = ['register', '--url', node.url, '--name', 'Arena', '--game', 'a'];
  const env = { PTF_PEER_GROUP_SALT: salt };
  mkdirSync(dirname(world.configPath));
  const { code, err } = await onFailingDisk('ENOSPC', () => world.run(args, env));
  assert.equal([code, posted()], [3, []], err);
  assert.match(err, `${world.configPath}.ptf-probe: the disk is full (ENOSPC): free disk space (spool_failed)`);
  assert.is((await world.run(args, env)).code, 0);
  assert.equal(readdirSync(dirname(world.configPath)), ['config.json']);
  assert.equal(reserved, [bounds.peerFileBytes]);
});

test('what is missing or wrong is said before a peer is made, and no file is written', async () => {
  const url = ['register', '--url', node.url];
  const game = [...url, '--game', 'a'];
  const named = [...game, '--name', 'x'];
  const env = { PTF_PEER_GROUP_SALT: salt };
  for (const [args, variables, fault] of [
    [[...url, '--name', 'x'], env, '--game must be given at least once'],
    [game, env, 'give --name to register a new peer, or --peer-id'],
    [[...named, '--peer-id', 'x'], env, 'give --name to register a new peer, or --peer-id'],
    [['register', '--game', 'a', '--name', 'x', '--url', 'ftp://h'], env, 'expected an http or https address'],
    [named, {}, "the group's salt is required: give --salt-file, or set PTF_PEER_GROUP_SALT"],
    [named, { PTF_PEER_GROUP_SALT: '', PTF_PEER_GROUP_SALT_FILE: '' }, "the group's salt is required"],
    [named, { PTF_PEER_GROUP_SALT: 'fifteen bytes..' }, 'the salt must have at least 16 bytes'],
    [
      named,
      { PTF_PEER_GROUP_SALT: 'another salt of 16 bytes' },
      /the salt is not that of the group "local".*salt_mismatch/,
    ],
    [[...named, '--salt-file', join(world.folder, 'none')], env, 'there is no '],
    [[...game, '--peer-id', 'x'], env, "--peer-id needs the peer's key: give --api-key-file, or set PTF_PEER_API_KEY"],
    [[...game, '--peer-id', 'x'], { ...env, PTF_PEER_API_KEY: '' }, "--peer-id needs the peer's key"],
  ] as const) {
    const { code, err } = await world.run(args, variables);
    assert.match(err, fault);
    assert.equal([code, existsSync(world.configPath), posted()], [2, false, []], err);
  }
  // Leaves no room for the name of a temporary file.
  const unwritable = await world.run(['--config', join(world.folder, 'c'.repeat(250)), ...named], env);
  assert.match(unwritable.err, 'ENAMETOOLONG');
  assert.equal([unwritable.code, posted()], [2, []]);
  world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt: salt });
  const { code, err } = await world.run(named, env);
  assert.equal([code, config().peer_id, posted()], [2, 'p', []]);
  assert.match(err, 'exists; --force replaces it');
  writeFileSync(`${world.configPath}.new`, 'of the user');
  assert.equal([(await world.run([...named, '--force'], env)).code, config().peer_id], [0, 'new-peer']);
  assert.is(readFileSync(`${world.configPath}.new`, 'utf8'), 'of the user');
});

test.run();
