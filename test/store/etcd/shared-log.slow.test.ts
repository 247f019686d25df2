/** The log on three real members of etcd keeps the port's contract, and what it promises beyond. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdMembers, noEtcd } from '../../../bench/cluster/etcd-members.js';
import { SecretProof } from '../../../src/core/hashing/secret-proof.js';
import type { Redaction } from '../../../src/group/ports/shared-log.js';
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
import { acquiredLog, batchOf, testLog } from '../log-contract.js';

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

function openLog(prefix: string): EtcdLog {
  const settings = { endpoints: members.endpoints, ca: null, cert: null, key: null, username: null, password: null };
  const client = new EtcdClient(settings, logs);
  const keys = etcdKeys(prefix);
  return new EtcdLog(
    client,
    keys,
    new SlotCipher(salt, 'g'),
    new SecretProof('a secret of the tests, with 32 bytes', 'g', 'secret'),
  );
}

const at = { applied: 0, durable: 0, snapshot: 0, started: 0 };
const reported = { nodeId: 'a', url: 'http://x', role: 'follower', version: '0', format: 1, ...at, reason: null };

async function leadOn(log: EtcdLog, nodeId: string) {
  await log.client.txn({ compare: [], success: [{ request_delete_range: { key: log.keys.leader } }] });
  const lease = String(Math.floor(Math.random() * 1e12) + 1);
  await log.client.grantLease(lease, 60);
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
    const redactions: readonly Redaction[] = [
      { type: 'records', firstSeq: 1, seqs: [1, 3] },
      { type: 'bytes', firstSeq: 1, bytes: new Uint8Array([1, 2]) },
    ];
    const slots = [100, 128 * 1024, 3_000_000].map((size, i) => ({
      firstSeq: i + 1,
      bytes: batchOf(i + 1, size).bytes,
      redactions: i === 0 ? [] : redactions,
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
}

test.run();
