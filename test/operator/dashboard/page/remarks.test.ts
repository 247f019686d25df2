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
const group = { hasOneReporter: false, isComparable: true, hasPreTrusted: false };
const withPreTrusted = { ...group, hasPreTrusted: true };

function textsOf(changed: Partial<ListedPeerValue>, facts = group): string[] {
  return remarksOf({ ...sound, ...changed }, facts).map(({ text }) => text);
}

test('a peer that counts and agrees has no remark', () => assert.equal(textsOf({}), []));

test('a revoked peer has weight 0 because it is revoked, whatever else is true of it', () => {
  assert.equal(textsOf({ weight: 0, status: 'revoked', signals: null }), ['weight 0: revoked']);
});

test('a peer that no computation saw has weight 0 until one does', () => {
  assert.equal(textsOf({ weight: 0, tau: 0, signals: null }, withPreTrusted), ['weight 0: not computed yet']);
});

test('a peer without a report has weight 0 because it has reported no player', () => {
  const silent = { ...signals, players: 0, shared_players: 0 };
  assert.equal(textsOf({ weight: 0, tau: 0, signals: silent }, withPreTrusted), ['weight 0: has reported no player']);
});

test('the only peer that reports has weight 0 because there is no other to compare it with', () => {
  const alone = { ...signals, shared_players: 0 };
  const facts = { hasOneReporter: true, isComparable: false, hasPreTrusted: true };
  assert.equal(textsOf({ weight: 0, tau: 0, signals: alone }, facts), [
    'weight 0: no other peer has reported a player',
  ]);
});

test('a peer of weight 0 that shares no player is advised to check its salt and ids', () => {
  const foreign = { ...signals, shared_players: 0 };
  assert.equal(textsOf({ weight: 0, tau: 0, signals: foreign }), [
    'weight 0: shares no player with other peers; check its salt and ids',
  ]);
});

test('a closed gate without pre-trusted peers means that the peer disagrees with the others', () => {
  assert.equal(textsOf({ weight: 0, tau: 0 }), ['weight 0: disagrees with the others on 12 shared players']);
  const one = { ...signals, shared_players: 1 };
  assert.equal(textsOf({ weight: 0, tau: 0, signals: one }), [
    'weight 0: disagrees with the others on 1 shared player',
  ]);
});

test('a closed gate with pre-trusted peers is no disagreement: the peer may share no player with them', () => {
  assert.equal(textsOf({ weight: 0, tau: 0 }, withPreTrusted), [
    'weight 0: agrees with no trusted peer on 12 shared players',
  ]);
});

test('an open gate without log-odds means that the peer is right no more often than a coin', () => {
  assert.equal(textsOf({ weight: 0, tau: 1, a: 0, b: 0 }), [
    'weight 0: right no more often than chance on 12 shared players',
  ]);
});

test('a weight that is displayed as 0.000 has its reason too', () => {
  // clip(tau (A + B) / 4, 0, 1) of the scoring page: 0.0001 x 3 / 4, and 1 x 0.001 / 4.
  assert.equal(textsOf({ weight: 0.000075, tau: 0.0001 }), [
    'weight 0: disagrees with the others on 12 shared players',
  ]);
  assert.equal(textsOf({ weight: 0.00025, a: 0.001, b: 0 }), [
    'weight 0: right no more often than chance on 12 shared players',
  ]);
  assert.equal((0.0005).toFixed(3), '0.001');
  assert.equal(textsOf({ weight: 0.0005 }), []);
});

test('a peer that counts and shares no player most likely has another salt', () => {
  const foreign = { ...sound, signals: { ...signals, shared_players: 0 } };
  assert.equal(remarksOf(foreign, group), [
    { text: 'shares no player with other peers', hint: 'most likely it uses another salt' },
  ]);
  assert.equal(remarksOf(foreign, { ...group, isComparable: false }), []);
  const silent = { ...sound, signals: { ...signals, players: 0, shared_players: 0 } };
  assert.equal(remarksOf(silent, group), [], 'a peer without a player shares none');
});

