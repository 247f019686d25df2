/** All readers of the stream together, of a feed that tells what the test says. */
import { Writable } from 'node:stream';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupViews } from '../../../src/group/api.js';
import type { FeedListener, FeedPosition } from '../../../src/group/verdict-changes.js';
import type { RequestObserver } from '../../../src/http/deps.js';
import { ReadTurns } from '../../../src/http/room/read-turns.js';
import { StreamReaders } from '../../../src/http/verdict-stream/readers.js';
import { limits } from '../../../src/limits.js';
import { withBounds } from '../../sim/profile.js';
import { publishedPlayer, publishedPlayers } from '../../support/published-players.js';
import { until } from '../../support/until.js';
import { nodeDouble, peerView, type Replaced } from '../group-double.js';

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

interface Parts {
  readonly feed?: Partial<GroupViews['verdicts']>;
  readonly group?: Replaced;
  readonly metrics?: Partial<RequestObserver>;
}

/** All readers of a feed at `mark`, at 5 ms since 1970, with what the feed publishes to them. */
function readersOf({ feed = {}, group = {}, metrics = {} }: Parts = {}) {
  const listeners: FeedListener[] = [];
  const listen = (one: FeedListener) => {
    listeners.push(one);
    return () => void listeners.pop();
  };
  const verdicts = { mark, erasedAt: 0, listen, recent: () => [], walk: async () => null, ...feed };
  const none = { requestAnswered() {}, idRefused() {}, streamReaders() {}, streamSynced() {}, streamEnded() {} };
  const node = nodeDouble({ verdicts, ...group });
  const readers = new StreamReaders({ node, clock: { now: () => 5 }, metrics: { ...none, ...metrics } }, atOnce);
  const publish: FeedListener['publish'] = (rows, to) => listeners[0]!.publish(rows, to);
  return { readers, listeners, publish };
}

