/** The cache that the stream feeds, against a double of the node's side, in virtual time. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../src/client/bounds.js';
import type { Feed } from '../../src/client/call-types.js';
import type { TrustClientOptions } from '../../src/client/client-options.js';
import { saltCheckOf } from '../../src/client/ids/salt-check.js';
import { TrustClient } from '../../src/client/trust-client.js';
import type { TrustError } from '../../src/client/trust-error.js';
import { Random } from '../support/random.js';
import { refusal, type Scripted } from './scripted-transport.js';
import {
  bad,
  type DoubleOptions,
  frame,
  good,
  hashOf,
  type PublishedValues,
  rowOf,
  StreamDouble,
  salt,
} from './stream-double.js';
import { VirtualRuntime } from './virtual-runtime.js';

interface Scene {
  readonly runtime: VirtualRuntime;
  readonly node: StreamDouble;
  readonly client: TrustClient;
}

function scene(double: Partial<DoubleOptions> = {}, options: Partial<TrustClientOptions> = {}): Scene {
  const runtime = new VirtualRuntime();
  const node = new StreamDouble({ runtime, ...double });
  const client = new TrustClient({
    url: 'http://node',
    apiKey: 'key',
    groupSalt: salt,
    transport: node,
    runtime,
    ...options,
  });
  return { runtime, node, client };
}

async function following(
  double: Partial<DoubleOptions> = {},
  options: Partial<TrustClientOptions> = {},
  players = ['bad', 'good'],
) {
  const made = scene(double, options);
  for (const player of players) made.node.board.set(hashOf(player), player.startsWith('bad') ? bad : good);
  const feed = made.client.follow();
  await made.runtime.until(feed.live());
  return { ...made, feed };
}

/** Reads these players, and says which call it took. */
async function read({ client, runtime, node }: Scene, ...players: string[]) {
  const before = node.calls;
  const trusts = await runtime.until(client.scores(players));
  return { trusts, calls: node.calls - before };
}

/** Ends the stream, and lets nobody connect again. */
async function loseStream({ runtime, node }: Scene): Promise<void> {
  node.refuse = () => new Error('no way');
  node.connection.end();
  await runtime.advance(1);
}

test('after the snapshot reads are local, of players with and without events', async () => {
  const made = await following();
  const { trusts, calls } = await read(made, 'bad', 'nobody', 'good');
  assert.is(calls, 0);
  assert.equal(
    trusts.map(({ score, verdict, known, source }) => `${score} ${verdict} ${known} ${source}`),
    ['12.5 untrusted true cache', '50 neutral false cache', '91 trusted true cache'],
  );
  assert.is(trusts[0]?.asOf, made.runtime.now());
  assert.equal([made.feed.state.phase, made.feed.state.complete], ['live', true]);
  const empty = await following({}, {}, []);
  assert.is((await read(empty, 'nobody')).calls, 0, 'a group without players has a snapshot too');
});

test('a feed, which callers may log, shows neither the key nor the salt', async () => {
  const apiKey = 'the-key-of-the-peer';
  const { feed } = await following({}, { apiKey });
  const printed = inspect(feed, { depth: 9 }) + JSON.stringify(feed);
  assert.equal([printed.includes(apiKey), printed.includes(salt)], [false, false]);
});

test('changes, newcomers and erasures reach the cache', async () => {
  const made = await following();
  made.node.change([hashOf('bad'), { ...bad, score: 35, verdict: 'suspicious' }], [hashOf('new'), good]);
  made.node.change([hashOf('good'), null]);
  await made.runtime.advance(1);
  const { trusts, calls } = await read(made, 'bad', 'new', 'good');
  assert.equal(
    [calls, ...trusts.map(({ verdict, known }) => `${verdict} ${known}`)],
    [0, 'suspicious true', 'trusted true', 'neutral false'],
  );
  assert.is(made.feed.state.seq, 2);
});

