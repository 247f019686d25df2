/** Disputes: what an upheld one takes out of scores, and that an undo brings exactly that back. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decideDispute, decideDisputeOpened } from '../../src/core/rules/decide-dispute.js';
import { decideErasure } from '../../src/core/rules/decide-removal.js';
import { loadSnapshot, snapshotBlocks } from '../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { GroupState } from '../../src/core/state.js';
import { NO_KEY, OPERATOR } from '../../src/core/vocabulary.js';
import { disputeView } from '../../src/group/access/views.js';
import { replacementOf } from '../../src/group/removal/redaction.js';
import { limits } from '../../src/limits.js';
import { withBounds } from '../sim/profile.js';
import { bounds, dayMs, formedRecord, Given, hourMs, salt, subjectOf, t0 } from '../support/given.js';

interface Opening {
  readonly id?: string;
  readonly peer?: number;
  readonly player?: string;
  readonly against?: string;
  readonly now?: number;
  readonly text?: string;
}

/** Opens a dispute; returns `open` or the code of the refusal. */
function open(given: Given, { id = 'd1', peer = 2, player = 'p', against, now = t0, text = 'not him' }: Opening = {}) {
  const named = against === undefined ? {} : { against };
  const command = { disputeId: id, caller: peer, subject: subjectOf(player), text, by: 'test', ...named };
  const outcome = given.done(decideDisputeOpened(given.state, command, now), now);
  if (outcome.ok) return 'open';
  return outcome.retryAfterS === undefined ? outcome.code : `${outcome.code}: wait ${outcome.retryAfterS} s`;
}

/** Decides a dispute; returns its status or the code of the refusal. */
function decide(given: Given, decision: 'uphold' | 'reject' | 'undo', peerIds: string[] = [], id = 'd1', now = t0) {
  const outcome = given.done(decideDispute(given.state, { disputeId: id, decision, peerIds, by: 'test' }, now), now);
  return outcome.ok ? (given.state.disputes.byId(id)?.status ?? 'gone') : outcome.code;
}

const erase = (given: Given, player: string) =>
  given.done(
    decideErasure(given.state, bounds, { caller: OPERATOR, subject: subjectOf(player), commitment: 'c', by: 't' }, t0),
  );

const viewOf = ({ state }: Given, id = 'd1') => disputeView(state, state.disputes.byId(id)!);

/** Two peers report a player, a third stands by. */
function reported(): Given {
  const given = new Given(30).peers(3);
  given.event(0, 'p');
  given.event(0, 'p', { eventType: 'report_toxicity', severity: 0.7, timestamp: t0 - dayMs });
  given.event(1, 'p', { severity: 0.3 });
  return given.weigh();
}

test('an upheld dispute takes the events of the named peer out of the score, and no others', () => {
  const given = reported();
  const only1 = new Given(30).peers(3);
  only1.event(1, 'p', { severity: 0.3 });
  only1.weigh();
  assert.is(open(given), 'open');
  assert.is(decide(given, 'uphold', ['peer-0']), 'upheld');
  const { score, confidence, eventCount } = given.trust('p');
  const expected = only1.trust('p');
  assert.equal([score, confidence], [expected.score, expected.confidence]);
  assert.is(eventCount, 3, 'they are held as before');
  assert.is(given.explain('p').peers, 1);
});

test('weights are computed anew after a decision that moves evidence, and after no other', () => {
  const given = reported();
  const { state } = given;
  open(given);
  const before = state.evidenceSeq;
  decide(given, 'reject');
  assert.is(state.evidenceSeq, before);
  open(given, { id: 'd2' });
  decide(given, 'uphold', ['peer-0'], 'd2');
  assert.is(state.evidenceSeq, state.lastSeq);
  decide(given, 'undo', [], 'd2');
  assert.is(state.evidenceSeq, state.lastSeq);
});

test('a peer that was suspended while its dispute arrived is refused, and a caller without a key is not', () => {
  const given = reported();
  given.setStatus('peer-2', 'suspended');
  assert.is(open(given), 'peer_not_active');
  assert.is(open(given, { peer: NO_KEY }), 'open');
});

test('undoing restores the score exactly, of reports and a ban, and the dispute is open again', () => {
  const given = reported();
  given.event(1, 'p', { eventType: 'ban_applied' });
  const before = given.trust('p');
  open(given);
  decide(given, 'uphold', ['peer-0', 'peer-1']);
  assert.equal([given.trust('p').score, given.trust('p').confidence], [50, 0]);
  assert.is(given.sums('p', 1).measure, 1, 'the sum stays');
  assert.is(decide(given, 'undo'), 'open');
  assert.equal(given.trust('p'), before);
  assert.is(decide(given, 'reject'), 'rejected');
  assert.is(decide(given, 'undo'), 'open');
});

