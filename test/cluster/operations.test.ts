/** The operator's commands on a cluster: what a scrub refuses, and what it leaves in etcd. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ClusterOperator, type OperatorDeps } from '../../src/cluster/operations.js';
import type { Scrubbed, SharedLog } from '../../src/group/ports/shared-log.js';

const member = (dbBytes: number) => ({
  ...{ endpoint: 'http://m', leads: false, version: '3.4.0', dbBytes, dbBytesInUse: 0, alarms: [] },
});

const leader = { isLeader: true, etcdQuotaBytes: 100e6 };

/** An operator on the leader, and what its scrubs wrote to etcd. */
function operatorOver(more: Partial<OperatorDeps>) {
  const written: Scrubbed[] = [];
  const cleared: number[] = [];
  const log: Partial<SharedLog> = {
    scrubDue: async () => 7,
    scrubbed: async () => ({ at: 1, complete: true, detail: '', marker: 'earlier' }),
    putScrubbed: async (ended) => void written.push(ended),
    clearScrubDue: async (seq) => void cleared.push(seq),
  };
  const deps: Partial<OperatorDeps> = {
    ...{ log: log as SharedLog, member: leader as OperatorDeps['member'] },
    members: async () => [member(1e6), member(1e6)],
    pushWal: async () => 'marker',
    walSettings: { snapshotEntries: 1, files: 1 },
    whenDefragmented: async () => undefined,
    defragmentAll: async () => [],
    now: () => 5,
    ...more,
  };
  return { operator: new ClusterOperator(deps as OperatorDeps), written, cleared };
}

test('a scrub of every member is complete, and no further one is due', async () => {
  const { operator, written, cleared } = operatorOver({});
  const outcome = await operator.scrub();
  assert.ok(outcome.ok && outcome.value.complete);
  assert.equal([written[0]!.complete, written[0]!.marker, cleared], [true, 'marker', [7]]);
});

test('a scrub with a silent member is incomplete and stays due', async () => {
  const { operator, written, cleared } = operatorOver({ members: async () => [member(1e6), null] });
  const outcome = await operator.scrub();
  assert.ok(outcome.ok && !outcome.value.complete);
  assert.equal([written[0]!.complete, cleared], [false, []]);
});

test('a scrub that might fill the database is refused before it writes, and recorded as incomplete', async () => {
  const { operator, written } = operatorOver({
    members: async () => [member(1e6), member(61e6)],
    pushWal: () => Promise.reject(new Error('an entry was written')),
  });
  const outcome = await operator.scrub();
  assert.match(outcome.ok ? '' : String(outcome.text), /more than 60 % of its quota/);
  assert.equal([written[0]!.complete, written[0]!.marker], [false, 'earlier'], 'the earlier proof stays');
});

test('a scrub does not count a member as silent that is being defragmented', async () => {
  let isSilent = true;
  const { operator } = operatorOver({
    whenDefragmented: async () => {
      isSilent = false;
    },
    members: async () => [member(1e6), isSilent ? null : member(1e6)],
  });
  const outcome = await operator.scrub();
  assert.ok(outcome.ok && outcome.value.complete);
});

test('a scrub that fails is recorded as incomplete', async () => {
  const { operator, written } = operatorOver({ pushWal: () => Promise.reject(new Error('etcd')) });
  const failed = await operator.scrub().catch((error: unknown) => error);
  assert.is((failed as Error).message, 'etcd');
  assert.equal([written[0]!.complete, written[0]!.detail], [false, 'the scrub ended early: etcd']);
});

test.run();