test('an erased player is forgotten at once, one whose erasure waits for the operator is not', async () => {
  const made = await following();
  made.node.erasure = async () => ({ status: 202, body: { status: 'pending', receipt: 'r' } });
  assert.is((await made.runtime.until(made.client.eraseSubject('bad'))).status, 'pending');
  const pending = await read(made, 'bad');
  assert.equal([pending.calls, pending.trusts[0]?.verdict], [0, 'untrusted']);
  made.node.erasure = async () => ({ status: 200, body: { events_erased: 1, receipt: 'r' } });
  await made.runtime.until(made.client.eraseSubject('bad'));
  const erased = await read(made, 'bad');
  assert.equal([erased.calls, erased.trusts[0]?.known], [0, false]);
});

test('a player unknown to the node is forgotten too, since an earlier attempt may have erased it', async () => {
  const made = scene();
  made.node.board.set(hashOf('bad'), bad);
  await read(made, 'bad');
  made.node.erasure = async () => refusal(404, 'subject_not_found');
  const error = await made.runtime.until(made.client.eraseSubject('bad').catch((reason: unknown) => reason));
  assert.is((error as TrustError).code, 'subject_not_found');
  made.node.refuseCalls = () => new Error('gone');
  assert.is((await read(made, 'bad')).trusts[0]?.source, 'assumed');
});

test('a value that the stream sends of an erased player before the answer survives the answer', async () => {
  const made = await following();
  made.node.erasure = async () => {
    made.node.change([hashOf('bad'), null]);
    made.node.change([hashOf('bad'), good]);
    while (made.feed.state.seq < 2) await new Promise((resolve) => setImmediate(resolve));
    return { status: 200, body: { events_erased: 1, receipt: 'r' } };
  };
  await made.client.eraseSubject('bad');
  const { trusts, calls } = await read(made, 'bad');
  assert.equal([calls, trusts[0]?.verdict], [0, 'trusted']);
});

test('a stream that is cut resumes after the last complete state, and sends the missed changes', async () => {
  const made = await following({ rowsPerFrame: 2 });
  made.node.change([hashOf('bad'), good]);
  await made.runtime.advance(1);
  // The first frame of the next record's three rows arrives, without an id.
  const partial = frame('change', { changes: [rowOf(hashOf('good'), bad)], as_of: made.node.asOf() });
  made.node.write(made.node.connection, partial);
  made.node.connection.break(new Error('cut'));
  made.node.change([hashOf('good'), bad], [hashOf('new'), good], [hashOf('newer'), good]);
  await made.runtime.advance(2 * bounds.streamBackoffBaseMs);
  assert.is(made.node.connections.length, 2);
  assert.is(made.node.connection.lastEventId, '1-0');
  made.node.heartbeat();
  await made.runtime.advance(1);
  const { trusts, calls } = await read(made, 'bad', 'good', 'newer');
  assert.equal([calls, ...trusts.map(({ score }) => score)], [0, 91, 12.5, 91]);
});

test('while the stream is lost reads call the node, and report their age once the node is unreachable too', async () => {
  const made = await following();
  await loseStream(made);
  assert.is(made.feed.state.phase, 'connecting');
  const called = await read(made, 'bad');
  assert.equal([called.calls, called.trusts[0]?.source], [1, 'node']);
  made.node.refuseCalls = () => new Error('gone');
  await made.runtime.advance(30_000);
  const { trusts } = await read(made, 'good');
  assert.is(trusts[0]?.source, 'last-known');
  assert.is(trusts[0]?.score, 91);
  assert.ok(made.runtime.now() - trusts[0]!.asOf! >= 30_000);
});

/**
 * Less than a step from `bad` each, and more from each other; a verdict is published if it differs from the one
 * published last.
 */
const nearly: PublishedValues = { score: 12.9, confidence: 0.64, verdict: 'suspicious' };
const barely: PublishedValues = { score: 12.1, confidence: 0.56, verdict: 'untrusted' };

