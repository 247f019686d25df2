/** Ids in the form of the kinds that the node stated last. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { saltCheckOf } from '../../../src/client/ids/salt-check.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { groupKinds, KnownKinds } from '../../../src/peer/node/known-kinds.js';
import { NodeReader } from '../../../src/peer/node/node-reader.js';
import { endOf } from '../../../src/peer/peer-error.js';
import { temporaryFolder } from '../../support/process.js';
import { fakeNode, groupAnswer } from '../fake-node.js';

const url = 'http://127.0.0.1:9';

const secrets = { apiKey: 'key', groupSalt: 'a salt of sixteen bytes', signingKey: undefined };
const config = { url, peerId: 'p', gameIds: ['g'], path: '/absent', ...secrets };

/** Opens the kinds that a node stated to an earlier process. */
async function known(kinds: readonly string[]): Promise<KnownKinds> {
  const stateDir = join(temporaryFolder(), 'state');
  mkdirSync(stateDir);
  writeFileSync(
    join(stateDir, 'group.json'),
    JSON.stringify({ url, salt_check: saltCheckOf(secrets.groupSalt), kinds }),
  );
  return await KnownKinds.open({ ...config, stateDir });
}

test('a group of a single kind refuses ids of no account, which a group of opaque ids takes as they are', async () => {
  assert.is((await known([])).canonical('a-name'), 'a-name');
  for (const kinds of [['steam'], ['steam', 'xuid']]) {
    const group = await known(kinds);
    assert.throws(
      () => group.canonical('a-name'),
      (error: { code?: string }) => error.code === 'invalid_argument',
    );
  }
});

test('a text that names no account is no id of any group, and a hash is one of each', async () => {
  const opaque = await known([]);
  for (const text of ['steam_id_pending', '203.0.113.7', '7.65612E+16']) assert.throws(() => opaque.canonical(text));
  const hash = 'A'.repeat(64);
  for (const group of [opaque, await known(['steam'])]) {
    assert.is(group.canonical('STEAM_0:0:11101'), '76561197960287930');
    assert.is(group.canonical(hash), hash);
  }
});

test('an identity token is what it is, also if it looks like an account, and before the node answers again', async () => {
  const stateDir = join(temporaryFolder(), 'state');
  const node = await fakeNode(() => groupAnswer({ identity_mode: 'high-security' }));
  const reader = new NodeReader(node.url);
  const open = () => KnownKinds.open({ ...config, stateDir, url: node.url });
  const first = await open();
  await first.learn(reader);
  await reader.close();
  await node.close();
  for (const group of [first, await open()]) {
    assert.equal([group.kinds, group.isOfTokens], [[], true]);
    for (const token of ['069A79F444E94726A5BEFCA90E38AAF5', 'STEAM_0:0:11101', 'none']) {
      assert.is(group.canonical(token), token);
    }
  }
  assert.is((await known([])).isOfTokens, false);
});

test('kinds are stored when they change, and read again only for their node and the salt of its group', async () => {
  const stateDir = join(temporaryFolder(), 'state');
  let kinds = ['steam'];
  await using node = await fakeNode(() => groupAnswer({ player_id_kinds: kinds }));
  const reader = new NodeReader(node.url);
  const path = join(stateDir, 'group.json');
  const open = (address = node.url) => KnownKinds.open({ ...config, stateDir, url: address });
  const first = await open();
  assert.equal([first.kinds, first.isFresh], [null, false]);
  await first.learn(reader);
  assert.equal([first.kinds, first.isFresh, readFileSync(path, 'utf8').endsWith('\n')], [kinds, true, true]);
  const again = await open();
  assert.equal([again.kinds, again.isFresh, (await open(url)).kinds], [kinds, false, null]);
  const mistyped = { ...config, stateDir, url: node.url, groupSalt: 'a salt of seventeen byte' };
  assert.is((await KnownKinds.open(mistyped)).kinds, null);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"tokens":false', '"tokens":true'));
  assert.equal([(await open()).isOfTokens, (await KnownKinds.open(mistyped)).isOfTokens], [true, false]);
  rmSync(path);
  await again.learn(reader);
  assert.equal([again.isFresh, existsSync(path)], [true, false], 'kinds that stay the same are not written');
  kinds = ['steam', 'xbox'];
  await again.learn(reader);
  assert.equal((await open()).kinds, kinds);
  for (const text of ['{', `{"url":"${node.url}"}`, `{"url":"${node.url}","kinds":[7]}`]) {
    writeFileSync(path, text);
    assert.is((await open()).kinds, null, text);
  }
  await reader.close();
});

test('the kinds of another group, at whose node the address leads for a moment, are neither used nor stored', async () => {
  const stateDir = join(temporaryFolder(), 'state');
  let group: object = { player_id_kinds: ['minecraft'], salt_check: '00000000' };
  await using node = await fakeNode(() => groupAnswer(group));
  const reader = new NodeReader(node.url);
  const kinds = await KnownKinds.open({ ...config, stateDir, url: node.url });
  const fault = await kinds.learn(reader).catch(({ code }) => code);
  assert.equal([fault, kinds.kinds, kinds.isFresh, existsSync(stateDir)], ['salt_mismatch', null, false, false]);
  group = { player_id_kinds: ['steam'], salt_check: saltCheckOf(config.groupSalt) };
  await kinds.learn(reader);
  assert.equal([kinds.kinds, kinds.isFresh], [['steam'], true]);
  await reader.close();
});

test('a command takes the kinds of the group whose salt it has, and none of a group that knows tokens', async () => {
  const salt = config.groupSalt;
  for (const [group, found] of [
    [{ player_id_kinds: ['steam'], salt_check: saltCheckOf(salt) }, ['steam']],
    [{ player_id_kinds: [] }, null],
    [{ player_id_kinds: ['steam'], salt_check: '00000000' }, 'salt_mismatch 2'],
    [{ player_id_kinds: ['steam'], identity_mode: 'high-security' }, 'wrong_usage 2'],
  ] as const) {
    await using node = await fakeNode(() => groupAnswer(group));
    const kinds = await groupKinds(node.url, salt).catch((error) => {
      const { code, exitCode } = error instanceof TrustError ? endOf(error) : error;
      return `${code} ${exitCode}`;
    });
    assert.equal(kinds, found);
  }
});

test.run();
