/**
 * A client of several nodes against scripted ones, in virtual time: in which order it asks them, and when it returns.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../src/client/bounds.js';
import type { TrustClientOptions } from '../../src/client/client-options.js';
import { TrustClient } from '../../src/client/trust-client.js';
import { TrustError } from '../../src/client/trust-error.js';
import { codeOf } from './code-of.js';
import {
  brokenConnection,
  event,
  matchAnswer,
  refusal,
  refusedConnection,
  ScriptedTransport,
  type Step,
  stored,
} from './scripted-transport.js';
import { bad, good, hashOf, type PublishedValues, StreamDouble, salt } from './stream-double.js';
import { VirtualRuntime } from './virtual-runtime.js';

const urls = ['http://a', 'http://b', 'http://c'];

type Script = (index: number, path: string) => Step;

interface Scene {
  readonly client: TrustClient;
  readonly nodes: readonly ScriptedTransport[];
  readonly runtime: VirtualRuntime;
  /** How often each node was asked. */
  readonly asked: () => number[];
}

function scene(scripts: readonly Script[], options: Partial<TrustClientOptions> = {}): Scene {
  const runtime = new VirtualRuntime();
  const nodes = scripts.map((script) => new ScriptedTransport((request, index) => script(index, request.path)));
  const byUrl = new Map(urls.map((url, index) => [url, nodes[index]!]));
  const client = new TrustClient({
    url: urls.slice(0, nodes.length),
    transport: (url) => byUrl.get(url)!,
    peerId: 'peer',
    apiKey: 'key',
    runtime,
    ...options,
  });
  return { client, nodes, runtime, asked: () => nodes.map(({ requests }) => requests.length) };
}

/** A match read's answer as of a record of the log. */
const readAt =
  (seq: number): Script =>
  (_, path) => ({
    ...matchAnswer({ method: 'GET', path, headers: {}, signal: new AbortController().signal }),
    headers: { 'x-applied-seq': String(seq) },
  });
const answers: Script = readAt(1);
/** A node that has applied less at its second answer than at its first. */
const fallsBack: Script = (index, path) => readAt(index === 0 ? 100 : 90)(index, path);
const takes: Script = () => stored;

test('a read moves on at once where a node refuses the connection', async () => {
  const { client, runtime, asked } = scene([refusedConnection, refusedConnection, answers]);
  assert.is((await runtime.until(client.score('p'))).source, 'node');
  assert.equal(asked(), [1, 1, 1]);
  assert.is(runtime.elapsedMs(), 0);
});

test('a read leaves half of its budget to the nodes after a silent one', async () => {
  const { client, runtime, asked } = scene([() => 'silence', () => 'silence', answers]);
  assert.is((await runtime.until(client.score('p'))).source, 'node');
  assert.is(runtime.elapsedMs(), bounds.readBudgetMs * 0.75);
  assert.equal(asked(), [1, 1, 1]);
});

test('a read that no node answers falls back within its budget', async () => {
  const { client, runtime } = scene([() => 'silence', () => 'silence', () => 'silence']);
  const trust = await runtime.until(client.score('p'));
  assert.equal([trust.source, trust.cause], ['assumed', 'timeout']);
  assert.is(runtime.elapsedMs(), bounds.readBudgetMs);
});

test('a node that failed several times is not asked for a while, and then asked again', async () => {
  let isDown = true;
  const { client, runtime, asked } = scene([
    (index, path) => (isDown ? refusedConnection() : answers(index, path)),
    answers,
  ]);
  for (let i = 0; i < 20; i++) await runtime.until(client.score('p'));
  assert.equal(asked(), [bounds.breakerFailures, 20]);
  isDown = false;
  await runtime.advance(bounds.breakerOpenMaxMs);
  for (let i = 0; i < 3; i++) await runtime.until(client.score('p'));
  assert.equal(asked(), [bounds.breakerFailures + 3, 20]);
});

