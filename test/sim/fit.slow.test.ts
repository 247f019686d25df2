/**
 * The oracle's fit of peer weights against the reference in numpy, set by set, so that it is right for reasons of its
 * own. Needs the data folder in PTF_SHARED_DATA (with `reference/v2/golden.json` two levels above); without it this
 * file says so.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadTrustSet, type TrustSet } from '../../bench/data/trust-set.js';
import { type Fitted, fit, type Reported } from './fit.js';
import { numbers } from './fit-numbers.js';

interface Golden {
  readonly pi: number;
  readonly peers: Record<string, { witness: string; tau: number; A: number; B: number; z: number }>;
}

/** Every observation of a set by player and peer, its severities summed by polarity. */
function reportedOf({ observations }: TrustSet): Reported[] {
  const sums = new Map<string, { player: number; peer: number; lowering: number; raising: number }>();
  for (const { player, peer, polarity, severity } of observations) {
    const sum = sums.get(`${player} ${peer}`) ?? { player, peer, lowering: 0, raising: 0 };
    sums.set(`${player} ${peer}`, sum);
    if (polarity < 0) sum.lowering += severity;
    else sum.raising += severity;
  }
  return [...sums.values()];
}

/** A few votes for the numbers that no data file is needed for. */
const votes = (peer: number, kinds: readonly ('bad' | 'good' | null)[]): Reported[] =>
  kinds.flatMap((kind, player) =>
    kind === null ? [] : [{ player, peer, lowering: kind === 'bad' ? 1 : 0, raising: kind === 'good' ? 1 : 0 }],
  );

function fitOf(reported: readonly Reported[], peers: number): Fitted {
  return fit(reported, { peers, preTrusted: new Set(), revoked: new Set() }, numbers);
}

test('a lone peer that only reports has the constant of such a peer, and two peers an open gate', () => {
  const alone = fitOf(votes(0, ['bad']), 1);
  assert.equal([alone.tau, alone.a, alone.b], [[1], [1.25], [0.4]]);
  assert.equal(fitOf([...votes(0, ['bad', 'bad']), ...votes(1, ['good', 'good'])], 2).tau, [1, 1]);
});

test('a carrier without evidence does not take the place of one with the least', () => {
  const group = {
    peers: 5,
    preTrusted: new Set([0]),
    revoked: new Set<number>(),
    origins: new Set([2]),
    carriers: [
      { number: 3, peer: 1, origin: 2 },
      { number: 4, peer: 0, origin: 2 },
    ],
  };
  // A player that peer 0 and the origin praise; so little that it is 0 in single precision.
  const little = 5e-74;
  const reported = [0, 3, 4].map((peer) => ({ player: 0, peer, lowering: 0, raising: peer === 3 ? 0 : little }));
  const without = reported.filter(({ peer }) => peer !== 3);
  assert.equal(fit(reported, group, numbers), fit(without, group, numbers));
});

const dir = process.env.PTF_SHARED_DATA;
const goldenFile = dir === undefined ? undefined : join(dir, '..', '..', 'reference', 'v2', 'golden.json');
if (dir === undefined || goldenFile === undefined || !existsSync(goldenFile)) {
  process.stdout.write(
    'SKIPPED: PTF_SHARED_DATA names no data folder with a reference/v2/golden.json two levels above\n',
  );
} else {
  const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Record<string, Golden>;
  // Peers and players that a naive fit is done with in seconds.
  const small = ['rte', 'sim_collude2_1001', 'sim_flood1_1001', 'sim_reportonly_1001', 'sim_copied3own_1001'];
  const dirs = [dir, join(dir, '..', 'trust-quality-2')];
  for (const name of small) {
    const holding = dirs.find((one) => existsSync(join(one, `${name}.obs.csv.gz`)));
    if (holding === undefined) {
      process.stdout.write(`SKIPPED: ${name} has no data file\n`);
      continue;
    }
    test(`${name}: every peer is as in the reference, to 1e-9`, () => {
      const set = loadTrustSet(holding, name);
      const expected = golden[name]!;
      const group = { peers: set.peers.length, preTrusted: new Set(set.preTrusted), revoked: new Set<number>() };
      const { tau, a, b, z, witness, pi } = fit(reportedOf(set), group, numbers);
      const wanted = set.peers.map((peer) => expected.peers[peer]!);
      assert.equal(
        witness.map((one) => set.peers[one]),
        wanted.map((peer) => peer.witness),
      );
      const far = wanted.flatMap((peer, j) =>
        [tau[j]! - peer.tau, a[j]! - peer.A, b[j]! - peer.B, z[j]! - peer.z].map(Math.abs),
      );
      assert.ok(Math.max(Math.abs(pi - expected.pi), ...far) <= 1e-9, `off by ${Math.max(...far)}`);
    });
  }
}

test.run();
