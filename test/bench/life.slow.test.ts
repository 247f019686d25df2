/** Groups that report, detect, ban and lift: their simulation, their files, and how they are sent and judged. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isLifeFolder, type LifeEvent, type LifeGroup, listLifeSets, loadLifeSet } from '../../bench/data/life-set.js';
import { makeOrderedBatches } from '../../bench/data/sent-set.js';
import { judgeReadings, lifeEvidence, standingBans } from '../../bench/quality/life/judgement.js';
import type { LifeRow } from '../../bench/quality/life/rows.js';
import { type LifeKind, lifeKinds, ofSecondVersion, simulateLife } from '../../bench/quality/life/simulator.js';
import { judgeLifePopulations, lifeConclusion } from '../../bench/quality/life/summary.js';
import { printLifeTables } from '../../bench/quality/life/tables.js';
import { qualityPage } from '../../bench/quality/page.js';
import {
  beta,
  exponential,
  integer,
  normal,
  pareto,
  poisson,
  randomFrom,
  weightedIndex,
} from '../../bench/quality/random.js';
import type { Verdict } from '../../src/core/vocabulary.js';
import { temporaryFolder } from '../support/process.js';

const size = { peers: 8, players: 600 };

test('every distribution has its mean', () => {
  const random = randomFrom('distributions');
  const count = 20_000;
  const means: readonly (readonly [draw: () => number, mean: number, deviation: number])[] = [
    [() => normal(random), 0, 1],
    [() => normal(random) ** 2, 1, Math.SQRT2],
    [() => exponential(random, 6), 6, 6],
    [() => beta(random, 2.2, 1.2), 2.2 / 3.4, 0.23],
    // Half of the numbers of a Lomax distribution lie below 2^(1/a) - 1; its mean has no useful deviation.
    [() => (pareto(random, 1.3) < 2 ** (1 / 1.3) - 1 ? 1 : 0), 0.5, 0.5],
    [() => poisson(random, 300), 300, Math.sqrt(300)],
    [() => poisson(random, 0.8), 0.8, Math.sqrt(0.8)],
    [() => integer(random, 2, 5), 3, 0.82],
    // The second index has the weight 0, and the third one three quarters of all weights.
    [() => weightedIndex([1, 0, 3], random), 1.5, 0.87],
  ];
  for (const [i, [draw, mean, deviation]] of means.entries()) {
    let sum = 0;
    for (let k = 0; k < count; k++) sum += draw();
    assert.ok(Math.abs(sum / count - mean) < (5 * deviation) / Math.sqrt(count), `distribution ${i}: ${sum / count}`);
  }
});

test('the same kind, seed and size give the same life, another seed another', () => {
  assert.equal(simulateLife('mixed_echo2', 3, size), simulateLife('mixed_echo2', 3, size));
  assert.not.equal(simulateLife('mixed_echo2', 3, size).events, simulateLife('mixed_echo2', 4, size).events);
});

test('every life is complete: events in the order of arrival, indexes in range, roles known', () => {
  assert.is(lifeKinds.length, 65);
  for (const kind of lifeKinds) {
    const { events, peers, players, truth, adversaries, targets, days } = simulateLife(kind, 5, size);
    const isInOrder = ({ day }: LifeEvent, i: number) => day >= (events[i - 1]?.day ?? 0) && day <= days;
    const isInRange = ({ peer, severity }: LifeEvent) => peer < peers.length && severity > 0 && severity <= 1;
    assert.ok(events.every(isInOrder) && events.every(isInRange), kind);
    const seen = new Set(events.map(({ player }) => player));
    assert.equal([seen.size, truth.size], [players.length, players.length], kind);
    const joined = Array.from({ length: Number(kind.match(/\d$/)?.[0] ?? 0) }, (_, i) => 8 + i);
    assert.equal(adversaries, joined, kind);
    const label = kind.includes('whitewash') ? 1 : 0;
    const isAimedAt = (player: number) => truth.get(player) === label;
    assert.ok(targets.every(isAimedAt), kind);
    const aimsAtPlayers = /liar|camo|zealot|sleeper|whitewash|aggregate/.test(kind);
    assert.is(targets.length > 0, aimsAtPlayers, kind);
  }
});

test('a profile sends the types of its peers, and one player in 25 is bad', () => {
  const typesOf = (kind: LifeKind) => [...new Set(simulateLife(kind, 2, size).events.map(({ type }) => type))].sort();
  assert.equal(typesOf('bans'), ['ban_applied', 'ban_lifted']);
  assert.equal(typesOf('reports_liar3'), ['report_cheating']);
  assert.equal(typesOf('mixed'), ['ban_applied', 'ban_lifted', 'report_cheating']);
  assert.is(typesOf('full').length, 6);
  const truths = Array.from({ length: 5 }, (_, seed) => simulateLife('full', seed, size).truth);
  const seen = truths.reduce((sum, { size: players }) => sum + players, 0);
  const bad = truths.reduce((sum, truth) => sum + [...truth.values()].filter((label) => label === 1).length, 0);
  // Five standard errors of a share of .04.
  assert.ok(Math.abs(bad / seen - 0.04) < 5 * Math.sqrt((0.04 * 0.96) / seen), `${bad} of ${seen}`);
});

test('adversaries do what their attack says', () => {
  const lowered = ({ events, players }: LifeGroup, peer: number) =>
    new Set(
      events.filter((one) => one.peer === peer && one.type === 'ban_applied').map(({ player }) => players[player]),
    );
  const liars = simulateLife('bans_liar2', 7, size);
  assert.equal(lowered(liars, 8), lowered(liars, 9));
  assert.equal([lowered(liars, 8).size, liars.targets.length], [200, 200]);
  const copied = simulateLife('bans_copied3', 7, size);
  const lists = copied.peers.map((_, peer) => lowered(copied, peer));
  const imported = new Set([8, 9, 10].flatMap((peer) => [...lists[peer]!]));
  assert.ok(lists.slice(0, 8).some((list) => [...imported].every((player) => list.has(player))));
  const late = simulateLife('mixed_sleeper1', 7, size);
  const targets = new Set(late.targets);
  const lies = late.events.filter(({ peer, player }) => peer === 8 && targets.has(player));
  assert.ok(lies.filter(({ day }) => day > 0.8 * late.days).length >= 150);
  const washed = simulateLife('bans_whitewash1', 7, size);
  assert.ok(washed.events.filter(({ peer }) => peer === 8).every(({ type }) => type === 'ban_lifted'));
});

/** Two bad players, then two good ones; peer 2 is an adversary. */
const tiny: LifeGroup = {
  name: 'tiny',
  peers: ['p0', 'p1', 'p2'],
  players: ['a', 'b', 'c', 'd'],
  events: (
    [
      ['ban_applied', 0, 0, 1],
      ['ban_applied', 1, 0, 2],
      ['ban_applied', 2, 0, 2],
      ['report_cheating', 0, 1, 3],
      ['ban_applied', 0, 2, 4],
      ['ban_applied', 1, 2, 4],
      ['ban_lifted', 1, 2, 5],
      ['ban_applied', 2, 2, 6],
      ['commendation', 1, 3, 7],
    ] as const
  ).map(([type, peer, player, day]) => ({ type, peer, player, severity: 1, day })),
  truth: new Map(([1, 1, 0, 0] as const).map((bad, player) => [player, bad])),
  adversaries: [2],
  targets: [2, 0],
  days: 10,
};

