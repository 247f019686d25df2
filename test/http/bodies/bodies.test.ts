import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reasonsOf } from '../../../src/core/scoring/reasons.js';
import { errors, granted, type Outcome, refused } from '../../../src/errors.js';
import type { AcceptedEvent } from '../../../src/group/api.js';
import {
  batchEntryText,
  batchResultText,
  explanationBody,
  rounded,
  storedEventBody,
  verdictBody,
} from '../../../src/http/bodies/bodies.js';
import { ScoreTag, scoreJson } from '../../../src/http/bodies/score-json.js';
import { cutCount, raisedCount } from '../../../src/http/public-counts.js';
import { assertIsJsonOf } from './ascii-json.js';

const view = {
  score: 49.994999,
  confidence: 0.123456,
  verdict: 'neutral',
  eventCount: 3,
  updatedAt: Date.UTC(2026, 0, 2, 3, 59, 59, 999),
  isCoarse: false,
} as const;

test('a score has at most 2 decimals, a confidence at most 4, and the time is cut to the hour', () => {
  assert.equal(JSON.parse(scoreJson('p', view, new ScoreTag())), {
    player_id: 'p',
    score: 49.99,
    confidence: 0.1235,
    verdict: 'neutral',
    event_count: 3,
    updated_at: '2026-01-02T03:00:00.000Z',
  });
  assert.equal(verdictBody('p', view), {
    player_id: 'p',
    verdict: 'neutral',
    confidence: 0.1235,
    updated_at: '2026-01-02T03:00:00.000Z',
  });
});

test('rounding never shows more digits than asked for, and no negative zero', () => {
  assert.is(JSON.stringify(rounded(0.1 + 0.2, 4)), '0.3');
  assert.is(rounded(1.005, 2), 1);
  assert.ok(Object.is(rounded(-0.001, 2), 0));
  for (let step = 0; step <= 1000; step += 1) {
    assert.match(JSON.stringify(rounded((step * 100) / 777, 2)), /^\d+(\.\d{1,2})?$/);
  }
});

test('a long text of a caller is escaped without a call for each of its characters', () => {
  const { padStart } = String.prototype;
  let calls = 0;
  String.prototype.padStart = function (this: string, ...of: Parameters<typeof padStart>) {
    calls++;
    return padStart.apply(this, of);
  };
  const id = 'a"\x7fé\u20ac\u{1F600}'.repeat(1_000);
  let text: string;
  try {
    text = batchEntryText(id, refused('payload_too_large'));
  } finally {
    String.prototype.padStart = padStart;
  }
  assert.match(text, /^[\x20-\x7e]*$/);
  assert.equal([JSON.parse(text).event_id, calls], [id, 0]);
});

test('a time before 1970 is cut to its hour, too', () => {
  assert.is(verdictBody('p', { ...view, updatedAt: -1 }).updated_at, '1969-12-31T23:00:00.000Z');
});

test('counts are cut to two significant digits', () => {
  const cut = [0, 7, 99, 100, 109, 110, 999, 1234, 98_765, 1_000_000];
  assert.equal(cut.map(cutCount), [0, 7, 99, 100, 100, 110, 990, 1200, 98_000, 1_000_000]);
});

test('counts are raised to two significant digits where a number must not be less', () => {
  const raised = [0, 7, 99, 100, 101, 110, 991, 1001, 1234, 98_765, 1_000_000];
  assert.equal(raised.map(raisedCount), [0, 7, 99, 100, 110, 110, 1000, 1100, 1300, 99_000, 1_000_000]);
});

test('the split of an explanation is left out under three peers', () => {
  const explanation = {
    lowering: 1.234567,
    raising: 0.5,
    peers: 3,
    preTrusted: true,
    witnesses: 2,
    oneSided: 0.25,
    logOdds: 1,
    suspicious: 2.4,
    banned: 2,
    bannedAfterOthers: 1,
    bans: 1,
    halfLifeDays: 30,
    banHalfLifeDays: 180,
    weightsBasedOnSeq: 987,
  };
  const halfLives = { half_life_days: 30, ban_half_life_days: 180 };
  const common = { two_sided: true, witnesses: 2, ...halfLives, weights_based_on_seq: 980 };
  const bodyOf = (peers: number) => {
    const { reasons, ...rest } = explanationBody('neutral', { ...explanation, peers });
    assert.equal(reasons, reasonsOf('neutral', { ...explanation, peers }));
    return rest;
  };
  assert.equal(bodyOf(3), { ...common, peers: 3, lowering: 1.2346, raising: 0.5, bans: 1, pre_trusted: true });
  assert.equal(bodyOf(2), { ...common, peers: 2 });
});

test('an event as stored has its times as `toISOString` writes them', () => {
  for (let i = 0; i < 5_000; i++) {
    const event = {
      schemaVersion: '1.0.0',
      eventId: `e-${i}.:_`,
      eventType: 'report_cheating',
      gameId: 'arena',
      severity: 0.8,
      timestamp: i * 123_456_789_012 - 62_000_000_000_000,
    } as const;
    const receivedAt = i * 987_654_321;
    assert.equal(storedEventBody('peer', 'player', event, { receivedAt }), {
      schema_version: '1.0.0',
      event_id: `e-${i}.:_`,
      event_type: 'report_cheating',
      peer_id: 'peer',
      player_id: 'player',
      game_id: 'arena',
      severity: 0.8,
      timestamp: new Date(event.timestamp).toISOString(),
      received_at: new Date(receivedAt).toISOString(),
      status: 'accepted',
    });
  }
});

test('the result of a batch is ASCII-only JSON, whatever its ids and details', () => {
  const outcomes: [id: string | null, outcome: Outcome<AcceptedEvent>, entry: object][] = [
    ['e-1.:_', granted({ receivedAt: 0 }), { event_id: 'e-1.:_', status: 201 }],
    ['e-2', granted({ receivedAt: 0, counts: false }), { event_id: 'e-2', status: 201, counts: false }],
    [
      'Žo"\\🎮',
      refused('schema_validation_failed', { text: 'é "so"', details: { field: '/ü', violation: 'type' } }),
      {
        event_id: 'Žo"\\🎮',
        status: 400,
        code: 'schema_validation_failed',
        error: 'é "so"',
        details: { field: '/ü', violation: 'type' },
      },
    ],
    [
      null,
      refused('payload_too_large'),
      { event_id: null, status: 413, code: 'payload_too_large', error: errors.payload_too_large.text },
    ],
  ];
  const counts = { accepted: 2, duplicates: 0, rejected: 2 };
  const text = batchResultText(
    counts,
    outcomes.map(([id, outcome]) => batchEntryText(id, outcome)),
  );
  assertIsJsonOf({ ...counts, results: outcomes.map(([, , entry]) => entry) }, text);
});

test.run();
