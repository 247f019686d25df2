import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PeerWorld } from '../peer-world.js';

test('a relay needs one http or https address, and a secret that an option names', async () => {
  const world = new PeerWorld();
  world.writeConfig({ url: 'http://127.0.0.1:9', peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
  const file = join(world.folder, 'address');
  const secret = join(world.folder, 'secret');
  const said = async (...options: readonly string[]) => {
    const { code, err } = await world.run(['relay', ...options, '--secret-file', secret]);
    assert.is(code, 2, err);
    return err;
  };
  assert.match(await said(), 'give the address with --webhook or with --webhook-file');
  assert.match(await said('--webhook', 'http://h/', '--webhook-file', file), 'give the address');
  assert.match(await said('--webhook-file', file), `there is no ${file}`);
  for (const text of ['h.example/x', 'ftp://h/x', 'http://', 'http://u:secret@h/', 'https://u@h', 'https://:p@h?x']) {
    writeFileSync(file, `${text}\n`);
    const form = 'must name an http or https address without a user and a password, which would not be sent';
    assert.match(await said('--webhook-file', file), `${file} ${form}`);
    const typed = await said('--webhook', text);
    assert.equal([typed.includes(`--webhook ${form}`), typed.includes('secret@')], [true, false]);
  }
  assert.match(await said('--webhook', 'https://h.example?to=a@b'), `there is no ${secret}`);
  writeFileSync(file, 'https://h.example/x\n');
  assert.match(await said('--webhook-file', file), `there is no ${secret}`);
  for (const text of ['whsec_', `whsec_${'A'.repeat(28)}`, 'not base64!'.repeat(4)]) {
    writeFileSync(secret, `${text}\n`, { mode: 0o600 });
    assert.match(await said('--webhook-file', file), 'must contain "whsec_"');
  }
});

test('a relay names the file of its secret, of 24 bytes or more, unless it sends to Discord', async () => {
  const world = new PeerWorld();
  world.writeConfig({ url: 'http://127.0.0.1:9', peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
  const secret = join(world.folder, 'secret');
  writeFileSync(secret, `whsec_${Buffer.alloc(24, 7).toString('base64')}\n`, { mode: 0o600 });
  const out = async (...options: readonly string[]) => {
    const args = ['relay', '--webhook', 'https://h.example/x', ...options];
    const ran = await world.run(args, {}, AbortSignal.abort());
    assert.is(ran.code, 0, ran.err);
    return ran.out;
  };
  assert.is(await out('--secret-file', secret), `webhooks are signed with the secret in ${secret}\n`);
  assert.is(await out('--discord'), '');
  const own = /^webhooks are signed with the secret in (.*)\n$/.exec(await out())?.[1] ?? '';
  assert.match(readFileSync(own, 'utf8'), /^whsec_[A-Za-z0-9+/]{32}\n$/);
  assert.is(statSync(own).mode & 0o777, 0o600);
});

test.run();
