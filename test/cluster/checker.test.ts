/** The checker of the fault harness finds each kind of violation, and none in a correct run. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { check } from './checker.js';
import { type FinalNode, History, type LogEntry, type Outcome } from './history.js';

const entry = (seq: number, eventId?: string): LogEntry => ({
  seq,
  type: eventId === undefined ? 'weights_published' : 'event_accepted',
  digest: `${seq} ${eventId}`,
  eventId,
});

function node(name: string, ...ids: (string | undefined)[]): FinalNode {
  return { name, log: ids.map((id, index) => entry(index + 1, id)), stateDigest: `state of ${ids}` };
}

/** Returns a history of events, each acknowledged before the next one begins. */
function historyOf(...ids: string[]): History {
  const history = new History();
  for (const [index, id] of ids.entries()) add(history, id, index * 10, 'acknowledged');
  return history;
}

function add(history: History, id: string, startedAt: number, outcome: Outcome): void {
  history.events.push({ id, player: `player of ${id}`, startedAt, endedAt: startedAt + 5, outcome });
}

const three = (...ids: (string | undefined)[]) => ['a', 'b', 'c'].map((name) => node(name, ...ids));

function mustFind(found: readonly string[], ...patterns: RegExp[]): void {
  for (const pattern of patterns)
    assert.ok(
      found.some((text) => pattern.test(text)),
      `${pattern} in ${found}`,
    );
}

test('a correct run has no violation', () => {
  const history = historyOf('e1', 'e2', 'e3');
  history.slots.push({ firstSeq: 1, fence: 5 }, { firstSeq: 2, fence: 5 }, { firstSeq: 3, fence: 9 });
  history.reads.push(
    { reader: 'r', node: 'a', at: 1, appliedSeq: 3 },
    { reader: 'r', node: 'b', at: 2, appliedSeq: 1 },
  );
  history.streams.push({ reader: 's', seq: 1, isReset: false }, { reader: 's', seq: 3, isReset: false });
  assert.equal(check(history, three('e1', 'e2', undefined, 'e3')), []);
});

test('a lost event is a violation', () => mustFind(check(historyOf('e1', 'e2'), three('e1')), /lost event e2/));

test('a doubled event is a violation', () => mustFind(check(historyOf('e1'), three('e1', 'e1')), /doubled event e1/));

test('an event is re-ordered if it follows an event that began after its answer', () => {
  mustFind(check(historyOf('e1', 'e2'), three('e2', 'e1')), /re-ordered event e1/);
});

test('concurrent events may be in either order', () => {
  const history = new History();
  add(history, 'e1', 0, 'acknowledged');
  add(history, 'e2', 4, 'acknowledged');
  assert.equal(check(history, three('e2', 'e1')), []);
});

test('a gap in a log is a violation', () => {
  const [a] = three('e1', 'e2') as [FinalNode];
  const gapped = { ...a, log: [entry(1, 'e1'), entry(3, 'e2')] };
  mustFind(check(historyOf('e1', 'e2'), [gapped]), /gap before record 3/);
});

test('different logs are a violation, with the first record that differs', () => {
  mustFind(check(historyOf('e1'), [node('a', 'e1', 'e2'), node('b', 'e1', 'e3')]), /a and b differ at record 2/);
  mustFind(check(historyOf('e1'), [node('a', 'e1', 'e2'), node('b', 'e1')]), /differ at record 2.*and nothing/);
});

test('different states after the same log are a violation', () => {
  const [a, b] = three('e1') as [FinalNode, FinalNode];
  mustFind(check(historyOf('e1'), [a, { ...b, stateDigest: 'another' }]), /different states/);
});

test('a slot of an earlier leader after one of a later leader is a violation', () => {
  const history = historyOf('e1', 'e2', 'e3');
  history.slots.push({ firstSeq: 1, fence: 5 }, { firstSeq: 2, fence: 9 }, { firstSeq: 3, fence: 5 });
  mustFind(check(history, three('e1', 'e2', 'e3')), /slot 3 was written under fence 5, after a later one/);
});

test('a slot that was written twice is a violation', () => {
  const history = historyOf('e1');
  history.slots.push({ firstSeq: 1, fence: 5 }, { firstSeq: 1, fence: 5 });
  mustFind(check(history, three('e1')), /slot 1 was written twice/);
});

test('a refused event in the log is a violation, one with an unknown outcome may be there or not', () => {
  const history = new History();
  add(history, 'refused', 0, 'refused');
  add(history, 'unknown', 0, 'unknown');
  add(history, 'elsewhere', 0, 'unknown');
  const found = check(history, three('refused', 'unknown'));
  mustFind(found, /refused event refused is in the log/);
  assert.is(found.length, 1);
});

test('an event that may be removed is not lost, and a withdrawn event must not be in the log', () => {
  const history = historyOf('e1', 'e2', 'e3', 'e4');
  history.removals.push(
    { kind: 'withdraw', target: 'e1', outcome: 'unknown' },
    { kind: 'erase', target: 'player of e2', outcome: 'acknowledged' },
    { kind: 'withdraw', target: 'e3', outcome: 'acknowledged' },
    { kind: 'withdraw', target: 'e4', outcome: 'refused' },
  );
  assert.equal(check(history, three(undefined, undefined, undefined, 'e4')), []);
  mustFind(check(history, three('e1', 'e3', undefined, 'e4')), /withdrawn event e3 is in the log/);
  mustFind(check(history, three('e1')), /lost event e4/);
});

test('an older read after a newer one at one node is a violation', () => {
  const history = historyOf('e1');
  history.reads.push(
    { reader: 'r', node: 'a', at: 1, appliedSeq: 9 },
    { reader: 'r', node: 'a', at: 2, appliedSeq: 8 },
  );
  mustFind(check(history, three('e1')), /r read record 8 from a after a later one/);
});

test('a stream that goes back is a violation, except after a reset', () => {
  const history = historyOf('e1');
  history.streams.push({ reader: 's', seq: 9, isReset: false }, { reader: 's', seq: 7, isReset: true });
  assert.equal(check(history, three('e1')), []);
  history.streams.push({ reader: 's', seq: 6, isReset: false });
  mustFind(check(history, three('e1')), /s received record 6 after a later one/);
});

test('frequent violations of one rule are described by a few examples and a count', () => {
  const found = check(historyOf('e1', 'e2', 'e3', 'e4', 'e5'), three(undefined));
  assert.equal(found, ['a: lost event e1', 'a: lost event e2', 'a: lost event e3, and 2 more like it']);
});

test.run();
