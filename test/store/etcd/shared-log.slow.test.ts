/** The log on three real members of etcd keeps the port's contract, and what it promises beyond. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdMembers, noEtcd } from '../../../bench/cluster/etcd-members.js';
import { SecretProof } from '../../../src/core/hashing/secret-proof.js';
import { OwnerLostError } from '../../../src/group/ports/storage.js';
import { timers } from '../../../src/node/system.js';
import { EtcdClient } from '../../../src/store/etcd/etcd-client.js';
import { etcdKeys } from '../../../src/store/etcd/etcd-keys.js';
import { EtcdLog } from '../../../src/store/etcd/etcd-log.js';
import { SlotCipher } from '../../../src/store/etcd/slot-codec.js';
import { openLogReader } from '../../../src/store/log/lmdb-log.js';
import { SharedLogWriter } from '../../../src/store/log/shared-log-writer.js';
import { acquireFolder } from '../../../src/store/ownership/owner.js';
import { temporaryFolder } from '../../support/process.js';
import { deadProcess } from '../dead-process.js';
import { acquiredLog, batchOf, rejection, testLog } from '../log-contract.js';

const why = noEtcd();
const noHooks: ConstructorParameters<typeof SharedLogWriter>[4] = {
  appended: () => undefined,
  redacted: () => undefined,
  forgetErased: () => Promise.resolve(),
  replaces: () => undefined,
  scrubOwn: (overwrite: () => Promise<void>) => overwrite(),
  mayScrub: () => Promise.resolve(),
  storeFailed: () => undefined,
  scrubElsewhere: () => Promise.resolve(),
};
const salt = Buffer.from('a salt of a test');
let members: EtcdMembers;
let logs = 0;

function openLog(prefix: string, secret = 'a secret of the tests, with 32 bytes'): EtcdLog {
  const settings = { endpoints: members.endpoints, ca: null, cert: null, key: null, username: null, password: null };
  const client = new EtcdClient(settings, logs);
  const keys = etcdKeys(prefix);
  return new EtcdLog(client, keys, new SlotCipher(salt, 'g'), new SecretProof(secret, 'g', 'secret'));
}

const at = { applied: 0, durable: 0, snapshot: 0, started: 0 };
const reported = { nodeId: 'a', url: 'http://x', role: 'follower', version: '0', format: 1, ...at, reason: null };

async function leaseOf(log: EtcdLog): Promise<string> {
  const lease = String(Math.floor(Math.random() * 1e12) + 1);
  await log.client.grantLease(lease, 60);
  return lease;
}

async function leadOn(log: EtcdLog, nodeId: string) {
  await log.client.txn({ compare: [], success: [{ request_delete_range: { key: log.keys.leader } }] });
  const lease = await leaseOf(log);
  await log.putNode({ ...reported, nodeId }, lease);
  const fence = await log.campaign({ nodeId, url: 'http://x', since: 0, cause: 'a test' }, lease);
  if (fence === null) throw new Error('another node leads');
  return fence;
}

/** A log whose first batch may have any number. */
function starting(log: EtcdLog) {
  return {
    append: async (...[fence, slot, previous, signal]: Parameters<EtcdLog['append']>) => {
      if (previous === 0) await log.client.put({ key: log.keys.trimmed, value: Buffer.from(`${slot.firstSeq - 1}`) });
      await log.append(fence, slot, previous, signal);
    },
  };
}

