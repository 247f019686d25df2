import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { writeTag } from '../../../src/core/columns/packed-keys.js';
import { EventColumns } from '../../../src/core/tables/event-columns.js';
import { EventIds, ID_PARTS, idPartOf } from '../../../src/core/tables/event-ids.js';

const tag = (i: number) => hash('sha256', `id ${i}`, 'binary').slice(0, 10);

test('every id is found under its own record and peer, and no other is', () => {
  const ids = new EventIds();
  const one = new EventColumns(1);
  const count = 200_000;
  for (let i = 0; i < count; i++) ids.insert(tag(i), i + 1 + (i % 3) * 0x100000000, i % 65_535);
  assert.is(ids.size, count);
  for (let i = 0; i < count; i++) {
    assert.is(ids.seqOf(tag(i)), i + 1 + (i % 3) * 0x100000000);
    assert.is(ids.peerOfEvent(one.onlyKeys(null, tag(i)).columns, 0), i % 65_535);
  }
  for (let i = count; i < 2 * count; i++) assert.is(ids.seqOf(tag(i)), 0);
});

test('room made beforehand changes only the time, whether too little or too much', () => {
  for (const room of [0, 1, 20_000, 200_000]) {
    const ids = new EventIds();
    ids.reserve(room);
    for (let i = 0; i < 40_000; i++) ids.insert(tag(i), i + 1, 3);
    for (let i = 0; i < 40_000; i++) assert.is(ids.seqOf(tag(i)), i + 1);
    assert.is(ids.seqOf(tag(40_000)), 0);
  }
});

test('ids of one part go in with room made for all of them, beside those that were there', () => {
  const ids = new EventIds();
  const [before, count] = [5_000, 100_000];
  for (let i = 0; i < before; i++) ids.insert(tag(i), i + 1, 3);
  const parts: number[][] = Array.from({ length: ID_PARTS }, () => []);
  const words = new Uint16Array(5);
  for (let i = before; i < count; i++) {
    writeTag(tag(i), words, 0);
    parts[idPartOf(words, 0)]!.push(i);
  }
  for (const [part, inside] of parts.entries()) {
    ids.makeRoom(part, inside.length);
    for (const i of inside) {
      writeTag(tag(i), words, 0);
      ids.insertWithRoom(words, 0, i + 1, 3);
    }
  }
  assert.is(ids.size, count);
  for (let i = 0; i < count; i++) assert.is(ids.seqOf(tag(i)), i + 1);
  assert.is(ids.seqOf(tag(count)), 0);
});

test('a walk meets every id once', () => {
  const ids = new EventIds();
  for (let i = 0; i < 5_000; i++) ids.insert(tag(i), i + 1, 3);
  const seen = new Map<string, number>();
  for (const held of ids.held()) {
    assert.is(held.peer, 3);
    const words = held.words.slice(held.at, held.at + 5);
    seen.set(Buffer.from(words.buffer).toString('latin1'), held.seq);
  }
  assert.is(ids.size, 5_000);
  assert.is(seen.size, 5_000);
  for (let i = 0; i < 5_000; i++) assert.is(seen.get(tag(i)), i + 1);
});

test('a repeated id stops the process, since decide should have refused it', () => {
  const ids = new EventIds();
  ids.insert(tag(1), 1, 0);
  assert.throws(() => ids.insert(tag(1), 2, 0), /repeats an id/);
});

test.run();
