import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ErasedEvents } from '../../../src/core/registers/erasure-requests.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { Given, t0 } from '../../support/given.js';

test("a peer's erased events are found by record, and listed in the order of their erasure", () => {
  const erased = new ErasedEvents();
  erased.add(3, 9, 20);
  erased.add(1, 7, 20);
  erased.add(3, 8, 21);
  assert.equal([erased.has(9), erased.has(7), erased.has(10)], [true, true, false]);
  assert.equal([erased.countOf(3), erased.countOf(1), erased.countOf(0)], [2, 1, 0]);
  assert.equal(erased.of(3, 0, 9), [
    { seq: 9, erasedSeq: 20 },
    { seq: 8, erasedSeq: 21 },
  ]);
  assert.equal(erased.of(3, 1, 1), [{ seq: 8, erasedSeq: 21 }]);
  assert.equal(erased.of(0, 0, 9), []);
});

test('a digest depends on which events were erased', () => {
  const given = new Given(30).peers(2);
  given.event(0, 'a');
  given.event(1, 'a');
  const other = new Given(30).peers(2);
  other.event(0, 'a');
  other.event(1, 'a');
  const { lastSeq } = given.state;
  given.apply([{ type: 'events_erased', peer: 1, events: [lastSeq] }], t0);
  other.apply([{ type: 'events_erased', peer: 0, events: [lastSeq - 1] }], t0);
  assert.is.not(stateDigest(given.state), stateDigest(other.state));
});

test.run();
