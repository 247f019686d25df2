import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEY_WORDS } from '../../../src/core/columns/packed-keys.js';
import { FOLLOWS, FOLLOWS_CLAIM } from '../../../src/core/evidence/evidence.js';
import { getOrMake } from '../../../src/core/get-or-make.js';
import { sipHash, sipKey } from '../../../src/core/hashing/siphash.js';
import { EventColumns, keyColumns, keyOf, subjectWords } from '../../../src/core/tables/event-columns.js';
import { HOME_BITS } from '../../../src/core/tables/subject-index.js';
import { Subjects } from '../../../src/core/tables/subjects.js';
import { subjectOf } from '../../support/given.js';
import { Random } from '../../support/random.js';

const key = sipKey(Buffer.alloc(32, 7));

/** The rows of players, found all at once. */
function rowsOf(subjects: Subjects, players: readonly string[]): number[] {
  const columns = columnsOf(players.map(subjectOf));
  subjects.findAll(columns);
  return [...columns.rows];
}

const times = (at: number) => [at, at] as const;

/** Columns that hold the keys of players. */
function columnsOf(players: readonly Uint8Array[]) {
  const columns = { ...keyColumns(players.length), count: players.length };
  for (const [i, player] of players.entries()) subjectWords(player, columns.keys, i * KEY_WORDS);
  return columns;
}

const emptyPair = { lowering: 0, raising: 0, measure: 0, follows: 0, count: 0, head: 0, isVoid: false };
type Pair = typeof emptyPair;

test('200,000 random changes leave the same content as a map of maps', () => {
  const random = new Random(1);
  const subjects = new Subjects(key);
  const { entries } = subjects;
  const oracle = new Map<string, Map<number, Pair>>();
  const scale = (claims: number, measures: number) => {
    entries.scale(claims, measures);
    for (const pairs of oracle.values()) {
      for (const pair of pairs.values()) {
        pair.lowering *= claims;
        pair.raising *= claims;
        pair.measure *= measures;
      }
    }
  };
  for (let step = 1; step <= 200_000; step++) {
    if (step % 40_000 === 0) scale(random.pick([1, 0.5, 0.75]), random.pick([1, 0.5, 0.75]));
    const name = `p${random.below(8_000)}`;
    const subject = subjectOf(name);
    if (random.below(50) === 0) {
      subjects.remove(subject);
      oracle.delete(name);
      continue;
    }
    const peer = random.below(random.below(100) === 0 ? 3_000 : 4);
    const entry = subjects.ensureEntry(subject, peer, ...times(step));
    const pairs = getOrMake(oracle, name, () => new Map<number, Pair>());
    const pair = getOrMake(pairs, peer, () => ({ ...emptyPair }));
    pair.head = step;
    const choice = random.below(20);
    const follows = random.below(2) === 1;
    if (choice === 0) {
      const measure = random.pick([0, random.next()]);
      const stated = { lowering: random.next(), raising: random.next(), measure, follows: random.below(4) };
      const count = random.below(1_000);
      entries.set(entry, peer, stated, count, step);
      Object.assign(pair, { ...stated, count, isVoid: false });
    } else if (choice < 6) {
      const mass = random.next();
      entries.addMeasure(entry, mass, step, follows);
      pair.measure += mass;
      pair.follows = (pair.follows & ~FOLLOWS) | (follows ? FOLLOWS : 0);
      pair.count++;
    } else {
      const mass = random.next() - 0.5;
      entries.add(entry, mass, step, follows);
      if (mass < 0) {
        pair.lowering -= mass;
        pair.follows = (pair.follows & ~FOLLOWS_CLAIM) | (follows ? FOLLOWS_CLAIM : 0);
      } else pair.raising += mass;
      pair.count++;
    }
    if (choice === 7) {
      entries.setVoid(entry, follows);
      pair.isVoid = follows;
    }
  }
  assert.is(subjects.size, oracle.size);
  const isMeasured = ({ measure }: Pair) => measure > 0;
  assert.is(
    entries.measured,
    [...oracle.values()].reduce((sum, pairs) => sum + [...pairs.values()].filter(isMeasured).length, 0),
  );
  for (const [name, pairs] of oracle) {
    const row = subjects.find(subjectOf(name));
    assert.is(subjects.peerCount(row), pairs.size);
    assert.is(Buffer.compare(subjects.keyOf(row), subjectOf(name)), 0);
    for (const [peer, pair] of pairs) {
      const entry = subjects.findEntry(row, peer);
      for (const [name, value] of Object.entries(pair)) assert.is(entries[name as keyof Pair](entry), value, name);
    }
  }
  const everyone = Array.from({ length: 20_100 }, (_, i) => `p${i}`);
  assert.equal(
    rowsOf(subjects, everyone),
    everyone.map((name) => (oracle.has(name) ? subjects.find(subjectOf(name)) : -1)),
  );
  assert.equal(rowsOf(subjects, []), []);
  assert.equal(rowsOf(new Subjects(key), ['p1']), [-1]);
});

