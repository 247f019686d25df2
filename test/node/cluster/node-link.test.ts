/** Commands of a follower when the leader does not answer, or is about to change. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LinkError } from '../../../src/cluster/link-client.js';
import { limits } from '../../../src/limits.js';
import { NodeLink, type NodeLinkDeps } from '../../../src/node/cluster/node-link.js';

const erase = { name: 'erase', args: { caller: null, subject: '' } } as const;
const answer = { ok: true, value: null };

interface TestLeader {
  readonly nodeId: string;
  readonly url: string;
  readonly fence: { readonly revision: string };
  readonly lease: string;
}

function leaderOf(number: number, nodeId = 'one'): TestLeader {
  return { nodeId, url: `https://${nodeId}.example`, fence: { revision: String(number) }, lease: '1' };
}

/** A follower, the answers of its leader in order, and the leaders that come next, each after a wait. */
function follower() {
  const state = {
    leader: leaderOf(1) as TestLeader | null,
    next: [] as (TestLeader | null)[],
    answers: [] as unknown[],
    isLeader: false,
    isUnreachable: false,
    nowMs: 0,
  };
  const failures: string[] = [];
  const called: string[] = [];
  const deposed: string[] = [];
  const deps = {
    nodeId: 'two',
    elapsed: () => state.nowMs,
    member: {
      get leader() {
        return state.leader;
      },
      get isLeader() {
        return state.isLeader;
      },
      get isUnreachable() {
        return state.isUnreachable;
      },
      async nextLeader(_fence: unknown, ms: number) {
        const [next] = state.next.splice(0, 1);
        state.nowMs += next === undefined ? ms : Math.min(ms, 10);
        if (next === undefined) return false;
        state.leader = next;
        state.isLeader = next?.nodeId === 'two';
        return true;
      },
      depose: async ({ nodeId }: TestLeader) => void deposed.push(nodeId),
      forwarded: 0,
    },
    link: {
      call: async ({ url }: { url: string }) => {
        called.push(url);
        const value = state.answers.length === 0 ? answer : state.answers.shift();
        if (value instanceof LinkError) throw value;
        return { value, seq: 1 };
      },
    },
    site: { reached: async () => true },
    onFailure: (what: string, error: unknown) => failures.push(`${what}: ${(error as Error).message}`),
  };
  return { link: new NodeLink(deps as unknown as NodeLinkDeps), state, failures, called, deposed };
}

function refusal(code: string, isUnsent = true): LinkError {
  return new LinkError(`https://one.example: ${code}`, isUnsent, { cause: Object.assign(new Error(code), { code }) });
}

const caught = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (reason: unknown) => reason,
  );

test('a leader that does not answer is reported once, until it has answered again', async () => {
  const { link, state, failures } = follower();
  const fails = async (): Promise<void> => {
    state.answers = [refusal('EPROTO')];
    assert.instance(await caught(link.ask(erase)), LinkError);
  };
  await fails();
  await fails();
  const first = 'a command to the leader: https://one.example: EPROTO';
  assert.equal(failures, [first]);
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
  assert.match(String(await caught(link.ask(erase))), 'ECONNRESET');
  assert.is(called.length, 1);
});

test('a command waits for a leader that takes over or steps down', async () => {
  const { link, state, called } = follower();
  state.answers = [null, null, answer];
  assert.equal(await link.ask(erase), answer);
  assert.equal(called, new Array(3).fill('https://one.example'));
  assert.is(state.nowMs, 2 * limits.leaderLookMs);
});

test('a command ends at this node if it leads next', async () => {
  const { link, state, called } = follower();
  state.leader = null;
  state.next = [leaderOf(2, 'two')];
  assert.is(await link.ask(erase), null);
  assert.equal(called, []);
});

test('a command waits for a bounded time, and not at all without the shared log', async () => {
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
  state.isUnreachable = true;
  state.nowMs = 0;
  assert.is(await link.ask(erase), null);
  assert.is(state.nowMs, 0);
});

test('a leader that answered, and then refuses connections, is deposed; others keep their lease', async () => {
  const { link, state, deposed } = follower();
  state.answers = [refusal('ECONNREFUSED')];
  await caught(link.ask(erase));
  assert.equal(deposed, [], 'its address may be wrong');
  await link.ask(erase);
  for (const code of ['ETIMEDOUT', 'EHOSTUNREACH']) {
    state.answers = [refusal(code)];
    await caught(link.ask(erase));
  }
  assert.equal(deposed, [], 'the network may be down');
  state.answers = [refusal('ECONNREFUSED')];
  await caught(link.ask(erase));
  assert.equal(deposed, ['one']);
  state.leader = leaderOf(2, 'three');
  state.answers = [refusal('ECONNREFUSED')];
  await caught(link.ask(erase));
  assert.equal(deposed, ['one'], 'this one has not answered yet');
});

test.run();