test('an answer from while the stream was lost does not survive the reconnection of the stream', async () => {
  const made = await following();
  const { node, runtime } = made;
  await loseStream(made);
  node.board.set(hashOf('bad'), nearly);
  assert.is((await read(made, 'bad')).trusts[0]?.verdict, 'suspicious');
  // Back at what the stream sent last, it has nothing to send.
  node.board.set(hashOf('bad'), barely);
  node.refuse = null;
  while (made.feed.state.phase !== 'live') await runtime.advance(10);
  const { calls, trusts } = await read(made, 'bad');
  assert.equal([calls, trusts[0]?.source, trusts[0]?.verdict, trusts[0]?.confidence], [0, 'cache', 'untrusted', 0.6]);
});

test('once the node is unreachable the newest value counts: from the stream, or from a later answer', async () => {
  const made = await following();
  const { node, runtime } = made;
  await loseStream(made);
  node.board.set(hashOf('bad'), nearly);
  const answeredAt = (await read(made, 'bad')).trusts[0]!.asOf!;
  node.refuseCalls = () => new Error('gone');
  await runtime.advance(1_000);
  const [lost, other] = (await read(made, 'bad', 'good')).trusts;
  assert.equal(
    [lost?.source, lost?.verdict, other?.source, other?.verdict],
    ['last-known', 'suspicious', 'last-known', 'trusted'],
  );
  assert.ok(Math.abs(lost!.asOf! - answeredAt) < 1, 'to the ms');
  assert.is(other?.asOf, made.feed.state.asOf);
  node.refuse = null;
  while (made.feed.state.phase !== 'live') await runtime.advance(10);
  const currentTo = made.feed.state.asOf;
  node.refuse = () => new Error('no way');
  node.connection.end();
  await runtime.advance(1_000);
  const [again] = (await read(made, 'bad')).trusts;
  assert.equal([again?.source, again?.verdict], ['last-known', 'untrusted']);
  assert.ok(Math.abs(again!.asOf! - currentTo!) < 1);
});

test('an id that is too old is reset: a fresh snapshot drops whom it does not name', async () => {
  const made = await following({ kept: 2 });
  made.node.connection.end();
  made.node.change([hashOf('good'), null]);
  for (let index = 0; index < 5; index++) made.node.change([hashOf('bad'), { ...bad, score: index }]);
  await made.runtime.advance(2 * bounds.streamBackoffBaseMs);
  assert.is(made.node.connection.lastEventId, '0-0');
  const { trusts, calls } = await read(made, 'good', 'bad');
  assert.equal([calls, trusts[0]?.known, trusts[1]?.score], [0, false, 4]);
});

test('a cut in the snapshot after a reset restarts it, and drops players of the first one only', async () => {
  const made = await following({ kept: 1, rowsPerFrame: 1 }, {}, ['bad-1', 'bad-2', 'good-1']);
  made.node.cutAfter = () => {
    made.node.cutAfter = null;
    return 900;
  };
  made.node.connection.end();
  for (let index = 0; index < 3; index++) made.node.change([hashOf('bad-1'), { ...bad, score: index }]);
  while (made.node.connections.length < 2) await made.runtime.advance(1);
  assert.is(made.feed.state.lastEventId, '', 'the reset emptied the id');
  made.node.change([hashOf('bad-1'), null]);
  await made.runtime.advance(2 * bounds.streamBackoffBaseMs);
  assert.is(made.node.connections.length, 3);
  assert.is(made.node.connection.lastEventId, undefined);
  const { trusts, calls } = await read(made, 'bad-1', 'bad-2');
  assert.equal([calls, trusts[0]?.known, trusts[1]?.known], [0, false, true]);
});

