/**
 * The simulation is worth what it finds: each of these bugs is planted into the service or the world, and must be
 * found.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LeaderDuties } from '../../src/cluster/duties.js';
import { Forwarder } from '../../src/cluster/forwarding.js';
import { LinkError } from '../../src/cluster/link-client.js';
import { ClusterMember } from '../../src/cluster/member.js';
import { FOLLOWS_CLAIM } from '../../src/core/evidence/evidence.js';
import { trustConstants } from '../../src/core/evidence/trust-constants.js';
import { PeerEntries } from '../../src/core/tables/peer-entries.js';
import { PeerWeights } from '../../src/core/tables/peer-weights.js';
import { RepeatFilter } from '../../src/core/tables/repeat-filter.js';
import { Subjects } from '../../src/core/tables/subjects.js';
import { GroupActor } from '../../src/group/actor/actor.js';
import { Turn } from '../../src/group/actor/turn.js';
import { MinuteAsOf } from '../../src/group/as-of.js';
import type { WeightsWithSignals } from '../../src/group/ports/pool.js';
import { noLeader } from '../../src/group/refusals.js';
import { Replica } from '../../src/group/replica/replica.js';
import { limits } from '../../src/limits.js';
import { EtcdLog } from '../../src/store/etcd/etcd-log.js';
import { ModelClient } from './cluster/etcd-model.js';
import { type LifeOptions, live } from './cluster/life.js';
import { operationsPerSeed, simulate } from './lives.js';
import { type Plant, run } from './run.js';
import { shorten } from './shorten.js';
import { drawPlan, type Step } from './steps.js';

const operations = 1_500;
const seedsMax = 6;
const clustersMax = 12;
/** Faults of one life of a cluster, of which one must show the bug. */
const clusterFaultsMax = 1_000;

type Method<T, K extends keyof T> = Extract<T[K], (...args: never[]) => unknown>;

/**
 * Replaces a method of every object of a class, live, in replays and in the replica alike, so that only the oracle can
 * tell. `replaced` gets the original method of the object, then the arguments; its `this` is the object.
 */
function everywhere<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  replaced: (this: T, original: Method<T, K>, ...args: Parameters<Method<T, K>>) => ReturnType<Method<T, K>>,
): Plant {
  return {
    begin: () => {
      const original = prototype[name];
      prototype[name] = function (this: T, ...args: Parameters<Method<T, K>>) {
        return replaced.call(this, (original as Method<T, K>).bind(this) as Method<T, K>, ...args);
      } as T[K];
      return () => {
        prototype[name] = original;
      };
    },
  };
}

/** Other values of constants of the service. */
function changed<T extends object>(constants: T, values: { readonly [K in keyof T]?: number }): Plant {
  return {
    begin: () => {
      const before = { ...constants };
      Object.assign(constants, values);
      return () => void Object.assign(constants, before);
    },
  };
}

/**
 * The bug is found within a few seeds, as one of these kinds of difference, and a short list of steps still shows it.
 */
async function mustBeFound(plant: Plant, rules: readonly string[]): Promise<void> {
  for (let seed = 1; seed <= seedsMax; seed++) {
    const plan = drawPlan(seed, operations);
    const { difference, step } = await run(seed, plan, plant);
    if (difference === null) continue;
    assert.ok(rules.includes(difference.rule), difference.message);
    const short = await shorten(seed, { ...plan, steps: plan.steps.slice(0, step + 1) }, difference.rule, plant, 200);
    const again = await run(seed, { ...plan, steps: short.steps }, plant);
    assert.is(again.difference?.rule, difference.rule);
    assert.ok(short.steps.length <= plan.steps.length / 10, `${short.steps.length} steps are left`);
    return;
  }
  assert.unreachable(`not found in ${seedsMax} seeds`);
}

test('events that leave the log without their sums are found', async () => {
  await mustBeFound(
    {
      onStart: ({ actor: { removal } }) => {
        const redacted = removal.redacted.bind(removal);
        removal.redacted = (piece) => redacted(piece.type === 'removal' ? piece : { ...piece, pairs: [] });
      },
    },
    ['replay', 'score', 'counts', 'listing', 'follows'],
  );
});

