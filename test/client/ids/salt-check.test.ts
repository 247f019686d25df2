/** How often the client asks the node for the check of its salt. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { SaltCheck, saltCheckOf } from '../../../src/client/ids/salt-check.js';
import { systemRuntime } from '../../../src/client/transport/time.js';
import { codeOf } from '../code-of.js';

const salt = 'a salt of sixteen bytes';
let elapsedMs = 0;
let asked = 0;
let group: object | undefined;

test.before.each(() => {
  asked = 0;
});

function saltCheck(): SaltCheck {
  const runtime = { ...systemRuntime, elapsedMs: () => elapsedMs };
  return new SaltCheck(salt, runtime, async () => {
    asked += 1;
    return { status: 200, headers: {}, body: { group } } as never;
  });
}

test('the check of a salt is eight digits of a hash that other languages compute, too', () => {
  // printf 'ptf-salt-checka salt of the group' | sha256sum
  assert.is(saltCheckOf('a salt of the group'), 'c7ac640a');
});

test('a salt that is the group’s is asked about once, also by calls at the same time', async () => {
  group = { salt_check: saltCheckOf(salt), player_id_kinds: ['steam'] };
  const check = saltCheck();
  assert.not.ok(check.isSettled);
  await Promise.all([check.verify(), check.verify()]);
  await check.verify();
  elapsedMs += bounds.saltRecheckMs;
  await check.verify();
  assert.equal([asked, check.isSettled, check.kinds], [1, true, ['steam']]);
});

test('a node without a salt check cannot be compared, and accepts ids as they are', async () => {
  group = { player_id_kinds: [] };
  const check = saltCheck();
  await check.verify();
  assert.equal([check.isVerified, check.kinds, check.mismatch], [true, null, null]);
});

test('an answer that is not the service’s settles nothing, and leaves the kinds of ids open', async () => {
  group = undefined;
  const check = saltCheck();
  assert.is(await codeOf(check.verify()), 'unexpected_answer');
  assert.equal([check.isSettled, check.kinds], [false, undefined]);
  group = { salt_check: saltCheckOf(salt), player_id_kinds: ['steam'] };
  await check.verify();
  assert.equal(check.kinds, ['steam']);
});

test('another salt is refused without a call, and asked about again after a while or on demand', async () => {
  group = { group_id: 'g', salt_check: saltCheckOf('another one') };
  const check = saltCheck();
  const refusal = () => codeOf(check.verify());
  assert.is(await refusal(), 'salt_mismatch');
  elapsedMs += bounds.saltRecheckMs - 1;
  assert.is(await refusal(), 'salt_mismatch');
  assert.is(asked, 1);
  elapsedMs += 1;
  assert.is(await refusal(), 'salt_mismatch');
  assert.is(asked, 2);
  group = { salt_check: saltCheckOf(salt) };
  check.askAgain();
  assert.is(await refusal(), 'no error');
  assert.equal([asked, check.mismatch], [3, null]);
});

test.run();
