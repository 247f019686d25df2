/** Which passwords and stored hashes are accepted. */
import { scryptSync } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../../src/limits.js';
import { isPassword, isPasswordHash, passwordProblem } from '../../../../src/operator/dashboard/sessions/password.js';

test('an invalid password hash is detected, and throws if it is used', async () => {
  for (const text of ['', 'secret', '$scrypt$ln=16,r=8,p=2$$', '$argon2id$v=19$m=1$a$b']) {
    assert.not.ok(isPasswordHash(text), text);
    const thrown = await isPassword('a', text).then(
      () => false,
      () => true,
    );
    assert.ok(thrown, text);
  }
});

test('a hash is accepted up to a cost of 256 MiB and 16 rounds, and a check derives it again', async () => {
  const salt = Buffer.alloc(12, 7);
  const hash = scryptSync('a password', salt, 32, { N: 2, r: 1, p: 1 }).toString('base64').replace('=', '');
  const withCost = (cost: string) => `$scrypt$${cost}$${salt.toString('base64')}$${hash}`;
  for (const cost of ['ln=1,r=1,p=1', 'ln=18,r=8,p=1', 'ln=16,r=32,p=16'])
    assert.ok(isPasswordHash(withCost(cost)), cost);
  const below = ['ln=0,r=8,p=2', 'ln=16,r=0,p=2', 'ln=16,r=8,p=0'];
  const above = ['ln=19,r=8,p=1', 'ln=16,r=33,p=1', 'ln=96,r=8,p=2', 'ln=1,r=8,p=17', 'ln=100,r=1,p=1'];
  for (const cost of [...below, ...above]) assert.not(isPasswordHash(withCost(cost)), cost);
  assert.ok(await isPassword('a password', withCost('ln=1,r=1,p=1')));
  assert.not(await isPassword('a passworD', withCost('ln=1,r=1,p=1')));
});

test('a password that is short, endless or not typed by a person is refused', () => {
  for (const length of [limits.passwordLengthMin, limits.passwordLengthMax])
    assert.is(passwordProblem('a'.repeat(length)), undefined);
  assert.match(passwordProblem('a'.repeat(limits.passwordLengthMin - 1)) ?? '', /at least 12/);
  assert.match(passwordProblem('a'.repeat(limits.passwordLengthMax + 1)) ?? '', /at most 256/);
  assert.match(passwordProblem('two lines\nof a password') ?? '', /control/);
});

test.run();
