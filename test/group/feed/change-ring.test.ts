import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ChangeRing } from '../../../src/group/feed/change-ring.js';
import { Random } from '../../support/random.js';

const row = (subject: string, text: string | null = `${subject}!`) => ({ subject, text });

test('changes after a position are returned, oldest first', () => {
  const ring = new ChangeRing(10);
  ring.add(1, [row('a'), row('b')]);
  ring.add(2, [row('c')]);
  assert.equal(ring.after(0), ['a!', 'b!', 'c!']);
  assert.equal(ring.after(1), ['c!']);
  assert.equal(ring.after(2), []);
});

test('only the newest change of each player is stored', () => {
  const ring = new ChangeRing(10);
  ring.add(1, [row('a', 'old'), row('b')]);
  ring.add(2, [row('a', 'new')]);
  assert.equal(ring.after(0), ['b!', 'new']);
  assert.is(ring.size, 2);
});

test('the ring never holds more than its rows, and reports a position that is too old', () => {
  const ring = new ChangeRing(3);
  for (let position = 1; position <= 5; position++) ring.add(position, [row(`p${position}`)]);
  assert.is(ring.size, 3);
  assert.is(ring.after(1), null);
  assert.equal(ring.after(2), ['p3!', 'p4!', 'p5!']);
});

test('an old change that a newer one replaced makes nothing too old when its place is needed', () => {
  const ring = new ChangeRing(2);
  ring.add(1, [row('a', 'old')]);
  ring.add(2, [row('a', 'new')]);
  ring.add(3, [row('b')]);
  assert.equal(ring.after(0), ['new', 'b!']);
});

test('an erased player leaves it at once, and its erasure is not noted', () => {
  const ring = new ChangeRing(4);
  ring.add(1, [row('a'), row('b')]);
  ring.add(2, [row('a', null)]);
  assert.equal(ring.after(0), ['b!']);
  assert.not(JSON.stringify([ring.after(0), ring.size]).includes('a!'));
  ring.add(3, [row('a', 'back')]);
  assert.equal(ring.after(2), ['back']);
});

test('after it was cleared, the table contains only later changes', () => {
  const ring = new ChangeRing(4);
  ring.add(1, [row('a')]);
  ring.clear(1);
  assert.is(ring.after(0), null);
  assert.equal(ring.after(1), []);
  ring.add(2, [row('b')]);
  assert.equal(ring.after(1), ['b!']);
});

test('a reader that resumes within the ring ends with the same values as a reader of everything', () => {
  const random = new Random(7);
  const ring = new ChangeRing(8);
  /** The whole truth after each position. */
  const tables: Map<string, string>[] = [new Map()];
  let erasedAt = 0;
  for (let position = 1; position <= 2_000; position++) {
    const rows = Array.from({ length: 1 + random.below(3) }, () => {
      const subject = `s${random.below(12)}`;
      return row(subject, random.below(10) === 0 ? null : `${subject} ${position} ${random.below(1000)}`);
    });
    ring.add(position, rows);
    const table = new Map(tables.at(-1));
    for (const { subject, text } of rows) {
      if (text === null) table.delete(subject);
      else table.set(subject, text);
    }
    if (rows.some(({ text }) => text === null)) erasedAt = position;
    tables.push(table);
    for (let since = Math.max(erasedAt, position - 12); since <= position; since++) {
      const missed = ring.after(since);
      if (missed === null) continue;
      const held = new Map(tables[since]);
      for (const text of missed) held.set(text.split(' ')[0]!, text);
      assert.equal([...held].sort(), [...table].sort(), `from ${since} to ${position}`);
    }
  }
});

test.run();
