/** How passwords are kept and checked. */
import { scryptSync } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hashPassword, isPassword, isPasswordHash } from '../../../../src/operator/dashboard/sessions/password.js';

test('a password is known again by its hash, and no other is', async () => {
  const stored = await hashPassword('correct horse battery');
  assert.ok(await isPassword('correct horse battery', stored));
  for (const other of ['', 'correct horse batterx', 'correct horse battery ', 'Correct horse battery']) {
    assert.not.ok(await isPassword(other, stored), other);
  }
});

test('a hash is scrypt with a salt of its own and the cost that it names, 64 MiB at the least', async () => {
  const [stored, other] = [await hashPassword('correct horse battery'), await hashPassword('correct horse battery')];
  assert.is.not(stored, other);
  const [, , cost = '', salt = '', hash = ''] = stored.split('$');
  // OWASP's password storage cheat sheet: N = 2^16, r = 8, p = 2 among its equal minimums.
  assert.is(cost, 'ln=16,r=8,p=2');
  const options = { N: 2 ** 16, r: 8, p: 2, maxmem: 2 ** 28 };
  const expected = scryptSync('correct horse battery', Buffer.from(salt, 'base64'), 32, options);
  assert.is(hash, expected.toString('base64').replace('=', ''));
});

test('the vector of RFC 7914 is known again', async () => {
  // Section 12: scrypt("pleaseletmein", "SodiumChloride", 16384, 8, 1, 64) starts with these 32 bytes.
  const hash = Buffer.from('7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2', 'hex');
  const inBase64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  const stored = `$scrypt$ln=14,r=8,p=1$${inBase64(Buffer.from('SodiumChloride'))}$${inBase64(hash)}`;
  assert.ok(await isPassword('pleaseletmein', stored));
});

test('the same letters typed in another form of Unicode are the same password', async () => {
  const stored = await hashPassword('caf\u00e9 au lait fraise');
  assert.ok(await isPassword('cafe\u0301 au lait fraise', stored));
});

test('a hash of the largest cost can be checked', async () => {
  const stored = await hashPassword('correct horse battery');
  const withCost = (cost: string): string => stored.replace('ln=16,r=8,p=2', cost);
  for (const cost of ['ln=1,r=99,p=16', 'ln=18,r=8,p=1']) {
    assert.ok(isPasswordHash(withCost(cost)), cost);
    assert.not.ok(await isPassword('correct horse battery', withCost(cost)), cost);
  }
});

test.run();
