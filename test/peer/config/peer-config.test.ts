import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { generateSigningKey } from '../../../src/client/transport/request-signer.js';
import { configPathOf, loadPeerConfig } from '../../../src/peer/config/peer-config.js';
import { temporaryFolder } from '../../support/process.js';

const home = temporaryFolder();
const absent = join(home, 'absent');
const path = join(home, 'config.json');
const keyFile = join(home, 'key');
const base = { url: 'http://node', peer_id: 'p', api_key: 'k', group_salt: 'a salt of sixteen bytes', game_ids: ['g'] };
const signingKey = generateSigningKey().signingKey.trim();

async function load(more: object, env: Readonly<Record<string, string>> = {}) {
  writeFileSync(path, JSON.stringify({ ...base, ...more }));
  writeFileSync(keyFile, 'key of the file\n');
  return loadPeerConfig({ env, home }, path);
}

const refusal = (loading: Promise<unknown>) =>
  loading.then(
    () => 'taken',
    ({ message }: Error) => message,
  );

test('each invalid or missing value of a configuration is refused with its name, and all of them at once', async () => {
  const shortest = 's'.repeat(bounds.saltBytesMin);
  assert.is((await load({ group_salt: shortest })).groupSalt, shortest);
  for (const [more, fault] of [
    [{ url: '' }, /^PTF_PEER_URL \(url in .*\) must be given$/],
    [{ url: 7 }, /^PTF_PEER_URL \(url in .*\) must be given$/],
    [{ url: 'ftp://node' }, /^PTF_PEER_URL .* must be an http or https address$/],
    [{ url: 'http://' }, /^PTF_PEER_URL .* must be an http or https address$/],
    [{ peer_id: undefined }, /^PTF_PEER_ID \(peer_id in .*\) must be given$/],
    [{ game_ids: undefined }, /^PTF_PEER_GAME_IDS .* must name at least one game$/],
    [{ game_ids: [] }, /^PTF_PEER_GAME_IDS .* must name at least one game$/],
    [{ game_ids: ['g', ''] }, /^PTF_PEER_GAME_IDS .* must name at least one game$/],
    [{ game_ids: ['g', 7] }, /^PTF_PEER_GAME_IDS .* must name at least one game$/],
    [{ game_ids: 'g' }, /^PTF_PEER_GAME_IDS .* must name at least one game$/],
    [{ api_key: '' }, /^PTF_PEER_API_KEY \(api_key in .*\) or PTF_PEER_API_KEY_FILE must be given$/],
    [{ api_key: ' k' }, /^api_key must not begin or end with a blank/],
    [{ api_key_file: keyFile }, /^api_key and api_key_file must not both be given$/],
    [{ api_key: undefined, api_key_file: 7 }, /^api_key_file must be the path of a file$/],
    [{ api_key: undefined, api_key_file: absent }, /^api_key_file names .*absent, which does not exist$/],
    [{ group_salt: shortest.slice(1) }, /^PTF_PEER_GROUP_SALT .* must have at least 16 bytes$/],
    [{ signing_key: 'x' }, /^PTF_PEER_SIGNING_KEY .* must be an Ed25519 private key as PEM/],
    [{ url: '', peer_id: '' }, /^PTF_PEER_URL .* must be given; PTF_PEER_ID .* must be given$/],
    [{ ulr: 'x' }, /config\.json has unknown members: ulr$/],
  ] as const) {
    assert.match(await refusal(load(more)), fault, JSON.stringify(more));
  }
  for (const [text, fault] of [
    ['{', 'must be JSON,'],
    ['[]', 'must be a JSON object,'],
  ] as const) {
    writeFileSync(path, text);
    assert.match(await refusal(loadPeerConfig({ env: {}, home }, path)), fault);
  }
});

test('a variable replaces a member, and the file or text that stands for it, unless it is blank', async () => {
  const file = await load({ signing_key: signingKey, state_dir: 'state' }, { PTF_PEER_URL: ' ' });
  assert.equal([file.url, file.apiKey, file.signingKey], ['http://node', 'k', signingKey]);
  assert.equal([file.stateDir, file.path], [resolve('state'), path]);
  const env = { PTF_PEER_API_KEY_FILE: keyFile, PTF_PEER_GAME_IDS: 'a, b', PTF_PEER_URL: 'https://other' };
  const { url, apiKey, gameIds, signingKey: none } = await load({}, env);
  assert.equal([url, apiKey, gameIds, none], ['https://other', 'key of the file', ['a', 'b'], undefined]);
  const named = { api_key: undefined, api_key_file: absent };
  assert.is((await load(named, { PTF_PEER_API_KEY: 'of the variable' })).apiKey, 'of the variable');
});

test('variables alone are a configuration, whose folders are those of the user', async () => {
  const env = { PTF_PEER_URL: 'http://node', PTF_ID: 'x', PTF_PEER_ID: 'p', PTF_PEER_API_KEY: 'k' };
  const whole = { ...env, PTF_PEER_GROUP_SALT: base.group_salt, PTF_PEER_GAME_IDS: 'g' };
  const usual = join(home, '.config', 'ptf-peer', 'config.json');
  const { peerId, stateDir, path: read } = await loadPeerConfig({ env: whole, home }, undefined);
  assert.equal([peerId, stateDir, read], ['p', join(home, '.local', 'state', 'ptf-peer'), usual]);
  const xdg = { ...whole, XDG_STATE_HOME: '/state', XDG_CONFIG_HOME: '/config' };
  const other = await loadPeerConfig({ env: xdg, home }, undefined);
  assert.equal([other.stateDir, other.path], ['/state/ptf-peer', '/config/ptf-peer/config.json']);
  assert.is(configPathOf({ env: { ...xdg, PTF_PEER_CONFIG: 'named.json' }, home }, undefined), resolve('named.json'));
  assert.is(configPathOf({ env: { PTF_PEER_CONFIG: ' ' }, home }, undefined), usual);
  assert.is(configPathOf({ env: { PTF_PEER_CONFIG: 'x' }, home }, 'given'), resolve('given'));
  assert.match(await refusal(loadPeerConfig({ env, home }, undefined)), `there is no ${usual}: run ptf-peer register`);
  assert.match(
    await refusal(loadPeerConfig({ env: whole, home }, absent)),
    /^there is no .*; ptf-peer register writes/,
  );
  mkdirSync(absent);
  assert.match(await refusal(loadPeerConfig({ env: whole, home }, absent)), /cannot be read: EISDIR$/);
});

test.run();
