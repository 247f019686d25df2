/**
 * Two events of one peer about one player with the same type and timestamp are one piece of evidence. Random lives of a
 * pair check all sums, with repeated events and without.
 */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventTypeName } from '../../src/core/evidence/event-types.js';
import { Batch, BatchWriter, chainStart } from '../../src/core/records/batch.js';
import { decodeRecord, encodeRecord } from '../../src/core/records/record-codec.js';
import { decideWithdrawal, readAgain } from '../../src/core/rules/decide-removal.js';
import { decideHalfLife } from '../../src/core/rules/decide-setting.js';
import { ScenarioHalfLife } from '../../src/core/scoring/scenario-half-life.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { EventColumns } from '../../src/core/tables/event-columns.js';
import { RepeatFilter } from '../../src/core/tables/repeat-filter.js';
import { blanked } from '../../src/group/removal/redaction.js';
import { dayMs, Given, t0 } from '../support/given.js';
import { Random } from '../support/random.js';

const one = () => new Given(30).peers(1);

/** Sends an event of peer 0 about player `a`, as one that repeats another or not; answers its record. */
function send(given: Given, eventType: EventTypeName, severity: number, repeats: boolean, now = t0): number {
  const sent = given.event(0, 'a', { eventType, severity, timestamp: t0 }, now, repeats);
  assert.ok(sent.ok);
  return sent.ok ? sent.value : 0;
}

function withdraw(given: Given, seq: number, now = t0): void {
  assert.is(given.withdraw(0, seq, now), 'ok');
}

test('one that counts in place of another has decayed as if it always had, over changes of half-life', () => {
  const [given, alone] = [one(), one()];
  const first = send(given, 'report_cheating', 1, false);
  send(given, 'report_cheating', 0.5, true);
  send(alone, 'report_cheating', 0.5, false);
  for (const of of [given, alone]) {
    of.apply(decideHalfLife(of.state, 'claims', 7, t0 + 10 * dayMs).records, t0 + 10 * dayMs);
  }
  withdraw(given, first, t0 + 11 * dayMs);
  assert.ok(Math.abs(given.sums('a').lowering - alone.sums('a').lowering) < 1e-15);
});

test('a withdrawal is read again where an event was repeated meanwhile', () => {
  const given = one();
  const first = send(given, 'report_cheating', 1, false);
  const located = given.withdrawal(0, first);
  send(given, 'report_cheating', 0.5, true);
  assert.is(decideWithdrawal(given.state, located, t0), readAgain);
});

test('the record of a repeated event is as it was written, and adds no evidence through columns', () => {
  const given = one();
  send(given, 'report_cheating', 1, false);
  send(given, 'report_cheating', 0.5, true);
  const { record } = given.records.at(-1)!;
  assert.ok(record.type === 'event_accepted' && record.repeats === true);
  assert.equal(decodeRecord(Buffer.from(encodeRecord(record))), { ...record, subject: Buffer.from(record.subject) });
  const writer = new BatchWriter();
  writer.add(record);
  const batch = new Batch(writer.seal(1, t0, Buffer.alloc(16), chainStart).bytes);
  assert.ok(batch.isEvent(1));
  const columns = new EventColumns();
  batch.events(1, columns);
  assert.is(columns.masses[0], 0);
});

test('an erasure leaves no part of what a withdrawal records of repeated events', () => {
  const given = one();
  const first = send(given, 'ban_applied', 1, false);
  send(given, 'ban_applied', 0.7, true);
  send(given, 'ban_lifted', 1, false);
  withdraw(given, first);
  const { record } = given.records.at(-1)!;
  assert.ok(record.type === 'event_withdrawn' && record.counts?.hidden !== undefined);
  const left = blanked(record, (id) => given.state.idTags.of(id));
  assert.is(JSON.stringify(left).includes('0.7'), false);
});

