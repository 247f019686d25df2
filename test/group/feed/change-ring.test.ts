import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ChangeRing } from '../../../src/group/feed/change-feed.js';
import { publishedPlayer } from '../../support/published-players.js';
import { Random } from '../../support/random.js';

const row = (subject: string, score: number | null = 50) => {
  return { subject, player: score === null ? null : publishedPlayer(subject, score) };
};
/** Returns the rows of the ring as subjects with their scores. */
const after = (ring: ChangeRing, position: number) =>
  ring.after(position)?.map(({ subject, score }) => `${subject} ${score}`) ?? null;

test('the newest change of each player after a position is returned, oldest first', () => {
  const ring = new ChangeRing(10);
  ring.add(1, [row('a', 10), row('b')]);
  ring.add(2, [row('c'), row('a', 20)]);
  assert.equal(after(ring, 0), ['b 50', 'c 50', 'a 20']);
  assert.equal(after(ring, 1), ['c 50', 'a 20']);
  assert.equal([after(ring, 2), ring.size], [[], 3]);
});

test('the ring never holds more than its rows, and reports a position that is too old', () => {
  const ring = new ChangeRing(3);
  for (let position = 1; position <= 5; position++) ring.add(position, [row(`p${position}`)]);
  assert.equal([after(ring, 1), ring.size], [null, 3]);
  assert.equal(after(ring, 2), ['p3 50', 'p4 50', 'p5 50']);
});

test('an old change that a newer one replaced makes nothing too old when its place is needed', () => {
  const ring = new ChangeRing(2);
  ring.add(1, [row('a', 10)]);
  ring.add(2, [row('a', 20)]);
  ring.add(3, [row('b')]);
  assert.equal(after(ring, 0), ['a 20', 'b 50']);
});

test('an erased player leaves it at once, and its erasure is not noted', () => {
  const ring = new ChangeRing(4);
  ring.add(1, [row('a'), row('b')]);
  ring.add(2, [row('a', null)]);
  assert.equal(after(ring, 0), ['b 50']);
  ring.add(3, [row('a', 30)]);
  assert.equal(after(ring, 2), ['a 30']);
});

test('after it was cleared, the table contains only later changes', () => {
  const ring = new ChangeRing(4);
  ring.add(1, [row('a')]);
  ring.clear(1);
  assert.is(after(ring, 0), null);
  assert.equal(after(ring, 1), []);
  ring.add(2, [row('b')]);
  assert.equal(after(ring, 1), ['b 50']);
});

test('a reader that resumes within the ring ends with the same values as a reader of everything', () => {
  const random = new Random(7);
  const ring = new ChangeRing(8);
  /** The whole truth after each position. */
  const tables: Map<string, number>[] = [new Map()];
  let erasedAt = 0;
  for (let position = 1; position <= 2_000; position++) {
    const rows = Array.from({ length: 1 + random.below(3) }, () => {
      const subject = `s${random.below(12)}`;
      return row(subject, random.below(10) === 0 ? null : random.below(1000));
    });
    ring.add(position, rows);
    const table = new Map(tables.at(-1));
    for (const { subject, player } of rows) {
      if (player === null) table.delete(subject);
      else table.set(subject, player.score);
    }
    if (rows.some(({ player }) => player === null)) erasedAt = position;
    tables.push(table);
    for (let since = Math.max(erasedAt, position - 12); since <= position; since++) {
      const missed = ring.after(since);
      if (missed === null) continue;
      const held = new Map(tables[since]);
      for (const { subject, score } of missed) held.set(subject, score);
      assert.equal([...held].sort(), [...table].sort(), `from ${since} to ${position}`);
    }
  }
});

test.run();
