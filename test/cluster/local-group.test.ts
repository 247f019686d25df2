/** The changes of a node's role, and changes that follow before an earlier one has ended. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LocalGroup } from '../../src/cluster/local-group.js';
import type { GroupLoop } from '../../src/group/actor/loop.js';
import type { Slot } from '../../src/group/ports/shared-log.js';
import { DivergedError } from '../../src/group/ports/storage.js';
import { timers } from '../../src/node/system.js';
import { rejection } from '../store/log-contract.js';
import { deferred } from '../support/deferred.js';
import { VirtualTime } from '../support/virtual-time.js';

const fence = { revision: '7' };

class World {
  readonly calls: string[] = [];
  /** True if the next slot follows the state. */
  isNext = true;
  configure: () => Promise<void> = async () => undefined;
  appended: Promise<void> = Promise.resolve();
  readonly log = {
    take: (slots: readonly Slot[]) => void this.calls.push(`log takes ${slots.map(({ firstSeq }) => firstSeq)}`),
    stored: async () => undefined,
    appended: () => this.appended,
    room: async () => void this.calls.push('log has room'),
    lead: () => void this.calls.push('log leads'),
    follow: () => void this.calls.push('log follows'),
    settled: async () => void this.calls.push('log settled'),
  };
  readonly actor = { durableSeq: 9, isSettled: true, precedes: () => this.isNext };
  readonly #loop = {
    actor: this.actor,
    storedSeq: 4,
    followed: (slots: readonly Slot[]) => {
      this.calls.push('loop follows slots');
      this.actor.durableSeq = slots.at(-1)!.firstSeq;
    },
    failed: false,
    fail: (error: Error) => {
      this.calls.push(`loop fails: ${error.message}`);
      this.#loop.failed = true;
    },
    lead: () => void this.calls.push('loop leads'),
    follow: () => void this.calls.push('loop follows'),
    replace: () => void this.calls.push('loop replaced'),
  };
  readonly time = new VirtualTime();
  readonly site = new LocalGroup({ soon: timers.soon, later: (act, ms) => this.time.later(act, ms) });

  constructor() {
    this.site.open({
      log: this.log,
      // The loop has the members that a change of role uses.
      loop: () => this.#loop as unknown as GroupLoop,
      reload: async () => void this.calls.push('reload'),
      configure: () => this.configure(),
      snapshotSeq: () => 0,
      unfit: () => null,
      unfitToLead: () => null,
      refusal: () => null,
      hasSettings: () => true,
      roleChanged: () => undefined,
    });
  }
}

test('a node that must follow before its lead has begun never leads', async () => {
  const world = new World();
  const { promise, resolve: settle } = deferred();
  world.appended = promise;
  const before = world.site.follow();
  const led = world.site.lead(fence);
  const followed = world.site.follow();
  settle();
  await Promise.all([before, led, followed]);
  assert.not(world.calls.includes('log leads'));
  assert.not(world.calls.includes('loop leads'));
});

test('a node whose files could not store a turn reads them anew once it follows', async () => {
  const { site, calls } = new World();
  site.storeFailed(new Error('no space left'));
  await site.follow();
  const anew = ['log settled', 'loop replaced', 'reload'];
  assert.equal(calls, ['loop fails: no space left', 'log follows', 'loop follows', ...anew]);
});

test('a node reports as durable only what its own files hold', () => {
  const { site } = new World();
  assert.equal([site.appliedSeq, site.durableSeq], [9, 4]);
});

test('a slot that does not follow the state of this node is not written to its files', async () => {
  const world = new World();
  const slots = [10, 11].map((firstSeq) => ({ firstSeq, bytes: new Uint8Array(), redactions: [] }));
  await world.site.take(slots);
  assert.equal(world.calls, ['log takes 10,11', 'loop follows slots', 'log has room']);
  world.isNext = false;
  const replacing = slots.map((slot) => ({
    ...slot,
    firstSeq: slot.firstSeq + 2,
    redactions: [{ type: 'records', firstSeq: 1, seqs: [1] } as const],
  }));
  const error = await rejection(world.site.take(replacing));
  assert.instance(error, DivergedError);
  assert.match(String(error), 'the slot at record 12 does not follow record 11');
  assert.is(world.calls.length, 3);
});

test('what waits for a record goes on once it is applied, however long the files take', async () => {
  const { site, log } = new World();
  const room = new Promise<undefined>(() => undefined);
  log.room = () => room;
  const reached = site.reached(10, 60_000);
  void site.take([{ firstSeq: 10, bytes: new Uint8Array(), redactions: [] }]);
  assert.ok(await reached);
});

test('a configuration refused because the node no longer leads is no failure', async () => {
  const world = new World();
  let refuse: () => void = () => undefined;
  world.configure = () =>
    new Promise((_resolve, reject) => {
      refuse = () => reject(new Error('no leader'));
    });
  const led = world.site.lead(fence);
  await new Promise((resolve) => setImmediate(resolve));
  const followed = world.site.follow();
  refuse();
  await Promise.all([led, followed]);
  assert.equal(world.calls.slice(0, 2), ['log leads', 'loop leads']);
});

test('a configuration refused while the node leads rejects the lead', async () => {
  const world = new World();
  world.configure = () => Promise.reject(new Error('PRE_TRUSTED_PEERS'));
  const message = await world.site.lead(fence).catch((error: Error) => error.message);
  assert.is(message, 'PRE_TRUSTED_PEERS');
});

test('a group that is not recovered has applied nothing, may lead, and is used by nobody', async () => {
  const site = new LocalGroup(timers);
  const { appliedSeq, durableSeq, snapshotSeq, unfit, unfitToLead, refusal, hasSettings, isOpen } = site;
  assert.equal([appliedSeq, durableSeq, snapshotSeq], [0, 0, 0]);
  assert.equal([unfit, unfitToLead, refusal, hasSettings, isOpen], [null, null, null, false, false]);
  assert.equal(site.weights, { basedOnSeq: 0, computedAt: null });
  site.noteWeights(5, 1);
  site.writableChanged();
  site.storeFailed(new Error('none'));
  await site.forgetErased();
  await site.follow();
  assert.throws(() => site.pool, /before its recovery has ended/);
});

test('whoever waits for a record learns of it once the slot with it is applied, or after a time', async () => {
  const { site, calls, time } = new World();
  const slot = { firstSeq: 10, bytes: new Uint8Array(), redactions: [] };
  assert.ok(await site.reached(9, 60_000));
  const next = site.reached(10, 60_000);
  assert.not(await time.wait(site.reached(10, 1_000)));
  await site.take([slot]);
  assert.ok(await next);
  calls.length = 0;
  await site.take([slot]);
  assert.equal(calls, [], 'an applied slot is not taken again');
});

test.run();
