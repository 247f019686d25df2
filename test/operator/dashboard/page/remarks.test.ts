/** The page's remarks about a peer. The texts are those for an operator; the rules are those of docs/SCORING.md. */
import { type Test, test as uvuTest } from 'uvu';
import * as assert from 'uvu/assert';
import type { ListedPeerValue } from '../../../../src/operations/peer-operations.js';
import {
  groupFactsOf,
  remarksOf,
  statusLookOf,
  weightlessReason,
} from '../../../../src/operator/dashboard/page/remarks.js';

const test: Test = uvuTest;

const signals = { players: 20, shared_players: 12, discounted_with: [], one_witness_with: [] };
/** Counts, and has nothing to remark. */
const sound: ListedPeerValue = {
  peer_id: 'peer-1',
  peer_name: 'Arena',
  game_ids: ['arena'],
  status: 'active',
  registered_at: '2026-11-01T00:00:00.000Z',
  public_key: null,
  event_count: 20,
  last_event_at: null,
  contact_email: null,
  note: null,
  pre_trusted: false,
  weight: 0.75,
  tau: 1,
  a: 2,
  b: 1,
  m: 3.4,
  finds: 1,
  shared_erasures: 0,
  too_old: null,
  signals,
};
const usual = { hasOneReporter: false, isComparable: true, hasPreTrusted: false };

/** The remark on a peer of weight 0, with the change that gives it its weight. */
const weightless = (reason: string, changed: Partial<ListedPeerValue>, facts: Partial<typeof usual> = {}) =>
  [`weight 0: ${reason}`, { weight: 0, tau: 0, ...changed }, facts] as const;
const seen = (more: Partial<NonNullable<ListedPeerValue['signals']>>) => ({ signals: { ...signals, ...more } });
const hasPreTrusted = true;
const tooOld = (events: number) => ({ too_old: { events, newest: '1970-01-21T18:49:41.000Z' } });
const other = { peer_id: 'peer-2', shared_players: 5, agreement: 0.9 };
const discounted = seen({ discounted_with: [other, { ...other, peer_id: 'peer-3' }] });
const clones = [
  { peer_id: 'peer-2', reason: 'clones' as const },
  { peer_id: 'peer-3', reason: 'allied' as const },
];

/** Remarks with their hints, the change of a sound peer that leads to them, and what is unusual about its group. */
const cases: readonly (readonly [
  remarks: string | readonly string[],
  changed: Partial<ListedPeerValue>,
  facts?: Partial<typeof usual>,
])[] = [
  [[], {}],
  weightless('revoked', { status: 'revoked', signals: null }),
  weightless('not computed yet', { signals: null }, { hasPreTrusted }),
  weightless('has reported no player', seen({ players: 0, shared_players: 0 }), { hasPreTrusted }),
  weightless('no other peer has reported a player', seen({ shared_players: 0 }), {
    hasOneReporter: true,
    isComparable: false,
    hasPreTrusted,
  }),
  weightless('shares no player with other peers; check its salt and ids', seen({ shared_players: 0 })),
  weightless('too few players yet: no two peers have reported 30 each', seen({ players: 29, shared_players: 0 }), {
    isComparable: false,
  }),
  weightless('disagrees with the others on 12 shared players', {}),
  weightless('disagrees with the others on 1 shared player', seen({ shared_players: 1 })),
  // A closed gate is no disagreement there: the peer may share no player with those that are trusted.
  weightless('agrees with no trusted peer on 12 shared players', {}, { hasPreTrusted }),
  weightless('right no more often than chance on 12 shared players', { tau: 1, a: 0, b: 0 }),
  // Weights that are displayed as 0.000, by clip(tau (A + B) / 4, 0, 1) of the scoring page, and one that is not.
  weightless('disagrees with the others on 12 shared players', { weight: 0.000075, tau: 0.0001 }),
  weightless('right no more often than chance on 12 shared players', { weight: 0.00025, tau: 1, a: 0.001, b: 0 }),
  [[], { weight: 0.0005 }],
  ['shares no player with other peers (most likely it uses another salt)', seen({ shared_players: 0 })],
  [[], seen({ shared_players: 0 }), { isComparable: false }],
  [[], seen({ players: 0, shared_players: 0 })],
  [
    'its last 40 events are too old to count, the newest dated 1970-01-21 (seconds taken for milliseconds?)',
    tooOld(40),
  ],
  ['its last event is too old to count, the newest dated 1970-01-21 (seconds taken for milliseconds?)', tooOld(1)],
  // Bans are judged only of a peer that reported somebody and was not revoked.
  ['bans after others had, or nearly everybody: its bans hardly count', { finds: 0, m: 0 }],
  ['bans players whom the others speak well of: its bans hardly count', { m: 0.4 }],
  ['bans players whom the others speak well of: its bans hardly count', { m: 0, finds: 0.5 }],
  [[], { finds: 0.2, m: 3.4 }],
  [[], { m: 0.5 }],
  [[], { m: 0, status: 'revoked' }],
  [[], { m: 0, signals: null }],
  [[], { m: 0, ...seen({ players: 0 }) }],
  ['discounted with 2 peers (perhaps they collude)', discounted],
  [
    ['weight 0: disagrees with the others on 12 shared players', 'discounted with 2 peers (perhaps they collude)'],
    { weight: 0, tau: 0, ...discounted },
  ],
  [
    ['note: asked on Friday', 'weight 0: disagrees with the others on 12 shared players'],
    { note: 'asked on Friday', weight: 0 },
  ],
  [
    'one witness with peer-2 (they report the same about the same players)',
    seen({ one_witness_with: clones.slice(0, 1) }),
  ],
  [
    'one witness with peer-2 and 1 more (they report the same about the same players)',
    seen({ one_witness_with: clones }),
  ],
  [
    '1 erasure of players that others reported (check whether ERASURE_MODE=operator is the better choice)',
    { shared_erasures: 1 },
  ],
];