test('no peer is said to share no player before two peers have reported 30 players each', () => {
  const reporting = (players: number) => ({ ...sound, signals: { ...signals, players, shared_players: 0 } });
  for (const [counts, isComparable] of [
    [[30, 29, 1], false],
    [[30, 30], true],
  ] as const) {
    assert.is(groupFactsOf(counts.map(reporting)).isComparable, isComparable);
  }
  const early = { ...group, isComparable: false };
  assert.equal(textsOf({ ...reporting(29), weight: 0, tau: 0 }, early), [
    'weight 0: too few players yet: no two peers have reported 30 each',
  ]);
});

test('a peer whose newest events are too old to count hears of the likely mistake', () => {
  const [remark] = remarksOf({ ...sound, too_old: { events: 40, newest: '1970-01-21T18:49:41.000Z' } }, group);
  assert.equal(remark, {
    text: 'its last 40 events are too old to count, the newest dated 1970-01-21',
    hint: 'seconds taken for milliseconds?',
  });
});

test('a peer whose bans hardly count hears why', () => {
  assert.equal(textsOf({ finds: 0, m: 0 }), ['bans after others had, or nearly everybody: its bans hardly count']);
  assert.equal(textsOf({ m: 0.4 }), ['bans players whom the others speak well of: its bans hardly count']);
  assert.equal(textsOf({ finds: 0.2, m: 3.4 }), []);
});

test('the remarks on a discounted peer and on one of weight 0 differ, and a peer may have both', () => {
  const other = { peer_id: 'peer-2', shared_players: 5, agreement: 0.9 };
  const discounted = { ...signals, discounted_with: [other, { ...other, peer_id: 'peer-3' }] };
  assert.equal(remarksOf({ ...sound, signals: discounted }, group), [
    { text: 'discounted with 2 peers', hint: 'perhaps they collude' },
  ]);
  assert.equal(remarksOf({ ...sound, weight: 0, tau: 0, signals: discounted }, group), [
    { text: 'weight 0: disagrees with the others on 12 shared players', hint: null },
    { text: 'discounted with 2 peers', hint: 'perhaps they collude' },
  ]);
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

test('the note of an operator comes first, whatever else there is to remark', () => {
  const texts = textsOf({ note: 'asked on Friday', weight: 0 });
  assert.equal(texts[0], 'note: asked on Friday');
});

test('a peer that is one witness with others, or erases what others reported, is remarked on', () => {
  const one_witness_with = [
    { peer_id: 'peer-2', reason: 'clones' as const },
    { peer_id: 'peer-3', reason: 'allied' as const },
  ];
  const remarked = (count: number) => {
    return remarksOf({ ...sound, signals: { ...signals, one_witness_with: one_witness_with.slice(0, count) } }, group);
  };
  const hint = 'they report the same about the same players';
  assert.equal(
    [remarked(1), remarked(2)],
    [[{ text: 'one witness with peer-2', hint }], [{ text: 'one witness with peer-2 and 1 more', hint }]],
  );
  assert.equal(textsOf({ shared_erasures: 1 }), ['1 erasure of players that others reported']);
});

test('bans are judged only of a peer that reported somebody and was not revoked', () => {
  assert.equal(textsOf({ m: 0.5 }), []);
  assert.equal(textsOf({ m: 0, status: 'revoked' }), []);
  assert.equal(textsOf({ m: 0, signals: null }), []);
  assert.equal(textsOf({ m: 0, signals: { ...signals, players: 0 } }), []);
  assert.equal(textsOf({ m: 0, finds: 0.5 }), ['bans players whom the others speak well of: its bans hardly count']);
  assert.equal(textsOf({ too_old: { events: 1, newest: '1970-01-21T18:49:41.000Z' } }), [
    'its last event is too old to count, the newest dated 1970-01-21',
  ]);
});

test('only an active peer that reports and has no weight is asked for the reason', () => {
  const weightless = { ...sound, weight: 0, tau: 0 };
  assert.is(weightlessReason(weightless, group), 'disagrees with the others on 12 shared players');
  for (const over of [{ weight: 0.75 }, { event_count: 0 }, { status: 'suspended' as const }]) {
    assert.is(weightlessReason({ ...weightless, ...over }, group), undefined);
  }
});

test.run();
