/** The values of the log's databases: their bytes, where a replacement goes, and which errors are damage. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as environments from '../../../src/store/log/log-environment.js';
import { isDamageOf } from '../log-contract.js';

test('a key has eight bytes in the order of its number, and a value its length before it', () => {
  assert.is(environments.keyOfSeq(258).toString('hex'), '0000000000000102');
  assert.is(environments.seqOfKey(environments.keyOfSeq(2 ** 53 - 1)), 2 ** 53 - 1);
  const { frame, unframe } = environments;
  assert.is(frame(Uint8Array.of(7, 8)).toString('hex'), '000000020708');
  const padded = frame(Uint8Array.of(7, 8), 9);
  assert.is(padded.toString('hex'), '000000020708000000');
  assert.equal(unframe(padded, 5), Uint8Array.of(7, 8));
  assert.equal(unframe(frame(new Uint8Array(0)), 5), new Uint8Array(0));
  for (const cut of [padded.subarray(0, 5), padded.subarray(0, 3)]) {
    assert.throws(() => unframe(cut, 5), isDamageOf(`the batch at 5 is truncated: ${cut.length} bytes stored`));
  }
});

test('a replacement stays in its leaf at its old size, or moves to an overflow page, and never back', () => {
  // A leaf of 4,096 bytes takes nodes of up to 2,034 bytes, of which 16 are header and key. A frame adds 4 bytes.
  for (const [bytes, oldBytes, storedBytes, movesOut] of [
    [96, 100, 100, false],
    [10, 100, 100, false],
    [97, 100, 2_048, true],
    [2_014, 2_018, 2_018, false],
    [2_015, 2_018, 2_048, true],
    [3_000, 2_018, 3_004, true],
    [10, 2_019, 2_048, false],
    [2_044, 9_000, 2_048, false],
    [2_045, 9_000, 2_049, false],
  ] as const) {
    const replacement = environments.replacementOf(bytes, oldBytes, 4_096);
    assert.equal(replacement, { storedBytes, movesOut }, `${bytes} for ${oldBytes}`);
  }
  assert.is(environments.onePageBytes(4_096), 4_072);
});

test('errors of LMDB and invalid pages are damage of the named file, and those of the system are not', () => {
  const of = (code: unknown) => Object.assign(new Error('says LMDB'), { code });
  for (const [code, isDamage] of [
    [-30_800, false],
    [-30_799, true],
    [-30_796, true],
    [-30_779, true],
    [-30_778, false],
    [21, false],
    [22, true],
    [23, false],
    [28, false],
    ['EINVAL', false],
  ] as const) {
    const error = of(code);
    if (isDamage) {
      for (const one of [error, new Error('x', { cause: error })])
        assert.ok(isDamageOf('/d/log/data.mdb', 'says LMDB')(environments.namedDamage(one, '/d/log')), `${code}`);
    } else assert.is(environments.namedDamage(error, '/d/log'), error, `${code}`);
  }
  assert.is(environments.namedDamage('x', '/d'), 'x');
  assert.throws(() => environments.unknownOutcome('/d/log')(of(28)), /^\/d\/log\/data.mdb: a commit failed/);
});

test.run();