if (why !== undefined) {
  process.stdout.write(`SKIPPED: ${why}\n`);
  test.skip('three members of etcd', () => undefined);
} else {
  test.before(async () => {
    members = await EtcdMembers.start();
  });
  test.after(() => members.stop());

  testLog('log shared by etcd', async () => {
    const dir = temporaryFolder();
    const prefix = `/test/${++logs}/`;
    const acquire = async (earlier: number) => {
      const log = openLog(prefix);
      const writer = new SharedLogWriter(await acquireFolder(dir, deadProcess()), starting(log), salt, timers, noHooks);
      writer.lead(await leadOn(log, `n${earlier}`));
      return writer;
    };
    return acquiredLog(acquire, () => openLogReader(dir));
  });

  test('another node reads the batches and rewrites of a leader in order, at every size', async () => {
    const log = openLog('/test/read/');
    const fence = await leadOn(log, 'a');
    await log.begin(fence, 'id', 0);
    const slots = [100, 128 * 1024, 3_000_000].map((size, i) => ({
      firstSeq: i + 1,
      bytes: batchOf(i + 1, size).bytes,
      redactions:
        i === 0
          ? []
          : [
              { type: 'records', firstSeq: 1, seqs: [1, 3] } as const,
              { type: 'bytes', firstSeq: 1, bytes: new Uint8Array([1, 2]) } as const,
            ],
    }));
    const heard: number[] = [];
    const { revision } = await log.view(1);
    const stop = log.watch(
      revision,
      (some) => heard.push(...some.map(({ firstSeq }) => firstSeq)),
      () => undefined,
    );
    for (const [i, slot] of slots.entries()) await log.append(fence, slot, i);
    const view = await openLog('/test/read/').view(1);
    assert.equal(view.slots, slots);
    assert.is(view.leader?.nodeId, 'a');
    while (heard.length < 3) await log.view(1, 1);
    stop();
    assert.equal(heard, [1, 2, 3]);
  });

  test('of two leaders only the newer one writes, and a slot is written once', async () => {
    const log = openLog('/test/fence/');
    const first = await leadOn(log, 'a');
    await log.begin(first, 'id', 0);
    const slot = (seq: number, size = 10) => ({ ...batchOf(seq, size), redactions: [] });
    await log.append(first, slot(1), 0);
    assert.ok((await rejection(log.append(first, slot(1, 20), 0))) instanceof OwnerLostError);
    assert.ok((await rejection(log.append(first, slot(9), 5))) instanceof OwnerLostError, 'no gap');
    const second = await leadOn(log, 'b');
    assert.ok((await rejection(log.append(first, slot(2), 1))) instanceof OwnerLostError);
    await log.append(second, slot(2), 1);
    await log.append(second, slot(3), 2);
    await log.trim(second, 3, 2);
    const { slots, trimmed } = await log.view(1);
    assert.equal([slots.map(({ firstSeq }) => firstSeq), trimmed], [[3], 2]);
  });

  test("the first node determines the group's secret, and no other proves to be it, on real members", async () => {
    const log = openLog('/test/secret/');
    assert.ok(await log.hasSecret());
    assert.ok(await openLog('/test/secret/').hasSecret());
    assert.not(await openLog('/test/secret/', 'another secret of the tests, 32 bytes').hasSecret());
    const { kvs } = await log.client.range({ key: log.keys.secret });
    assert.not(kvs[0]!.value.includes('a secret'));
  });

  test('a node id belongs to one lease, and only its node may lead', async () => {
    const log = openLog('/test/place/');
    const [first, second] = [await leaseOf(log), await leaseOf(log)];
    const other = { ...reported, url: 'http://y' };
    const { nodeId, url, reason } = { ...other, reason: 'the id is taken' };
    const campaign = (lease: string) => log.campaign({ nodeId, url, since: 0, cause: 'a test' }, lease);
    assert.is(await campaign(first), null, 'it has no place yet');
    assert.is(await log.putNode(reported, first), null);
    assert.is(await log.putNode(reported, first), null, 'again');
    assert.is((await log.putNode(other, second))?.url, reported.url);
    await log.putRefused({ nodeId, url, reason }, second);
    assert.equal(await log.refused(), [{ nodeId, url, reason }]);
    assert.is(await campaign(second), null);
    await log.revokeLease(first);
    assert.is(await log.putNode(other, second), null);
    assert.equal(await log.refused(), []);
    assert.ok(await campaign(second));
  });
}

test.run();
