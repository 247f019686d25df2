/**
 * A `ban_lifted` takes back what its peer lowered of the player, and raises nothing; random lives of a pair are in
 * `repeats.test.ts`.
 */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventTypeName } from '../../src/core/evidence/event-types.js';
import { decideWithdrawal, readAgain } from '../../src/core/rules/decide-removal.js';
import { decideHalfLife } from '../../src/core/rules/decide-setting.js';
import { dayMs, Given, t0 } from '../support/given.js';

const sure = (peers: number) => {
  const all = (value: number) => new Array<number>(peers).fill(value);
  return new Given(30).peers(peers).weigh({ a: all(2), b: all(1.5), z: all(0.9) });
};

function send(given: Given, eventType: EventTypeName, more: object = {}, now = t0): number {
  const sent = given.event(0, 'a', { eventType, timestamp: now, ...more }, now);
  return sent.ok ? sent.value : 0;
}

function withdraw(given: Given, seq: number, now = t0): void {
  assert.is(given.withdraw(0, seq, now), 'ok');
}

/** Returns the claims, the measure and the count of the peer for the player, decayed to t0. */
function sums(given: Given): readonly [lowering: number, raising: number, count: number, measure: number] {
  const { lowering, raising, count, measure } = given.sums('a');
  return [lowering, raising, count, measure];
}

test('a ban lowers a score, its lifting brings it back to 50, and withdrawing the ban then changes nothing', () => {
  const given = sure(1);
  const ban = send(given, 'ban_applied');
  assert.ok(given.trust('a').score < 50);
  send(given, 'ban_lifted');
  assert.is(given.trust('a').score, 50);
  withdraw(given, ban);
  assert.is(given.trust('a').score, 50);
});

test('a lifting cancels ban and reports of its own peer to exactly 0, and nothing of others or that raises', () => {
  const given = sure(2);
  send(given, 'report_cheating');
  send(given, 'report_toxicity');
  send(given, 'ban_applied', { severity: 0.3 });
  send(given, 'ban_applied', { severity: 0.1, timestamp: t0 - 77 * dayMs });
  send(given, 'commendation');
  given.event(1, 'a', { eventType: 'ban_applied', severity: 0.7 });
  const others = given.sums('a', 1);
  send(given, 'ban_lifted', { severity: 0.4 });
  assert.equal(sums(given), [0, 1, 6, 0]);
  assert.equal(given.sums('a', 1), others);
});

test('evidence that a lifting hid returns with its value, over changes of half-life', () => {
  const lives = [true, false].map((isLifted) => {
    const given = sure(1);
    send(given, 'ban_applied');
    send(given, 'report_toxicity', { severity: 0.7 });
    send(given, 'commendation', { severity: 0.5 });
    const lifting = send(given, isLifted ? 'ban_lifted' : 'session_clean', { severity: isLifted ? 1 : 0 });
    for (const kind of ['claims', 'measures'] as const)
      given.done(decideHalfLife(given.state, kind, 7, t0 + 10 * dayMs), t0 + 10 * dayMs);
    withdraw(given, lifting, t0 + 11 * dayMs);
    return sums(given);
  });
  assert.equal(lives[0], lives[1]);
});

test('the ban of an earlier release that was lifted keeps its meaning', () => {
  const given = sure(1);
  send(given, 'ban_applied');
  const { record } = given.records.at(-1)!;
  assert.ok(record.type === 'event_accepted');
  const old = { event_id: 'old', id_tag: given.state.idTags.of('old') };
  given.apply([{ ...record, ...old, event_type: 9, mass: 1, prev: given.state.lastSeq }], t0);
  assert.equal(sums(given), [0, 1, 2, 1]);
});

test('a withdrawal is read again if its pair was lifted meanwhile, and waits for no other pair', () => {
  const given = sure(2);
  const ban = send(given, 'ban_applied');
  const lifting = send(given, 'ban_lifted');
  const located = given.withdrawal(0, lifting);
  // Takes nothing back, as nothing is left; what the first one hid must not come back under it.
  const second = send(given, 'ban_lifted');
  assert.is(decideWithdrawal(given.state, located, t0), readAgain);
  withdraw(given, lifting);
  assert.is(sums(given)[3], 0);
  withdraw(given, second);
  assert.is(sums(given)[3], 1);
  const ready = given.withdrawal(0, ban);
  given.event(1, 'b', { eventType: 'ban_applied' });
  given.event(1, 'b', { eventType: 'ban_lifted' });
  assert.not.equal(decideWithdrawal(given.state, ready, t0), readAgain);
});

test.run();
