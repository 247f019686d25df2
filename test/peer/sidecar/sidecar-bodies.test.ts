/** The bodies that a sidecar takes: what each member must be, and how a wrong one is named. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import type { LocalError } from '../../../src/peer/sidecar/local-error.js';
import { allowOf, bodyIn, reportOf } from '../../../src/peer/sidecar/sidecar-bodies.js';

const report = { player_id: 'steam:1', event_type: 'ban_applied', severity: 0.5 };
const at = Date.UTC(2026, 10, 25, 12);

/** The status, code, member and keyword of a refusal. */
function refusal(read: () => unknown): readonly unknown[] {
  try {
    return ['taken', read()];
  } catch (error) {
    const { status, code, details = {} } = error as LocalError;
    return [status, code, details.field, details.violation];
  }
}

test('a report has its ids, its own values, and the only game of the peer', () => {
  const own = { eventType: 'ban_applied', severity: 0.5, gameId: 'arena', eventId: undefined, at: undefined };
  assert.equal(reportOf(report, ['arena']), { ...own, playerIds: ['steam:1'] });
  const { player_id: _, ...rest } = report;
  const full = {
    ...rest,
    player_ids: ['a', 'b'],
    game_id: 'duel',
    event_id: 'e',
    timestamp: '2026-11-25T13:00:00+01:00',
  };
  const values = { ...own, playerIds: ['a', 'b'], gameId: 'duel', eventId: 'e', at };
  assert.equal(reportOf(full, ['arena', 'duel']), values);
});

test('a member of a report is taken up to its bounds, and refused beyond them by its name', () => {
  const text = (length: number) => 'x'.repeat(length);
  const ids = (count: number) => ({
    player_id: undefined,
    player_ids: Array.from({ length: count }, (_, i) => `${i}`),
  });
  const taken: readonly object[] = [
    { severity: 0 },
    { severity: 1 },
    { player_id: text(bounds.hashedIdLength) },
    { event_id: text(bounds.eventIdLength) },
    ids(bounds.personIds),
  ];
  for (const more of taken) assert.not.throws(() => reportOf({ ...report, ...more }, ['arena']), JSON.stringify(more));
  const refused: readonly (readonly [more: object, field: string, violation: string])[] = [
    [{ severity: -0.1 }, '/severity', 'range'],
    [{ severity: 1.1 }, '/severity', 'range'],
    [{ severity: '1' }, '/severity', 'range'],
    [{ severity: undefined }, '/severity', 'required'],
    [{ player_id: undefined }, '/player_id', 'required'],
    [{ player_id: '' }, '/player_id', 'type'],
    [{ player_id: text(bounds.hashedIdLength + 1) }, '/player_id', 'type'],
    [ids(0), '/player_ids', 'type'],
    [ids(bounds.personIds + 1), '/player_ids', 'type'],
    [{ ...ids(1), player_id: 'a' }, '/player_ids', 'type'],
    [{ player_id: undefined, player_ids: ['a', ''] }, '/player_ids', 'type'],
    [{ player_id: undefined, player_ids: 'a' }, '/player_ids', 'type'],
    [{ event_type: 'toString' }, '/event_type', 'enum'],
    [{ event_type: 1 }, '/event_type', 'enum'],
    [{ event_id: '' }, '/event_id', 'length'],
    [{ event_id: text(bounds.eventIdLength + 1) }, '/event_id', 'length'],
    [{ game_id: 'duel' }, '/game_id', 'enum'],
    [{ timestamp: '2026-11-25' }, '/timestamp', 'format'],
    [{ timestamp: '2026-13-25T12:00:00Z' }, '/timestamp', 'format'],
    [{ timestamp: 1_700_000_000 }, '/timestamp', 'format'],
    [{ 'a/~b': 1 }, '/a~1~0b', 'additionalProperties'],
  ];
  for (const [more, field, violation] of refused) {
    const found = refusal(() => reportOf({ ...report, ...more }, ['arena']));
    assert.equal(found, [400, 'schema_validation_failed', field, violation], JSON.stringify(more));
  }
  const games = refusal(() => reportOf(report, ['arena', 'duel']));
  assert.equal(games, [400, 'schema_validation_failed', '/game_id', 'required'], 'one of several games must be named');
  assert.equal(
    refusal(() => reportOf([report], ['arena'])),
    [400, 'schema_validation_failed', '', 'type'],
  );
});

test('an entry of the allow list has a player, an end, and a note of a bounded length', () => {
  const entry = { player_id: 'a', until: '2026-11-25T12:00:00Z' };
  const note = 'x'.repeat(bounds.allowNoteLength);
  assert.equal(allowOf(entry), { playerId: 'a', until: at, note: '' });
  assert.equal(allowOf({ ...entry, note }), { playerId: 'a', until: at, note });
  for (const [more, field, violation] of [
    [{ note: `${note}x` }, '/note', 'length'],
    [{ note: 1 }, '/note', 'length'],
    [{ until: undefined }, '/until', 'required'],
    [{ player_id: 7 }, '/player_id', 'type'],
    [{ severity: 1 }, '/severity', 'additionalProperties'],
  ] as const) {
    const found = refusal(() => allowOf({ ...entry, ...more }));
    assert.equal(found, [400, 'schema_validation_failed', field, violation], JSON.stringify(more));
  }
});

test('a body is JSON, also after a byte order mark', () => {
  assert.equal(bodyIn('\ufeff{"a":1}'), { a: 1 });
  assert.equal(
    refusal(() => bodyIn('{')),
    [400, 'malformed_json', undefined, undefined],
  );
});

test.run();