test('while one call tries a node that failed, the others go to the next', async () => {
  let isDown = true;
  const { client, runtime, asked } = scene([() => (isDown ? refusedConnection() : 'silence'), answers]);
  for (let i = 0; i < bounds.breakerFailures; i++) await runtime.until(client.score('p'));
  isDown = false;
  await runtime.advance(bounds.breakerOpenMaxMs);
  const before = asked();
  await runtime.until(Promise.all([client.score('p'), client.score('q'), client.score('r')]));
  assert.equal(asked(), [before[0]! + 1, before[1]! + 3]);
});

test('a write goes to the next node if a node has no leader, or is stale', async () => {
  for (const code of ['no_leader', 'stale']) {
    const { client, runtime, asked } = scene([() => refusal(503, code, { 'retry-after': '2' }), takes]);
    assert.is((await runtime.until(client.submit(event))).status, 'accepted');
    assert.equal(asked(), [1, 1]);
    assert.is(runtime.elapsedMs(), 0);
  }
});

test('if no node has a leader, none is asked again before its Retry-After', async () => {
  const withoutLeader: Script = (index) => (index === 0 ? refusal(503, 'no_leader', { 'retry-after': '2' }) : stored);
  const { client, runtime, asked } = scene([withoutLeader, withoutLeader, withoutLeader]);
  assert.is((await runtime.until(client.submit(event))).status, 'accepted');
  assert.equal(asked(), [2, 1, 1]);
  assert.ok(runtime.elapsedMs() >= 2_000 && runtime.elapsedMs() < 2_000 + bounds.backoffBaseMs);
});

test('nodes that wait for a leader are well: their circuits stay closed', async () => {
  let hasLeader = false;
  const node: Script = () => (hasLeader ? stored : refusal(503, 'no_leader'));
  const { client, runtime } = scene([node, node], { deadlineMs: 2_000 });
  assert.is(await codeOf(runtime.until(client.submit(event))), 'no_leader');
  hasLeader = true;
  const before = runtime.elapsedMs();
  await runtime.until(client.submit(event));
  assert.is(runtime.elapsedMs(), before);
});

test('an event that a lost answer has sent to two nodes is stored once, and counts as success', async () => {
  const details = { event_id: 'e-1', originally_received_at: '2026-01-01T00:00:00.000Z' };
  const duplicate = { status: 409, body: { error: 'stored', code: 'duplicate_event', details } };
  const { client, runtime, nodes } = scene([brokenConnection, () => duplicate]);
  assert.is((await runtime.until(client.submit(event))).status, 'duplicate');
  const [first, second] = nodes.map(({ requests }) => requests[0]?.body);
  assert.is(first, second);
});

test('a withdrawal whose answer was lost has succeeded where the next node does not know the event', async () => {
  const { client, runtime } = scene([brokenConnection, () => refusal(404, 'event_not_found')]);
  await runtime.until(client.withdraw('e-1'));
});

test('an erasure is sent to the next node only where the first certainly did nothing', async () => {
  const erased = { status: 200, body: { events_erased: 1, receipt: 'r' } };
  const hash = 'a'.repeat(64);
  const sent = scene([brokenConnection, () => erased]);
  assert.is(await codeOf(sent.runtime.until(sent.client.eraseSubject(hash))), 'unreachable');
  assert.equal(sent.asked(), [1, 0]);
  const unsent = scene([refusedConnection, () => refusal(503, 'no_leader'), () => erased]);
  assert.is((await unsent.runtime.until(unsent.client.eraseSubject(hash))).status, 'erased');
});

test('a write leaves a silent node after two seconds; one that must not be repeated waits to its deadline', async () => {
  const write = scene([() => 'silence', takes]);
  await write.runtime.until(write.client.submit(event));
  assert.is(write.runtime.elapsedMs(), bounds.failoverAttemptMs);
  const erasure = scene([() => 'silence', takes]);
  await codeOf(erasure.runtime.until(erasure.client.eraseSubject('a'.repeat(64))));
  assert.is(erasure.runtime.elapsedMs(), bounds.deadlineMs);
  assert.equal(erasure.asked(), [1, 0]);
});