test('a lifted ban stands no more, and the bans of some peers can be left out', () => {
  assert.equal(standingBans(tiny, []), [3, 0, 2, 0]);
  assert.equal(standingBans(tiny, [2]), [2, 0, 1, 0]);
  const { offsets, peer, lowering } = lifeEvidence(tiny);
  const ofPlayer = [...peer.subarray(offsets[2], offsets[3])].map((one, i) => [one, lowering[offsets[2]! + i]]);
  assert.equal(ofPlayer, [
    [0, 1],
    [2, 1],
  ]);
});

const verdict: readonly Verdict[] = ['suspicious', 'neutral', 'suspicious', 'trusted'];
const judged = judgeReadings(tiny, { score: Float64Array.from([20, 45, 30, 70]), verdict });

test('verdicts and a plain count of bans are judged alike, on bad players, good ones and good targets', () => {
  const { condemned, targets, withTwoBans, withThreeBans } = judged;
  const { suspicious, untrusted, twoBans, threeBans, eigenTrust } = condemned;
  for (const [count, caught, bad, hit, good] of [
    [suspicious, 1, 2, 1, 2],
    [untrusted, 0, 2, 0, 2],
    [twoBans, 1, 2, 1, 2],
    [threeBans, 1, 2, 0, 2],
    [targets.suspicious, 0, 0, 1, 1],
    [withTwoBans, 1, 1, 0, 0],
    [withThreeBans, 0, 0, 0, 0],
  ] as const) {
    assert.equal(count, { caught, bad, hit, good });
  }
  assert.ok(eigenTrust.caught >= suspicious.caught);
  assert.is(judged.auc.score, 0.75);
});

