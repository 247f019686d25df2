/** A shared log whose calls are carried out on a model of etcd's state. */
import { setImmediate as turn } from 'node:timers/promises';
import { SecretProof } from '../../../src/core/hashing/secret-proof.js';
import { type Fence, SharedLogUnavailableError } from '../../../src/group/ports/shared-log.js';
import { etcdKeys } from '../../../src/store/etcd/etcd-keys.js';
import { type EtcdCalls, EtcdLog } from '../../../src/store/etcd/etcd-log.js';
import { SlotCipher } from '../../../src/store/etcd/slot-codec.js';
import { EtcdStore } from '../../sim/cluster/etcd-store.js';
import { salt } from '../../support/given.js';

export const keys = etcdKeys('/test/');
const secret = 'a secret of the tests, with 32 bytes';
export const unavailable = () => new SharedLogUnavailableError('no member answers');

/** A log whose calls `calls` carries out on `store`; a test may replace each of them. */
export function given() {
  const store = new EtcdStore(() => 0);
  const compacted: string[] = [];
  const pauses: number[] = [];
  const calls: Pick<EtcdCalls, 'range' | 'put' | 'txn' | 'compact' | 'pause' | 'watch' | 'isClosed'> = {
    range: async (request) => store.range(request),
    put: async (request) => {
      await turn();
      return store.put(request);
    },
    txn: async (request) => {
      await turn();
      return store.txn(request);
    },
    compact: async (revision) => {
      await turn();
      compacted.push(revision);
    },
    pause: async (ms) => {
      await turn();
      pauses.push(ms);
    },
    watch: () => () => undefined,
    isClosed: false,
  };
  const log = (proven = secret) =>
    new EtcdLog(calls as EtcdCalls, keys, new SlotCipher(salt, 'g'), new SecretProof(proven, 'g', 'secret'));
  const put = (key: Buffer, text: string) => void store.put({ key, value: Buffer.from(text) });
  return {
    store,
    calls,
    compacted,
    pauses,
    log: log(),
    withSecret: log,
    put,
    /** Makes a node the leader, whoever led before. */
    lead: (nodeId: string): Fence => {
      store.txn({ compare: [], success: [{ request_delete_range: { key: keys.leader } }] });
      put(keys.leader, JSON.stringify({ node_id: nodeId, url: 'http://x', since: 1, cause: 'a test' }));
      return { revision: store.range({ key: keys.leader }).kvs[0]!.create_revision };
    },
    text: (key: Buffer) => store.range({ key }).kvs[0]?.value.toString(),
    seqs: () => store.range({ key: keys.slot(0), range_end: keys.logEnd }).kvs.map(({ key }) => keys.seqOf(key)),
    /** Carries out the next transaction, and loses its answer. */
    loseAnswer: () => {
      const { txn } = calls;
      calls.txn = async (request) => {
        calls.txn = txn;
        await txn(request);
        throw unavailable();
      };
    },
  };
}