test('a row is looked up again if the table changed since the look-up', () => {
  const subjects = new Subjects(key);
  const zeros = Buffer.alloc(32);
  const players = [zeros, subjectOf('stays'), subjectOf('goes'), subjectOf('comes')];
  const columns = columnsOf(players);
  for (const player of players.slice(0, 3)) subjects.ensureEntry(player, 0, ...times(1));
  subjects.prefetch(columns);
  const found = () => players.map((_, i) => subjects.findOfEvent(columns, i));
  assert.equal(found(), [0, 1, 2, -1]);
  // An empty row is all zeros, as a subject's hash may be.
  subjects.remove(players[2]!);
  subjects.remove(zeros);
  assert.equal(found(), [-1, 1, -1, -1]);
  subjects.ensureEntry(players[3]!, 0, ...times(1));
  assert.equal(found(), [-1, 1, -1, 0]);
  subjects.ensureEntry(players[2]!, 0, ...times(1));
  assert.equal(found(), [-1, 1, 2, 0]);
});

test('an event leaves the row of its player in its columns, whether the player was known or is new', () => {
  const subjects = new Subjects(key);
  const columns = new EventColumns(2);
  for (const player of ['known', 'new']) columns.addKey(keyOf(subjectOf(player)));
  subjects.ensureEntry(subjectOf('known'), 0, ...times(1));
  subjects.prefetch(columns);
  for (let i = 0; i < 2; i++) subjects.ensureEntryOfEvent(columns, i, 1, 1);
  assert.equal(
    [...columns.rows],
    ['known', 'new'].map((player) => subjects.find(subjectOf(player))),
  );
});

test('a removed subject leaves no byte of its key behind', () => {
  const subjects = new Subjects(key);
  subjects.ensureEntry(subjectOf('a'), 0, ...times(1));
  const row = subjects.find(subjectOf('a'));
  subjects.remove(subjectOf('a'));
  assert.is(subjects.find(subjectOf('a')), -1);
  assert.ok(!subjects.has(row));
  assert.is(
    subjects.keyOf(row).findIndex((byte) => byte !== 0),
    -1,
  );
});

// Entries of 0, 4 and 8 bytes of `test_vectors_hsiphash` in the Linux kernel (lib/siphash_kunit.c, 32-bit words).
test('the slot mix is HalfSipHash-1-3', () => {
  const words = new Uint32Array(Uint8Array.from({ length: 32 }, (_, i) => i).buffer);
  const kernelKey = sipKey(Uint8Array.from({ length: 8 }, (_, i) => i));
  const hashes = [0, 1, 2].map((count) => sipHash(kernelKey, words, 0, count));
  assert.equal(hashes, [0x5814c896, 0x7e059ea6, 0x577999b1]);
});

