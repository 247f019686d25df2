/** Peers that are first about nearly everybody: nobody follows them, and one that begins most says nothing. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FirstPeers } from '../../../src/core/registers/first-peers.js';

/** Each of three peers begins so many pairs, all after `first` where `isAfter` says so. */
function noted(beginnings: number, isAfter: (n: number) => boolean): FirstPeers {
  const peers = new FirstPeers();
  for (let n = 0; n < beginnings; n++) {
    for (const peer of [1, 2, 3]) peers.note(peer, isAfter(n) ? [0] : []);
    peers.note(0, []);
  }
  return peers;
}

test('a peer before nearly all beginnings of three others is first, and no other peer is', () => {
  const peers = noted(12, () => true);
  assert.equal(
    [0, 1, 2, 3].map((peer) => peers.has(peer)),
    [true, false, false, false],
  );
});

test('a first peer is heard again once others begin before it', () => {
  const peers = noted(20, () => true);
  for (let n = 0; n < 100; n++) for (const peer of [1, 2, 3]) peers.note(peer, []);
  assert.is(peers.has(0), false);
});

test('a first peer that begins no more often than all others together is heard', () => {
  const peers = noted(20, () => true);
  for (let n = 0; n < 40; n++) peers.note(0, []);
  assert.equal([peers.has(0), peers.saysNothing(0)], [true, false]);
  peers.note(0, []);
  assert.is(peers.saysNothing(0), true, 'one more than all others');
});

test('a peer that begins nothing itself is first only before half of all that begin', () => {
  const isFirst = (beginning: number) => {
    const peers = new FirstPeers();
    for (let n = 0; n < 16; n++) for (let peer = 1; peer <= beginning; peer++) peers.note(peer, peer <= 3 ? [0] : []);
    return peers.has(0);
  };
  assert.equal([isFirst(6), isFirst(7)], [true, false]);
});

test('a peer is first before exactly seven tenths of the beginnings of three others, and not before fewer', () => {
  const isFirst = (before: number) => noted(20, (n) => n < before).has(0);
  assert.equal([isFirst(14), isFirst(13)], [true, false]);
});

test('a peer counts among those that begin from its eighth beginning on, and never against itself', () => {
  const isFirst = (beginnings: number) => {
    const peers = new FirstPeers();
    for (const peer of [1, 2, 3]) for (let n = 0; n < beginnings; n++) peers.note(peer, [0]);
    for (const peer of [0, 4, 5, 6]) for (let n = 0; n < 8; n++) peers.note(peer, []);
    // Seven beginnings do not count, and every sixteenth one leads to an examination.
    for (let n = 0; n < 7; n++) peers.note(7, []);
    for (let n = 3 * beginnings + 39; n % 16 !== 0; n++) peers.note(8 + n, []);
    return peers.has(0);
  };
  assert.equal([isFirst(8), isFirst(7)], [true, false]);
});

test('old beginnings fade: a peer that is always first from now on counts as such soon', () => {
  const isFirst = (newer: number) => noted(64 + newer, (n) => n >= 64).has(0);
  assert.equal([isFirst(40), isFirst(60)], [false, true]);
});

test.run();