test('the last node that is left gets all of an attempt', async () => {
  const { client, runtime } = scene([refusedConnection, () => 'silence'], { deadlineMs: 6_000 });
  await codeOf(runtime.until(client.submit(event)));
  assert.ok(runtime.elapsedMs() >= bounds.attemptMs);
});

test('no other node is asked where the peer sends too much or too slowly, or a write meets an overload', async () => {
  for (const [status, code] of [
    [408, 'request_timeout'],
    [429, 'rate_limited'],
    [503, 'overloaded'],
  ] as const) {
    const busy: Script = (index) => (index === 0 ? refusal(status, code, { 'retry-after': '1' }) : stored);
    const { client, runtime, asked } = scene([busy, takes]);
    await runtime.until(client.submit(event));
    assert.equal(asked(), [2, 0], code);
    assert.ok(runtime.elapsedMs() >= 1_000);
  }
});

test('a read moves on from a node that is overloaded', async () => {
  const { client, runtime, asked } = scene([() => refusal(503, 'overloaded', { 'retry-after': '1' }), answers]);
  assert.is((await runtime.until(client.score('p'))).source, 'node');
  assert.equal(asked(), [1, 1]);
});

test('a refusal is final at the first node that answers it', async () => {
  const { client, runtime, asked } = scene([() => refusal(422, 'game_id_not_registered'), takes]);
  assert.is(await codeOf(runtime.until(client.submit(event))), 'game_id_not_registered');
  assert.equal(asked(), [1, 0]);
});

test('a read does not go back in time: a node that is behind earlier reads is skipped', async () => {
  const { client, runtime, asked } = scene([fallsBack, readAt(101)]);
  for (let i = 0; i < 2; i++) assert.is((await runtime.until(client.score('p'))).source, 'node');
  assert.equal(asked(), [2, 1]);
});

test('if every node is behind, a read answers the last known value', async () => {
  const { client, runtime } = scene([fallsBack, readAt(95)]);
  await runtime.until(client.score('p'));
  const trust = await runtime.until(client.score('p'));
  assert.equal([trust.source, trust.cause], ['last-known', 'behind']);
});

test('a restored cluster that begins further back is read again once the floor is over', async () => {
  const { client, runtime } = scene([fallsBack]);
  await runtime.until(client.score('p'));
  await runtime.advance(bounds.readFloorMs);
  assert.is((await runtime.until(client.score('p'))).source, 'node');
});

test('the addresses are 1 to 16, each once, and each node has a transport of its own', () => {
  const transport = new ScriptedTransport(() => stored);
  for (const options of [
    { url: [] },
    { url: Array.from({ length: 17 }, (_, index) => `http://n${index}`) },
    { url: ['http://a', 'http://a/'] },
    { url: ['http://a', 'ftp://b'] },
    { url: ['http://a', 'http://b'], transport },
  ]) {
    assert.throws(
      () => new TrustClient(options),
      (error: unknown) => error instanceof TrustError && error.code === 'invalid_argument',
    );
  }
});

test('closing a client closes its connections to every node', async () => {
  const { client, nodes, runtime } = scene([answers, answers, answers]);
  await runtime.until(client.close());
  assert.equal(
    nodes.map(({ isClosed }) => isClosed),
    [true, true, true],
  );
});

/** Two nodes of one cluster that hold the same, and a client that follows the first. */
async function following() {
  const runtime = new VirtualRuntime();
  const nodes = [0, 1].map(() => new StreamDouble({ runtime }));
  const [a, b] = nodes as [StreamDouble, StreamDouble];
  for (const double of nodes) double.board.set(hashOf('bad'), bad);
  const client = new TrustClient({
    url: ['http://a', 'http://b'],
    transport: (url) => (url === 'http://a' ? a : b),
    apiKey: 'key',
    groupSalt: salt,
    runtime,
  });
  const feed = client.follow();
  await runtime.until(feed.live());
  const change = (player: string, values: PublishedValues) => {
    for (const double of nodes) double.change([hashOf(player), values]);
  };
  const lose = (node: StreamDouble) => {
    node.refuse = () => new Error('gone');
    node.connection.end();
  };
  const comeBack = (node: StreamDouble) => {
    node.refuse = null;
  };
  return { runtime, a, b, client, feed, change, lose, comeBack };
}

