/** Columns that are kept from one computation for the next must not be seen in what comes out. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EvidenceSubjects } from '../../../src/core/evidence-view.js';
import { type GatheredView, gatherEvidence } from '../../../src/core/trust/gather.js';
import { computePeerTrust } from '../../../src/core/trust/peer-trust.js';
import { Scratch } from '../../../src/core/trust/scratch.js';
import { type TrustConstants, trustConstants } from '../../../src/core/trust-constants.js';
import { Random } from '../../support/random.js';

const columnsOfOne = 16;

/** A scratch whose columns, so many bytes each, all hold what no computation should meet. */
function soiled(bytes: number): Scratch {
  const scratch = new Scratch();
  for (let i = 0; i < columnsOfOne; i++) scratch.uint32(Math.ceil(bytes / 4)).fill(0xffff_ffff);
  return scratch.begin();
}

/** Every player has one to three entries; some of them are without mass. Peer 2 is revoked, peer 0 pre-trusted. */
function drawnView(players: number, peers: number): GatheredView {
  const random = new Random(11);
  const first = new Uint32Array(players + 1);
  const peer: number[] = [];
  const mass: number[] = [];
  for (let row = 0; row < players; row++) {
    const count = Math.min(peers, 1 + Math.floor(random.next() * 3));
    const from = Math.floor(random.next() * peers);
    for (let i = 0; i < count; i++) {
      peer.push((from + i) % peers);
      mass.push(random.next() < 0.1 ? 0 : (row % 5 === 0 ? 1 : -1) * random.next() * 4);
    }
    first[row + 1] = peer.length;
  }
  const subjects: EvidenceSubjects = {
    rows: players,
    size: players,
    has: () => true,
    firstEntry: (row) => first[row]!,
    peerCount: (row) => first[row + 1]! - first[row]!,
    evidenceAt: () => 0,
    updatedAt: () => 0,
    mixOf: (row) => Math.imul(row + 1, 0x9e3779b1) >>> 0,
    entries: {
      peer: (entry) => peer[entry]!,
      count: () => 1,
      lowering: (entry) => Math.max(0, mass[entry]!),
      raising: (entry) => Math.max(0, -mass[entry]!),
    },
  };
  const column = () => new Float64Array(peers);
  const flag = (of: number) => Uint8Array.from({ length: peers }, (_, j) => (j === of ? 1 : 0));
  const peerWeights = {
    tau: column(),
    a: column(),
    b: column(),
    weight: column(),
    preTrusted: flag(0),
    excluded: flag(2),
  };
  return { subjects, peers: { size: peers }, peerWeights, epoch: 0, halfLifeDays: 30 };
}

function trustOf(view: GatheredView, scratch: Scratch, constants: TrustConstants = trustConstants) {
  const { evidence, sample, facts, reported, shared } = gatherEvidence(view, 0, scratch);
  return {
    sampled: sample.players,
    trust: computePeerTrust(evidence, facts, sample, constants, scratch),
    reported,
    shared,
  };
}

for (const [what, constants] of [
  ['few peers', trustConstants],
  ['many peers', { ...trustConstants, densePeersMax: 4 }],
] as const) {
  test(`what an earlier computation left in the columns changes no bit, with ${what}`, () => {
    const view = drawnView(3_000, 8);
    const clean = trustOf(view, new Scratch(), constants);
    assert.equal(trustOf(view, soiled(100_000), constants), clean, 'columns that are larger than needed');
    assert.equal(trustOf(view, soiled(0), constants), clean, 'columns that are too small');
    assert.ok(clean.trust.tau[2] === 0 && clean.trust.weight.some((weight) => weight > 0));
  });
}

test('the same holds for a sample', () => {
  const players = trustConstants.sampledPlayers + 20_000;
  const view = drawnView(players, 2);
  const clean = trustOf(view, new Scratch());
  assert.ok(clean.sampled > 0 && clean.sampled < players);
  assert.equal(trustOf(view, soiled(players * 24)), clean);
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