test('cut at any byte, any number of times, also within snapshots: the cache ends equal to the node', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Random(seed);
    const players = Array.from({ length: 40 }, (_, index) => `bad-${index}`);
    const made = await following({ kept: 30, rowsPerFrame: 4 }, {}, players.slice(0, 20));
    made.node.chop = random;
    made.node.cutAfter = () => random.below(6_000);
    made.node.connection.break(new Error('cut'));
    for (let step = 0; step < 300; step++) {
      const changes = Array.from({ length: 1 + random.below(6) }, () => {
        const values = random.below(5) === 0 ? null : { ...bad, score: random.below(10_000) / 100 };
        return [hashOf(random.pick(players)), values] as const;
      });
      made.node.change(...new Map(changes.map((change) => [change[0], change])).values());
      if (random.below(4) === 0) await made.runtime.advance(random.below(2_000));
    }
    made.node.cutAfter = null;
    made.node.connection.break(new Error('cut'));
    await made.runtime.advance(2 * bounds.streamBackoffCapMs);
    made.node.heartbeat();
    await made.runtime.advance(1);
    assert.ok(made.node.connections.length > 10, `seed ${seed}`);
    assert.is(made.feed.state.seq, made.node.seq, `seed ${seed}`);
    const { trusts, calls } = await read(made, ...players);
    assert.is(calls, 0, `seed ${seed}`);
    assert.equal(
      trusts.map(({ known, score }) => (known ? score : null)),
      players.map((player) => made.node.board.get(hashOf(player))?.score ?? null),
      `seed ${seed}`,
    );
    await made.runtime.until(made.client.close());
  }
});

test('a group larger than the cache: who was read stays current, who is not held is asked for', async () => {
  const players = Array.from({ length: 50 }, (_, index) => `bad-${index}`);
  const made = await following({}, { playersMax: 10 }, players);
  assert.not.ok(made.feed.state.complete);
  const first = await read(made, ...players.slice(0, 5), 'nobody');
  assert.is(first.calls, 1);
  assert.is((await read(made, ...players.slice(0, 5), 'nobody')).calls, 0, 'what was asked for is kept');
  made.node.change([hashOf('bad-3'), good], [hashOf('nobody'), good]);
  for (const player of players) made.node.change([hashOf(`new ${player}`), bad]);
  await made.runtime.advance(1);
  const { trusts, calls } = await read(made, 'bad-3', 'nobody');
  assert.equal([calls, trusts[0]?.verdict, trusts[1]?.verdict], [0, 'trusted', 'trusted']);
  assert.ok(made.feed.state.players <= 10);
});

test('in a group larger than the cache an answer stays current no longer than a stream may be silent', async () => {
  const players = Array.from({ length: 50 }, (_, index) => `bad-${index}`);
  const made = await following({}, { playersMax: 10 }, players);
  assert.is((await read(made, 'nobody')).calls, 1);
  for (const [seconds, calls] of [
    [5, 0],
    [12, 0],
    [15, 1],
    [20, 0],
  ] as const) {
    while (made.runtime.elapsedMs() < seconds * 1_000) await made.runtime.advance(100);
    made.node.heartbeat();
    await made.runtime.advance(1);
    assert.is((await read(made, 'nobody')).calls, calls, `after ${seconds} s`);
  }
});

test('an answer that was in flight while the stream sent a newer value does not replace it', async () => {
  const made = await following({}, { playersMax: 1 }, ['bad', 'bad-2', 'bad-3']);
  const missing = ['bad', 'bad-2', 'bad-3'].find((player) => hashOf(player) !== [...made.node.board.keys()].at(-1))!;
  const before = made.client.scores([missing]);
  made.node.change([hashOf(missing), good]);
  assert.is((await made.runtime.until(before))[0]?.source, 'node');
  await made.runtime.advance(1);
  const { trusts } = await read(made, missing);
  assert.is(trusts[0]?.verdict, 'trusted');
});

test('a stream is lost after two and a half heartbeats of silence', async () => {
  const made = await following();
  await made.runtime.advance(12_400);
  assert.is(made.node.connections.length, 1);
  assert.is((await read(made, 'bad')).calls, 0);
  await made.runtime.advance(200);
  assert.is(made.feed.state.lastError?.code, 'timeout');
  await made.runtime.advance(2_000);
  assert.is(made.node.connections.length, 2);
});

/** Input that shows a living connection and contains no news. */
const chatter = ': still here\n\nevent: novelty\ndata: {"a":1}\n\n';

