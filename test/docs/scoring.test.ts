/**
 * Holds docs/SCORING.md to the code: every table behind a comment `<!-- checked: NAME -->` is computed again, row by row, to
 * the digits that it prints. A row that drifted fails with what it should say.
 */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TrustSet } from '../../bench/data/trust-set.js';
import { randomFrom, sample } from '../../bench/quality/random.js';
import { evidenceColumns, peerFacts, readOut } from '../../bench/quality/readout.js';
import { attackerSkill, honestScene, toTrustSet } from '../../bench/quality/scene.js';
import { type KindName, kindNames, simulate } from '../../bench/quality/simulator.js';
import { type EventTypeName, eventTypes } from '../../src/core/event-types.js';
import { saturate } from '../../src/core/evidence.js';
import { momentOf, trustOf, verdictOf } from '../../src/core/score.js';
import { peerTrustOf } from '../../src/core/trust/peer-trust.js';
import { trustConstants as k } from '../../src/core/trust-constants.js';
import { bad, type Entry, evidenceOf, factsOf, good, honestGroup } from '../core/trust/small-groups.js';
import { dayMs, Given, t0 } from '../support/given.js';

const page = readFileSync(new URL('../../../docs/SCORING.md', import.meta.url), 'utf8');

/** Rows of the table behind a marker: by the text of the first cell, the other cells. Backquotes are left out. */
function tableOf(name: string): Map<string, string[]> {
  const [, after] = page.split(`<!-- checked: ${name} -->\n`);
  assert.ok(after !== undefined, `no table is marked "${name}"`);
  const lines = after!.trimStart().split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  const rows = lines
    .slice(2, end)
    .map((line) => line.replaceAll('`', '').split('|').slice(1, -1))
    .map(([first, ...rest]) => [first!.trim(), rest.map((cell) => cell.trim())] as const);
  const table = new Map(rows);
  assert.is(table.size, rows.length, `two rows of "${name}" have the same name`);
  return table;
}

/** Both ways: no row without a computation, no computation without a row. */
function holds(name: string, expected: Readonly<Record<string, readonly string[]>>): void {
  assert.equal(Object.fromEntries(tableOf(name)), expected, `the table "${name}" is out of date`);
}

type Change = (given: Given) => void;

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

/** `count` events of each of the peers on the player `p`. */
function send(
  given: Given,
  peers: readonly number[],
  count: number,
  eventType: EventTypeName = 'report_cheating',
  severity = 1,
): void {
  for (const peer of peers) for (let i = 0; i < count; i++) given.event(peer, 'p', { eventType, severity });
}

/** Six peers of which the first is pre-trusted; `known`: all others have earned an open gate. */
function preTrust(given: Given, known: boolean): void {
  given.apply([{ type: 'pre_trust_set', peers: [0], configured: null, audit: given.state.formed.audit }], t0);
  if (!known) return;
  const all = (value: number) => new Float64Array(6).fill(value);
  const odds = { tau: all(1), a: all(k.priorLogOdds), b: all(k.priorLogOdds) };
  given.apply([{ type: 'weights_published', based_on_seq: 1, computed_at: t0, pi: k.badSharePrior, ...odds }], t0);
}

/** What is read about `p` in a new group of six peers with a half-life of 30 days. */
function readAfter(change: Change, days = 0): string[] {
  const given = new Given(30).peers(6);
  change(given);
  const view = trustOf(given.state, given.row('p'), momentOf(given.state, t0 + days * dayMs));
  return [view.score.toFixed(2), view.confidence.toFixed(2), view.verdict];
}

const oneCommendationAgainstFive: Change = (given) => {
  send(given, [1, 2, 3, 4, 5], 1000);
  send(given, [0], 1, 'commendation');
};

test('the table of event types is that of the code', () => {
  const rows = Object.entries(eventTypes).map(([name, { sign, baseWeight }]) => [
    name,
    [sign < 0 ? 'lowers' : 'raises', String(baseWeight)],
  ]);
  holds('event types', Object.fromEntries(rows));
});

