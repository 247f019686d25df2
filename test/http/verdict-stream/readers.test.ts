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
import { nodeDouble, peerView, type Replaced, unobserved } from '../group-double.js';

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
  readonly turns?: Pick<ReadTurns, 'next'>;
}

/** All readers of a feed at `mark`, at 5 ms since 1970, with what the feed publishes to them. */
function readersOf({ feed = {}, group = {}, metrics = {}, turns = atOnce }: Parts = {}) {
  const listeners: FeedListener[] = [];
  const listen = (one: FeedListener) => {
    listeners.push(one);
    return () => void listeners.pop();
  };
  const verdicts = { mark, erasedAt: 0, listen, recent: () => [], walk: async () => null, ...feed };
  const node = nodeDouble({ verdicts, ...group });
  const deps = { node, clock: { now: () => 5 }, metrics: { ...unobserved, ...metrics } };
  const readers = new StreamReaders(deps, turns);
  const publish: FeedListener['publish'] = (rows, to) => listeners[0]!.publish(rows, to);
  /** Opens a stream and returns what is heard of it. */
  const open = (opening: Opening): Heard => {
    const to = new Heard();
    readers.open(to, opening);
    return to;
  };
  return { readers, listeners, publish, open };
}

type Opening = Parameters<StreamReaders['open']>[1];

/** The opening of a peer that knows all that was published; null: of a caller without a key. */
function openingOf(index: number | null, more: Partial<Opening> = {}): Opening {
  const peer = index === null ? null : peerView(index);
  return { lastEventId: '7-0123456789ab.3', peer, holder: index ?? '127.0.0.1', keyDigest: '', ...more };
}

const subject = 'ab'.repeat(32);
const next = { ...mark, position: 4 };

