/**
 * The computation and the read against an independent implementation in numpy, group by group. Needs the data folder in
 * PTF_SHARED_DATA (with `reference/v3/golden.json.gz` two levels above); without it this file says so and leaves the
 * comparison out.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type EvidenceColumns, peerTrustOf } from '../../../bench/quality/evidence-columns.js';
import { readOut } from '../../../bench/quality/readout.js';
import { FOLLOWS, FOLLOWS_CLAIM } from '../../../src/core/evidence/evidence.js';
import { type ReferenceGroup, referenceGroups } from '../../support/reference-groups.js';

const tolerance = 1e-9;

function near(actual: number, expected: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, expected ${expected}`);
}

/** Returns the entries of a group, sorted by player and peer. */
function columnsOf(group: ReferenceGroup): EvidenceColumns {
  const order = group.I.map((_, e) => e).sort((e, f) => group.I[e]! - group.I[f]! || group.J[e]! - group.J[f]!);
  const column = (values: readonly number[]) => Float64Array.from(order, (e) => values[e]!);
  const offsets = new Uint32Array(group.players + 1);
  for (const i of group.I) offsets[i + 1]!++;
  for (let i = 0; i < group.players; i++) offsets[i + 1]! += offsets[i]!;
  const bits = (e: number) => (group.follows[e] ? FOLLOWS : 0) | (group.follows_claim[e] ? FOLLOWS_CLAIM : 0);
  return {
    peers: group.peers,
    players: group.players,
    offsets,
    peer: Uint32Array.from(order, (e) => group.J[e]!),
    lowering: column(group.lowers),
    raising: column(group.raises),
    measure: column(group.measures),
    follows: Uint8Array.from(order, bits),
  };
}

for (const group of referenceGroups()) {
  const name = `${group.name}${group.pretrusted.length > 0 ? ' with a pre-trusted peer' : ''}`;
  test(`${name}: every peer and player as in the reference to 1e-9`, () => {
    const evidence = columnsOf(group);
    const preTrusted = Uint8Array.from({ length: group.peers }, (_, j) => (group.pretrusted.includes(j) ? 1 : 0));
    const facts = { preTrusted, excluded: new Uint8Array(group.peers) };
    const trust = peerTrustOf(evidence, facts);
    assert.equal([...trust.witness], group.witness, 'witness groups');
    near(trust.pi, group.prevalence, 'prevalence');
    const columns = { tau: trust.tau, A: trust.a, B: trust.b, M: trust.measures.m, z: trust.z } as const;
    for (let j = 0; j < group.peers; j++) {
      for (const column of ['tau', 'A', 'B', 'M', 'z'] as const)
        near(columns[column][j]!, group[column][j]!, `peer ${j} ${column}`);
      near(trust.measures.finds[j]!, group.finds[j]!, `peer ${j} finds`);
      near(trust.measures.findsClaim[j]!, group.finds_claim[j]!, `peer ${j} finds_claim`);
    }
    const readings = readOut(evidence, facts, trust);
    for (let i = 0; i < group.players; i++) {
      near(readings.score[i]!, group.score[i]!, `player ${i} score`);
      near(readings.confidence[i]!, group.confidence[i]!, `player ${i} confidence`);
      assert.is(readings.verdict[i], group.verdict[i], `player ${i} verdict`);
    }
  });
}

test.run();