test('the verdict bands are those of the code', () => {
  holds('verdicts', {
    untrusted: [`score below ${k.untrustedBelow}, and evidence of at least ${k.untrustedPeersMin} peers`],
    suspicious: [`score below ${k.suspiciousBelow}`],
    trusted: [`score from ${k.trustedFrom}, and confidence of at least ${k.trustedConfidenceMin}`],
    neutral: ['anything else'],
  });
});

test('the constants of the read formula are those of the code', () => {
  const names = [
    'saturationMax',
    'halfSaturation',
    'confidenceHalf',
    'preTrustClip',
    'priorLogOdds',
    'weightReference',
  ];
  const values = new Map(Object.entries(k));
  holds(
    'constants',
    Object.fromEntries([...tableOf('constants')].map(([n, [, text]]) => [n, [String(values.get(n)), text!]])),
  );
  assert.equal([...tableOf('constants').keys()], names);
});

test('the worked examples of one player are what a read answers', () => {
  holds('examples', {
    'one event of severity 0': readAfter((given) => send(given, [0], 1, 'report_cheating', 0)),
    'one report_cheating': readAfter((given) => send(given, [0], 1)),
    'the same at severity 0.5': readAfter((given) => send(given, [0], 1, 'report_cheating', 0.5)),
    'one report_toxicity': readAfter((given) => send(given, [0], 1, 'report_toxicity')),
    'one report_spam': readAfter((given) => send(given, [0], 1, 'report_spam')),
    'one commendation': readAfter((given) => send(given, [0], 1, 'commendation')),
    '10 reports of one peer': readAfter((given) => send(given, [0], 10)),
    '1,000 reports of one peer': readAfter((given) => send(given, [0], 1000)),
    'two peers, one report each': readAfter((given) => send(given, [0, 1], 1)),
    'two peers, ten each': readAfter((given) => send(given, [0, 1], 10)),
    'three peers, one each': readAfter((given) => send(given, [0, 1, 2], 1)),
    'three peers, ten each': readAfter((given) => send(given, [0, 1, 2], 10)),
    'five peers, three each': readAfter((given) => send(given, range(5), 3)),
    'four peers, one commendation each': readAfter((given) => send(given, range(4), 1, 'commendation')),
    'five peers with a commendation each, one with 1,000 reports': readAfter((given) => {
      send(given, range(5), 1, 'commendation');
      send(given, [5], 1000);
    }),
    'one report, a half-life later': readAfter((given) => send(given, [0], 1), 30),
    '1,000 reports of one peer, a half-life later': readAfter((given) => send(given, [0], 1000), 30),
    'five peers with three each, a half-life later': readAfter((given) => send(given, range(5), 3), 30),
    'the same, six half-lives later': readAfter((given) => send(given, range(5), 3), 180),
    'five peers with 1,000 reports each, one commendation': readAfter(oneCommendationAgainstFive),
    'the same, the commendation from a pre-trusted peer': readAfter((given) => {
      preTrust(given, true);
      oneCommendationAgainstFive(given);
    }),
    'the same, and the five are newcomers': readAfter((given) => {
      preTrust(given, false);
      oneCommendationAgainstFive(given);
    }),
  });
});

test('the confidence that a number of peers can reach at most', () => {
  const most = (peers: number) => {
    const effective = peers * saturate(Number.MAX_SAFE_INTEGER);
    return (effective / (effective + k.confidenceHalf)).toFixed(2);
  };
  holds('confidence', Object.fromEntries([1, 2, 3, 4, 5, 8].map((peers) => [String(peers), [most(peers)]])));
});

