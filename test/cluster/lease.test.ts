/** The lease of a node over time: when it is renewed, when it counts as over, and who hears of it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { drawLeaseId, Lease } from '../../src/cluster/lease.js';
import { limits } from '../../src/limits.js';
import { rejection } from '../store/log-contract.js';
import { VirtualTime } from '../support/virtual-time.js';

/** A lease of 4 s, whose calls take `answerMs`. `heard` lists the calls to etcd and those of the lease, with times. */
function leaseOver(given: { leftS?: () => number; fails?: (call: string) => boolean; answerMs?: number } = {}) {
  const time = new VirtualTime();
  const heard: string[] = [];
  const ids = new Set<string>();
  const call = async (what: string, id: string) => {
    ids.add(id);
    heard.push(`${what} at ${time.elapsed()}`);
    await new Promise<void>((resolve) => void time.later(resolve, given.answerMs ?? 0));
    if (given.fails?.(what)) throw new Error('etcd');
  };
  const lease = new Lease({
    log: {
      grantLease: (id, ttlS) => call(`grant ${ttlS}`, id),
      keepAlive: async (id, timeoutMs) => {
        await call(`keep ${timeoutMs}`, id);
        return given.leftS?.() ?? 4;
      },
      revokeLease: (id) => call('revoke', id),
    },
    ttlS: 4,
    timers: time,
    random: { bytes: (count) => Buffer.alloc(count, ids.size + 1) },
    onRenewed: (isNew, sentAt) => heard.push(`${isNew ? 'granted' : 'renewed'} from ${sentAt}`),
    onExpired: () => heard.push(`expired at ${time.elapsed()}`),
    onFailure: () => heard.push('failed'),
  });
  const passed = (ms: number) => time.until(() => time.elapsed() >= ms);
  return { lease, time, heard, ids, passed };
}

test('an id of a lease is a positive number that etcd can hold, whatever the random bytes', () => {
  const idOf = (byte: number) => drawLeaseId({ bytes: (count) => new Uint8Array(count).fill(byte) });
  assert.equal([idOf(0), idOf(255)], ['1', String(2n ** 62n)]);
});

test('a lease is granted at once, renewed four times in its time, and valid from before the call', async () => {
  const { lease, heard, ids, passed } = leaseOver({ answerMs: 100 });
  assert.equal([lease.id, lease.leftMs], [null, 0]);
  lease.start();
  await passed(100);
  assert.is(lease.leftMs, 4_000 - limits.leaseMarginMs - 100);
  assert.match(lease.id ?? '', /^[1-9]\d{0,18}$/);
  await passed(2_100);
  assert.equal(heard, [
    ...['grant 4 at 0', 'granted from 0', 'keep 2000 at 1000', 'renewed from 1000'],
    ...['keep 2000 at 2000', 'renewed from 2000'],
  ]);
  assert.is(ids.size, 1);
});

test('a lease that is not renewed ends once, a margin before its expiry in etcd, and no calls overlap', async () => {
  const { lease, time, heard, passed } = leaseOver({ fails: (call) => call.startsWith('keep'), answerMs: 1_500 });
  lease.start();
  await passed(5_000);
  assert.equal(heard, [
    'grant 4 at 0',
    'granted from 0',
    'keep 2000 at 2000',
    'failed',
    'expired at 3500',
    'keep 2000 at 4000',
  ]);
  assert.equal([lease.id, lease.leftMs, time.elapsed() >= 5_000], [null, 0, true]);
});

test('a lease that etcd no longer knows is over at once, and the next one has another id', async () => {
  let leftS = 4;
  const { lease, heard, ids, passed } = leaseOver({ leftS: () => leftS });
  lease.start();
  leftS = 0;
  await passed(1_001);
  assert.is(lease.id, null);
  leftS = 4;
  await passed(2_001);
  assert.equal(heard, [
    ...['grant 4 at 0', 'granted from 0', 'keep 2000 at 1000', 'expired at 1000'],
    ...['grant 4 at 2000', 'granted from 2000'],
  ]);
  assert.is(ids.size, 2);
});

test('a lease that was revoked meanwhile stays revoked, whatever a late answer says', async () => {
  for (const leftS of [4, 0]) {
    const { lease, heard, passed } = leaseOver({ leftS: () => leftS, answerMs: 100 });
    lease.start();
    await passed(1_050);
    void lease.revoke();
    await passed(1_200);
    assert.equal([lease.id, heard.slice(3)], [null, ['revoke at 1050', 'expired at 1100']]);
  }
});

test('a lease ends with its node: it is revoked, also one that is granted too late, and no other follows', async () => {
  const { lease, time, heard, passed } = leaseOver();
  lease.start();
  await passed(500);
  await time.wait(lease.end());
  await time.step();
  assert.equal([heard.slice(2), lease.id], [['revoke at 500'], null]);
  assert.not(await time.step(), 'no timer is left');
  const late = leaseOver({ answerMs: 100 });
  late.lease.start();
  await late.passed(50);
  await late.lease.end();
  await late.passed(200).catch(() => undefined);
  assert.equal([late.heard, late.lease.id], [['grant 4 at 0', 'revoke at 100'], null]);
  const failing = leaseOver({ fails: (call) => call === 'revoke' });
  failing.lease.start();
  await failing.passed(1);
  assert.match(String(await failing.time.wait(rejection(failing.lease.end()))), 'etcd');
});

test.run();