test('the filter knows every event that it took, and hardly any other', () => {
  const filter = new RepeatFilter({ k0: 1, k1: 2 });
  const hashes = Array.from({ length: 100_000 }, (_, i) => filter.hashOf(i, i % 7, 1 + (i % 10), t0 + i));
  for (const hash of hashes) filter.add(hash);
  assert.ok(hashes.every((hash) => filter.has(hash)));
  assert.is(new Set(filter.held()).size, filter.size);
  const others = hashes.filter((_, i) => filter.has(filter.hashOf(i, i % 7, 1 + (i % 10), t0 - 1 - i)));
  assert.ok(others.length < 20, `${others.length} of 100,000 others`);
});

interface Sent {
  readonly seq: number;
  readonly type: EventTypeName;
  readonly severity: number;
  isWithdrawn: boolean;
}

/** Returns what the remaining events add up to; of each kind all of them, or the oldest alone. */
function expectedOf(sent: readonly Sent[], isOldestAlone: boolean) {
  const left = sent.filter(({ isWithdrawn }) => !isWithdrawn);
  const sums = { lowering: 0, raising: 0, measure: 0, count: left.length };
  const counted = new Set<EventTypeName>();
  for (const { type, severity } of left) {
    if (type === 'ban_lifted') {
      if (severity > 0) Object.assign(sums, { lowering: 0, measure: 0 });
    } else if (!isOldestAlone || !counted.has(type)) {
      counted.add(type);
      if (type === 'commendation') sums.raising += severity;
      else if (type === 'ban_applied') sums.measure += severity;
      else sums.lowering += severity * 0.25;
    }
  }
  return sums;
}

/** Sends and withdraws events of one pair; `check` is called after each. With `repeats` each known kind repeats. */
function lived(random: Random, repeats: boolean, check: (given: Given, sent: readonly Sent[]) => void): Given {
  const given = one();
  const sent: Sent[] = [];
  for (let step = 0; step < 16; step++) {
    const left = sent.filter(({ isWithdrawn }) => !isWithdrawn);
    if (random.below(3) === 0 && left.length > 0) {
      const gone = random.pick(left);
      withdraw(given, gone.seq);
      gone.isWithdrawn = true;
    } else {
      const type = random.pick(['ban_applied', 'report_spam', 'ban_lifted', 'commendation'] as const);
      const severity = random.pick([1, 0.5, 0.3, 0]);
      const isRepeat = repeats && type !== 'ban_lifted' && left.some((other) => other.type === type);
      sent.push({ seq: send(given, type, severity, isRepeat), type, severity, isWithdrawn: false });
    }
    check(given, sent);
  }
  return given;
}

for (const [rule, repeats] of [
  ['the sums are those of all that remain', false],
  ['of repeated events the oldest that remains counts', true],
] as const) {
  test(`after any events and withdrawals ${rule}, also for a scenario and a replay`, () => {
    const random = new Random(12);
    for (let round = 0; round < 300; round++) {
      const given = lived(random, repeats, (now, sent) => {
        const held = now.sums('a');
        const expected = expectedOf(sent, repeats);
        const what = `${JSON.stringify(held)}: ${JSON.stringify(sent)}`;
        for (const sum of ['lowering', 'raising', 'measure'] as const)
          assert.ok(Math.abs(held[sum] - expected[sum]) < 1e-9, what);
        assert.is(held.count, expected.count, what);
      });
      const same = new ScenarioHalfLife(given.state, { claims: 30, measures: 180 }, t0);
      for (const [i, { record, at }] of given.records.entries()) same.apply(record, i + 1, at);
      const { entries } = same.subjects();
      const entry = given.state.subjects.firstEntry(given.row('a'));
      for (const sum of ['lowering', 'raising', 'measure'] as const)
        assert.ok(Math.abs(entries[sum](entry) - given.sums('a')[sum]) < 1e-9, 'with a half-life that is the same');
      assert.is(stateDigest(given.replayed()), stateDigest(given.state));
    }
  });
}

test.run();