test('later events of the peer about the player are void, too, also those of an origin, until it is undone', () => {
  const given = reported();
  open(given);
  decide(given, 'uphold', ['peer-0', 'peer-1']);
  given.origin('list');
  given.event(0, 'p');
  given.event(1, 'p', { schemaVersion: '1.1.0', origin: 'list' });
  given.event(2, 'p', { severity: 0 });
  assert.equal([given.trust('p').score, given.explain('p').lowering], [50, 0]);
  given.event(0, 'another');
  assert.ok(given.trust('another').score < 50);
  decide(given, 'undo');
  assert.ok(given.trust('p').score < 50);
});

test('void evidence does not affect the computation of weights', () => {
  const grown = (isLied: boolean) => {
    const given = new Given().peers(4);
    for (let i = 0; i < 40; i++) for (const peer of [0, 1, 2]) given.event(peer, `p-${i}`);
    if (isLied) for (const peer of [0, 3]) given.event(peer, 'victim');
    return given;
  };
  const [without, voided] = [grown(false), grown(true)];
  open(voided, { player: 'victim' });
  decide(voided, 'uphold', ['peer-0', 'peer-3']);
  assert.equal([...voided.compute().weight], [...without.compute().weight]);
});

test('a withdrawal of a void event, and its sums, are right once the dispute is undone', () => {
  const given = reported();
  const expected = reported();
  const seqOf = ({ records }: Given) => records.findIndex(({ record }) => record.type === 'event_accepted') + 1;
  const withdraw = (from: Given) => assert.is(from.withdraw(0, seqOf(from)), 'ok');
  open(given);
  decide(given, 'uphold', ['peer-0']);
  const upheld = given.trust('p').score;
  withdraw(given);
  assert.is(given.trust('p').score, upheld, 'still void');
  decide(given, 'undo');
  withdraw(expected);
  assert.equal(given.trust('p'), expected.trust('p'));
});

test('two upheld disputes about one peer and player both have to be undone', () => {
  const given = reported();
  open(given);
  open(given, { id: 'd2', peer: 1 });
  decide(given, 'uphold', ['peer-0']);
  decide(given, 'uphold', ['peer-0'], 'd2');
  const upheld = given.trust('p').score;
  decide(given, 'undo');
  assert.is(given.trust('p').score, upheld);
  decide(given, 'undo', [], 'd2');
  assert.ok(given.trust('p').score < upheld);
});

test('without a name it is the peer that the dispute names, or the only one that reported', () => {
  const given = reported();
  open(given);
  assert.is(decide(given, 'uphold'), 'reporter_required');
  open(given, { id: 'd2', peer: 1, against: 'peer-1' });
  assert.is(decide(given, 'uphold', [], 'd2'), 'upheld');
  assert.equal(given.state.disputes.byId('d2')!.voids, [1]);
  given.event(1, 'single');
  open(given, { id: 'd3', player: 'single' });
  assert.is(decide(given, 'uphold', [], 'd3'), 'upheld');
  assert.is(decide(given, 'uphold', ['peer-2']), 'unknown_peer', 'it holds nothing about the player');
  assert.is(decide(given, 'uphold', ['nobody']), 'unknown_peer');
});

test('without --peer nothing becomes void if the text names another peer than the dispute', () => {
  const given = reported();
  const uphold = (id: string, opening: Opening, peers: string[] = []) => {
    assert.is(open(given, { id, ...opening }), 'open');
    const status = decide(given, 'uphold', peers, id);
    return status === 'upheld' ? given.state.disputes.byId(id)!.voids : status;
  };
  const name = (peer: number) => given.state.peers.at(peer).peerName;
  const against = 'peer-1';
  assert.is(uphold('a', { against, text: `void the report of "${name(0).toUpperCase()}"!` }), 'reporter_required');
  assert.equal(decide(given, 'uphold', ['peer-1'], 'a'), 'upheld');
  assert.is(uphold('b', { against, text: 'void what peer-0 sent' }), 'reporter_required');
  assert.is(decide(given, 'reject', [], 'b'), 'rejected');
  assert.equal(uphold('c', { against, text: `void the report of ${name(1)} (peer-1)` }), [1]);
  assert.equal(uphold('d', { against, text: `x${name(0)}x` }), [1], 'a part of a word is no name');
  given.event(1, 'single');
  assert.is(uphold('e', { player: 'single', text: 'PEER-2 lies' }), 'reporter_required', 'it did not even report');
  assert.is(decide(given, 'reject', [], 'e'), 'rejected');
  assert.equal(uphold('f', { player: 'single', text: 'peer-1 lies' }), [1]);
});