test('a stream that is lost continues at the next node at once, from the last id', async () => {
  const { runtime, a, b, client, feed, change, lose } = await following();
  change('bad', good);
  await runtime.advance(1);
  lose(a);
  await runtime.advance(1);
  assert.is(b.connection.lastEventId, '1-0');
  assert.equal([feed.state.phase, feed.state.node], ['live', 1]);
  change('new', bad);
  await runtime.advance(1);
  const trusts = await runtime.until(client.scores(['bad', 'new']));
  assert.equal(
    trusts.map(({ verdict, source }) => `${verdict} ${source}`),
    ['trusted cache', 'untrusted cache'],
  );
});

test('a stream stays at its node when the preferred one is back, and goes there once its node fails', async () => {
  const { runtime, a, b, feed, change, lose, comeBack } = await following();
  lose(a);
  await runtime.advance(1);
  comeBack(a);
  change('new', good);
  await runtime.advance(1);
  assert.equal([feed.state.phase, feed.state.node], ['live', 1]);
  lose(b);
  await runtime.advance(1);
  assert.equal([feed.state.phase, feed.state.node, feed.state.seq], ['live', 0, 1]);
  assert.is(a.connection.lastEventId, '1-0');
});

test('a stream that every node refuses is tried again after a pause, from the preferred node on', async () => {
  const { runtime, a, b, feed, lose, comeBack } = await following();
  b.refuse = () => new Error('gone');
  lose(a);
  await runtime.advance(1);
  assert.is(feed.state.phase, 'connecting');
  comeBack(a);
  await runtime.advance(bounds.streamBackoffCapMs);
  a.heartbeat();
  await runtime.advance(1);
  assert.equal([feed.state.phase, feed.state.node], ['live', 0]);
});

test('nodes that all lag are asked less and less often', async () => {
  const { runtime, a, b, feed } = await following();
  runtime.dice = 1;
  const asOf = a.asOf();
  for (const node of [a, b]) {
    node.asOf = () => {
      // Ends a loop without a pause, which would never let the clock move.
      if (node.connections.length > 20) node.refuse = () => new Error('asked too often');
      return asOf;
    };
  }
  await runtime.advance(60_000);
  assert.is(feed.state.lastError?.message, 'the stream lags behind the node');
  const before = a.connections.length + b.connections.length;
  await runtime.advance(60_000);
  assert.ok(a.connections.length + b.connections.length - before <= 8);
});

test('a feed is refused once every node refuses its key', async () => {
  const { runtime, a, b, feed, lose } = await following();
  b.refuse = () => refusal(401, 'invalid_api_key');
  lose(a);
  await runtime.advance(1);
  assert.is(feed.state.phase, 'connecting');
  a.refuse = () => refusal(401, 'invalid_api_key');
  await runtime.advance(2 * bounds.streamRefusedMs + bounds.streamBackoffCapMs);
  assert.is(feed.state.phase, 'refused');
});

test('a snapshot older than data read from another node is rejected', async () => {
  const { runtime, a, b, feed, lose } = await following();
  a.change([hashOf('bad'), good]);
  await runtime.advance(1);
  lose(a);
  await runtime.advance(1);
  // The second node is one record behind: it cannot resume, and its snapshot would bring back the old value.
  assert.is(b.connections[0]?.lastEventId, '1-0');
  assert.is(feed.state.lastError?.code, 'behind');
  assert.is(feed.state.phase, 'connecting');
  b.change([hashOf('bad'), good]);
  await runtime.until(feed.live());
  assert.equal([feed.state.phase, feed.state.node, feed.state.seq], ['live', 1, 1]);
});

test.run();
