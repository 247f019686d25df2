/** The views of peers, events and allow list entries, and the signals and simulations that name peers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chainsOf, holdingsOf } from '../../../src/group/access/subject-holdings.js';
import { allowedView, peerView, SignalViews } from '../../../src/group/access/views.js';
import type { WeightsSignals } from '../../../src/group/ports/pool.js';
import { simulationView } from '../../../src/group/replica/simulations.js';
import { limits } from '../../../src/limits.js';
import { Given, subjectOf, t0 } from '../../support/given.js';

test('signals name the other peer of each pair, and are absent for a peer that the computation lacks', () => {
  const { state } = new Given().peers(3);
  const signals: WeightsSignals = {
    pairs: [
      { first: 0, second: 1, shared: 5, agreement: 0.5 },
      { first: 1, second: 2, shared: 7, agreement: 0.25 },
    ] as unknown as WeightsSignals['pairs'],
    witnessPairs: [{ first: 0, second: 2, reason: 'clones' }],
    reported: Uint32Array.of(4, 6),
    shared: Uint32Array.of(1, 2),
  };
  const views = new SignalViews();
  const of = (peer: number, known: WeightsSignals | null = signals) =>
    views.of(state, known, peerView(state, state.peers.at(peer)));
  assert.equal(of(0), {
    players: 4,
    sharedPlayers: 1,
    discountedWith: [{ peerId: 'peer-1', sharedPlayers: 5, agreement: 0.5 }],
    oneWitnessWith: [{ peerId: 'peer-2', reason: 'clones' }],
  });
  assert.equal(
    of(1)?.discountedWith.map(({ peerId }) => peerId),
    ['peer-0', 'peer-2'],
  );
  assert.equal([of(2), of(0, null)], [undefined, undefined]);
  assert.equal(of(0, { ...signals, witnessPairs: [] })?.oneWitnessWith, [], 'those of the newest computation');
});

test('an entry of the allow list is listed up to its end', () => {
  const entry = { id: 'i', until: t0, note: 'n' };
  assert.equal(allowedView('s', entry, t0), { subject: 's', entryId: 'i', until: t0, note: 'n' });
  assert.equal([allowedView('s', entry, t0 + 1), allowedView('s', null, t0)], [undefined, undefined]);
});

test('a withdrawn event that is still in the log is named as withdrawn, with its own player alone', () => {
  const given = new Given().peers(2);
  const seqs = ['p', 'q', 'p'].map((player, i) => given.event(i % 2, player)).map((sent) => (sent.ok ? sent.value : 0));
  for (const [i, seq] of seqs.slice(0, 2).entries()) assert.is(given.withdraw(i, seq), 'ok');
  for (const [player, withdrawn, total] of [
    ['p', [seqs[0]], 1],
    ['q', [seqs[1]], 0],
  ] as const) {
    const chains = chainsOf(given.state, subjectOf(player))!;
    assert.equal([chains.withdrawn, chains.total, chains.asOf], [withdrawn, total, given.state.lastSeq]);
    assert.equal(holdingsOf(given.state, subjectOf(player)).withdrawn, withdrawn);
  }
  assert.is(chainsOf(given.state, subjectOf('r')), null);
});

test('a simulation lists the peers whose weight moves by more than a step, the largest change first', () => {
  const given = new Given().peers(4).origin('list');
  const simulation = { weightsBefore: [0.5, 0.5, 0.5, 0.5, 0.1], weightsAfter: [0.5009, 0.6, 0.3, 0.4, 0.9] };
  const movedOf = (rowsMax: number) =>
    simulationView(given.state, simulation as never, rowsMax).peers.map(({ peerId, before, after }) => [
      peerId,
      before,
      after,
    ]);
  const [two, one, three] = [
    ['peer-2', 0.5, 0.3],
    ['peer-1', 0.5, 0.6],
    ['peer-3', 0.5, 0.4],
  ];
  assert.equal(movedOf(9), [two, one, three]);
  assert.equal(movedOf(1), [two]);
});

test('a peer that is one witness with many others names so many of them', () => {
  const { state } = new Given().peers(limits.witnessesListedMax + 2);
  const witnessPairs = state.peers.list
    .slice(1)
    .map(({ index }) => ({ first: 0, second: index, reason: 'clones' as const }));
  const counts = new Uint32Array(state.peers.size);
  const signals = { pairs: [], witnessPairs, reported: counts, shared: counts };
  const view = new SignalViews().of(state, signals, peerView(state, state.peers.at(0)))!;
  assert.is(view.oneWitnessWith.length, limits.witnessesListedMax);
});

test.run();