test('every reader gets an erasure at once, which is answered as soon as the feed continues', async () => {
  const { readers, publish } = readersOf();
  const all = [new Heard(), new Heard(), new Heard()];
  for (const to of all)
    readers.open(to, { lastEventId: '7-0123456789ab.3', peer: null, holder: '127.0.0.1', keyDigest: '' });
  await turnOfLoop();
  const sent = publish([{ subject: 'ab'.repeat(32), player: null }], { ...mark, position: 4 });
  for (const { text } of all) assert.match(text, /^data: \{"changes":\[\{"subject_hash":"(?:ab){32}","gone":true\}\]/m);
  await sent;
  readers.close();
});

test('only readers of a peer whose events were erased are notified of that', async () => {
  const { readers, publish } = readersOf();
  const all = [null, peerView(0), peerView(1), peerView(1)].map((peer) => {
    const to = new Heard();
    readers.open(to, { lastEventId: '7-0123456789ab.3', peer, holder: peer?.index ?? '127.0.0.1', keyDigest: '' });
    return to;
  });
  await turnOfLoop();
  const subject = 'ab'.repeat(32);
  await publish([{ subject, player: null, peers: [1, 2] }], { ...mark, position: 4 });
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
  const opened: Heard[] = [];
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
      if (readers.refusal(openingOf(index)) !== undefined) {
        refusals += 1;
        continue;
      }
      const to = new Heard();
      opened.push(to);
      readers.open(to, openingOf(index));
    }
    return refusals;
  };
  return { readers, ends, open, opened };
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

test('a reader is greeted with the terms of the stream, and counted from its opening to its end', async () => {
  let open = 0;
  const ends: string[] = [];
  const streamReaders = (count: number) => {
    open = count;
  };
  const { readers, listeners } = readersOf({ metrics: { streamReaders, streamEnded: (reason) => ends.push(reason) } });
  const opening = { lastEventId: '7-0123456789ab.3', peer: null, holder: 'one', keyDigest: '' };
  const [first, second, last] = [new Heard(), new Heard(), new Heard()];
  readers.open(first, opening);
  assert.equal([listeners.length, open], [1, 1]);
  readers.open(second, opening);
  assert.equal([listeners.length, open], [1, 2]);
  assert.equal(JSON.parse(/^event: hello\ndata: (.*)$/m.exec(first.text)?.[1] ?? ''), {
    version: 1,
    group_id: 'local',
    identity_mode: 'privacy-first',
    now: '1970-01-01T00:00:00.005Z',
    heartbeat_ms: 5_000,
    score_step: 1,
    confidence_step: 0.05,
  });
  first.destroy();
  await turnOfLoop();
  assert.equal([listeners.length, open, ends], [1, 1, ['left']]);
  listeners[0]!.forgotten();
  assert.equal([listeners.length, open, ends], [0, 0, ['left', 'rebuilt']]);
  readers.close();
  assert.equal(readers.refusal(opening)?.details, { reason: 'draining' });
  readers.open(last, opening);
  assert.match(last.text, /^event: resume\ndata: \{"reason":"draining"/);
  assert.not.match(last.text, 'hello');
});

test('a reader that is catching up gets an erasure at once, and no change before it has caught up', async () => {
  const { readers, publish } = readersOf({ feed: { walk: () => new Promise<null>(() => undefined) } });
  const to = new Heard();
  readers.open(to, { lastEventId: '', peer: null, holder: 'one', keyDigest: '' });
  await turnOfLoop();
  const subject = 'ab'.repeat(32);
  await publish([{ subject, player: null }], null);
  assert.match(to.text, `{"changes":[{"subject_hash":"${subject}","gone":true}],"as_of":"1970-01-01T00:00:00.005Z"}`);
  await publish([{ subject, player: publishedPlayer(subject) }], { ...mark, position: 4 });
  assert.not.match(to.text, 'score":');
  readers.close();
});

test('a refused stream says whose limit was reached', () => {
  const { readers, open, opened } = silentReaders(true);
  const textOf = (index: number) => readers.refusal({ peer: peerView(index), holder: index })?.text;
  open(0, limits.streamReadersPerPeer);
  assert.equal([textOf(0), textOf(1)], ['this peer has reached its limit of readers', undefined]);
  for (let index = 1; index < limits.streamReadersMax / limits.streamReadersPerPeer; index++) open(index, 16);
  assert.equal([textOf(0), textOf(999)], ['this node has reached its limit of readers', undefined]);
  const to = new Heard();
  const fresh = { lastEventId: '', peer: peerView(999), holder: 999, keyDigest: '' };
  const oldest = opened[0]!;
  readers.open(to, fresh);
  assert.match(oldest.text, '{"reason":"limit"');
  assert.not.match(opened[1]!.text, 'limit');
  assert.match(to.text, 'event: hello');
  readers.close();
});

test('a quiet change is sent to its own peers alone, and each peer sees its own marks', async () => {
  let rows = 0;
  const streamSynced = (count: number) => {
    rows += count;
  };
  const { readers, publish } = readersOf({ group: { disputedFor: () => [1] }, metrics: { streamSynced } });
  const all = [null, peerView(0), peerView(1)].map((peer) => {
    const to = new Heard();
    readers.open(to, { lastEventId: '7-0123456789ab.3', peer, holder: peer?.index ?? 'x', keyDigest: '' });
    return to;
  });
  await turnOfLoop();
  const subject = 'ab'.repeat(32);
  const player = publishedPlayer(subject);
  const seenBy = () =>
    all.map(({ text }) => [...(/"changes":\[(.*)\]/.exec(text)?.[1]?.matchAll(/disputed|gone|score/g) ?? [])].join());
  await publish([{ subject, player }], { ...mark, position: 4 });
  assert.equal(seenBy(), ['score', 'score', 'score,disputed']);
  assert.is(rows, 3);
  for (const one of all) one.text = '';
  await publish([{ subject, player, quiet: true, peers: [0] }], { ...mark, position: 5 });
  assert.equal(seenBy(), ['', 'score', '']);
  await publish([], { ...mark, position: 6 });
  await publish([{ subject, player }], null);
  assert.equal(seenBy(), ['', 'score', '']);
  readers.close();
});

test('with each beat a stream whose key is no longer active ends, and every other one gets a heartbeat', async () => {
  const peers = [peerView(0), peerView(1, { status: 'suspended' })];
  const { readers } = readersOf({ group: { peerByKeyDigest: (digest) => peers[Number(digest)] } });
  const heartbeats = ({ text }: Heard) => text.match(/^event: heartbeat$/gm)?.length ?? 0;
  const heard = await withBounds({ streamBeatMs: 2, streamHeartbeatMs: 2 }, async () => {
    const streams = [null, 0, 1, 2].map((index) => {
      const to = new Heard();
      const peer = index === null ? null : peerView(index);
      readers.open(to, {
        lastEventId: '7-0123456789ab.3',
        peer,
        holder: index ?? 'x',
        keyDigest: `${index ?? 'none'}`,
      });
      return to;
    });
    try {
      await until(() => streams.slice(0, 2).every((stream) => heartbeats(stream) > 2));
    } finally {
      readers.close();
    }
    return streams;
  });
  const reasons = heard.map(({ text }) => /"reason":"(\w+)"/.exec(text)?.[1]);
  assert.equal(reasons, ['draining', 'draining', 'credentials', 'credentials']);
});

test.run();
