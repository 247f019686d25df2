/**
 * The oracle's fit of peer weights against the reference in numpy, set by set, so that it is right for reasons of its own. Needs the
 * data folder in PTF_SHARED_DATA (with `reference/golden.json` two levels above); without it this file says so.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadTrustSet, type TrustSet } from '../../bench/data/trust-set.js';
import { type Fitted, fit, type Reported } from './fit.js';
import { type FitNumbers, nodeNumbers, pageNumbers } from './fit-numbers.js';

interface Golden {
  readonly pi: number;
  readonly peers: Record<string, { tau: number; A: number; B: number }>;
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

function fitOf(reported: readonly Reported[], peers: number, numbers: FitNumbers): Fitted {
  return fit(reported, { peers, preTrusted: new Set(), revoked: new Set() }, numbers);
}

test('a lone peer keeps what it starts with, and two peers an open gate', () => {
  const alone = fitOf(votes(0, ['bad']), 1, nodeNumbers);
  assert.equal(
    [alone.tau, alone.a.map(Math.fround), alone.b.map(Math.fround)],
    [[1], [Math.fround(1.4)], [Math.fround(1.4)]],
  );
  assert.equal(fitOf([...votes(0, ['bad', 'bad']), ...votes(1, ['good', 'good'])], 2, nodeNumbers).tau, [1, 1]);
});

const dir = process.env.PTF_SHARED_DATA;
const goldenFile = dir === undefined ? undefined : join(dir, '..', '..', 'reference', 'golden.json');
if (dir === undefined || goldenFile === undefined || !existsSync(goldenFile)) {
  process.stdout.write('SKIPPED: PTF_SHARED_DATA names no data folder with a reference/golden.json two levels above\n');
} else {
  const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Record<string, Golden>;
  for (const [name, expected] of Object.entries(golden)) {
    test(`${name}: with the page's numbers every peer is as in the reference, to 1e-9`, () => {
      const set = loadTrustSet(dir, name);
      const group = { peers: set.peers.length, preTrusted: new Set(set.preTrusted), revoked: new Set<number>() };
      const { tau, a, b, pi } = fit(reportedOf(set), group, pageNumbers);
      const found = set.peers.map((_, j) => [tau[j]!, a[j]!, b[j]!]);
      const wanted = set.peers.map((peer) => expected.peers[peer]!).map(({ tau, A, B }) => [tau, A, B]);
      const far = found.flatMap((row, j) => row.map((value, i) => Math.abs(value - wanted[j]![i]!)));
      assert.ok(Math.max(Math.abs(pi - expected.pi), ...far) <= 1e-9, `off by ${Math.max(...far)}`);
    });
  }
}

test.run();