test('the bits by which rows are sampled are uniform', () => {
  const subjects = new Subjects(key);
  for (let i = 0; i < 1_000; i++) subjects.ensureEntry(subjectOf(`p${i}`), 0, ...times(1));
  const homes = Array.from({ length: subjects.rows }, (_, row) => subjects.homeOf(row));
  assert.ok(homes.every((home) => home >= 0 && home < 2 ** HOME_BITS));
  const upper = homes.filter((home) => home >= 2 ** (HOME_BITS - 1)).length;
  assert.ok(upper > 400 && upper < 600, `${upper}`);
});

test('rows and entries that are read together equal those that are read one by one', () => {
  const random = new Random(5);
  const subjects = new Subjects(key);
  for (let step = 1; step <= 90_000; step++) {
    const subject = subjectOf(`p${random.below(18_000)}`);
    if (random.below(40) === 0) subjects.remove(subject);
    else {
      const entry = subjects.ensureEntry(subject, random.below(5), ...times(step));
      if (random.below(4) === 0) subjects.entries.addMeasure(entry, random.next(), step, step % 3 === 0);
      else subjects.entries.add(entry, random.next() - 0.5, step, step % 2 === 0);
      if (random.below(9) === 0) subjects.entries.setVoid(entry, true);
    }
  }
  // Across the end of a segment of rows, some of which are empty.
  const from = 16_384 - 100;
  const end = Math.min(subjects.rows, from + 200);
  assert.ok(end > 16_384, `${subjects.rows} rows`);
  const size = end - from;
  const rows = {
    count: new Uint16Array(size),
    first: new Uint32Array(size),
    evidenceAt: new Float64Array(size),
    home: new Uint16Array(size),
  };
  subjects.readRows(from, end, rows);
  const { entries } = subjects;
  const excluded = new Uint8Array(2 ** 16).fill(1, 2, 3);
  const votes = {
    peer: new Uint16Array(8),
    claims: new Float64Array(8),
    x: new Float64Array(8),
    measure: new Float64Array(8),
    follows: new Uint8Array(8),
    excluded,
  };
  for (let i = 0; i < size; i++) {
    const row = from + i;
    const first = subjects.firstEntry(row);
    const count = subjects.peerCount(row);
    assert.equal(
      [rows.count[i], rows.first[i], rows.evidenceAt[i], rows.home[i]],
      [count, first, subjects.evidenceAt(row), subjects.homeOf(row)],
    );
    if (count === 0) continue;
    const cast = Array.from({ length: count }, (_, e) => first + e)
      .filter((entry) => entries.peer(entry) !== 2 && !entries.isVoid(entry))
      .map((entry) => {
        const [b, g, a] = [entries.lowering(entry) / 2, entries.raising(entry) / 2, entries.measure(entry) / 4];
        return [entries.peer(entry), b + g, b + g > 0 ? b / (b + g) : 0, a, entries.follows(entry)];
      });
    const end = entries.putVotes(first, count, Float64Array.of(1, 0.5), Float64Array.of(1, 0.25), 1, votes, 2);
    assert.equal(
      Array.from({ length: end - 2 }, (_, v) => 2 + v).map((v) => [
        votes.peer[v],
        votes.claims[v],
        votes.x[v],
        votes.measure[v],
        votes.follows[v],
      ]),
      cast,
    );
  }
  let held = 0;
  for (let row = 0; row < subjects.rows; row++) held += subjects.peerCount(row);
  assert.is(entries.size, held);
});

test('the slot mix depends on the key and on every word', () => {
  const words = new Uint32Array(8);
  const other = sipKey(Buffer.alloc(32, 8));
  assert.is.not(sipHash(key, words, 0, 8), sipHash(other, words, 0, 8));
  const seen = new Set([sipHash(key, words, 0, 8)]);
  for (let bit = 0; bit < 256; bit++) {
    const flipped = new Uint32Array(8);
    flipped[bit >> 5]! ^= 1 << (bit & 31);
    seen.add(sipHash(key, flipped, 0, 8));
  }
  assert.is(seen.size, 257);
});

test.run();
