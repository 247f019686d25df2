/**
 * The classic methods by hand, and every method against the tables that an independent numpy implementation printed.
 * The latter needs the data folder in PTF_SHARED_DATA, with `reference/results-public.txt` and
 * `reference/v2/results.txt` two levels above.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadTrustSet } from '../../bench/data/trust-set.js';
import { betaReputation, dawidSkene, eigenTrust, majority, oracle } from '../../bench/quality/classics.js';
import type { EvidenceColumns } from '../../bench/quality/evidence-columns.js';
import { judge } from '../../bench/quality/judgement.js';
import type { MethodName } from '../../bench/quality/methods.js';
import { evidenceColumns } from '../../bench/quality/readout.js';
import { caughtShare, hitShare } from '../../bench/quality/summary.js';
import { precisionOf, type VerdictCount } from '../../bench/quality/verdicts.js';

const byComputation = { http: false, damage: false };

/** Each text is a player, and each of its words what one peer sent: `lowering:raising`, or a dash for nothing. */
function evidenceOf(...players: readonly string[]): EvidenceColumns {
  const observations = players.flatMap((words, player) =>
    words.split(' ').flatMap((sums, peer) => {
      const [lowering = 0, raising = 0] = sums === '-' ? [] : sums.split(':').map(Number);
      return (
        [
          [-1, lowering],
          [1, raising],
        ] as const
      )
        .filter(([, severity]) => severity > 0)
        .map(([polarity, severity]) => ({ player, peer, polarity, severity, timestampMs: null }));
    }),
  );
  const noRoles = { truth: new Map(), preTrusted: [], adversaries: [], targets: [] };
  return evidenceColumns({ name: '', peers: players[0]!.split(' '), players, observations, ...noRoles });
}

function close(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1e-8, `${actual} is not ${expected}`);
}

test('the majority takes every peer alike, however much it sends', () => {
  const [first, second] = majority(evidenceOf('50:0 0:1 0:1', '1:3 - -'));
  close(first, 1 / 3);
  close(second, 1 / 4);
});

test('beta reputation takes every event alike', () => {
  // (50 + 1) / (50 + 2 + 2)
  close(betaReputation(evidenceOf('50:0 0:1 0:1'))[0], 51 / 54);
});

test('Dawid-Skene turns a peer around that always contradicts the others', () => {
  const rows = Array.from({ length: 20 }, (_, i) => (i % 4 === 0 ? '1:0 1:0 0:1' : '0:1 0:1 1:0'));
  const badness = dawidSkene(evidenceOf(...rows, '- - 1:0'));
  assert.ok(badness[0]! > 0.99 && badness[1]! < 0.01);
  assert.ok(badness[20]! < 0.01, 'a bad vote of the contrary peer speaks for the player');
});

test('EigenTrust gives no trust to a peer that agrees with no other peer', () => {
  // Peers 0 and 1 agree on two players, 2 contradicts. Without trust passed on to it, 2 keeps a third of the restart:
  // t2 = .05 + .85 t2 / 3 (it trusts nobody, so what it holds is spread alike), so t2 = .15 / 2.15.
  const badness = eigenTrust(evidenceOf('1:0 1:0 0:1', '0:1 0:1 1:0'), []);
  const outsider = 0.15 / 2.15;
  close(badness[0], 1 - outsider);
  close(badness[1], outsider);
});

test('EigenTrust with pre-trust restarts at the pre-trusted peers alone', () => {
  // No two peers share a player, so that all trust stays at the restart: the word of peer 1 is all that counts.
  const badness = eigenTrust(evidenceOf('1:0 -', '- 1:0'), [1]);
  close(badness[0], 0.5);
  close(badness[1], 1);
});

/** Two bad players, then two good ones. */
const twoOfEach = new Map(([1, 1, 0, 0] as const).map((bad, player) => [player, bad]));

test('the oracle weighs a vote by how often the peer really gives it to bad players and to good ones', () => {
  // The peer lowers both bad players and one good one. With half a vote in each cell it lowers 2.5 / 3 of the bad
  // players and 1.5 / 3 of the good ones; half of the players are bad, so the odds of a lowered player are 5 / 3, and
  // those of the other one .5 / 1.5.
  const badness = oracle(evidenceOf('1:0', '1:0', '1:0', '0:1'), twoOfEach, []);
  close(badness[0], 5 / 8);
  close(badness[3], 1 / 4);
});

