/** Columns that are kept from one computation for the next must not be seen in what comes out. */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type TrustConstants, trustConstants } from '../../../../src/core/evidence/trust-constants.js';
import type { EvidenceSubjects } from '../../../../src/core/tables/evidence-view.js';
import { HOME_BITS } from '../../../../src/core/tables/subject-index.js';
import { computePeerTrust } from '../../../../src/core/trust/peer-trust.js';
import type { GatheredView } from '../../../../src/core/trust/sums/gather.js';
import { BLOCK, Scratch } from '../../../../src/core/trust/votes/scratch.js';
import { votesOf } from '../../../support/weights.js';
import { drawnView, homeOf, votesOn } from '../drawn-view.js';

const columnsOfOne = 24;

/** A scratch whose columns, so many bytes each, all hold what no computation should meet. */
function soiled(bytes: number): Scratch {
  const scratch = new Scratch();
  for (let i = 0; i < columnsOfOne; i++) scratch.uint32(Math.ceil(bytes / 4)).fill(0xffff_ffff);
  return scratch.begin();
}

function trustOf(view: GatheredView, scratch: Scratch, constants: TrustConstants = trustConstants) {
  const votes = votesOf(view, 0, constants, scratch);
  const { reported, shared } = votes.sums;
  return { sampled: votes.judged.players, trust: computePeerTrust(votes, constants, scratch), reported, shared };
}

for (const [what, constants] of [
  ['few peers', trustConstants],
  ['many peers', { ...trustConstants, densePeersMax: 4 }],
] as const) {
  test(`columns of an earlier computation change no bit, with ${what}`, () => {
    const view = drawnView(3_000, 8);
    const clean = trustOf(view, new Scratch(), constants);
    assert.equal(trustOf(view, soiled(100_000), constants), clean, 'columns that are larger than needed');
    assert.equal(trustOf(view, soiled(0), constants), clean, 'columns that are too small');
    assert.ok(clean.trust.tau[2] === 0 && clean.trust.weight.some((weight) => weight > 0));
  });
}

for (const [what, densePeersMax] of [
  ['few peers, whose votes come in parts', 8],
  ['many peers, whose votes come all at once', 4],
] as const) {
  const sampling = { ...trustConstants, densePeersMax, sampledPlayers: 10_000, sampledPlayersPerPeer: 0 };

  test(`the same is true for a sample, with ${what}`, () => {
    const view = drawnView(30_000, 8);
    const clean = trustOf(view, new Scratch(), sampling);
    assert.ok(clean.sampled > 9_000 && clean.sampled < 11_000, `${clean.sampled}`);
    assert.equal(trustOf(view, soiled(1_000_000), sampling), clean);
  });

  test(`log-odds from a sample leave gates that are computed from all votes unchanged, with ${what}`, () => {
    const view = drawnView(30_000, 8);
    const ofAll = trustOf(view, new Scratch(), { ...sampling, sampledPlayers: 30_000 });
    const sampled = trustOf(view, new Scratch(), sampling);
    const voted = Array.from({ length: 30_000 }, (_, row) => votesOn(view, row)).filter((peers) => peers.length > 0);
    assert.is(ofAll.sampled, voted.length);
    assert.equal(
      [sampled.trust.tau, sampled.trust.pairs, sampled.reported, sampled.shared],
      [ofAll.trust.tau, ofAll.trust.pairs, ofAll.reported, ofAll.shared],
    );
    for (const [j, weight] of ofAll.trust.weight.entries()) {
      assert.ok(Math.abs(weight - sampled.trust.weight[j]!) < 0.1, `${j}`);
    }
  });
}

test('a sample is of the players whose mix falls below its share, each with all of its votes', () => {
  const view = drawnView(30_000, 8);
  const constants = { ...trustConstants, sampledPlayers: 7_500, sampledPlayersPerPeer: 0 };
  const { judged } = votesOf(view, 0, constants);
  const sampled = Array.from({ length: view.subjects.rows }, (_, row) => row)
    .filter((row) => homeOf(row) < 2 ** HOME_BITS / 4)
    .map((row) => votesOn(view, row))
    .filter((peers) => peers.length > 0);
  assert.equal(
    Array.from({ length: judged.players }, (_, i) => [
      ...judged.peer.subarray(judged.offsets[i], judged.offsets[i + 1]),
    ]),
    sampled,
  );
});

test('a sample that is drawn too large ends where its columns do, and the gate is that of all votes', () => {
  const view = drawnView(30_000, 8);
  const { subjects } = view;
  const unlucky: EvidenceSubjects = {
    ...subjects,
    readRows(from, end, into) {
      subjects.readRows(from, end, into);
      into.home.fill(0);
    },
  };
  const constants = { ...trustConstants, sampledPlayers: 7_500, sampledPlayersPerPeer: 0 };
  const sampled = trustOf({ ...view, subjects: unlucky }, new Scratch(), constants);
  const { judged } = votesOf({ ...view, subjects: unlucky }, 0, constants);
  const room = judged.peer.length;
  const votes = judged.offsets[judged.players]!;
  assert.is(room, Math.ceil((subjects.entries.size / 4) * 1.1) + 8);
  assert.ok(votes <= room && votes > room - 3, `${votes} votes in room for ${room}`);
  assert.is(sampled.sampled, judged.players);
  assert.ok(judged.players > 7_500 && judged.players <= votes, `${judged.players}`);
  assert.equal(sampled.trust.tau, trustOf(view, new Scratch()).trust.tau);
});

test('a thread may yield after each block of each loop over the players, and no bit depends on it', () => {
  const view = drawnView(30_000, 8);
  const blocks = Math.ceil(30_000 / BLOCK);
  let pauses = 0;
  const scratch = new Scratch(() => {
    pauses++;
  });
  const votes = votesOf(view, 0, trustConstants, scratch);
  const { players } = votes.judged;
  assert.ok(pauses >= blocks + Math.ceil(players / BLOCK), `${pauses} while votes are gathered`);
  pauses = 0;
  const trust = computePeerTrust(votes, trustConstants, scratch);
  assert.ok(pauses >= (1 + trustConstants.fullRounds) * Math.ceil(players / BLOCK), `${pauses} while they are weighed`);
  assert.equal(trust, trustOf(view, new Scratch()).trust);
});

test('the columns of one computation never share memory, and those of the next are the same memory', () => {
  const scratch = new Scratch();
  const columns = () => [scratch.uint32(1_000), scratch.float64(1_000), scratch.uint16(1_000)];
  const first = columns();
  assert.is(new Set(first.map(({ buffer }) => buffer)).size, 3);
  scratch.begin();
  assert.equal(
    columns().map(({ buffer }, i) => buffer === first[i]!.buffer),
    [true, true, true],
  );
  assert.equal(
    first.map(({ length }) => length),
    [1_000, 1_000, 1_000],
  );
});

test.run();
