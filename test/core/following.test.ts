/** Whether a ban, or a lowering claim, follows another peer's is decided in the order of the log, and recorded. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decideEvent } from '../../bench/core/decide-event.js';
import type { EventSubmission } from '../../src/core/commands.js';
import { FOLLOWS, FOLLOWS_CLAIM } from '../../src/core/evidence/evidence.js';
import { decideDispute, decideDisputeOpened } from '../../src/core/rules/decide-dispute.js';
import { decideErasure } from '../../src/core/rules/decide-removal.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { replacementOf } from '../../src/group/removal/redaction.js';
import { bounds, dayMs, Given, subjectOf, t0 } from '../support/given.js';
import { Random } from '../support/random.js';

const ban = { eventType: 'ban_applied' } as const;
const report = {};
const praise = { eventType: 'commendation' } as const;
const carried = { schemaVersion: '1.1.0', origin: 'list' } as const;

const group = () => new Given(30).peers(3);

/** Sends events about a player in order; returns the bits of the last one's pair. */
function bitsAfter(given: Given, ...events: readonly (readonly [peer: number, event: Partial<EventSubmission>])[]) {
  for (const [peer, event] of events) assert.ok(given.event(peer, 'a', event).ok);
  const { record } = given.records.findLast(({ record }) => record.type === 'event_accepted')!;
  return given.sums('a', 'peer' in record ? record.peer! : 0).follows;
}

test('a measure follows a measure, a claim follows either, and what raises trust follows and leads nobody', () => {
  const cases = [
    [ban, ban, FOLLOWS],
    [report, ban, 0],
    [ban, report, FOLLOWS_CLAIM],
    [report, report, FOLLOWS_CLAIM],
    [praise, report, 0],
    [ban, praise, 0],
  ] as const;
  for (const [first, second, bits] of cases) assert.is(bitsAfter(group(), [0, first], [1, second]), bits);
  assert.is(bitsAfter(group(), [0, ban], [1, report], [1, ban]), FOLLOWS | FOLLOWS_CLAIM);
});

test('a decision names the peers that stood before if the event begins to lower its player, else nobody', () => {
  const given = group();
  given.event(0, 'a', ban);
  const before = (peer: number, event: Partial<EventSubmission>, repeats = false) => {
    const decided = decideEvent(given.state, peer, given.submission(peer, 'a', event), t0, repeats);
    return decided.ok && decided.before;
  };
  assert.equal(before(1, ban), [0]);
  assert.equal(before(0, report), []);
  assert.is(before(0, ban), null);
  assert.is(before(1, praise), null);
  assert.is(before(1, ban, true), null);
});

test('the first of two peers never follows the second, however it goes on', () => {
  const given = group();
  assert.is(bitsAfter(given, [0, ban], [0, report], [1, ban], [1, report], [0, ban], [0, report]), 0);
  assert.is(given.sums('a', 1).follows, FOLLOWS | FOLLOWS_CLAIM);
});

test('an event too old to count, and one of severity 0, set no bit and lead nobody', () => {
  const nothing = [{ ...ban, severity: 0 }, { timestamp: t0 - 700 * dayMs }];
  for (const event of nothing) {
    assert.is(bitsAfter(group(), [0, ban], [1, event]), 0);
    assert.is(bitsAfter(group(), [0, event], [1, ban], [1, report]), 0);
  }
});

test('a peer does not follow what it carries itself, nor a carrier another of the same origin', () => {
  const listed = { ...ban, ...carried };
  const cases = [
    [0, listed, 0, ban, 0],
    [0, ban, 0, listed, 0],
    [0, listed, 1, listed, 0],
    [0, listed, 1, ban, FOLLOWS],
    [0, ban, 1, listed, FOLLOWS],
  ] as const;
  for (const [i, [first, led, second, following, bits]] of cases.entries())
    assert.is(bitsAfter(group().origin('list'), [first, led], [second, following]), bits, `case ${i}`);
});

test('nobody follows a revoked peer, nor evidence that an upheld dispute made void', () => {
  const [revoked, disputed] = [group(), group()];
  for (const given of [revoked, disputed]) given.event(0, 'a', ban);
  revoked.setStatus('peer-0', 'revoked');
  const dispute = { disputeId: 'd', caller: 2, subject: subjectOf('a'), text: 'not him', by: 'test' };
  disputed.done(decideDisputeOpened(disputed.state, dispute, t0));
  const command = { disputeId: 'd', decision: 'uphold', peerIds: ['peer-0'], by: 'test' } as const;
  disputed.done(decideDispute(disputed.state, command, t0));
  assert.is(bitsAfter(revoked, [1, ban], [1, report]), 0, 'revoked');
  assert.is(bitsAfter(disputed, [1, ban], [1, report]), 0, 'disputed');
});

test('once weights exist nobody follows a peer whose gate is closed, or that no computation has seen', () => {
  assert.is(bitsAfter(group().weigh({ tau: [0.05] }), [0, ban], [1, ban]), 0);
  assert.is(bitsAfter(group().weigh({ tau: [0.06] }), [0, ban], [1, ban]), FOLLOWS);
  assert.is(bitsAfter(group().weigh().peers(1), [3, ban], [1, ban]), 0);
});

