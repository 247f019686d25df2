/** The times of the leader's scrub of etcd, with a clock of the test. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nightlyScrub } from '../../src/cluster/operations.js';
import { granted } from '../../src/errors.js';
import { DAY_MS, limits } from '../../src/limits.js';

const noon = Date.UTC(2026, 0, 1, 12);
const night = Date.UTC(2026, 0, 2, limits.scrubHourUtc);

class World {
  now = noon;
  isLeader = true;
  due: number | null = 7;
  fails = false;
  isComplete = true;
  scrubs = 0;
  readonly failures: string[] = [];
  readonly nightly = nightlyScrub({
    log: { scrubDue: async () => this.due },
    isLeader: () => this.isLeader,
    scrub: async () => {
      this.scrubs += 1;
      if (this.fails) throw new Error('etcd');
      return granted({ complete: this.isComplete, detail: 'a member is down' });
    },
    now: () => this.now,
    onFailure: (what, error) => this.failures.push(`${what}: ${(error as Error).message}`),
  });

  async at(now: number): Promise<number> {
    this.now = now;
    await this.nightly();
    return this.scrubs;
  }
}

test('erased data is scrubbed once in the night, and not by day', async () => {
  const world = new World();
  assert.is(await world.at(noon + 1), 0);
  assert.is(await world.at(night - 1), 0);
  assert.is(await world.at(night), 1);
  assert.is(await world.at(night + 60_000), 1);
  assert.is(await world.at(night + DAY_MS), 2);
});

test('no scrub runs in a night without an erasure, or on a follower', async () => {
  const world = new World();
  world.due = null;
  assert.is(await world.at(night), 0);
  world.due = 9;
  world.isLeader = false;
  assert.is(await world.at(night + DAY_MS), 0);
  // The node begins to lead later in that night.
  world.isLeader = true;
  assert.is(await world.at(night + DAY_MS + 1), 1);
});

test('a scrub that did not reach every member is reported', async () => {
  const world = new World();
  world.isComplete = false;
  await world.at(night);
  assert.equal(world.failures, ['the nightly scrub of etcd: a member is down']);
});

test('a failed scrub is reported and retried in the next night', async () => {
  const world = new World();
  world.fails = true;
  assert.is(await world.at(night), 1);
  assert.equal(world.failures, ['the nightly scrub of etcd: etcd']);
  assert.is(await world.at(night + 60_000), 1);
  assert.is(await world.at(night + DAY_MS), 2);
});

test.run();