test('every reader gets an erasure at once, which is answered as soon as the feed continues', async () => {
  const { readers, publish, open } = readersOf();
  const all = [null, null, null].map((index) => open(openingOf(index)));
  await turnOfLoop();
  const sent = publish([{ subject, player: null }], next);
  for (const { text } of all) assert.match(text, /^data: \{"changes":\[\{"subject_hash":"(?:ab){32}","gone":true\}\]/m);
  await sent;
  readers.close();
});

test('only readers of a peer whose events were erased are notified of that', async () => {
  const { readers, publish, open } = readersOf();
  const all = [null, 0, 1, 1].map((index) => open(openingOf(index)));
  await turnOfLoop();
  await publish([{ subject, player: null, peers: [1, 2] }], next);
  const plain = `{"subject_hash":"${subject}","gone":true}`;
  const own = `{"subject_hash":"${subject}","gone":true,"subject_erased":true}`;
  assert.equal(
    all.map(({ text }) => /"changes":\[(.*)\]/.exec(text)?.[1]),
    [plain, plain, own, own],
  );
  readers.close();
});

/** Readers that know nothing yet, and the reasons for which they ended. */
function silentReaders(authEnabled: boolean) {
  const ends: string[] = [];
  const opened: Heard[] = [];
  const metrics = { streamEnded: (reason: string) => ends.push(reason) };
  const { readers, open: openOne } = readersOf({ group: { verdicts: nodeDouble().group.verdicts }, metrics });
  /** Opens readers of a peer, or of an address, which has no limit of its own; returns how many were refused. */
  const open = (index: number, count: number): number => {
    const opening = openingOf(index, { lastEventId: '', ...(authEnabled ? {} : { peer: null }) });
    let refusals = 0;
    for (let i = 0; i < count; i++) {
      if (readers.refusal(opening) === undefined) opened.push(openOne(opening));
      else refusals += 1;
    }
    return refusals;
  };
  return { readers, ends, open, openOne, opened };
}

test('a peer may have 16 streams, whatever room there is', () => {
  const { readers, open } = silentReaders(true);
  assert.equal([open(0, 20), open(1, 1)], [4, 0]);
  readers.close();
});

test('readers that missed changes get them in turn, one of them in each turn of the loop', async () => {
  const pending: (() => void)[] = [];
  const turns = new ReadTurns((run) => void pending.push(run));
  const walk = async () => ({ position: 3, players: publishedPlayers(subject), next: null });
  const { readers, open } = readersOf({ feed: { recent: () => null, walk }, turns });
  const all = [0, 0, 0, 0, 1].map((index) => open(openingOf(index, { lastEventId: '' })));
  const snapshots = () => all.map(({ text }) => (text.match(/event: snapshot/g) ?? []).length);
  await turnOfLoop();
  let sent = 0;
  for (let turnsSoFar = 0; sent === 0 || snapshots()[4] === 0; turnsSoFar++) {
    assert.ok(turnsSoFar < 20);
    for (const run of pending.splice(0)) run();
    await turnOfLoop();
    const now = snapshots().reduce((sum, count) => sum + count, 0);
    assert.ok(now - sent <= 1, 'one snapshot in a turn');
    sent = now;
  }
  assert.is(snapshots()[3], 0, 'the only stream of a peer does not wait for all streams of another one');
  readers.close();
});

test('if all streams are in use, only the peer with the most loses one to a peer with fewer', () => {
  const { readers, ends, open } = silentReaders(false);
  const each = limits.streamReadersMax / 2;
  for (const index of [0, 1]) assert.is(open(index, each), 0);
  assert.is(open(0, 1), 1, 'it has its share and more');
  const third = Math.floor(limits.streamReadersMax / 3);
  assert.is(open(2, third), 0);
  assert.equal(ends, new Array(third).fill('limit'));
  // From here on nobody has more than it could have.
  assert.ok(open(2, 10) >= 9);
  readers.close();
});

test('a reader is greeted with the terms of the stream, and counted from its opening to its end', async () => {
  let count = 0;
  const ends: string[] = [];
  const streamReaders = (now: number) => {
    count = now;
  };
  const metrics = { streamReaders, streamEnded: (reason: string) => ends.push(reason) };
  const { readers, listeners, open } = readersOf({ metrics });
  const first = open(openingOf(null));
  assert.equal([listeners.length, count], [1, 1]);
  open(openingOf(null));
  assert.equal([listeners.length, count], [1, 2]);
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
  assert.equal([listeners.length, count, ends], [1, 1, ['left']]);
  listeners[0]!.forgotten();
  assert.equal([listeners.length, count, ends], [0, 0, ['left', 'rebuilt']]);
  readers.close();
  assert.equal(readers.refusal(openingOf(null))?.details, { reason: 'draining' });
  const { text } = open(openingOf(null));
  assert.match(text, /^event: resume\ndata: \{"reason":"draining"/);
  assert.not.match(text, 'hello');
});

test('a reader that is catching up gets an erasure at once, and no change before it has caught up', async () => {
  const { readers, publish, open } = readersOf({ feed: { walk: () => new Promise<null>(() => undefined) } });
  const to = open(openingOf(null, { lastEventId: '' }));
  await turnOfLoop();
  await publish([{ subject, player: null }], null);
  assert.match(to.text, `{"changes":[{"subject_hash":"${subject}","gone":true}],"as_of":"1970-01-01T00:00:00.005Z"}`);
  await publish([{ subject, player: publishedPlayer(subject) }], next);
  assert.not.match(to.text, 'score":');
  readers.close();
});

test('a refused stream says whose limit was reached', () => {
  const { readers, open, openOne, opened } = silentReaders(true);
  const textOf = (index: number) => readers.refusal(openingOf(index))?.text;
  open(0, limits.streamReadersPerPeer);
  assert.equal([textOf(0), textOf(1)], ['this peer has reached its limit of readers', undefined]);
  for (let index = 1; index < limits.streamReadersMax / limits.streamReadersPerPeer; index++) open(index, 16);
  assert.equal([textOf(0), textOf(999)], ['this node has reached its limit of readers', undefined]);
  const fresh = openOne(openingOf(999, { lastEventId: '' }));
  assert.match(opened[0]!.text, '{"reason":"limit"');
  assert.not.match(opened[1]!.text, 'limit');
  assert.match(fresh.text, 'event: hello');
  readers.close();
});

test('a quiet change is sent to its own peers alone, and each peer sees its own marks', async () => {
  let rows = 0;
  const streamSynced = (count: number) => {
    rows += count;
  };
  const { readers, publish, open } = readersOf({ group: { disputedFor: () => [1] }, metrics: { streamSynced } });
  const all = [null, 0, 1].map((index) => open(openingOf(index)));
  await turnOfLoop();
  const player = publishedPlayer(subject);
  const seenBy = () =>
    all.map(({ text }) => [...(/"changes":\[(.*)\]/.exec(text)?.[1]?.matchAll(/disputed|gone|score/g) ?? [])].join());
  await publish([{ subject, player }], next);
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
  const { readers, open } = readersOf({ group: { peerByKeyDigest: (digest) => peers[Number(digest)] } });
  const heartbeats = ({ text }: Heard) => text.match(/^event: heartbeat$/gm)?.length ?? 0;
  const heard = await withBounds({ streamBeatMs: 2, streamHeartbeatMs: 2 }, async () => {
    const streams = [null, 0, 1, 2].map((index) => open(openingOf(index, { keyDigest: `${index ?? 'none'}` })));
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