test('comments are signs of life, unknown events and members are ignored', async () => {
  const made = await following();
  for (let index = 0; index < 4; index++) {
    made.node.write(made.node.connection, chatter);
    await made.runtime.advance(10_000);
  }
  assert.is(made.node.connections.length, 1);
  // Alive, but nothing says since when nothing has changed.
  assert.is((await read(made, 'bad')).calls, 1);
  made.node.heartbeat();
  await made.runtime.advance(1);
  assert.is((await read(made, 'bad')).calls, 0);
});

test('a stream that is open but sends no event is given up after ten heartbeats, also at its start', async () => {
  const made = scene();
  const { node, runtime } = made;
  const errors: (string | undefined)[] = [];
  const feed = made.client.follow({
    onState: ({ phase, lastError }) => phase === 'connecting' && errors.push(lastError?.message),
  });
  await runtime.until(feed.live());
  const chat = async (ms: number) => {
    for (let rest = ms; rest > 0; rest -= 500) {
      node.write(node.connection, chatter);
      await runtime.advance(500);
    }
  };
  await chat(49_500);
  assert.is(node.connections.length, 1);
  await chat(1_000);
  assert.is(node.connections.length, 2);
  assert.equal(errors, ['the stream sent no change for 50000 ms']);
  // A node that greets and then says nothing of its players.
  const greeted = scene({ rowsPerFrame: 1 });
  greeted.node.board.set(hashOf('bad'), bad);
  greeted.node.snapshots = false;
  const waiting = greeted.client.follow();
  for (let half = 0; half < 120; half++) {
    await greeted.runtime.advance(500);
    greeted.node.write(greeted.node.connection, chatter);
  }
  assert.is(greeted.node.connections.length, 2);
  assert.is(waiting.state.lastError?.code, 'timeout');
});

test("how old the cache is follows the node's clock, whatever this machine's shows", async () => {
  for (const aheadMs of [-3_600_000, 3_600_000]) {
    const made = await following({ aheadMs });
    assert.is(made.feed.state.asOf, made.runtime.now());
    const old = new Date(made.runtime.now() + aheadMs - 60_000).toISOString();
    made.node.write(made.node.connection, frame('change', { changes: [], as_of: old }, '1-0'));
    await made.runtime.advance(1);
    assert.is(made.runtime.now() - made.feed.state.asOf!, 60_001);
    assert.is((await read(made, 'bad')).calls, 1, 'a replay of old changes is not current yet');
  }
});

test('a clock that is set back makes no evidence newer', async () => {
  const made = await following();
  const { node, runtime } = made;
  const asOf = node.asOf();
  runtime.wallSetMs = -3_600_000;
  for (let second = 0; second < 14; second++) {
    await runtime.advance(1_000);
    node.write(node.connection, frame('change', { changes: [], as_of: asOf }, '0-0'));
  }
  await runtime.advance(1);
  assert.is(runtime.now() - made.feed.state.asOf!, 14_001);
  assert.is((await read(made, 'bad')).calls, 1);
});

test('values from before a machine slept, and data in its sockets, are as old as the sleep', async () => {
  const made = await following();
  const { node, runtime } = made;
  await runtime.advance(1_000);
  const sent = node.asOf();
  // The wall clock goes on, and the node's with it; nothing else does.
  runtime.wallSetMs = 3_600_000;
  node.write(node.connection, frame('change', { changes: [rowOf(hashOf('bad'), bad)], as_of: sent }, '0-0'));
  await runtime.advance(1);
  assert.ok(runtime.now() - made.feed.state.asOf! >= 3_600_000);
  assert.is((await read(made, 'good')).calls, 1);
  node.refuseCalls = () => new Error('gone');
  assert.is((await read(made, 'bad')).trusts[0]?.source, 'assumed', 'longer ago than last known values count');
  node.refuseCalls = null;
  node.heartbeat();
  await runtime.advance(1);
  assert.is((await read(made, 'bad')).calls, 0);
});

