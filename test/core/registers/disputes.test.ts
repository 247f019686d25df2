/** Which peers a dispute concerns, and what is left of those that were removed. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Dispute, Disputes } from '../../../src/core/registers/disputes.js';
import { metaOf } from '../../../src/core/snapshot/snapshot-meta.js';
import { Given, t0 } from '../../support/given.js';

const dispute = (id: string, more: Partial<Dispute> = {}): Dispute => ({
  id,
  seq: 7,
  openedAt: t0,
  peer: 2,
  subject: 'aa',
  text: 'not him',
  against: null,
  status: 'open',
  decidedAt: null,
  voids: [],
  decisions: [],
  ...more,
});

test('an open dispute concerns the peer that it is against, or else every peer; an upheld one those it excludes', () => {
  const concerned = (more: Partial<Dispute>) => {
    const disputes = new Disputes();
    disputes.add(dispute('d', more));
    return [0, 1].map((peer) => disputes.concern('aa', peer));
  };
  assert.equal(concerned({}), [true, true]);
  assert.equal(concerned({ against: 1 }), [false, true]);
  assert.equal(concerned({ status: 'upheld', against: 1, voids: [0] }), [true, false]);
  assert.equal(concerned({ status: 'rejected' }), [false, false]);
});

test('a decision on a dispute that an erasure removed changes nothing', () => {
  const disputes = new Disputes();
  disputes.add(dispute('d'));
  disputes.add(dispute('e', { subject: 'bb' }));
  disputes.remove('aa');
  disputes.decide('d', { status: 'upheld', voids: [0] }, 8, t0);
  assert.equal(disputes.all(), [dispute('e', { subject: 'bb' })]);
  assert.equal(disputes.counts, { open: 1, upheld: 0, rejected: 0 });
});

test('the state names players of dropped disputes sorted, in whatever order the disputes were dropped', () => {
  const { state } = new Given();
  for (const subject of ['bb', 'aa', 'cc']) state.disputes.restoreDropped(subject, [7]);
  assert.equal(
    metaOf(state).droppedDisputes!.map(([subject]) => subject),
    ['aa', 'bb', 'cc'],
  );
});

test.run();
