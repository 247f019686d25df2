/**
 * Holds docs/SCORING.md to the code: every table behind a comment `<!-- checked: NAME -->` is computed again, row by
 * row, to the digits that it prints. A row that drifted fails with what it should say.
 */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../src/core/evidence/decay.js';
import { type EventTypeName, eventTypes, isMeasure } from '../../src/core/evidence/event-types.js';
import { saturate } from '../../src/core/evidence/evidence.js';
import { trustConstants as k } from '../../src/core/evidence/trust-constants.js';
import { trustOf } from '../../src/core/scoring/score.js';
import { limits } from '../../src/limits.js';
import { dayMs, Given, t0 } from '../support/given.js';
import { Random } from '../support/random.js';

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

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

/**
 * A group of eight peers with open gates, 4 % of whose players are bad. `two-sided`: as peers that see three of four
 * bad players and clear 92 of a hundred good ones; `reporting`: as peers of which nothing but reports is known.
 */
function group(kind: 'reporting' | 'two-sided'): Given {
  const z = kind === 'two-sided' ? 0.9 : 0;
  const mixed = (twoSided: number, oneSided: number) => range(8).map(() => z * twoSided + (1 - z) * oneSided);
  const right = (hit: number, miss: number) => Math.log(hit / miss);
  return new Given(30).peers(8).weigh({
    a: mixed(right(k.recallPrior, 1 - k.specificityPrior), k.reportOdds),
    b: mixed(right(k.specificityPrior, 1 - k.recallPrior), k.praiseOdds),
    z: range(8).map(() => z),
    pi: k.badSharePrior,
  });
}

/** `count` events of each of the first peers on the player `p`. */
function send(given: Given, peers: number, count: number, eventType: EventTypeName = 'report_cheating'): void {
  for (let peer = 0; peer < peers; peer++) for (let i = 0; i < count; i++) given.event(peer, 'p', { eventType });
}

function read(given: Given, days = 0): string {
  const { score, verdict } = trustOf(given.state, given.row('p'), asOfTime(given.state, t0 + days * dayMs));
  return `${score.toFixed(1)} ${verdict}`;
}

/** Returns the reads after the same change in a group of either kind. */
function inBoth(change: (given: Given) => void, days = 0): string[] {
  return (['reporting', 'two-sided'] as const).map((kind) => {
    const given = group(kind);
    change(given);
    return read(given, days);
  });
}

test('the table of event types is that of the code', () => {
  const ways = { [-1]: 'lowers', 0: 'takes back', 1: 'raises' } as const;
  const rows = Object.entries(eventTypes).map(([name, { sign, baseWeight }]) => [
    name,
    [
      isMeasure(eventTypes[name as EventTypeName].id) ? 'lowers, as a measure' : ways[sign],
      sign === 0 ? '' : String(baseWeight),
    ],
  ]);
  holds('event types', Object.fromEntries(rows));
});

test('the verdict bands are those of the code', () => {
  holds('verdicts', {
    untrusted: [`score below ${k.untrustedBelow}, and ${k.untrustedWitnessesMin} independent witnesses that lower it`],
    suspicious: [`score below ${k.suspiciousBelow}`],
    trusted: [`score from ${k.trustedFrom}, and confidence of at least ${k.trustedConfidenceMin}`],
    neutral: ['anything else'],
  });
});

test('the table of needed reports equals the answers of reads', () => {
  const rows: [string, string[]][] = [];
  for (const peers of [1, 2, 3, 4, 5, 6, 8]) {
    for (const events of [1, 3, 10]) {
      const name = `${peers} ${peers === 1 ? 'peer' : 'peers'}, ${events} ${events === 1 ? 'report' : 'reports'} each`;
      rows.push([name, inBoth((given) => send(given, peers, events))]);
    }
  }
  holds('takes', Object.fromEntries(rows));
});

/** `count` events of severity `severity` of each of the given peers on the player `p`. */
function say(given: Given, peers: readonly number[], eventType: EventTypeName, count = 1, severity = 1): void {
  for (const peer of peers) for (let i = 0; i < count; i++) given.event(peer, 'p', { eventType, severity });
}