test('rows of a backlog are as old as the backlog states', async () => {
  const made = await following();
  const { node, runtime } = made;
  const asOf = node.asOf();
  await runtime.advance(10_000);
  node.write(node.connection, frame('change', { changes: [rowOf(hashOf('bad'), bad)], as_of: asOf }));
  await runtime.advance(1);
  node.refuse = () => new Error('no way');
  node.refuseCalls = () => new Error('gone');
  node.connection.end();
  await runtime.advance(1);
  const { trusts } = await read(made, 'bad', 'nobody');
  assert.equal(
    trusts.map(({ source, known }) => `${source} ${known}`),
    ['last-known true', 'last-known false'],
  );
  for (const trust of trusts) assert.ok(runtime.now() - trust.asOf! >= 10_000);
});

test('without the salt only a subject hash is known not to be in the group', async () => {
  const made = scene({}, { groupSalt: undefined });
  await made.runtime.until(made.client.follow().live());
  assert.is((await read(made, hashOf('nobody'))).calls, 0);
  assert.is((await read(made, 'bad')).calls, 1);
});

test('a resume frame ends the connection, and the next one waits for the stated time', async () => {
  const made = await following();
  made.runtime.dice = 0;
  made.node.write(made.node.connection, frame('resume', { reason: 'draining', after_ms: 5_000 }));
  await made.runtime.advance(4_999);
  assert.is(made.node.connections.length, 1);
  await made.runtime.advance(2);
  assert.is(made.node.connections.length, 2);
});

const page: Scripted = { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } };

for (const [what, refuse, waitMs] of [
  ['a node without the stream', () => refusal(404, 'route_not_found'), bounds.streamRefusedMs],
  ['a node at its limit', () => refusal(503, 'overloaded', { 'retry-after': '7' }), 7_000],
  ['a node that asks for a day', () => refusal(503, 'overloaded', { 'retry-after': '86400' }), 60_000],
  ['a page of a proxy', () => page, bounds.streamRefusedMs],
] as const) {
  test(`after ${what} the feed keeps trying, and reads go to the node`, async () => {
    const made = scene();
    made.runtime.dice = 0;
    let asked = 0;
    made.node.refuse = () => {
      asked++;
      return refuse();
    };
    const feed = made.client.follow();
    await made.runtime.advance(waitMs - 1);
    assert.is(asked, 1);
    assert.is(feed.state.phase, 'connecting');
    assert.ok(feed.state.lastError !== null);
    assert.is((await read(made, 'bad')).calls, 1);
    made.node.refuse = null;
    await made.runtime.until(feed.live());
    assert.is(made.runtime.elapsedMs(), waitMs);
    assert.is((await read(made, 'bad')).calls, 0);
  });
}

for (const [what, status, code] of [
  ['a wrong key', 401, 'invalid_api_key'],
  ['a suspended or revoked peer', 403, 'peer_not_active'],
] as const) {
  test(`${what} rejects live, sets a state of its own, and is retried only on request`, async () => {
    const made = scene();
    const phases: string[] = [];
    let asked = 0;
    made.node.refuse = () => {
      asked++;
      return refusal(status, code);
    };
    const feed = made.client.follow({ onState: ({ phase }) => phases.push(phase) });
    const error = await made.runtime.until(feed.live().catch((reason: unknown) => reason));
    assert.is((error as TrustError).code, code);
    await made.runtime.advance(3_600_000);
    assert.equal([asked, feed.state.phase, feed.state.lastError?.code], [1, 'refused', code]);
    assert.equal(phases, ['refused']);
    assert.is((await read(made, 'bad')).trusts[0]?.source, 'node');
    made.node.refuse = null;
    assert.is(made.client.follow(), feed);
    await made.runtime.until(feed.live());
    assert.equal([feed.state.phase, feed.state.lastError], ['live', null]);
    assert.equal(phases, ['refused', 'connecting', 'live']);
  });
}

