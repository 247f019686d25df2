import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SecretProof } from '../../../src/core/hashing/secret-proof.js';
import { SharedLogUnavailableError } from '../../../src/group/ports/shared-log.js';
import { etcdKeys } from '../../../src/store/etcd/etcd-keys.js';
import { type EtcdCalls, EtcdLog } from '../../../src/store/etcd/etcd-log.js';
import { SlotCipher } from '../../../src/store/etcd/slot-codec.js';
import { salt } from '../../support/given.js';
import { rejection } from '../log-contract.js';

test('a compaction that etcd did not do rejects for its caller, instead of ending the process later', async () => {
  const compacted: string[] = [];
  const calls: Partial<EtcdCalls> = {
    range: async () => ({ header: { member_id: '1', revision: '7' }, kvs: [], more: false, count: '0' }),
    compact: async (revision) => {
      compacted.push(revision);
      throw new SharedLogUnavailableError('no member answers');
    },
  };
  const proof = new SecretProof('a secret of the tests, with 32 bytes', 'g', 'secret');
  const log = new EtcdLog(calls as EtcdCalls, etcdKeys('/test/'), new SlotCipher(salt, 'g'), proof);
  assert.instance(await rejection(log.compact()), SharedLogUnavailableError);
  assert.equal(compacted, ['7']);
});

test.run();
