import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventTypes } from '../../../src/core/evidence/event-types.js';
import { type EvidenceContent, RecentEvidence } from '../../../src/core/registers/recent-evidence.js';

const content = (hash: number, more: Partial<EvidenceContent> = {}): EvidenceContent => ({
  hash,
  row: 3,
  peer: 1,
  type: eventTypes.report_cheating.id,
  timestamp: 5_000,
  ...more,
});

test('a noted event is known by its whole content, until it or its player is forgotten', () => {
  const recent = new RecentEvidence();
  for (const hash of [6, 7]) recent.note(content(hash), 10 + hash);
  assert.equal([recent.seqOf(content(6)), recent.seqOf(content(7)), recent.seqOf(content(8))], [16, 17, 0]);
  for (const other of [{ row: 4 }, { peer: 2 }, { timestamp: 5_001 }, { type: eventTypes.report_toxicity.id }]) {
    assert.is(recent.seqOf(content(7, other)), 0);
  }
  recent.forget(16);
  assert.equal([recent.seqOf(content(6)), recent.seqOf(content(7))], [0, 17]);
  recent.note(content(8, { row: 4 }), 18);
  recent.forgetSubject(3, 17);
  assert.equal([recent.seqOf(content(7)), recent.seqOf(content(8, { row: 4 }))], [0, 18]);
  assert.ok(recent.hasNoneSince(7, 17), 'its number still proves that nothing came after it');
  recent.note(content(7), 20);
  assert.is(recent.seqOf(content(7)), 20, 'of the next player in the row');
});

test('no event of a hash came since a record only if the memory reaches back to that record', () => {
  const recent = new RecentEvidence();
  assert.not.ok(recent.hasNoneSince(7, 100), 'nothing was noted');
  recent.note(content(7), 11);
  assert.equal(
    [9, 10, 11].map((seq) => recent.hasNoneSince(6, seq)),
    [false, true, true],
  );
  assert.equal(
    [9, 10, 11].map((seq) => recent.hasNoneSince(7, seq)),
    [false, false, true],
  );
  recent.missed(20);
  assert.equal(
    [19, 20].map((seq) => recent.hasNoneSince(6, seq)),
    [false, true],
  );
});

test('after very many erasures the events of their players stay forgotten, and those of others known', () => {
  const recent = new RecentEvidence();
  recent.note(content(7), 1);
  recent.note(content(8, { row: 9 }), 3);
  recent.note(content(9, { row: 10 }), 4);
  for (let row = 9; row <= 9 + 4_096; row++) recent.forgetSubject(row, 3);
  assert.equal([recent.seqOf(content(7)), recent.seqOf(content(8, { row: 9 }))], [1, 0]);
  assert.is(recent.seqOf(content(9, { row: 10 })), 4, 'of the next player in the row');
  recent.forgetSubject(3, 4);
  assert.is(recent.seqOf(content(7)), 0);
});

test('after very many withdrawals all events are forgotten, and those noted from then on are known again', () => {
  const recent = new RecentEvidence();
  recent.note(content(7), 1);
  for (let seq = 2; seq <= 4_098; seq++) recent.forget(seq);
  assert.is(recent.seqOf(content(7)), 0);
  for (const hash of [6, 7]) recent.note(content(hash), 5_000 + hash);
  recent.forget(5_006);
  assert.equal([recent.seqOf(content(6)), recent.seqOf(content(7))], [0, 5_007]);
});

test.run();
