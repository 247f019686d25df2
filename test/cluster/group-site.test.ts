/** The changes of a node's role, and changes that follow before an earlier one has ended. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GroupSite } from '../../src/cluster/group-site.js';
import type { GroupLoop } from '../../src/group/actor/loop.js';

const fence = { revision: '7' };

class World {
  readonly calls: string[] = [];
  configure: () => Promise<void> = async () => undefined;
  settled: Promise<void> = Promise.resolve();
  readonly #loop = {
    actor: { durableSeq: 1, isSettled: true },
    failed: false,
    lead: () => void this.calls.push('loop leads'),
    follow: () => void this.calls.push('loop follows'),
    replace: () => void this.calls.push('loop replaced'),
  };
  readonly site = new GroupSite({
    log: {
      take: async () => undefined,
      forgets: () => false,
      lead: () => void this.calls.push('log leads'),
      follow: () => void this.calls.push('log follows'),
      settled: () => this.settled,
    },
    // The loop has the members that a change of role uses.
    loop: () => this.#loop as unknown as GroupLoop,
    reload: async () => void this.calls.push('reload'),
    configure: () => this.configure(),
    snapshotSeq: () => 0,
    unfit: () => null,
    unfitToLead: () => null,
    roleChanged: () => undefined,
    replaced: () => undefined,
  });
}

test('a node that must follow before its lead has begun never leads', async () => {
  const world = new World();
  let settle: () => void = () => undefined;
  world.settled = new Promise((resolve) => {
    settle = resolve;
  });
  const before = world.site.follow();
  const led = world.site.lead(fence);
  const followed = world.site.follow();
  settle();
  await Promise.all([before, led, followed]);
  assert.not(world.calls.includes('log leads'));
  assert.not(world.calls.includes('loop leads'));
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

test.run();