function rowsOf(kinds: readonly LifeKind[]): LifeRow[] {
  return kinds.map((kind) => ({ origin: 'simulated', name: kind, kind, judgements: [judged] }));
}

test('goals are judged where every kind with bans is there, at the usual number of players', () => {
  const metOf = (kinds: readonly LifeKind[], players: number) =>
    judgeLifePopulations(rowsOf(kinds), { peers: 8, players })[0]!.goals.map(({ met }) => met);
  assert.equal(metOf(lifeKinds, 4000), [null, false, true, null, false, false]);
  assert.equal(metOf(lifeKinds, 500), Array(6).fill(null));
  assert.equal(metOf(['bans', 'mixed'], 4000), Array(6).fill(null));
  assert.equal(judgeLifePopulations(rowsOf(['reports']), { peers: 8, players: 4000 }), []);
});

test('the conclusion compares the verdicts with two and three bans, in two sentences', () => {
  const sentences = lifeConclusion(rowsOf(['bans', 'reports']))!;
  assert.match(sentences, /^A plain count of two bans is right 50 times of 100 and hits 1 of 1 good targets, /);
  assert.match(sentences, /`untrusted` condemns nobody; they catch 50 and 0 of 100 bad players\.$/);
  assert.is(sentences.match(/\. |\.$/g)!.length, 2);
  assert.is(lifeConclusion(rowsOf(['reports'])), null);
  assert.ok(printLifeTables(rowsOf(['bans']), []).endsWith(lifeConclusion(rowsOf(['bans']))!));
});

test('the page plots the catch against the hit of groups that ban', () => {
  const page = qualityPage('a title', [], [], rowsOf(['bans', 'mixed_liar1']));
  assert.match(page, 'Bad players caught against good players hit, simulated groups that ban');
  assert.match(page, 'three bans: 50.0 % caught, 0.00 % hit');
});

test('the figures of the second version are those of the kind', () => {
  assert.equal(ofSecondVersion('full_copied3'), { right: 0.972, caught: 0.205 });
  assert.equal(ofSecondVersion('hetero_aggregate2'), { right: 1, caught: 0.035 });
  assert.is(Number.isNaN(ofSecondVersion('bans').right), true);
});

