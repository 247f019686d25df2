import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AllowList } from '../../../src/core/registers/allow-list.js';
import { subjectOf, t0 } from '../../support/given.js';

test('a player is allowed up to the end of its entry, and no other player is', () => {
  const list = new AllowList();
  const [listed, other] = [subjectOf('listed'), subjectOf('other')];
  assert.is(list.allows(listed, t0), false);
  list.set(listed.toString('hex'), { id: 'a', until: t0, note: '' }, 3);
  const alike = Buffer.concat([listed.subarray(0, 31), Buffer.of(listed[31]! ^ 1)]);
  assert.equal(
    [listed, alike, other].map((subject) => list.allows(subject, t0)),
    [true, false, false],
  );
  assert.is(list.allows(listed, t0 + 1), false);
  assert.equal([list.countAt(t0), list.countAt(t0 + 1)], [1, 0]);
  list.set(listed.toString('hex'), null, 4);
  assert.is(list.allows(listed, t0), false);
  assert.equal(list.of(listed.toString('hex')), { entry: null, seqs: [3, 4] });
});

test.run();