test('a commit that is answered and never written is found', async () => {
  let commits = 0;
  await mustBeFound(
    {
      begin: () => {
        commits = 0;
        return () => undefined;
      },
      onStart: ({ log }) => {
        const append = log.append.bind(log);
        log.append = (batch, rewrites) => (++commits % 20 === 0 ? Promise.resolve() : append(batch, rewrites));
      },
    },
    ['lost', 'damage', 'invariant', 'answer'],
  );
});

test('an event that is answered and never recorded is found by the oracle, though log and state agree', async () => {
  const plant = everywhere(Turn.prototype, 'recordEvent', (record, event, keys) => {
    if (!event.event_id.startsWith('event-7')) record(event, keys);
  });
  await mustBeFound(plant, ['records', 'score', 'listing', 'answer', 'counts']);
});

test('an event that is applied twice is found', async () => {
  const plant = everywhere(PeerEntries.prototype, 'add', (add, entry, mass, head, follows) => {
    add(entry, mass, head, follows);
    if (mass > 0) add(entry, mass, head, follows);
  });
  await mustBeFound(plant, ['score', 'listing', 'answer', 'weights']);
});

test('a decay that is off by a ten thousandth is found', async () => {
  const plant = everywhere(MinuteAsOf.prototype, 'of', (of, state) => {
    const asOf = of(state);
    return { ...asOf, decayFactor: asOf.decayFactor * 1.0001 };
  });
  await mustBeFound(plant, ['score']);
});

test('bans that decay with the half-life of reports are found', async () => {
  const plant = everywhere(MinuteAsOf.prototype, 'of', (of, state) => {
    const asOf = of(state);
    return { ...asOf, measureFactor: asOf.decayFactor };
  });
  await mustBeFound(plant, ['score']);
});

test('a ban that follows others, and no longer does so once a snapshot was read, is found', async () => {
  const plant = everywhere(PeerEntries.prototype, 'setFollows', (set, entry, bits) => {
    set(entry, bits & FOLLOWS_CLAIM);
  });
  await mustBeFound(plant, ['replay', 'weights', 'follows', 'score', 'damage']);
});

test('weights that are published again though the evidence moved on are found', async () => {
  const plant: Plant = {
    begin: () => {
      let first: WeightsWithSignals | null = null;
      const stale = everywhere(Replica.prototype, 'weights', (weights, upTo, at) => {
        const fresh = weights(upTo, at);
        if (first?.tau.length !== fresh.tau.length) first = fresh;
        return { ...first, based_on_seq: fresh.based_on_seq, computed_at: fresh.computed_at };
      });
      return stale.begin!();
    },
  };
  await mustBeFound(plant, ['weights']);
});

test('a number of the fit of weights that is off by a hundredth is found', async () => {
  const plant = changed(trustConstants, { badSharePrior: trustConstants.badSharePrior * 1.01 });
  await mustBeFound(plant, ['weights']);
});

test('a reader that goes on with the weights before the last ones is found', async () => {
  const plant = everywhere(PeerWeights.prototype, 'refresh', (refresh, state) => {
    if (state.weights.basedOnSeq === 0) refresh(state);
  });
  await mustBeFound(plant, ['weights', 'score', 'answer', 'records', 'follows']);
});

const resurrection = everywhere(Subjects.prototype, 'remove', (remove, subject) => {
  if ((subject[0] ?? 0) % 2 === 0) remove(subject);
});

test('a subject that reappears after its erasure is found', async () => {
  await mustBeFound(resurrection, ['score', 'answer', 'counts', 'listing']);
});

