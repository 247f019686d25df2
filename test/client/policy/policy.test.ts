/** A studio's own rule: enforced, in shadow mode, and beside its allow list. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import type { PlayerTrust } from '../../../src/client/player-trust.js';
import { AllowList } from '../../../src/client/policy/client-allow-list.js';
import { type Decision, type PolicyOptions, TrustPolicy } from '../../../src/client/policy/policy.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { thrownBy } from '../thrown-by.js';
import { VirtualRuntime } from '../virtual-runtime.js';

type Action = 'play' | 'review' | 'refuse';

function trust(playerId: string, verdict: PlayerTrust['verdict'], source: PlayerTrust['source'] = 'node'): PlayerTrust {
  return { playerId, score: 10, confidence: 0.6, verdict, known: true, source, asOf: 0, cause: null };
}

const rule = ({ verdict }: PlayerTrust): Action =>
  verdict === 'untrusted' ? 'refuse' : verdict === 'suspicious' ? 'review' : 'play';

/** A policy that enforces the rule, over what differs. */
const newPolicy = (options: Partial<PolicyOptions<Action>> = {}) =>
  new TrustPolicy<Action>({ mode: 'enforce', pass: 'play', rule, ...options });

test('enforced, the rule decides', () => {
  const policy = newPolicy();
  assert.is(policy.decide(trust('a', 'untrusted')).action, 'refuse');
  assert.is(policy.decide(trust('b', 'trusted')).action, 'play');
});

test('in shadow mode every player passes, and the intended action is reported and counted', async () => {
  const decisions: Decision<Action>[] = [];
  const policy = newPolicy({ mode: 'shadow', onDecision: (one) => decisions.push(one) });
  for (const verdict of ['untrusted', 'suspicious', 'neutral', 'untrusted'] as const)
    policy.decide(trust('a', verdict));
  await Promise.resolve();
  assert.equal(
    decisions.map(({ action, would, reason }) => `${action} for ${would} by ${reason}`),
    ['play for refuse by shadow', 'play for review by shadow', 'play for play by rule', 'play for refuse by shadow'],
  );
  assert.equal(policy.tally, {
    decisions: 4,
    done: { play: 4 },
    would: { refuse: 2, review: 1, play: 1 },
    reasons: { rule: 1, shadow: 3, 'allow-list': 0, unknown: 0 },
  });
  policy.mode = 'enforce';
  assert.is(policy.decide(trust('a', 'untrusted')).action, 'refuse');
});

test('a policy acts only in enforce mode; without a mode, or with a misspelt one, it watches', () => {
  for (const mode of [undefined, 'Enforce', 'off'] as const) {
    const policy = newPolicy({ mode: mode as 'shadow' });
    const { action, would, reason } = policy.decide(trust('a', 'untrusted'));
    assert.equal([action, would, reason], ['play', 'refuse', 'shadow']);
  }
});

test('a listener that throws does not affect the decision', async () => {
  const thrown = await thrownBy(async (fault) => {
    const onDecision = () => {
      throw fault;
    };
    const policy = newPolicy({ onDecision });
    assert.is(policy.decide(trust('a', 'untrusted')).action, 'refuse');
  });
  assert.is(thrown.length, 1);
});

test('no player is judged by values that are only assumed', () => {
  const policy = newPolicy({ rule: () => 'refuse' });
  const { action, reason } = policy.decide(trust('a', 'neutral', 'assumed'));
  assert.equal([action, reason], ['play', 'unknown']);
});

test('a player on the allow list passes until the entry expires, and the intended action is reported', () => {
  const runtime = new VirtualRuntime();
  const allowList = new AllowList([], runtime);
  allowList.add('a', runtime.now() + 1_000, 'appeal 17');
  const policy = newPolicy({ allowList });
  const before = policy.decide(trust('a', 'untrusted'));
  assert.equal([before.action, before.would, before.reason], ['play', 'refuse', 'allow-list']);
});

test('an entry ends at its date', async () => {
  const runtime = new VirtualRuntime();
  const allowList = new AllowList([], runtime);
  allowList.add('a', new Date(runtime.now() + 1_000));
  await runtime.advance(999);
  assert.ok(allowList.has('a'));
  await runtime.advance(1);
  assert.not.ok(allowList.has('a'));
  assert.equal(allowList.entries(), []);
});

test('the constructor accepts the result of entries, without expired entries', async () => {
  const runtime = new VirtualRuntime();
  const list = new AllowList([], runtime);
  list.add('a', runtime.now() + 10);
  list.add('b', runtime.now() + 10_000, 'note');
  list.add('c', runtime.now() + 10_000);
  list.remove('c');
  const stored: unknown = JSON.parse(JSON.stringify(list.entries()));
  await runtime.advance(10);
  const again = new AllowList(stored as ReturnType<AllowList['entries']>, runtime);
  assert.equal(
    again.entries().map(({ playerId, note }) => [playerId, note]),
    [['b', 'note']],
  );
});

test('an allow list has a bound, and an entry has a player and an end', async () => {
  const runtime = new VirtualRuntime();
  const list = new AllowList([], runtime);
  const refuses = (add: () => void) => assert.throws(add, (error: unknown) => error instanceof TrustError);
  for (const until of [runtime.now(), 0, Number.POSITIVE_INFINITY, Number.NaN]) refuses(() => list.add('x', until));
  for (const none of [undefined, '', 7]) refuses(() => list.add(none as string, runtime.now() + 1));
  for (let index = 0; index < bounds.allowListEntries; index++) list.add(`p${index}`, runtime.now() + 1_000);
  refuses(() => list.add('one more', runtime.now() + 1_000));
  list.add('p0', runtime.now() + 2_000);
  await runtime.advance(1_000);
  list.add('one more', runtime.now() + 1_000);
  assert.equal(
    list.entries().map(({ playerId }) => playerId),
    ['p0', 'one more'],
  );
});

test.run();
