/** Signatures are remembered for as long as they could be replayed, in bounded memory. */
import { randomBytes } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ReplayMemory } from '../../../src/http/signing/replay-memory.js';
import { limits } from '../../../src/limits.js';

const now = 1_700_000_000;

test('a signature that was noted is known until its window is over, and others are new', () => {
  const memory = new ReplayMemory();
  const signatures = Array.from({ length: 5_000 }, (_, i) => ({ bytes: randomBytes(64), created: now - (i % 300) }));
  for (const { bytes, created } of signatures) {
    assert.is(memory.state(bytes, created), 'new');
    memory.add(bytes, created, now);
  }
  for (const { bytes, created } of signatures) assert.is(memory.state(bytes, created), 'known');
  assert.is(memory.size, 5_000);
});

test('a signature whose first bytes are zeros is known like any other', () => {
  const memory = new ReplayMemory();
  memory.add(new Uint8Array(64), now, now);
  assert.is(memory.state(new Uint8Array(64), now), 'known');
});

test('each bit of the first 8 bytes distinguishes a signature from others, and no later byte does', () => {
  const memory = new ReplayMemory();
  const withBit = (bit: number) => new Uint8Array(64).fill(1 << (bit % 8), bit >> 3, (bit >> 3) + 1);
  for (let bit = 0; bit < 64; bit++) {
    assert.is(memory.state(withBit(bit), now), 'new', `bit ${bit}`);
    memory.add(withBit(bit), now, now);
  }
  for (let bit = 0; bit < 64; bit++) assert.is(memory.state(withBit(bit), now), 'known', `bit ${bit}`);
  assert.is(memory.state(withBit(0).fill(1, 8), now), 'known');
});

test('a memory counts exactly, and drops the signatures of the oldest 10 s once it holds one too many', () => {
  const memory = new ReplayMemory(400);
  const add = (count: number, created: number) => {
    for (let n = 0; n < count; n++) memory.add(randomBytes(64), created, now);
  };
  add(300, now);
  add(100, now + 10);
  assert.is(memory.size, 400);
  assert.is(memory.state(randomBytes(64), now), 'new');
  add(1, now + 19);
  assert.is(memory.size, 101);
  add(20, now + 20);
  add(280, now + 30);
  assert.is(memory.size, 300, 'the slice of 101 is dropped');
  add(101, now + 40);
  assert.is(memory.size, 381, 'the slice of 20 is dropped');
  assert.equal([memory.state(randomBytes(64), now + 29), memory.state(randomBytes(64), now + 30)], ['too_old', 'new']);
});

test('signatures that cannot be replayed any more are dropped', () => {
  const memory = new ReplayMemory();
  for (let s = 0; s < 2_000; s++) memory.add(randomBytes(64), now + s, now + s);
  assert.ok(memory.size <= limits.signatureWindowS + 10, String(memory.size));
});

test('a full memory accepts no signature twice: one as old as the dropped ones is too old', () => {
  const memory = new ReplayMemory(1_000);
  const signatures = Array.from({ length: 3_000 }, (_, i) => ({
    bytes: randomBytes(64),
    created: now + Math.floor(i / 20),
  }));
  for (const { bytes, created } of signatures) memory.add(bytes, created, now);
  assert.ok(memory.size <= 1_000);
  for (const { bytes, created } of signatures) assert.is.not(memory.state(bytes, created), 'new');
  assert.is(memory.state(randomBytes(64), now + 149), 'new');
});

test.run();