test('without --peer nothing becomes void if the text holds a word of the name of another reporter alone', () => {
  const uphold = (text: string, against: string | null = 'peer-1') => {
    const given = new Given(30);
    for (const name of ['Gamma EU', 'Delta EU', 'Arena of Delta']) given.peers(1, t0, name);
    for (const peer of [0, 1, 2]) given.event(peer, 'p');
    given.peers(1, t0, 'Omega EU');
    assert.is(open(given, { peer: 3, text, ...(against === null ? {} : { against }) }), 'open');
    const status = decide(given, 'uphold');
    return [status, ...viewOf(given).alsoNamed.map(({ peerId }) => peerId)];
  };
  for (const text of ['Gamma', 'ＧＡＭＭＡ', 'Gam\u200Bma', 'Gam-ma', 'GammaEUs', 'NoGamma', 'Gammas and Delta EU']) {
    assert.equal(uphold(`void the report of ${text}`), ['reporter_required', 'peer-0'], text);
  }
  assert.equal(uphold('void the report of the arena'), ['reporter_required', 'peer-2']);
  assert.equal(uphold('void the report of Delta', 'peer-2'), ['upheld'], 'a word of its own name, too');
  assert.equal(uphold('Gamma', null), ['reporter_required', 'peer-0']);
  // Neither its own name, nor words of two letters, nor the middle of a word, nor a part of no reporter's name.
  for (const text of ['of Delta EU', 'deltas', 'of what was in the EU', 'agammae', 'of Omega']) {
    assert.equal(uphold(`void the report ${text}`), ['upheld'], text);
  }
});

test('a dispute needs lowering evidence: of the peer that it names, or else of any', () => {
  const given = reported();
  given.event(2, 'p', { eventType: 'commendation' });
  given.event(2, 'praised', { eventType: 'commendation' });
  given.event(0, 'harmless', { severity: 0 });
  const refusal = (opening: Opening) => open(given, { peer: 1, ...opening });
  assert.is(refusal({ against: 'peer-2' }), 'nothing_to_dispute', 'it commended the player');
  assert.is(refusal({ player: 'praised' }), 'nothing_to_dispute');
  assert.is(refusal({ player: 'harmless' }), 'nothing_to_dispute', 'it has no mass');
  assert.is(refusal({ against: 'peer-0' }), 'open');
  assert.is(decide(given, 'uphold', ['peer-2']), 'unknown_peer');
  given.event(0, 'banned', { eventType: 'ban_applied' });
  assert.is(refusal({ id: 'd2', player: 'banned' }), 'open', 'a ban is lowering evidence');
  given.event(0, 'banned', { eventType: 'ban_lifted' });
  assert.is(decide(given, 'reject', [], 'd2'), 'rejected');
  assert.is(refusal({ id: 'd3', player: 'banned' }), 'nothing_to_dispute');
});

test('the view of a dispute names whom it is against, and each reporter with what it holds', () => {
  const given = reported();
  given.event(1, 'p', { eventType: 'commendation' }, t0 + hourMs);
  given.event(2, 'p', { eventType: 'commendation' });
  given.weigh();
  const [name0, name1] = [given.state.peers.at(0).peerName, given.state.peers.at(1).peerName];
  open(given, { against: 'peer-1', text: `void the report of ${name0}` });
  const view = viewOf(given);
  assert.equal([view.by!.peerId, view.against], ['peer-2', { peerId: 'peer-1', peerName: name1 }]);
  assert.equal(view.alsoNamed, [{ peerId: 'peer-0', peerName: name0 }]);
  const { published } = given.state.peerWeights;
  assert.equal(view.reporters, [
    { peerId: 'peer-0', peerName: name0, direction: 'lowering', events: 2, lastAt: t0, weight: published[0] },
    { peerId: 'peer-1', peerName: name1, direction: 'both', events: 2, lastAt: t0 + hourMs, weight: published[1] },
  ]);
});

test('a text that names many peers of one name shows ten of them', () => {
  const given = reported();
  given.peers(1 + limits.disputeNamedMax, t0, 'Same Name');
  open(given, { text: 'the report of same name' });
  assert.is(viewOf(given).alsoNamed.length, limits.disputeNamedMax);
});

test('ten fresh keys that use up the quota of the group leave an equal share to every other key', () => {
  const given = new Given(30).peers(13);
  for (let i = 0; i < 600; i++) given.event(0, `p-${i}`);
  const openAs = (peer: number, count: number) => {
    let opened = 0;
    for (let i = 0; i < count; i++) {
      if (open(given, { id: `${peer}-${i}`, peer, player: `p-${i}` }) !== 'open') break;
      opened++;
    }
    return opened;
  };
  const { disputeQuotaPerDay: quota, groupDisputesFactor: factor } = limits;
  for (let peer = 1; peer <= 10; peer++) assert.is(openAs(peer, quota + 1), quota);
  assert.is(openAs(11, quota + 1), Math.floor((quota * factor) / 11));
  assert.is(openAs(12, quota + 1), Math.floor((quota * factor) / 12));
  assert.is(openAs(NO_KEY, quota + 1), Math.floor((quota * factor) / 13));
});