test("a feed whose salt is not the group's is refused before it takes a player, and compares it at each retry", async () => {
  const { node, client, runtime } = scene();
  node.saltCheck = '00000000';
  const feed = client.follow();
  const error = await runtime.until(feed.live().catch((reason: unknown) => reason));
  assert.is((error as TrustError).code, 'salt_mismatch');
  assert.equal([feed.state.phase, feed.state.connections, feed.state.players], ['refused', 0, 0]);
  node.saltCheck = saltCheckOf(salt);
  feed.retry();
  await runtime.until(feed.live());
  assert.is(feed.state.phase, 'live');
  await runtime.until(feed.close());
  assert.is(feed.state.phase, 'closed');
});

test('the application is notified of an erased player with events of this peer', async () => {
  const made = scene();
  const erased: string[] = [];
  const feed = made.client.follow({ onErased: (subjectHash) => erased.push(subjectHash) });
  await made.runtime.until(feed.live());
  const rows = [
    { subject_hash: hashOf('of others'), gone: true },
    { subject_hash: hashOf('own'), gone: true, subject_erased: true },
  ];
  made.node.write(made.node.connection, frame('change', { changes: rows, as_of: made.node.asOf() } as never, '9-0'));
  await made.runtime.advance(1);
  assert.equal(erased, [hashOf('own')]);
  assert.is(feed.state.lastEventId, '9-0');
});

for (const [what, text] of [
  ['a version of the form that it does not know', 'event: hello\ndata: {"version":2}\n\n'],
  ['no JSON', 'event: change\nid: 9-0\ndata: {"changes":[\n\n'],
  ['a frame without end', `data: ${'x'.repeat(bounds.streamFrameBytes + 1)}`],
] as const) {
  test(`${what}: the feed closes the connection and does not advance`, async () => {
    const made = await following();
    made.node.change([hashOf('bad'), bad]);
    await made.runtime.advance(1);
    made.node.write(made.node.connection, text);
    await made.runtime.advance(1);
    assert.is(made.feed.state.phase, 'connecting');
    assert.is(made.feed.state.lastError?.code, 'unexpected_answer');
    assert.is(made.feed.state.lastEventId, '1-0');
  });
}

test('reconnections wait a random time in a window that doubles', async () => {
  const made = scene();
  made.runtime.dice = 1;
  made.node.refuse = () => new Error('no way');
  made.client.follow();
  await made.runtime.advance(250 + 500 + 1_000 + 2_000);
  assert.equal(made.runtime.waited.filter((ms) => ms !== bounds.streamOpenMs).slice(0, 4), [250, 500, 1_000, 2_000]);
});

test('closing the feed ends the stream and leaves its values as last known ones', async () => {
  const phases: string[] = [];
  const made = scene();
  made.node.board.set(hashOf('bad'), bad);
  const feed: Feed = made.client.follow({ onState: ({ phase }) => phases.push(phase) });
  assert.is(made.client.follow(), feed);
  await made.runtime.until(feed.live());
  await made.runtime.until(feed.close());
  assert.equal(phases, ['snapshot', 'live', 'closed']);
  assert.is((await read(made, 'bad')).calls, 1);
  made.node.refuseCalls = () => new Error('gone');
  assert.is((await read(made, 'bad')).trusts[0]?.source, 'last-known');
  const over = await made.runtime.until(feed.live().catch((reason: unknown) => reason));
  assert.is((over as TrustError | undefined)?.code, 'closed');
  const again = made.client.follow();
  await made.runtime.until(again.live());
  assert.is((await read(made, 'bad')).calls, 0);
  await made.runtime.until(made.client.close());
  assert.is(made.runtime.timers, 0);
});

test('a feed that begins while the previous one ends waits for that end', async () => {
  const made = await following({ rowsPerFrame: 1 });
  const closing = made.feed.close();
  const next = made.client.follow();
  assert.is.not(next, made.feed);
  assert.is(made.node.connections.length, 1);
  await made.runtime.until(Promise.all([closing, next.live()]));
  assert.is(made.feed.state.phase, 'closed');
  const { calls, trusts } = await read(made, 'bad', 'good', 'nobody');
  assert.equal([calls, ...trusts.map(({ known }) => known)], [0, true, true, false]);
  await made.runtime.until(made.client.close());
});

test.run();
