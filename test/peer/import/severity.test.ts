/** The severity of a ban follows from its length, wherever the list states it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventOf } from '../../../src/peer/import/event-of.js';
import type { PlanOptions } from '../../../src/peer/import/plan.js';
import { planLines } from '../../../src/peer/import/plan-document.js';
import { severityOf } from '../../../src/peer/import/severity.js';
import { A, B, C, D, importPlan, now } from './plans.js';

const day = 86_400_000;
const iso = (days: number) => new Date(now + days * day).toISOString();
const ban = (days: number | null, bannedAt: number | null = now - 100 * day) =>
  severityOf({ kind: 'ban', bannedAt, expiresAt: days === null ? null : (bannedAt ?? now) + days * day }, now);

/** The severities of the events that an import of the list sends. */
function sent(list: string, options: Partial<PlanOptions> = {}): number[] {
  const { entries, list: name } = importPlan(list, options);
  const from = { peerId: 'peer', groupSalt: 'salt', list: name, gameId: 'arena' };
  return entries.filter(({ state }) => state === 'send').map((entry) => eventOf(entry, from).severity);
}

test('the severity of a ban is its days / 30, at least 0.2 and at most 1', () => {
  for (const [days, severity] of [
    [0, 0.2],
    [1 / 24, 0.2],
    [6, 0.2],
    [7.5, 0.25],
    [15, 0.5],
    [30, 1],
    [31, 1],
    [3_650, 1],
    [null, 1],
  ] as const) {
    assert.is(ban(days), severity, `${days} days`);
    assert.is(ban(days, null), severity, `${days} days from now`);
  }
  const justUnder = ban(29.9);
  assert.ok(justUnder > 0.996 && justUnder < 1, String(justUnder));
});

test('a ban that ended counts by its own length, and at least 0.2 if its begin is unknown', () => {
  assert.is(ban(15, now - 100 * day), 0.5);
  assert.is(ban(-10, null), 0.2);
  assert.is(ban(-10), 0.2, 'an end before the begin');
});

test('a mark that is no ban has a severity of its own', () => {
  const mark = { bannedAt: null, expiresAt: null };
  assert.is(severityOf({ kind: 'cheating', ...mark }, now), 0.8);
  assert.is(severityOf({ kind: 'toxicity', ...mark }, now), 0.5);
});

test('an import sends a severity by begin and end, and by the time left if only the end is known', () => {
  const header = 'steam_id,banned_at,expires_at\n';
  const rows = [
    [A, iso(-1), iso(5)],
    [B, iso(-20), iso(9.9)],
    [C, '', iso(7.5)],
    [D, iso(-100), ''],
  ];
  const list = header + rows.map((row) => `${row.join(',')}\n`).join('');
  const [week, month, left, permanent] = sent(list);
  assert.equal([week, left, permanent], [0.2, 0.25, 1]);
  assert.ok(month! > 0.996 && month! < 1, String(month));
  assert.equal(sent(list, { severity: 0.4 }), [0.4, 0.4, 0.4, 0.4]);
});

test('a Source ban of some minutes counts by them, and one of 0 minutes is permanent', () => {
  const list = `banid 1440 ${steam2(A)}\nbanid 21600 ${steam2(B)}\nbanid 0 ${steam2(C)}\n`;
  assert.equal(sent(list), [0.2, 0.5, 1]);
});

test('a ban that the list names twice has the severity of the longer one that stands', () => {
  const twice = (first: string, second: string) =>
    sent(`steam_id,banned_at,expires_at,lifted\n${[first, second].map((row) => `${A},${iso(-1)},${row}\n`).join('')}`);
  assert.equal(twice(`${iso(2)},`, `${iso(14)},`), [0.5]);
  assert.equal(twice(`${iso(14)},`, `${iso(2)},`), [0.5]);
  assert.equal(twice(',yes', `${iso(14)},`), [0.5]);
  assert.equal(sent(`banid 0 ${steam2(A)}\nbanid 1440 ${steam2(A)}\n`), [1]);
});

test('the dry run prints the severity that would be sent, and a later import has the same event id', () => {
  const list = `${A}:${Math.floor((now + 15 * day) / 1_000)} //x\n`;
  const plan = importPlan(list);
  const until = 'until 2026-12-10T00:00:00.000Z';
  assert.equal(
    [...planLines('Bans.cfg', plan)],
    [`Bans.cfg:1: send steam ${A} since an unknown time ${until}, severity 0.50, weight 1.00\n`],
  );
  const dated = importPlan(`steam_id,banned_at,reason\n${A},${iso(-1)},\nnobody,,\n`);
  assert.equal(
    [...planLines('a.csv', dated)],
    [
      `a.csv:2: send steam ${A} since 2026-11-24T00:00:00.000Z, severity 1.00, weight 1.00 (decay leaves 100 % of its weight)\n`,
      'a.csv:3: refused: malformed: the text does not have a form of its kind\n',
    ],
  );
  const from = { peerId: 'peer', groupSalt: 'salt', list: plan.list, gameId: 'arena' };
  const [first, later] = [plan, importPlan(list, { now: now + 7.5 * day })].map(({ entries }) =>
    eventOf(entries[0]!, from),
  );
  assert.equal([first!.severity, later!.severity], [0.5, 0.25]);
  assert.is(first!.eventId, later!.eventId);
});

test('a ban fades by the half-life of bans, and a mark by that of reports', () => {
  const [entry] = importPlan(`steam_id,banned_at\n${A},${iso(-360)}\n`).entries;
  assert.equal([entry!.state, entry!.weight], ['send', 0.25]);
  const [faded] = importPlan(`steam_id,banned_at\n${A},${iso(-360)}\n`, { banHalfLifeDays: 30 }).entries;
  assert.is(faded!.state, 'faded');
});

test('a ban that begins within a day counts, because of time zones, and one that begins later is refused', () => {
  const { entries, refused } = importPlan(`steam_id,banned_at\n${A},${iso(1)}\n${B},${iso(1.01)}\n`);
  assert.equal(
    entries.map(({ line, state }) => [line, state]),
    [[2, 'send']],
  );
  assert.equal(refused, [{ line: 3, reason: 'the ban begins more than a day from now' }]);
});

test('a note has what the list lacks, that the ban is re-stated, and what is left of its weight', () => {
  const notes = (list: string, options = {}) => importPlan(list, options).entries.map(({ note }) => note);
  const dated = `steam_id,banned_at\n${A},${iso(-360)}\n`;
  assert.equal(notes(dated), ['decay leaves 25 % of its weight']);
  assert.equal(notes(dated, { restate: true }), ['re-stated as of today']);
  const undated = 'the list states no dates';
  assert.equal(notes(`${A}\n`), [undated]);
  assert.equal(notes(`${A}\n`, { restate: true }), [`${undated}; re-stated as of today`]);
  const twice = notes(`steam_id,banned_at\n${A},${iso(-1)}\n${A},${iso(-1)}\n`);
  assert.match(twice[0]!, '3');
});

function steam2(id: string): string {
  const account = Number(BigInt(id) - 76561197960265728n);
  return `STEAM_1:${account & 1}:${Math.floor(account / 2)}`;
}

test.run();