test('the oracle does not turn a known adversary around, but any other peer', () => {
  const inverted = evidenceOf('0:1', '0:1', '1:0', '1:0');
  close(oracle(inverted, twoOfEach, [0])[0], 0.5);
  assert.ok(oracle(inverted, twoOfEach, [])[0]! > 0.8);
});

const dir = process.env.PTF_SHARED_DATA;

/** Returns the lines with this mark of a file of the reference; none, with a note, if the file is not there. */
function printedLines(name: string, mark: string): string[] {
  const file = join(dir ?? '', '..', '..', 'reference', name);
  if (dir !== undefined && existsSync(file)) {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes(mark));
  }
  process.stdout.write(`SKIPPED: PTF_SHARED_DATA names no data folder with a reference/${name} two levels above\n`);
  return [];
}

/** The columns of the printed table that stand for a method here. */
const columns: readonly (readonly [string, MethodName])[] = [
  ['MV', 'majority'],
  ['Beta', 'beta'],
  ['DS', 'dawidSkene'],
  ['EigenTrust', 'eigenTrustPre'],
];

/** `what` was printed with so many decimals: the value rounds to it, but for the last bits. */
function roundsTo(value: number, what: string, where: string): void {
  if (what === 'nan') {
    assert.ok(Number.isNaN(value), where);
    return;
  }
  const decimals = what.length - what.indexOf('.') - 1;
  assert.ok(Math.abs(value - Number(what)) <= 0.5 * 10 ** -decimals + 1e-9, `${where}: ${value}, printed ${what}`);
}

for (const line of printedLines('results-public.txt', '| ').filter((text) => !text.startsWith('set:'))) {
  const [head = '', ...cells] = line.split(' | ');
  const name = head.split(' ')[0]!;
  test(`${name}: every classic method as printed by the reference`, async () => {
    const { methods } = await judge(loadTrustSet(dir!, name), byComputation);
    for (const [column, method] of columns) {
      const cell = cells.find((text) => text.startsWith(`${column} `))!;
      const figures = cell.trim().split(' ')[1]!.split('/');
      const { auc, accuracy, brier, targetError } = methods[method];
      for (const [i, value] of [auc * 100, accuracy * 100, brier, targetError].entries()) {
        roundsTo(value, figures[i]!, `${name} ${method}`);
      }
    }
  });
}

/**
 * Where the second version joined peers through a third: the columns of the same table as the reference of the third
 * version (`reference/v3/peertrust.py`) gives them.
 */
const unlikeSecondVersion = new Map([
  ['d_possent', '98.9 99.1 427 98.9 435 89.6 91.1 0.76 0.95 70.8 75.2'],
  ['d_product', '88.6 nan 0 90.6 468 0.0 41.9 0.00 0.60 0.0 15.0'],
  ['rte', '98.0 97.4 340 95.8 357 82.8 85.5 2.25 3.75 44.2 65.2'],
  ['zencrowd_all', '89.6 59.7 580 56.0 654 78.1 82.6 14.65 18.03 6.5 10.2'],
  ['sim_reportonly_copied3own_1001', '84.2 100.0 4 80.0 10 4.5 9.1 0.00 0.27 5.7 0.0'],
]);

for (const line of printedLines('v2/results.txt', 'caught at .1 %')) {
  const name = line.split(' ')[0]!;
  test(`${name}: verdicts as printed by the reference`, async () => {
    const folders = [dir!, join(dirname(dir!), 'trust-quality-2')];
    const folder = folders.find((one) => existsSync(join(one, `${name}.obs.csv.gz`)))!;
    const { methods, verdicts } = await judge(loadTrustSet(folder, name), byComputation);
    const { untrusted, suspicious } = verdicts;
    const count = (counted: VerdictCount) => counted.caught + counted.hit;
    const figures = [
      methods.score.auc,
      precisionOf(untrusted),
      count(untrusted) / 100,
      precisionOf(suspicious),
      count(suspicious) / 100,
      ...[caughtShare(untrusted), caughtShare(suspicious), hitShare(untrusted), hitShare(suspicious)],
      methods.score.caughtAtFewHits,
      methods.oracle.caughtAtFewHits,
    ];
    const cells = unlikeSecondVersion.get(name) ?? line.slice(name.length).replace('at .1 %', '');
    const expected = cells.match(/nan|\d+(?:\.\d+)?/g)!;
    assert.is(expected.length, figures.length);
    for (const [i, figure] of figures.entries()) roundsTo(figure * 100, expected[i]!, `${name}, figure ${i + 1}`);
  });
}

test.run();