test('a difference is printed with its seed, its step, and a short list of steps that shows it again', async () => {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const isSame = await simulate({ seed: 1, operations: seedsMax * operationsPerSeed, write, plant: resurrection });
  assert.is(isSame, false);
  const text = written.join('');
  const [, seed, step] = /^seed (\d+), step (\d+): ./m.exec(text)!.map(Number);
  const [, left, of] = /^(\d+) of (\d+) steps show it/m.exec(text)!.map(Number);
  assert.is(of, step! + 1);
  const steps: Step[] = [...text.matchAll(/^ {2}(\{.*\})$/gm)].map(([, json]) => JSON.parse(json!));
  assert.is(steps.length, left);
  assert.ok(left! <= of! / 10, `${left} of ${of} steps are left`);
  const again = await run(seed!, { ...drawPlan(seed!, operationsPerSeed), steps }, resurrection);
  assert.match(text, again.difference!.message);
  assert.match(text, `again: npm run sim -- --seed ${seed} --operations ${operationsPerSeed}\n`);
});

test('an erased subject that a snapshot keeps is found', async () => {
  await mustBeFound(
    {
      onStart: ({ loop }) => {
        loop.snapshots.remove = async () => undefined;
      },
    },
    ['erased', 'counts', 'replay'],
  );
});

test('events that are counted although they repeat others are found', async () => {
  await mustBeFound(
    everywhere(RepeatFilter.prototype, 'has', () => false),
    ['score', 'weights', 'follows'],
  );
});

/** The bug is found in one of a few lives of clusters, as one of these kinds; the same life without it shows none. */
async function mustBeFoundInCluster(
  plant: Plant,
  rules: readonly string[],
  options: Omit<LifeOptions, 'seed'> = {},
): Promise<void> {
  for (let seed = 1; seed <= clustersMax; seed++) {
    const { difference, counts } = await live({ ...options, seed }).finally(plant.begin!());
    if (difference === null) continue;
    assert.ok(rules.includes(difference.rule), difference.message);
    assert.ok(counts.get('faults')! <= clusterFaultsMax);
    assert.is((await live({ ...options, seed })).difference, null);
    return;
  }
  assert.unreachable(`not found in ${clustersMax} clusters`);
}

test('a lease that a node trusts for half a second too long is found', async () => {
  const plant = changed(limits, { leaseMarginMs: -500 });
  await mustBeFoundInCluster(plant, ['lease'], { only: ['cut'] });
});

test('an append to the shared log without its fence is found', async () => {
  const plant = everywhere(ModelClient.prototype, 'txn', (txn, request, timeoutMs) => {
    const isAppend = request.success.some((op) => 'request_put' in op && op.request_put.key.includes('/log/'));
    const compare = request.compare.filter(({ key }) => !key.includes('/leader'));
    return txn(isAppend ? { ...request, compare } : request, timeoutMs);
  });
  await mustBeFoundInCluster(plant, ['fence'], { only: ['bad_link', 'step_down'] });
});

test('a trim one slot too far, which a node still needs, is found', async () => {
  const plant = everywhere(EtcdLog.prototype, 'trim', async function (trim, fence, firstSeq) {
    // The first slot that stays is the last one that every node has.
    const [, needed = firstSeq] = await this.slotSeqs(firstSeq + 1, 2);
    await trim(fence, needed, needed - 1);
  });
  await mustBeFoundInCluster(plant, ['trim'], { only: ['bad_link'], ms: 30_000 });
});

test('a forwarded command whose answer was lost, and that counts as never sent, is found', async () => {
  const plant = everywhere(Forwarder.prototype, 'send', (send, command) =>
    send(command).catch((error: Error) => {
      throw new LinkError(error.message, true);
    }),
  );
  await mustBeFoundInCluster(plant, ['once', 'refused'], { only: ['bad_network'] });
});

test('a turn in flight that a node which loses the lead refuses as not recorded is found', async () => {
  const plant = everywhere(GroupActor.prototype, 'refuseInFlight', (refuse) => refuse(noLeader()));
  await mustBeFoundInCluster(plant, ['once', 'refused'], { only: ['bad_link', 'step_down'] });
});

test('an erasure that is answered before the other nodes and etcd have lost the player is found', async () => {
  await mustBeFoundInCluster(
    everywhere(LeaderDuties.prototype, 'scrubElsewhere', async () => undefined),
    ['erasure'],
  );
});

test('a read that is called fresh without a look at the shared log is found', async () => {
  await mustBeFoundInCluster(
    everywhere(ClusterMember.prototype, 'refresh', async () => true),
    ['fresh'],
  );
});

test.run();
