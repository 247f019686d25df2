/** Which peers count as one. */

import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { peerTrustOf } from '../../../bench/quality/evidence-columns.js';
import { FOLLOWS } from '../../../src/core/evidence/evidence.js';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { ApartGroups, Witnesses, WitnessLinks } from '../../../src/core/trust/witnesses.js';
import type { PeerRelation, WitnessPair } from '../../../src/core/vocabulary.js';
import { bad, banned, type Entry, evidenceOf, factsOf, good, honestGroup, seeded } from './small-groups.js';

function trustOf(peers: number, rows: readonly (readonly Entry[])[], relations: readonly PeerRelation[] = []) {
  return peerTrustOf(evidenceOf(peers, rows), factsOf(peers), trustConstants, relations);
}

const asPeer = (peer: number, [, lowering, raising]: Entry): Entry => [peer, lowering, raising];
const voteOf = (row: readonly Entry[], peer: number) => row.find(([j]) => j === peer);

/** Each row with what `copier` takes over of peer `of`: the votes that `takes` says. */
function copied(
  rows: readonly (readonly Entry[])[],
  of: number,
  copier: number,
  takes: (vote: Entry, i: number) => boolean,
) {
  return rows.map((row, i) => {
    const vote = voteOf(row, of);
    return vote !== undefined && takes(vote, i) ? [...row, asPeer(copier, vote)] : [...row];
  });
}

test('a peer that repeats nearly all of another is one witness with it', () => {
  const { rows } = honestGroup(6, 300);
  const trust = trustOf(
    7,
    copied(rows, 2, 6, (_, i) => i % 10 !== 0),
  );
  assert.equal([...trust.witness], [0, 1, 2, 3, 4, 5, 2]);
  assert.equal(trust.witnessPairs, [{ first: 2, second: 6, reason: 'clones' }]);
});

/**
 * Honest peers, of which one errs on a sixth of the good players, and two more that import its list and judge a seventh
 * of the players themselves.
 */
function importers() {
  const group = honestGroup(8, 900, 5);
  const random = seeded(9);
  const { isBad } = group;
  // Each sees a quarter of the players: who is right has no list like another's.
  const rows = group.rows.map((row) => row.filter(() => random() < 0.35));
  const careless = rows.map((row, i) => {
    if (isBad[i]) return random() < 0.4 ? [...row, bad(8)] : row;
    return random() < 0.17 ? [...row, bad(8)] : row;
  });
  let all: Entry[][] = careless.map((row) => [...row]);
  for (const copier of [9, 10]) {
    all = all.map((row, i) => {
      if (voteOf(row, 8)?.[1] === 1) return random() < 0.8 ? [...row, bad(copier)] : row;
      return i % 7 === copier % 7 ? [...row, isBad[i] ? bad(copier) : good(copier)] : row;
    });
  }
  return all;
}

test('peers that carry one list are detected by the mistakes that they share', () => {
  const trust = trustOf(11, importers());
  assert.equal([...trust.witness], [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8]);
  assert.ok(trust.witnessPairs.every(({ reason }) => reason === 'copied_list'));
});

test('two peers that only report share a list from four fifths of it on, and from thirty players', () => {
  const { rows: whole, isBad } = honestGroup(8, 600, 3);
  const random = seeded(4);
  // Each honest peer sees a third of the players, so that none of them has such a list.
  const rows = whole.map((row) => row.filter(() => random() < 0.35));
  const places = isBad.flatMap((one, i) => (one ? [i] : []));
  const onlyReporting = (length: number, shared: number) => {
    const lists = [places.slice(0, length), [...places.slice(0, shared), ...places.slice(length, 2 * length - shared)]];
    const all = rows.map((row, i) => [...row, ...lists.flatMap((list, n) => (list.includes(i) ? [bad(8 + n)] : []))]);
    return trustOf(10, all).witnessPairs;
  };
  assert.equal(onlyReporting(50, 40), [{ first: 8, second: 9, reason: 'copied_list' }]);
  assert.equal(onlyReporting(50, 39), []);
  assert.equal(onlyReporting(35, 29), []);
  assert.is(onlyReporting(35, 30).length, 1);
});