test('earlier evidence below a hundredth of an event holds no place before others', () => {
  for (const kind of [report, ban]) {
    const bit = kind === ban ? FOLLOWS : FOLLOWS_CLAIM;
    assert.is(bitsAfter(group(), [1, { ...kind, severity: 0.009 }], [0, kind], [1, kind]), bit);
    assert.is(bitsAfter(group(), [1, { ...kind, severity: 0.011 }], [0, kind], [1, kind]), 0);
  }
});

test('nobody follows evidence below a hundredth of the new event, nor what decayed that far', () => {
  for (const other of [ban, report]) {
    assert.is(bitsAfter(group(), [0, { ...other, severity: 0.009 }], [1, report]), 0);
    assert.is(bitsAfter(group(), [0, { ...other, severity: 0.011 }], [1, report]), FOLLOWS_CLAIM);
  }
  assert.is(bitsAfter(group(), [0, { ...ban, severity: 0.009 }], [1, ban]), 0);
  assert.is(bitsAfter(group(), [0, { ...ban, severity: 0.011 }], [1, ban]), FOLLOWS);
  // 6.6 half-lives leave a hundredth.
  assert.is(bitsAfter(group(), [0, { ...report, timestamp: t0 - 210 * dayMs }], [1, report]), 0);
  assert.is(bitsAfter(group(), [0, { ...ban, timestamp: t0 - 210 * dayMs }], [1, report]), FOLLOWS_CLAIM);
});

test('an event of the smallest severity is decided like any other', () => {
  for (const event of [ban, report]) {
    assert.is(bitsAfter(group(), [0, event], [1, { ...event, severity: Number.MIN_VALUE }]) > 0, true);
    assert.is(bitsAfter(group(), [0, { ...event, severity: Number.MIN_VALUE }], [1, event]), 0);
  }
});

test('a lifting that is withdrawn brings the ban back with the bit that it had', () => {
  const given = group();
  bitsAfter(given, [0, ban], [1, ban], [1, report]);
  const lifting = given.event(1, 'a', { eventType: 'ban_lifted' });
  given.event(0, 'a', { eventType: 'ban_lifted' });
  assert.ok(lifting.ok);
  given.withdraw(1, lifting.value);
  assert.equal(given.sums('a', 1), { lowering: 1, raising: 0, measure: 1, follows: FOLLOWS | FOLLOWS_CLAIM, count: 2 });
});

test('a ban after a lifting is a new one: it follows those that stand now', () => {
  const given = group();
  assert.is(bitsAfter(given, [0, ban], [0, { eventType: 'ban_lifted' }], [1, ban], [0, ban]), FOLLOWS);
  assert.is(given.sums('a', 1).follows, 0);
});

test('the order of batches about different players changes no sum, no bit and no verdict', () => {
  const random = new Random(3);
  const batches = Array.from({ length: 40 }, (_, i) =>
    Array.from({ length: 1 + random.below(6) }, () => {
      const eventType = random.pick(['ban_applied', 'report_cheating', 'commendation', 'ban_lifted'] as const);
      return { peer: random.below(5), player: `p${i}`, eventType, severity: random.next() };
    }),
  );
  const lives = [batches, batches.toReversed()].map((order) => {
    const given = new Given(30).peers(5);
    for (const batch of order) for (const { peer, player, ...event } of batch) given.event(peer, player, event);
    given.compute();
    return given;
  });
  for (const [i, batch] of batches.entries()) {
    const [one, other] = lives.map((given) => given.trust(`p${i}`));
    assert.ok(Math.abs(one!.score - other!.score) < 1e-9 && one!.verdict === other!.verdict);
    for (const { peer, player } of batch) {
      const [sums, others] = lives.map((given) => given.sums(player, peer));
      assert.equal(sums, others);
    }
  }
});

test('the event records that it follows: a replay agrees after the other was withdrawn or erased', () => {
  for (const isErased of [false, true]) {
    const given = group();
    const first = given.event(0, 'a', ban);
    given.event(0, 'b', ban);
    given.event(1, 'a', ban);
    given.event(1, 'b', report);
    assert.ok(first.ok);
    const gone = new Set([first.value]);
    if (isErased) {
      const erasure = { caller: 0, subject: subjectOf('b'), commitment: 'c', by: 'test' };
      given.done(decideErasure(given.state, bounds, erasure, t0));
      given.records.forEach(({ record }, i) => {
        if (record.type === 'event_accepted' && subjectOf('b').equals(record.subject)) gone.add(i + 1);
      });
    }
    assert.is(given.withdraw(0, first.value), 'ok');
    assert.is(given.sums('a', 1).follows, FOLLOWS);
    const tagOf = (id: string) => given.state.idTags.of(id);
    const replayed = given.replayed((record, seq) => (gone.has(seq) ? replacementOf(record, tagOf) : record));
    assert.is(stateDigest(replayed), stateDigest(given.state));
  }
});

test.run();
