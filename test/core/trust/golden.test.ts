/**
 * The computation and the read against an independent implementation in numpy, set by set. Needs the data folder in
 * PTF_SHARED_DATA (with `reference/v2/golden.json` two levels above, and a second folder of sets beside it); without it
 * this file says so and leaves the comparison out.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadTrustSet } from '../../../bench/data/trust-set.js';
import { peerTrustOf } from '../../../bench/quality/evidence-columns.js';
import { evidenceColumns, peerFacts, readOut } from '../../../bench/quality/readout.js';

interface Golden {
  readonly pretrusted: readonly string[];
  readonly pi: number;
  readonly peers: Record<string, { witness: string; tau: number; A: number; B: number; z: number; weight: number }>;
  readonly players: Record<string, { score: number; confidence: number; verdict: string }>;
}

const tolerance = 1e-9;
const dir = process.env.PTF_SHARED_DATA;
const goldenFile = dir === undefined ? undefined : join(dir, '..', '..', 'reference', 'v2', 'golden.json');

function near(actual: number, expected: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, expected ${expected}`);
}

test('a set becomes one entry per player and peer, with its severities summed by polarity', () => {
  const report = (peer: number, player: number, polarity: -1 | 1, severity: number) => {
    return { peer, player, polarity, severity, timestampMs: null };
  };
  const evidence = evidenceColumns({
    name: 'small',
    peers: ['p', 'q'],
    players: ['x', 'y'],
    observations: [report(1, 0, -1, 0.5), report(0, 0, 1, 1), report(1, 0, -1, 0.25), report(1, 1, 1, 0)],
    truth: new Map(),
    preTrusted: [],
    adversaries: [],
    targets: [],
  });
  assert.equal([...evidence.offsets], [0, 2, 3]);
  assert.equal([...evidence.peer], [0, 1, 1]);
  assert.equal([...evidence.lowering], [0, 0.75, 0]);
  assert.equal([...evidence.raising], [1, 0, 0]);
});

if (dir === undefined || goldenFile === undefined || !existsSync(goldenFile)) {
  process.stdout.write(
    'SKIPPED: PTF_SHARED_DATA names no data folder with a reference/v2/golden.json two levels above\n',
  );
} else {
  const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Record<string, Golden>;
  const dirs = [dir, join(dir, '..', 'trust-quality-2')];
  for (const [name, expected] of Object.entries(golden)) {
    const holding = dirs.find((one) => existsSync(join(one, `${name}.obs.csv.gz`)));
    if (holding === undefined) {
      process.stdout.write(`SKIPPED: ${name} has no data file\n`);
      continue;
    }
    test(`${name}: every peer and player as in the reference to 1e-9`, () => {
      const set = loadTrustSet(holding, name);
      const evidence = evidenceColumns(set);
      const facts = peerFacts(set);
      assert.equal(
        [...set.preTrusted].map((j) => set.peers[j]),
        expected.pretrusted,
      );

      const trust = peerTrustOf(evidence, facts);
      near(trust.pi, expected.pi, 'pi');
      assert.is(Object.keys(expected.peers).length, set.peers.length);
      set.peers.forEach((peer, j) => {
        const { witness, tau, A, B, z, weight } = expected.peers[peer]!;
        assert.is(set.peers[trust.witness[j]!], witness, `${peer} witness`);
        near(trust.tau[j]!, tau, `${peer} tau`);
        near(trust.a[j]!, A, `${peer} A`);
        near(trust.b[j]!, B, `${peer} B`);
        near(trust.z[j]!, z, `${peer} z`);
        near(trust.weight[j]!, weight, `${peer} weight`);
      });

      const readings = readOut(evidence, facts, trust);
      for (const [player, { score, confidence, verdict }] of Object.entries(expected.players)) {
        const i = set.players.indexOf(player);
        near(readings.score[i]!, score, `${player} score`);
        near(readings.confidence[i]!, confidence, `${player} confidence`);
        assert.is(readings.verdict[i], verdict, `${player} verdict`);
      }
    });
  }
}

test.run();
