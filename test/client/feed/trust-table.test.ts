/** The rows that the client keeps when it cannot keep all of them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TrustTable } from '../../../src/client/feed/trust-table.js';
import type { TrustValues } from '../../../src/client/player-trust.js';

const values: TrustValues = { score: 12, confidence: 0.5, verdict: 'untrusted', known: true };
const other: TrustValues = { score: 90, confidence: 0.5, verdict: 'trusted', known: true };

function answered(table: TrustTable, key: string, at = 0): void {
  const token = table.reading(key);
  table.answered(token, values, at);
  table.done([token]);
}

const publish = (table: TrustTable, keys: string) => {
  for (const key of keys) table.setPublished(key, values, 0);
};

/** Publishes a whole snapshot. */
function snapshot(table: TrustTable, keys: string): void {
  table.snapshotBegins();
  publish(table, keys);
  table.snapshotEnds();
}

/** Publishes rows and reads each once. */
function read(table: TrustTable, keys: string): void {
  publish(table, keys);
  for (const key of keys) table.get(key);
}

const held = (table: TrustTable, keys: string) => [...keys].filter((key) => table.get(key) !== undefined).join('');

test('the allow-list mark of a player in the stream is stored with the player', () => {
  const table = new TrustTable(8);
  const allowed: TrustValues = { score: 50, confidence: 0, verdict: 'neutral', known: true, allowed: true };
  table.setPublished('a', allowed, 0);
  table.setPublished('b', values, 0);
  assert.equal(table.get('a')?.published?.values, allowed);
  assert.equal(table.get('b')?.published?.values, values);
});

test('beyond its bound the least recently read goes', () => {
  // Among eight rows, one that was just read counts as near the end of the order.
  const table = new TrustTable(8);
  read(table, 'abcdefgh');
  for (const key of 'ab') table.get(key);
  for (const key of 'ij') answered(table, key, 10);
  assert.is(table.size, 8);
  assert.is(held(table, 'abcdefghij'), 'abefghij');
});

test('a player that was only streamed makes room for one that was read, the oldest first', () => {
  const table = new TrustTable(4);
  publish(table, 'abcd');
  table.get('a');
  answered(table, 'e', 10);
  answered(table, 'f', 10);
  assert.is(held(table, 'abcdef'), 'adef');
});

test('an answer that is no longer current is dropped before streamed players, a current one is not', () => {
  const table = new TrustTable(4);
  table.answerMs = 15;
  snapshot(table, 'ab');
  for (const [key, at] of [...'stuvw'].map((key, n) => [key, 10 * n] as const)) answered(table, key, at);
  assert.is(held(table, 'abstuvw'), 'abvw');
  assert.ok(table.complete, 'nobody who was told had to go');
  answered(table, 'x', 41);
  assert.is(held(table, 'abstuvwx'), 'bvwx');
  assert.not.ok(table.complete);
  table.setPublished('c', values, 50);
  assert.is(held(table, 'bcvwx'), 'bcwx', 'nor before anybody who is told');
});

test('a snapshot finds room among answers from before it, and drops those that it leaves', () => {
  const table = new TrustTable(4);
  table.answerMs = 15;
  for (const key of 'wxyz') answered(table, key, 0);
  table.snapshotBegins();
  for (const key of 'ab') table.setPublished(key, values, 1);
  assert.is(held(table, 'abwxyz'), 'abyz');
  answered(table, 'y', 1);
  table.snapshotEnds();
  assert.is(held(table, 'abwxyz'), 'aby');
  assert.ok(table.complete);
});

test('during a snapshot no player is known to be absent from the group', () => {
  const table = new TrustTable(4);
  for (const isOver of [true, false]) {
    table.snapshotBegins();
    publish(table, 'a');
    assert.not.ok(table.complete);
    if (isOver) table.snapshotEnds();
    assert.is(table.complete, isOver);
  }
});

test('an erasure that a snapshot overtakes is still an erasure', () => {
  const table = new TrustTable(4);
  table.setPublished('a', values, 0);
  const token = table.reading('a');
  table.snapshotBegins();
  table.erased(token);
  assert.is(table.get('a'), undefined);
});

test('a player that is only streamed never takes the place of one that was read', () => {
  const table = new TrustTable(3);
  read(table, 'abc');
  table.setPublished('x', values, 0);
  assert.is(held(table, 'abcx'), 'abc');
  table.setPublished('b', other, 0);
  assert.is(table.get('b')?.published?.values.verdict, 'trusted', 'those that are held stay current');
});

test('the cache is complete after a snapshot that fits, until a player finds no room', () => {
  const table = new TrustTable(3);
  assert.not.ok(table.complete);
  table.snapshotBegins();
  publish(table, 'abc');
  assert.not.ok(table.complete);
  table.snapshotEnds();
  assert.ok(table.complete);
  table.removePublished('a');
  table.setPublished('d', values, 0);
  assert.ok(table.complete);
  table.setPublished('e', values, 0);
  assert.not.ok(table.complete);
  snapshot(table, 'ab');
  assert.ok(table.complete);
  assert.is(held(table, 'abcde'), 'ab');
});

test('an answer is outdated once the stream has sent a value since the call began', () => {
  const table = new TrustTable(10);
  const early = table.reading('a');
  table.setPublished('a', other, 1);
  table.answered(early, values, 2);
  assert.is(table.get('a')?.published?.values.verdict, 'trusted');
  assert.is(table.get('a')?.answer, null);
  const second = table.reading('b');
  table.removePublished('b');
  table.answered(second, values, 2);
  assert.is(table.get('b'), undefined);
});

test('an answer stays beside a streamed value until the stream sends another or a snapshot begins', () => {
  const table = new TrustTable(10);
  const held = () => {
    const row = table.get('a');
    return [row?.published?.values.verdict, row?.answer?.values.verdict];
  };
  table.snapshotBegins();
  table.setPublished('a', other, 0);
  table.snapshotEnds();
  answered(table, 'a');
  answered(table, 'a');
  assert.equal(held(), ['trusted', 'untrusted']);
  table.setPublished('a', other, 1);
  assert.equal(held(), ['trusted', undefined]);
  table.snapshotBegins();
  answered(table, 'a');
  table.snapshotEnds();
  assert.equal(held(), [undefined, 'untrusted'], 'the snapshot did not name it');
});

test('an answer to a call from before a snapshot is outdated: the snapshot may lack its player', () => {
  const table = new TrustTable(10);
  const token = table.reading('a');
  table.snapshotBegins();
  table.snapshotEnds();
  table.answered(token, values, 1);
  table.done([token]);
  assert.is(table.get('a'), undefined);
});

test('a read that ends during an erasure does not end the forgetting of the erased player', () => {
  const table = new TrustTable(10);
  const erasing = table.reading('a');
  answered(table, 'a');
  table.erased(erasing);
  table.done([erasing]);
  assert.is(table.get('a'), undefined);
  const late = table.reading('a');
  const again = table.reading('a');
  table.erased(again);
  table.done([again]);
  table.answered(late, values, 1);
  assert.is(table.get('a'), undefined, 'an answer from before the erasure is no news');
});

test('rows that a stream updated are as old as the stream once it is over', () => {
  const table = new TrustTable(10);
  table.setPublished('a', values, 5);
  answered(table, 'b', 50);
  table.orphan(20);
  assert.equal([table.get('a')?.published?.at, table.get('b')?.answer?.at], [20, 50]);
});

test.run();