test('the worked examples of whole groups are what the computation gives', () => {
  const { rows, isBad } = honestGroup(5, 200);
  const opposite = rows.map((row, i) => [...row, isBad[i] ? good(5) : bad(5)]);
  /** Score, confidence and verdict of one more player in the group, and the weight of one of the peers. */
  const read = (peers: number, group: readonly Entry[][], player: readonly Entry[], weightOf: number): string[] => {
    const evidence = evidenceOf(peers, [...group, player]);
    const facts = factsOf(peers);
    const trust = peerTrustOf(evidence, facts);
    const readings = readOut(evidence, facts, trust);
    const [score, confidence] = [readings.score.at(-1)!, readings.confidence.at(-1)!];
    const verdict = verdictOf(score, confidence, player.length);
    return [score.toFixed(0), confidence.toFixed(1), verdict, trust.weight[weightOf]!.toFixed(1)];
  };
  holds('groups', {
    '1,000 reports of the liar': read(6, opposite, [[5, 1000, 0]], 5),
    'one report of one of the five': read(6, opposite, [bad(0)], 0),
    'one report each of two of the five': read(6, opposite, [bad(0), bad(1)], 0),
    'ten reports each of three newcomers': read(
      8,
      rows,
      [5, 6, 7].map((peer): Entry => [peer, 10, 0]),
      5,
    ),
  });
});

const seeds = [1, 2, 3];
const size = { peers: 10, players: 2000 };
const groups = (kind: KindName) => seeds.map((seed) => simulate(kind, seed, size));

/** Two of ten peers report 1,100 players honestly and send three false reports each about 50 good ones. */
function modestColluders(preTrusted: number): TrustSet[] {
  return seeds.map((seed) => {
    const random = randomFrom('modest colluders', seed);
    const { scene, popular } = honestScene(random, size.peers - 2, size.players, false);
    const colluders = scene.addPeers(2);
    const targets = sample(scene.knownPlayers(0), 50, random);
    const others = sample(scene.knownPlayers(), 1100, random).filter((player) => !targets.includes(player));
    for (const peer of colluders) {
      for (const player of targets) scene.lie(peer, player, 3);
      for (const player of others) scene.reportHonestly(peer, player, attackerSkill);
    }
    const roles = {
      name: 'modest colluders',
      preTrusted: popular.slice(0, preTrusted),
      adversaries: colluders,
      targets,
    };
    return toTrustSet(scene, roles);
  });
}

/** Three of ten peers send three false reports each about 20 good players, nothing else but agreement on invented ones. */
function colludersOfFewLies(preTrusted: number): TrustSet[] {
  return range(10).map((i) => {
    const random = randomFrom('colluders of few lies', i + 1);
    const { scene, popular } = honestScene(random, size.peers - 3, size.players, false);
    const adversaries = scene.addPeers(3);
    const targets = sample(scene.knownPlayers(0), 20, random);
    const invented = scene.addPlayers(1500);
    for (const peer of adversaries) {
      for (const player of targets) scene.lie(peer, player, 3);
      for (const [n, player] of invented.entries()) scene.report(peer, player, n % 2 === 0 ? -1 : 1, 1);
    }
    return toTrustSet(scene, { name: 'few lies', preTrusted: popular.slice(0, preTrusted), adversaries, targets });
  });
}

/**
 * Peers that join a group, repeat what is read of `copied` players (half of them read above 60, and below 45 as many as there are), and send
 * ten false reports each about 50 good ones whom no pre-trusted peer has reported, or where there is none whom one peer alone has.
 */
function copycats(count: number, copied: number, preTrusted: number): TrustSet[] {
  return seeds.map((seed) => {
    const random = randomFrom('copycats', seed);
    const { scene, popular } = honestScene(random, size.peers, size.players, false);
    const roles = { name: 'copycats', preTrusted: popular.slice(0, preTrusted) };
    const before = toTrustSet(scene, { ...roles, adversaries: [], targets: [] });
    const evidence = evidenceColumns(before);
    const facts = peerFacts(before);
    const { score } = readOut(evidence, facts, peerTrustOf(evidence, facts));
    const isFirmlyKnown = (player: number) => {
      const peers = evidence.peer.subarray(evidence.offsets[player]!, evidence.offsets[player + 1]!);
      return preTrusted === 0 ? peers.length > 1 : peers.some((peer) => facts.preTrusted[peer] === 1);
    };
    const players = range(before.players.length);
    const drawn = (of: readonly number[], most: number) => sample(of, Math.min(most, of.length), random);
    const known = players.filter(isFirmlyKnown);
    const low = drawn(
      known.filter((player) => score[player]! < 45),
      copied / 2,
    );
    const high = drawn(
      known.filter((player) => score[player]! > 60),
      copied / 2,
    );
    const inScene = (player: number) => Number(before.players[player]!.slice(1));
    const others = players.filter((player) => !isFirmlyKnown(player) && score[player]! > 50);
    const targets = drawn(
      others.filter((player) => before.truth.get(player) === 0),
      50,
    ).map(inScene);
    const adversaries = scene.addPeers(count);
    for (const peer of adversaries) {
      for (const player of low) scene.report(peer, inScene(player), -1, 1);
      for (const player of high) scene.report(peer, inScene(player), 1, 1);
      for (const player of targets) scene.lie(peer, player, 10);
    }
    return toTrustSet(scene, { ...roles, adversaries, targets });
  });
}

