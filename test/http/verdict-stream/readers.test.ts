/** All readers of the stream together, of a feed that tells what the test says. */
import { Writable } from 'node:stream';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FeedListener, FeedPosition } from '../../../src/group/verdict-changes.js';
import { ReadTurns } from '../../../src/http/room/read-turns.js';
import { StreamReaders } from '../../../src/http/verdict-stream/readers.js';
import { limits } from '../../../src/limits.js';
import { publishedPlayers } from '../../support/published-players.js';
import { nodeDouble, peerView } from '../group-double.js';

const atOnce = { next: () => Promise.resolve() };
const mark: FeedPosition = { seq: 7, asOf: 0, generation: '0123456789ab', position: 3 };

/** Takes what is written at once. */
class Heard extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

test('every reader gets an erasure at once, which is answered as soon as the feed continues', async () => {
  let listener: FeedListener | undefined;
  const listen = (one: FeedListener) => {
    listener = one;
    return () => undefined;
  };
  const verdicts = { mark, erasedAt: 0, listen, recent: () => [], walk: async () => null };
  const readers = new StreamReaders(
    {
      node: nodeDouble({ verdicts }),
      clock: { now: () => 0 },
      metrics: { requestAnswered() {}, idRefused() {}, streamReaders() {}, streamSynced() {}, streamEnded() {} },
    },
    atOnce,
  );
  const all = [new Heard(), new Heard(), new Heard()];
  for (const to of all)
    readers.open(to, { lastEventId: '7-0123456789ab.3', peer: null, holder: '127.0.0.1', keyDigest: '' });
  await turnOfLoop();
  const sent = listener?.publish([{ subject: 'ab'.repeat(32), player: null }], { ...mark, position: 4 });
  for (const { text } of all) assert.match(text, /^data: \{"changes":\[\{"subject_hash":"(?:ab){32}","gone":true\}\]/m);
  await sent;
  readers.close();
});

test('only readers of a peer whose events were erased are notified of that', async () => {
  let listener: FeedListener | undefined;
  const listen = (one: FeedListener) => {
    listener = one;
    return () => undefined;
  };
  const verdicts = { mark, erasedAt: 0, listen, recent: () => [], walk: async () => null };
  const readers = new StreamReaders(
    {
      node: nodeDouble({ verdicts }),
      clock: { now: () => 0 },
      metrics: { requestAnswered() {}, idRefused() {}, streamReaders() {}, streamSynced() {}, streamEnded() {} },
    },
    atOnce,
  );
  const all = [null, peerView(0), peerView(1), peerView(1)].map((peer) => {
    const to = new Heard();
    readers.open(to, { lastEventId: '7-0123456789ab.3', peer, holder: peer?.index ?? '127.0.0.1', keyDigest: '' });
    return to;
  });
  await turnOfLoop();
  const subject = 'ab'.repeat(32);
  await listener?.publish([{ subject, player: null, peers: [1, 2] }], { ...mark, position: 4 });
  const plain = `{"subject_hash":"${subject}","gone":true}`;
  const own = `{"subject_hash":"${subject}","gone":true,"subject_erased":true}`;
  assert.equal(
    all.map(({ text }) => /"changes":\[(.*)\]/.exec(text)?.[1]),
    [plain, plain, own, own],
  );
  readers.close();
});

function silentReaders(authEnabled: boolean) {
  const ends: string[] = [];
  const readers = new StreamReaders(
    {
      node: nodeDouble(),
      clock: { now: () => 0 },
      metrics: {
        requestAnswered() {},
        idRefused() {},
        streamReaders() {},
        streamSynced() {},
        streamEnded: (reason) => ends.push(reason),
      },
    },
    atOnce,
  );
  /** Without authentication only the addresses are known, which have no limit of their own. */
  const openingOf = (index: number) => ({
    lastEventId: '',
    peer: authEnabled ? peerView(index) : null,
    holder: index,
    keyDigest: '',
  });
  /** Opens readers of a peer; returns how many were refused. */
  const open = (index: number, count: number): number => {
    let refusals = 0;
    for (let i = 0; i < count; i++) {
      if (readers.refusal(openingOf(index)) === undefined) readers.open(new Heard(), openingOf(index));
      else refusals += 1;
    }
    return refusals;
  };
  return { readers, ends, open };
}

test('a peer may have 16 streams, whatever room there is', () => {
  const { readers, open } = silentReaders(true);
  assert.is(open(0, 20), 4);
  assert.is(open(1, 1), 0);
  assert.is(limits.streamReadersPerPeer, 16);
  readers.close();
});

test('readers that missed changes get them in turn, one of them in each turn of the loop', async () => {
  const pending: (() => void)[] = [];
  const turns = new ReadTurns((run) => void pending.push(run));
  const walk = async () => ({ position: 3, players: publishedPlayers('ab'.repeat(32)), next: null });
  const verdicts = { mark, erasedAt: 0, listen: () => () => undefined, recent: () => null, walk };
  const metrics = { requestAnswered() {}, idRefused() {}, streamReaders() {}, streamSynced() {}, streamEnded() {} };
  const readers = new StreamReaders({ node: nodeDouble({ verdicts }), clock: { now: () => 0 }, metrics }, turns);
  const all = [0, 0, 0, 0, 1].map((index) => {
    const to = new Heard();
    readers.open(to, { lastEventId: '', peer: peerView(index), holder: index, keyDigest: '' });
    return to;
  });
  const snapshots = () => all.map(({ text }) => (text.match(/event: snapshot/g) ?? []).length);
  const turn = async () => {
    for (const run of pending.splice(0)) run();
    await turnOfLoop();
  };
  await turnOfLoop();
  let sent = 0;
  for (let turnsSoFar = 0; sent === 0 || snapshots()[4] === 0; turnsSoFar++) {
    assert.ok(turnsSoFar < 20);
    await turn();
    const now = snapshots().reduce((sum, count) => sum + count, 0);
    assert.ok(now - sent <= 1, 'one snapshot in a turn');
    sent = now;
  }
  assert.ok(snapshots()[3] === 0, 'the only stream of a peer does not wait for all streams of another one');
  readers.close();
});

test('if all streams are in use, only the peer with the most loses one to a peer with fewer', () => {
  const { readers, ends, open } = silentReaders(false);
  const each = limits.streamReadersMax / 2;
  for (const index of [0, 1]) assert.is(open(index, each), 0);
  assert.is(open(0, 1), 1, 'it has its share and more');
  const third = limits.streamReadersMax / 3;
  assert.is(open(2, Math.floor(third)), 0);
  assert.equal(ends, new Array(Math.floor(third)).fill('limit'));
  // From here on nobody has more than it could have.
  assert.ok(open(2, 10) >= 9);
  readers.close();
});

test.run();