test('batches keep the order of arrival, and equal events of one millisecond move apart', () => {
  const nowMs = Date.UTC(2026, 0, 11);
  const praise = tiny.events.at(-1)!;
  const repeated = { ...tiny, events: [...tiny.events, praise, praise] };
  const peers = tiny.peers.map((name) => ({ peer_id: name, api_key: '' }));
  const [batch, ...others] = makeOrderedBatches(repeated, 'r', peers, nowMs);
  assert.is(others.length, 0);
  const sent = batch!.events.map(({ peer_id: id, event_type: type }) => `${id} ${type}`);
  assert.is(sent.join(), repeated.events.map(({ peer, type }) => `p${peer} ${type}`).join());
  const times = batch!.events.map(({ timestamp }) => Date.parse(timestamp) - Date.UTC(2026, 0, 8));
  assert.equal(times.slice(-3), [0, 1, 2]);
  const many = { ...tiny, events: Array.from({ length: 501 }, () => tiny.events[0]!) };
  const sizes = makeOrderedBatches(many, 'r', peers, nowMs).map(({ events }) => events.length);
  assert.equal(sizes, [500, 1]);
});

const folder = temporaryFolder();

function writeFiles(events: string): void {
  writeFileSync(join(folder, 'life_x.events.csv.gz'), gzipSync(`peer,player,event_type,severity,day\n${events}`));
  writeFileSync(join(folder, 'life_x.truth.csv.gz'), gzipSync('player,bad,standing_bans\ns7,1,1\ns2,0,0\n'));
  const notes = { profile: 'bans', attack: 'liar1', peers: 3, days: 150, adversaries: ['p2'], targets: ['s2', 's9'] };
  writeFileSync(join(folder, 'life_meta.json'), JSON.stringify({ life_x: notes }));
}

test('a file of a life is read in the order of arrival, with the roles that its notes name', () => {
  assert.is(isLifeFolder(folder), false);
  writeFiles('p1,s7,ban_applied,1.000,0.5\np2,s2,report_cheating,0.626,140.25\n');
  assert.is(isLifeFolder(folder), true);
  assert.equal(listLifeSets(folder), [{ name: 'life_x', kind: 'bans_liar1' }]);
  const { events, players, peers, truth, adversaries, targets } = loadLifeSet(folder, 'life_x');
  assert.equal(events, [
    { peer: 1, player: 0, type: 'ban_applied', severity: 1, day: 0.5 },
    { peer: 2, player: 1, type: 'report_cheating', severity: 0.626, day: 140.25 },
  ]);
  assert.equal(players, ['s7', 's2']);
  assert.equal(peers, ['p0', 'p1', 'p2']);
  assert.equal([...truth.values()], [1, 0]);
  assert.equal([adversaries, targets], [[2], [1]]);
});

test('an event of an unknown type or peer, or after the last day, is refused with its line', () => {
  for (const [row, fault] of [
    ['p1,s7,ban,1,0.5', 'event_type ban'],
    ['p9,s7,ban_applied,1,0.5', 'peer p9'],
    ['p1,s7,ban_applied,,0.5', 'severity '],
    ['p1,s7,ban_applied,1,151', 'day 151'],
  ] as const) {
    writeFiles(`${row}\n`);
    assert.throws(() => loadLifeSet(folder, 'life_x'), new RegExp(`events\\.csv\\.gz:2: ${fault} is not valid`));
  }
});

const shared = process.env.PTF_SHARED_DATA;
const lives = shared === undefined ? undefined : join(dirname(shared), 'trust-quality-3');

if (lives === undefined || !existsSync(lives)) {
  process.stdout.write('SKIPPED: PTF_SHARED_DATA names no data folder with a trust-quality-3 beside it\n');
} else {
  test('standing bans of honest peers are those that the files state', () => {
    for (const { name } of listLifeSets(lives)) {
      const group = loadLifeSet(lives, name);
      const bans = standingBans(group, group.adversaries);
      const text = gunzipSync(readFileSync(join(lives, `${name}.truth.csv.gz`))).toString();
      const stated = new Map(text.split('\n').map((line) => [line.split(',')[0], Number(line.split(',')[2])]));
      const expected = group.players.map((player) => stated.get(player));
      assert.equal(bans, expected, name);
    }
  });
}

test.run();