for (const [index, [remarks, changed, facts]] of cases.entries()) {
  const expected = [remarks].flat();
  test(`row ${index}: ${expected.join(', then ') || 'no remark'}`, () => {
    const found = remarksOf({ ...sound, ...changed }, { ...usual, ...facts });
    assert.equal(
      found.map(({ text, hint }) => (hint === null ? text : `${text} (${hint})`)),
      expected,
    );
  });
}

test('the peers of a group are comparable once two have reported 30 players each', () => {
  const reporting = (players: number) => ({ ...sound, ...seen({ players, shared_players: 0 }) });
  for (const [counts, isComparable] of [
    [[30, 29, 1], false],
    [[30, 30], true],
  ] as const) {
    assert.is(groupFactsOf(counts.map(reporting)).isComparable, isComparable);
  }
});

test('a group has one reporter until a second peer has reported a player', () => {
  const silent = { ...sound, signals: { ...signals, players: 0 } };
  assert.is(groupFactsOf([]).hasOneReporter, true);
  assert.is(groupFactsOf([sound, silent, { ...sound, signals: null }]).hasOneReporter, true);
  assert.is(groupFactsOf([sound, sound]).hasOneReporter, false);
});

test('a group has pre-trusted peers once one of them is', () => {
  assert.is(groupFactsOf([sound]).hasPreTrusted, false);
  assert.is(groupFactsOf([sound, { ...sound, pre_trusted: true }]).hasPreTrusted, true);
});

test('an active peer is displayed as healthy unless its weight is 0', () => {
  assert.is(statusLookOf(sound), 'active');
  assert.is(statusLookOf({ ...sound, weight: 0 }), 'warn');
  assert.is(statusLookOf({ ...sound, weight: 0, status: 'suspended' }), 'suspended');
  assert.is(statusLookOf({ ...sound, weight: 0, status: 'revoked' }), 'revoked');
});

test('only an active peer that reports and has no weight is asked for the reason', () => {
  const silenced = { ...sound, weight: 0, tau: 0 };
  assert.is(weightlessReason(silenced, usual), 'disagrees with the others on 12 shared players');
  for (const over of [{ weight: 0.75 }, { event_count: 0 }, { status: 'suspended' as const }]) {
    assert.is(weightlessReason({ ...silenced, ...over }, usual), undefined);
  }
});

test.run();
