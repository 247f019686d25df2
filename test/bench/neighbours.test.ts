import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { coreTimeIn, sharedCacheReadNs, shareTaken, strangersNote } from '../../bench/machine.js';

const stat = `cpu  100 20 30 4000 50 1 9 40 7 0
cpu0 50 10 15 2000 25 1 5 20 7 0
intr 1
`;

test('the time of all cores is the time they worked plus the time that the host took', () => {
  assert.equal(coreTimeIn(stat), { worked: 160, taken: 40 });
});

test('a system that does not report stolen time gives no value', () => {
  assert.is(coreTimeIn('cpu  100 20 30 4000 50 1 9\n'), null);
  assert.is(coreTimeIn('intr 1\n'), null);
  assert.is(coreTimeIn(''), null);
});

test('the share is of the time that was wanted between two looks', () => {
  const before = { worked: 100, taken: 10 };
  assert.is(shareTaken(before, { worked: 190, taken: 20 }), 0.1);
  assert.is(shareTaken(before, { worked: 190, taken: 10 }), 0);
  assert.is(shareTaken(before, before), undefined);
  assert.is(shareTaken(null, before), undefined);
  assert.is(shareTaken(before, null), undefined);
});

test('a run is reported as invalid if other processes took the cache or the cores', () => {
  assert.is(strangersNote(30), undefined);
  assert.is(strangersNote(100, 0.01), undefined);
  assert.match(strangersNote(101) ?? '', /NOT ITS OWN MACHINE/);
  assert.match(strangersNote(30, 0.011) ?? '', /NOT ITS OWN MACHINE/);
});

test('a read of the shared cache takes some time', () => assert.ok(sharedCacheReadNs() > 0));

test.run();