test('peers whose lists agree because they are right stay apart', () => {
  // Both find nearly every bad player, and no good one.
  const { rows, isBad } = honestGroup(8, 600, 3);
  const sharp = rows.map((row, i) =>
    [...row, ...[8, 9].map((j) => (isBad[i] ? bad(j) : good(j)))].filter(([j], n) => j < 8 || (i + n) % 2 === 0),
  );
  const trust = trustOf(10, sharp);
  assert.equal([...trust.witness], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('a peer that repeats what two others ban joins them to nobody', () => {
  const { rows } = honestGroup(6, 600);
  const random = seeded(6);
  const bans = rows.map((row): Entry[] => row.map(([j, b]) => (b > 0 ? banned(j) : good(j))));
  const echo = bans.map((row): Entry[] => {
    const isBanned = row.some(([j, , , a = 0]) => j < 2 && a > 0);
    return isBanned && random() < 0.9 ? [...row, banned(6, FOLLOWS)] : row;
  });
  const [alone, beside] = [trustOf(6, bans), trustOf(7, echo)];
  assert.equal([...beside.witness.slice(0, 6)], [...alone.witness]);
  assert.equal([...alone.witness], [0, 1, 2, 3, 4, 5]);
});

test('peers declared the same are one witness, and peers declared independent are never joined', () => {
  const { rows } = honestGroup(6, 300);
  const same = trustOf(6, rows, [{ first: 1, second: 4, relation: 'same' }]);
  assert.equal([...same.witness], [0, 1, 2, 3, 1, 5]);
  assert.equal(same.witnessPairs, [{ first: 1, second: 4, reason: 'declared' }]);
  const clones = copied(
    copied(rows, 2, 6, () => true),
    2,
    7,
    () => true,
  );
  const declared = trustOf(8, clones, [{ first: 2, second: 7, relation: 'independent' }]);
  assert.is(declared.witness[6], 2);
  assert.is(declared.witness[7], 7, 'not by way of the third clone either');
});

test('a silent peer does not reduce the evidence of the peer that it was declared the same as', () => {
  // The votes of peers 4 and 5 are mostly noise, so that a gate depends on what each of the others says.
  const isNoise = (peer: number, i: number) => peer > 3 && (i * 7 + peer * 3) % 5 < 4;
  const rows = honestGroup(6, 60).rows.map((row, i) =>
    row.map((vote) => (isNoise(vote[0], i) ? ((i >> 1) % 2 === 1 ? bad : good)(vote[0]) : vote)),
  );
  const relations = [{ first: 1, second: 6, relation: 'same' }] as const;
  const alone = trustOf(7, rows);
  const beside = trustOf(7, rows, relations);
  const revoked = peerTrustOf(
    evidenceOf(
      7,
      rows.map((row) => [...row, bad(6)]),
    ),
    factsOf(7, [], [6]),
    trustConstants,
    relations,
  );
  assert.ok(alone.tau[5]! < 1 && alone.tau[5]! > 0);
  assert.equal(beside.tau, alone.tau);
  assert.equal(beside.a, alone.a);
  assert.equal(revoked.tau, alone.tau);
});

test('a crowd of peers with one list takes memory for its votes, not for every pair of peers', async () => {
  const file = new URL('../../../bench/quality/evidence-columns.js', import.meta.url).href;
  const script = `
    import(${JSON.stringify(file)}).then(({ peerTrustOf }) => {
      const [peers, players] = [1_600, 12];
      const entries = peers * players;
      peerTrustOf(
        {
          peers,
          players,
          offsets: Uint32Array.from({ length: players + 1 }, (_, i) => i * peers),
          peer: Uint16Array.from({ length: entries }, (_, e) => e % peers),
          lowering: new Float64Array(entries).fill(1),
          raising: new Float64Array(entries),
        },
        { preTrusted: new Uint8Array(peers), excluded: new Uint8Array(peers) },
      );
    });`;
  const worker = new Worker(script, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 64 } });
  const ended = await new Promise((resolve) => {
    worker.on('error', resolve);
    worker.on('exit', resolve);
  });
  assert.is(ended, 0);
});

test('a peer has the others of its group, each once and with why, and no more than are asked for', () => {
  const pairs: WitnessPair[] = [
    { first: 1, second: 3, reason: 'clones' },
    { first: 2, second: 3, reason: 'declared' },
    { first: 5, second: 6, reason: 'copied_list' },
  ];
  const links = new WitnessLinks(pairs);
  assert.equal(links.of(1, 9), [
    { peer: 2, reason: 'declared' },
    { peer: 3, reason: 'clones' },
  ]);
  assert.equal(links.of(6, 9), [{ peer: 5, reason: 'copied_list' }]);
  assert.equal(links.of(0, 9), []);
  assert.equal(links.of(1, 1), [{ peer: 3, reason: 'clones' }]);
  let reads = 0;
  const crowd = Array.from({ length: 1_000 }, (_, i): WitnessPair => ({ first: 0, second: i + 1, reason: 'clones' }));
  const counted = new WitnessLinks(
    crowd.map((pair) => ({
      ...pair,
      get first() {
        reads++;
        return pair.first;
      },
    })),
  );
  for (let peer = 0; peer <= 1_000; peer++) counted.of(peer, 100);
  assert.ok(reads < 1_000 * 300, `${reads} reads for a thousand peers`);
});

test('a group counts its peers', () => {
  const witnesses = new Witnesses(5);
  for (const [j, k] of [
    [1, 3],
    [3, 4],
    [1, 4],
  ] as const)
    witnesses.joinIfAlike(j, k, { reason: 'clones', areAlike: () => true, apart: new ApartGroups() });
  assert.equal([...witnesses.numbers], [0, 1, 2, 1, 1]);
  assert.equal([...witnesses.sizes], [1, 3, 1, 3, 3]);
  assert.is(witnesses.pairs.length, 2);
});

test.run();
