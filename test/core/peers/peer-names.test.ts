import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Peer, PeerNames } from '../../../src/core/peers/peers.js';

const named = (...names: readonly string[]): PeerNames =>
  new PeerNames(names.map((peerName, index) => ({ index, peerId: `id-${index}`, peerName }) as Peer));

test('a text names peers by id or name, whatever its case and punctuation', () => {
  const names = named('Alpha EU', 'Beta', 'Alpha');
  assert.equal(names.in('void the report of ALPHA, please; and id 1'), [1, 2]);
  assert.equal(names.in('"alpha-eu" did it'), [0, 2]);
  assert.equal(names.in('nobody'), []);
});

test('a text names a peer whatever its blanks, and by the beginning of its id', () => {
  const names = named('Alpha Server', 'BetaServer');
  for (const text of ['the report of AlphaServer', 'alpha-server', 'A l p h a Server']) {
    assert.equal(names.in(text), [0], text);
  }
  assert.equal(names.in('beta server'), [1]);
  const peer = { index: 3, peerId: '0c4b2d0e-6f0a-4e0b-9c43-5f1a2b3c4d5e', peerName: 'Gamma' } as Peer;
  for (const text of ['the peer 0C4B2D0E', '0c4b2d0e-6f0a', `(${peer.peerId})`]) {
    assert.equal(new PeerNames([peer]).in(text), [3], text);
  }
});

test('characters that stand for several words push no name out of the search', () => {
  for (const phrase of ['\uFDFA', '\u33C2']) assert.equal(named('Beta').in(`${phrase.repeat(490)} beta`), [0]);
});

// Found by review: one character that stands for four words made one text take half a minute.
test('the words of names and texts are bounded, also where one character stands for several', () => {
  const phrase = '\uFDFA';
  const long = phrase.repeat(200);
  const names = named(long, 'Beta');
  const joined: number[] = [];
  const join = Array.prototype.join;
  Array.prototype.join = function (this: unknown[], ...rest) {
    joined.push(this.length);
    return join.apply(this, rest);
  };
  try {
    names.in(phrase.repeat(500));
  } finally {
    Array.prototype.join = join;
  }
  assert.ok(Math.max(0, ...joined) <= 16, 'no run is longer than a known name');
  assert.equal(named('Beta').in(`${'word '.repeat(499)}beta`), [0]);
});

test.run();