/** Percent of the chosen players that read `suspicious` or `untrusted`, over all the sets. */
function condemned(sets: readonly TrustSet[], truth: 0 | 1, chosen: (set: TrustSet) => Iterable<number>): number {
  let count = 0;
  let hits = 0;
  for (const set of sets) {
    const evidence = evidenceColumns(set);
    const facts = peerFacts(set);
    const { score, confidence } = readOut(evidence, facts, peerTrustOf(evidence, facts));
    for (const player of chosen(set)) {
      if (set.truth.get(player) !== truth) continue;
      const peers = evidence.offsets[player + 1]! - evidence.offsets[player]!;
      const verdict = verdictOf(score[player]!, confidence[player]!, peers);
      count++;
      if (verdict === 'suspicious' || verdict === 'untrusted') hits++;
    }
  }
  return (100 * hits) / count;
}

test('the shares of players that an attack condemns stay within what the page says', () => {
  const everyone = (set: TrustSet) => set.truth.keys();
  const targets = (set: TrustSet) => set.targets;
  const goodTargets = (sets: readonly TrustSet[]) => condemned(sets, 0, targets);
  const reached: Readonly<Record<string, number>> = {
    'no attack: good players': condemned(groups('none'), 0, everyone),
    'no attack: bad players': condemned(groups('none'), 1, everyone),
    'invert1, flood1, sleeper1': Math.max(
      ...(['invert1', 'flood1', 'sleeper1'] as const).map((n) => goodTargets(groups(n))),
    ),
    badmouth1: goodTargets(groups('badmouth1')),
    camo1: goodTargets(groups('camo1')),
    'collude2, collude3': Math.max(goodTargets(groups('collude2')), goodTargets(groups('collude3'))),
    sybil60_pre3: goodTargets(groups('sybil60_pre3')),
    'sybil60_pre3, but nobody pre-trusted': goodTargets(
      groups('sybil60_pre3').map((set) => ({ ...set, preTrusted: [] })),
    ),
    'stealth15_pre3, seeds 1 to 20': goodTargets(range(20).map((i) => simulate('stealth15_pre3', i + 1, size))),
    'two colluders, honest but for 50 players': goodTargets(modestColluders(0)),
    'the same with two pre-trusted peers': goodTargets(modestColluders(2)),
    'three colluders, 20 lies each, seeds 1 to 10': goodTargets(colludersOfFewLies(0)),
    'the same with one pre-trusted peer': goodTargets(colludersOfFewLies(1)),
    'the same with three pre-trusted peers': goodTargets(colludersOfFewLies(3)),
    'a copycat': goodTargets(copycats(1, 400, 0)),
    'two copycats, three pre-trusted peers': goodTargets(copycats(2, 100, 3)),
  };
  const rows = tableOf('condemned');
  assert.equal([...rows.keys()], Object.keys(reached));
  for (const [name, [, text]] of rows) {
    const [, word, bound] = /^at (least|most) (\d+) %$/.exec(text!) ?? [];
    const value = reached[name]!;
    assert.ok(word === 'least' ? value >= Number(bound) : value <= Number(bound), `${name}: ${value.toFixed(1)} %`);
  }
});

test('every attack of the bench table is one that the bench knows', () => {
  const known: readonly string[] = kindNames;
  for (const name of tableOf('bench').keys()) assert.ok(known.includes(name), name);
});

test.run();
