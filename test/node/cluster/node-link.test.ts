/** Commands of a follower when the leader does not answer, or is about to change. */
import { EventEmitter, once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LinkError } from '../../../src/cluster/link-client.js';
import { LinkRefusedError, type LinkRequest } from '../../../src/cluster/link-server.js';
import type { LeaderView } from '../../../src/group/ports/shared-log.js';
import { limits } from '../../../src/limits.js';
import { NodeLink, type NodeLinkDeps } from '../../../src/node/cluster/node-link.js';
import { eachLine } from '../../../src/text-lines.js';
import { rejection } from '../../store/log-contract.js';
import { deferred } from '../../support/deferred.js';
import { until } from '../../support/until.js';
import { VirtualTime } from '../../support/virtual-time.js';

const erase = { name: 'erase', args: [null, ''] } as const;
const answer = { ok: true, value: null };

interface TestLeader {
  readonly nodeId: string;
  readonly url: string;
  readonly fence: { readonly revision: string };
}

function leaderOf(number: number, nodeId = 'one'): TestLeader {
  return { nodeId, url: `https://${nodeId}.example`, fence: { revision: String(number) } };
}

/** A follower, the answers of its leader in order, and the leaders that come next, each after a wait of 10 ms. */
function follower() {
  const state = {
    leader: leaderOf(1) as TestLeader | null,
    next: [] as TestLeader[],
    answers: [] as unknown[],
    isLeader: false,
    canLearn: true,
    isClosed: false,
    nowMs: 0,
  };
  const time = new VirtualTime();
  const failures: string[] = [];
  const called: string[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const deps = {
    nodeId: 'two',
    timers: {
      elapsed: () => state.nowMs,
      soon: setImmediate,
      later: (act: () => void, ms: number) => time.later(act, ms),
    },
    group: () => ({}),
    member: {
      get leader() {
        return state.leader;
      },
      get decides() {
        return state.isLeader;
      },
      get canLearn() {
        return state.canLearn;
      },
      async nextLeader(_fence: unknown, ms: number) {
        const next = state.next.shift();
        state.nowMs += next === undefined ? ms : 10;
        if (next === undefined) return false;
        state.isLeader = next.nodeId === 'two';
        lead(next);
        return true;
      },
      takenOver: async (_ms: number) => false,
      forwarded: 0,
    },
    link: {
      get isClosed() {
        return state.isClosed;
      },
      lines: async ({ url, signal }: { url: string; signal?: AbortSignal }, use: (line: string) => void) => {
        called.push(url);
        signals.push(signal);
        const value = state.answers.length === 0 ? answer : state.answers.shift();
        if (value instanceof LinkError) throw value;
        use(JSON.stringify({ value, seq: 1 }));
      },
    },
    site: { reached: async () => true },
    onFailure: (what: string, error: unknown) => failures.push(`${what}: ${(error as Error).message}`),
    onRequestFailed: (error: unknown) => failures.push(`a request: ${(error as Error).message}`),
  };
  const link = new NodeLink(deps as unknown as NodeLinkDeps);
  const lead = (leader: TestLeader): void => {
    state.leader = leader;
    link.leaderChanged(leader as unknown as LeaderView, false);
  };
  return { link, state, failures, called, signals, deps, time };
}

function refusal(code: string, isUnsent = true): LinkError {
  return new LinkError(`https://one.example: ${code}`, isUnsent, { cause: Object.assign(new Error(code), { code }) });
}

test('a leader that does not answer is reported once, until it has answered again', async () => {
  const { link, state, failures } = follower();
  const fails = async (): Promise<void> => {
    state.answers = new Array(limits.leaderWaitMs).fill(refusal('EPROTO'));
    assert.instance(await rejection(link.ask(erase)), LinkError);
  };
  await fails();
  await fails();
  const first = 'a command to the leader: https://one.example: EPROTO';
  assert.equal(failures, [first]);
  state.answers = [];
  assert.equal(await link.ask(erase), answer);
  await fails();
  assert.equal(failures, [first, first]);
  state.leader = leaderOf(2, 'three');
  await fails();
  assert.is(failures.length, 3);
});

test('a command that the leader did not get goes to the next leader', async () => {
  const { link, state, called } = follower();
  state.answers = [refusal('ECONNREFUSED'), refusal('ECONNREFUSED'), answer];
  state.next = [leaderOf(2, 'three'), leaderOf(3, 'four')];
  assert.equal(await link.ask(erase), answer);
  assert.equal(called, ['https://one.example', 'https://three.example', 'https://four.example']);
});

test('a command that the leader may have got is not repeated', async () => {
  const { link, state, called } = follower();
  state.answers = [refusal('ECONNRESET', false)];
  state.next = [leaderOf(2, 'three')];
  assert.match(String(await rejection(link.ask(erase))), 'ECONNRESET');
  assert.is(called.length, 1);
});

test('a command waits for the resignation of a leader that leads no more', async () => {
  const { link, state, called, deps } = follower();
  state.answers = [null, null, answer];
  assert.equal(await link.ask(erase), answer);
  assert.equal(called, new Array(3).fill('https://one.example'));
  assert.is(state.nowMs, 2 * limits.leaderLookMs);
  assert.is(deps.member.forwarded, 1);
});

test('a command ends at this node if it leads next, or has come to lead meanwhile', async () => {
  const { link, state, called } = follower();
  state.leader = null;
  state.next = [leaderOf(2, 'two')];
  assert.is(await link.ask(erase), null);
  assert.equal([called, state.nowMs], [[], 10]);
  state.leader = leaderOf(1);
  state.answers = [refusal('ECONNREFUSED')];
  assert.is(await link.ask(erase), null);
});

test('a command that did not reach the leader is sent again if no other leads', async () => {
  const { link, state, called } = follower();
  state.answers = [refusal('ETIMEDOUT'), answer];
  assert.equal(await link.ask(erase), answer);
  assert.equal(called, new Array(2).fill('https://one.example'));
  assert.is(state.nowMs, limits.leaderRetryMs);
});

test('a command waits for a bounded time, and not at all if the node cannot learn of a leader or stops', async () => {
  const { link, state, called } = follower();
  state.leader = null;
  assert.is(await link.ask(erase), null);
  assert.is(state.nowMs, limits.leaderWaitMs);
  state.leader = leaderOf(1);
  state.answers = new Array(1_000).fill(null);
  state.nowMs = 0;
  assert.is(await link.ask(erase), null);
  assert.is(state.nowMs, limits.leaderWaitMs);
  assert.is(called.length, 1 + limits.leaderWaitMs / limits.leaderLookMs);
  state.nowMs = 0;
  state.canLearn = false;
  assert.is(await link.ask(erase), null);
  state.canLearn = true;
  state.isClosed = true;
  assert.is(await link.ask(erase), null);
  assert.is(state.nowMs, 0);
});

test('no more than a bounded number of commands waits', async () => {
  const { link, state, deps } = follower();
  state.leader = null;
  let waiting = 0;
  const ends: (() => void)[] = [];
  deps.member.nextLeader = (_fence, ms) =>
    new Promise((resolve) => {
      waiting += 1;
      ends.push(() => {
        state.nowMs += ms;
        resolve(false);
      });
    });
  const asked = Array.from({ length: limits.leaderWaitingMax + 1 }, () => link.ask(erase));
  assert.is(await asked.at(-1), null);
  assert.is(waiting, limits.leaderWaitingMax);
  for (const end of ends) end();
  await Promise.all(asked);
});

test('commands that the leader before has not answered end once the next one is known: at once, or soon', async () => {
  const { link, state, signals, time } = follower();
  await link.ask(erase);
  link.leaderChanged(null, true);
  state.leader = leaderOf(2, 'three');
  link.leaderChanged(state.leader as never, false);
  await link.ask(erase);
  const [before, after] = signals as [AbortSignal, AbortSignal];
  await time.until(() => before.aborted);
  assert.is(time.elapsed(), 0);
  link.leaderChanged(leaderOf(3, 'four') as never, true);
  await time.until(() => after.aborted);
  assert.is(time.elapsed(), limits.forwardGraceMs, 'the node before is alive, and may answer until then');
});

test('a command that waits for room when the leader changes is not sent to the next one as if to the first', async () => {
  const { link, state, called, deps } = follower();
  const ends: (() => void)[] = [];
  deps.link.lines = ({ url }) => {
    called.push(url);
    return new Promise((resolve) => void ends.push(resolve));
  };
  const count = (2 / 3) * limits.linkForwardsMax + 1;
  const asked = Array.from({ length: count }, () => rejection(link.ask(erase)));
  await until(() => called.length === 1);
  state.leader = leaderOf(2, 'three');
  link.leaderChanged(state.leader as unknown as LeaderView, true);
  ends.shift()!();
  await until(() => called.length === 2);
  assert.is(called[1], 'https://one.example');
  ends.shift()!();
  await Promise.all(asked);
});

test('a node that is asked while it takes over answers once it leads', async () => {
  const { link, state, deps } = follower();
  const request = { method: 'POST', path: '/commands', body: Buffer.from('{"name":"none","waitMs":9000}') };
  const ask = () => link.answer(request as unknown as LinkRequest);
  assert.equal(await ask(), { value: null, seq: 0 });
  deps.member.takenOver = async (ms) => {
    assert.is(ms, limits.leaderWaitMs);
    state.isLeader = true;
    return true;
  };
  assert.instance(await rejection(ask()), LinkRefusedError);
});

test('each of several commands is answered once it is decided, and a failed one by a line of its own', async () => {
  const { link, state, deps, failures } = follower();
  state.isLeader = true;
  const erasure = new EventEmitter();
  const group = {
    erase: () => once(erasure, 'decided').then(() => answer),
    withdraw: async () => answer,
    dispute: () => Promise.reject(new Error('the disk')),
    peerById: () => ({ status: 'active' }),
    peerByKeyDigest: () => ({ peerId: 'p' }),
  };
  Object.assign(deps, { group: () => group });
  Object.assign(deps.site, { appliedSeq: 7 });
  const calls = [
    { name: 'erase', args: ['p', 'aa'], waitMs: 5 },
    { name: 'withdraw', args: ['p', 'event'] },
    { name: 'dispute', args: ['p', 'aa', '', null] },
    { name: 'none', args: [] },
  ];
  const body = Buffer.from(calls.map((call) => JSON.stringify(call)).join('\n'));
  const lines = (await link.answer({ method: 'POST', path: '/commands', body } as LinkRequest)) as Readable;
  const got: string[] = [];
  const reading = eachLine(lines.setEncoding('utf8'), (line) => got.push(line));
  await until(() => got.length === 3);
  assert.equal(
    got.map((line) => JSON.parse(line)).sort((p, q) => p.at - q.at),
    [
      { at: 1, value: answer, seq: 7 },
      { at: 2, seq: 0, error: 'the disk' },
      { at: 3, seq: 0, error: 'unknown command none' },
    ],
  );
  assert.equal(failures, ['a request: the disk']);
  erasure.emit('decided');
  assert.is(await reading, '');
  assert.equal(JSON.parse(got[3]!), { at: 0, value: answer, seq: 7 });
});

/** Answers a request with parts that say what they were asked. */
async function answered(route: string, body: object = {}, parts: object = {}) {
  const { deps } = follower();
  const asked: unknown[] = [];
  const note =
    (name: string) =>
    async (...args: unknown[]) => {
      asked.push([name, ...args]);
      return name;
    };
  Object.assign(deps, {
    member: { ...deps.member, role: 'follower', view: () => ({ nodeId: 'two' }) },
    site: { appliedSeq: 7, reached: async (seq: number, ms: number) => asked.push(['reached', seq, ms]) > 0 },
    donor: { offer: () => ({ last_seq: 7 }), logPiece: note('log'), snapshotPiece: note('snapshot') },
    operations: { stepDown: note('step down'), scrub: note('scrub') },
    scrub: note('overwrite'),
    ...parts,
  });
  const [method, target] = route.split(' ');
  const { pathname: path, searchParams: query } = new URL(target!, 'http://link');
  const request = { method, path, query, body: Buffer.from(JSON.stringify(body)), sent: 'sent' };
  return { answer: await new NodeLink(deps as never).answer(request as never), asked };
}

test('each request of another node reaches its part with its parameters', async () => {
  const { appliedWaitMs, scrubNodeMs } = limits;
  const rows: readonly [route: string, body: object, answer: unknown, asked: unknown[]][] = [
    ['GET /node', {}, { nodeId: 'two' }, []],
    ['GET /applied?seq=5', {}, { reached: true }, [['reached', 5, appliedWaitMs]]],
    ['POST /scrub', { seq: 5 }, {}, [['reached', 5, scrubNodeMs / 2], ['overwrite']]],
    ['POST /step-down', {}, { outcome: 'step down' }, [['step down']]],
    ['POST /cluster-scrub', { files: 3 }, { outcome: 'scrub' }, [['scrub', { files: 3 }]]],
    ['GET /copy', {}, { last_seq: 7 }, []],
    ['GET /copy-log?from=3&batches=2', {}, 'log', [['log', 3, 2, 'sent']]],
    ['GET /copy-snapshot?seq=3&from=2', {}, 'snapshot', [['snapshot', 3, 2, 'sent']]],
  ];
  for (const [route, body, answer, asked] of rows) assert.equal(await answered(route, body), { answer, asked }, route);
  assert.instance(await rejection(answered('POST /node')), LinkRefusedError);
});

test('a node that joins, or lacks the erasure, does not confirm a scrub', async () => {
  const joins = { member: { role: 'joining' } };
  assert.match(String(await rejection(answered('POST /scrub', { seq: 5 }, joins))), 'is joining');
  const lags = { site: { reached: async () => false }, scrub: () => assert.unreachable() };
  assert.match(String(await rejection(answered('POST /scrub', { seq: 5 }, lags))), 'has not applied record 5 in time');
});

test('a change waits until every node that serves has applied it, or has failed to answer', async () => {
  const { link, deps } = follower();
  const calls: object[] = [];
  const applied = deferred();
  const node = (nodeId: string, role: string) => ({ url: nodeId, role });
  Object.assign(deps.link, {
    call: async (call: { url: string }) => {
      calls.push(call);
      if (call.url === 'one') throw new Error('no answer');
      await applied.promise;
    },
  });
  Object.assign(deps, { others: async () => [node('one', 'leader'), node('three', 'joining'), node('four', 'left')] });
  Object.assign(deps.site, { appliedSeq: 7 });
  let isOver = false;
  const waiting = link.appliedElsewhere().then(() => {
    isOver = true;
  });
  await turnOfLoop();
  assert.not(isOver, 'the last node has not applied it');
  applied.resolve();
  await waiting;
  const call = { method: 'GET', path: '/applied?seq=7', timeoutMs: limits.appliedWaitMs };
  assert.equal(calls, [
    { url: 'one', ...call },
    { url: 'four', ...call },
  ]);
  Object.assign(deps, { others: () => Promise.reject(new Error('etcd')) });
  await link.appliedElsewhere();
  assert.is(calls.length, 2);
});

test.run();