test('a decision needs a dispute in the state that it decides', () => {
  const given = reported();
  assert.is(decide(given, 'uphold'), 'dispute_not_found');
  open(given);
  assert.is(decide(given, 'undo'), 'dispute_decided');
  decide(given, 'reject');
  assert.is(decide(given, 'uphold', ['peer-0']), 'dispute_decided');
  assert.is(decide(given, 'reject'), 'dispute_decided');
});

test('a peer disputes a player once at a time, and so many in a day', () => {
  const given = reported();
  const refusal = (opening: Opening) => open(given, opening);
  assert.is(refusal({ player: 'nobody' }), 'subject_not_found');
  assert.is(refusal({ against: 'nobody' }), 'unknown_peer');
  assert.is(refusal({}), 'open');
  assert.is(refusal({ id: 'd2' }), 'duplicate_dispute');
  assert.is(refusal({ id: 'd2', peer: 1 }), 'open');
  for (let i = 1; i < limits.disputeQuotaPerDay; i++) {
    given.event(0, `p-${i}`);
    assert.is(refusal({ id: `q-${i}`, player: `p-${i}` }), 'open');
  }
  given.event(0, 'more');
  assert.is(refusal({ id: 'more', player: 'more', peer: NO_KEY }), 'open', 'the quota is of one peer');
  const wait = `dispute_quota_exceeded: wait ${(23 * hourMs) / 1000} s`;
  assert.is(refusal({ id: 'wait', player: 'more', now: t0 + hourMs }), wait);
  assert.is(refusal({ id: 'later', player: 'more', now: t0 + dayMs }), 'open');
});

test('an erasure removes disputes and what their records contain of the player', () => {
  const given = reported();
  open(given);
  open(given, { id: 'd2', peer: 1 });
  decide(given, 'uphold', ['peer-0']);
  erase(given, 'p');
  const { size, counts } = given.state.disputes;
  assert.equal([size, counts.open, counts.upheld], [0, 0, 0]);
  const seqs = given.records.flatMap(({ record }, i) => (record.type === 'dispute_opened' ? [i + 1] : []));
  const [erasure] = given.state.erasures.values();
  for (const seq of seqs) assert.ok(erasure!.heads.includes(seq), `record ${seq}`);
  given.event(0, 'p');
  assert.ok(given.trust('p').score < 50, 'a player that comes again is nobody that was disputed');
});

test('rejected disputes are dropped one day, and their texts leave the log with the player all the same', async () => {
  const given = reported();
  open(given, { id: 'd0' });
  decide(given, 'uphold', ['peer-0'], 'd0');
  await withBounds({ disputesRejectedMax: 1 }, async () => {
    for (const id of ['d1', 'd2', 'd3']) {
      open(given, { id });
      decide(given, 'reject', [], id);
    }
  });
  assert.equal(
    given.state.disputes.all().map(({ id }) => id),
    ['d0', 'd3'],
  );
  const subject = subjectOf('p').toString('hex');
  // A record of each, and the decisions on those that were dropped.
  assert.is(given.state.disputes.seqsOf(subject).length, 6);
  const loaded = loadSnapshot(snapshotBlocks(given.state), salt);
  assert.equal(loaded.disputes.seqsOf(subject), given.state.disputes.seqsOf(subject));
});

test('a replay that no longer knows an erased player drops the same rejected disputes', async () => {
  const given = reported();
  const players = ['a', 'b', 'c'];
  for (const player of players) given.event(0, player);
  await withBounds({ disputesRejectedMax: 2 }, async () => {
    for (const player of players) {
      open(given, { id: player, player });
      decide(given, 'reject', [], player);
    }
    erase(given, 'b');
    const [erasure] = given.state.erasures.values();
    const left = new GroupState(formedRecord(30), salt);
    for (const [i, { record, at }] of given.records.entries()) {
      const isGone = erasure!.heads.includes(i + 1) || record.type === 'subject_erased';
      left.apply(isGone ? replacementOf(record, (id) => given.state.idTags.of(id)) : record, at);
    }
    const loaded = loadSnapshot(snapshotBlocks(left), salt);
    for (const state of [given.state, left, loaded]) {
      const ids = state.disputes.all().map(({ id }) => id);
      assert.equal([ids, stateDigest(state)], [['c'], stateDigest(given.state)]);
      assert.equal(state.disputes.rejections, given.state.disputes.rejections);
    }
  });
});

test('a decision counts as a change of the player', () => {
  const given = reported();
  open(given);
  const later = t0 + 5 * hourMs;
  decide(given, 'uphold', ['peer-0'], 'd1', later);
  assert.is(given.trust('p', later).updatedAt, later);
});

test.run();
