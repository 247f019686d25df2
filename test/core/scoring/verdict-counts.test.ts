/** How players spread over the verdicts, counted and sampled. */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../src/core/evidence/decay.js';
import { countVerdicts } from '../../../src/core/scoring/score.js';
import { Given, subjectOf, t0 } from '../../support/given.js';

/** Five two-sided peers with three reports each make a player untrusted; with three commendations each, trusted. */
function groupOf(untrusted: number, trusted: number, neutral: number): Given {
  const all = (value: number) => [value, value, value, value, value];
  const given = new Given().peers(5).weigh({ a: all(2), b: all(1.5), z: all(0.9) });
  const say = (player: string, eventType: 'report_cheating' | 'commendation') => {
    for (let i = 0; i < 3; i++) for (let peer = 0; peer < 5; peer++) given.event(peer, player, { eventType });
  };
  for (let i = 0; i < untrusted; i++) say(`bad-${i}`, 'report_cheating');
  for (let i = 0; i < trusted; i++) say(`good-${i}`, 'commendation');
  for (let i = 0; i < neutral; i++) given.event(0, `new-${i}`);
  return given;
}

const count = ({ state }: Given, rowsMax = 1_000) => countVerdicts(state, asOfTime(state, t0), rowsMax);

test('every player is counted once, under the verdict that a read gives', () => {
  const given = groupOf(2, 3, 4);
  const { counts, sampled, players, seq } = count(given);
  assert.equal(counts, { trusted: 3, neutral: 4, suspicious: 0, untrusted: 2 });
  assert.equal([sampled, players, seq], [9, 9, given.state.lastSeq]);
});

test('an erased player is not counted', () => {
  const given = groupOf(2, 0, 1);
  given.state.subjects.remove(subjectOf('bad-0'));
  assert.equal(count(given).counts, { trusted: 0, neutral: 1, suspicious: 0, untrusted: 1 });
});

test('of more players than may be looked at, every n-th is', () => {
  const { counts, sampled, players } = count(groupOf(0, 0, 100), 30);
  // 100 rows in steps of 4.
  assert.equal([counts.neutral, sampled, players], [25, 25, 100]);
});

test.run();