test('the worked examples equal the answers of reads', () => {
  const banDays = limits.banHalfLifeDaysDefault;
  const bans = (count: number, days = 0) => inBoth((given) => say(given, range(count), 'ban_applied'), days);
  holds('examples', {
    '1 ban': bans(1),
    '1 ban and 3 reports of the same peer': inBoth((given) => {
      say(given, [0], 'ban_applied');
      say(given, [0], 'report_cheating', 3);
    }),
    '1 ban of one peer, 1 report of another': inBoth((given) => {
      say(given, [0], 'ban_applied');
      say(given, [1], 'report_cheating');
    }),
    '1 ban, 3 reports each of two others': inBoth((given) => {
      say(given, [0], 'ban_applied');
      say(given, [1, 2], 'report_cheating', 3);
    }),
    '2 bans': bans(2),
    '2 bans of severity .3': inBoth((given) => say(given, [0, 1], 'ban_applied', 1, 0.3)),
    '3 bans': bans(3),
    '4 bans': bans(4),
    '6 bans': bans(6),
    '3 bans, half a ban half-life later': bans(3, banDays / 2),
    '3 bans, two ban half-lives later': bans(3, 2 * banDays),
    '2 bans, 3 commendations each of two others': inBoth((given) => {
      say(given, [0, 1], 'ban_applied');
      say(given, [2, 3], 'commendation', 3);
    }),
    '100 bans of one peer': inBoth((given) => say(given, [0], 'ban_applied', 100)),
    '1,000 reports of one peer': inBoth((given) => send(given, 1, 1000)),
    'one commendation': inBoth((given) => send(given, 1, 1, 'commendation')),
    'five peers, three commendations each': inBoth((given) => send(given, 5, 3, 'commendation')),
    'five peers, three session_clean each': inBoth((given) => send(given, 5, 3, 'session_clean')),
    'a ban of each of five peers, then a lifting of each': inBoth((given) => {
      send(given, 5, 1, 'ban_applied');
      send(given, 5, 1, 'ban_lifted');
    }),
    'six peers, ten reports each, a half-life later': inBoth((given) => send(given, 6, 10), 30),
    'the same, six half-lives later': inBoth((given) => send(given, 6, 10), 180),
    'eight peers that are one witness, ten reports each': inBoth((given) => {
      const { a, b, z } = given.state.weights;
      given.weigh({ a: [...a], b: [...b], z: [...z!], witness: range(8).map(() => 0) });
      send(given, 8, 10);
    }),
    'three bans of peers that only repeat others': inBoth((given) => {
      const { a, b, z } = given.state.weights;
      given.weigh({ a: [...a], b: [...b], z: [...z!], m: range(8).map(() => 0), finds: range(8).map(() => 0) });
      say(given, [0, 1, 2], 'ban_applied');
    }),
    'ten reports of a peer without computed weights': inBoth((given) => {
      given.peers(1);
      for (let i = 0; i < 10; i++) given.event(8, 'p');
    }),
  });
});

test('the table of imported lists, labelled and not, equals the answers of reads', () => {
  /** `importers` pass on a list of so many players in a group whose three other peers report others. */
  const listed = (importers: number, players: number, isLabelled: boolean): string => {
    const given = new Given(30).peers(3 + importers).origin('list');
    for (let i = 0; i < 60; i++) for (const peer of [0, 1, 2]) if ((i + peer) % 3) given.event(peer, `other-${i}`);
    for (let i = 0; i < players; i++) {
      for (let importer = 3; importer < 3 + importers; importer++) {
        const labels = isLabelled ? { schemaVersion: '1.1.0', origin: 'list' } : {};
        given.event(importer, i === 0 ? 'p' : `listed-${i}`, { eventType: 'ban_applied', ...labels });
      }
    }
    given.compute();
    return read(given);
  };
  const row = (importers: number) => [
    listed(importers, 20, true),
    listed(importers, 20, false),
    listed(importers, 40, false),
  ];
  holds('origins', { '1 peer': row(1), '3 peers': row(3), '5 peers': row(5), '8 peers': row(8) });
});

test('the promises about single events and single peers hold for every possible weight of a peer', () => {
  const random = new Random(3);
  for (let draw = 0; draw < 600; draw++) {
    const pick = (most: number) => [random.pick([0, most, most * random.next()])];
    const weights = { tau: pick(1), a: pick(3.5), b: pick(3.5), z: pick(0.999), pi: 0.01 + 0.59 * random.next() };
    const given = new Given().peers(1).weigh(weights);
    given.event(0, 'one');
    given.event(0, 'good', { eventType: 'commendation' });
    for (let i = 0; i < 50; i++) given.event(0, 'many');
    const [one, good, many] = ['one', 'good', 'many'].map((player) =>
      trustOf(given.state, given.row(player), asOfTime(given.state, t0)),
    );
    const text = JSON.stringify(weights);
    assert.ok(one!.score >= 45 && good!.score <= 55, text);
    assert.equal([one!.verdict, good!.verdict, many!.verdict], ['neutral', 'neutral', 'neutral'], text);
    assert.ok(many!.score > 40, text);
  }
});

test('the confidence that a number of peers can reach at most', () => {
  const most = (peers: number) => {
    const effective = peers * saturate(Number.MAX_SAFE_INTEGER);
    return (effective / (effective + k.confidenceHalf)).toFixed(2);
  };
  holds('confidence', Object.fromEntries([1, 2, 3, 4, 5, 8].map((peers) => [String(peers), [most(peers)]])));
});

test.run();
