/** The operator's commands on a cluster: what a scrub refuses, and what it leaves in etcd. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type LinkCall, LinkError } from '../../src/cluster/link-client.js';
import { ClusterOperator, type OperatorDeps } from '../../src/cluster/operations.js';
import type { NodeView, Scrubbed, SharedLog } from '../../src/group/ports/shared-log.js';
import { SharedLogUnavailableError } from '../../src/group/ports/shared-log.js';
import { OwnerLostError } from '../../src/group/ports/storage.js';
import { noLeader } from '../../src/group/refusals.js';
import { limits } from '../../src/limits.js';
import { rejection } from '../store/log-contract.js';

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
  return { operator: new ClusterOperator(deps as OperatorDeps), written, cleared, log };
}

/** Scrubs; returns true, or why it is incomplete or refused, with the record of the scrub and what it cleared. */
async function scrubbed(more: Partial<OperatorDeps>) {
  const { operator, written, cleared } = operatorOver(more);
  const outcome = await operator.scrub();
  const complete = outcome.ok && (outcome.value.complete || outcome.value.detail);
  return { outcome: outcome.ok ? complete : `${outcome.code}: ${outcome.text}`, ...written[0]!, cleared };
}

test('a scrub of every member is complete, and no further one is due', async () => {
  const { outcome, complete, marker, cleared } = await scrubbed({});
  assert.equal([outcome, complete, marker, cleared], [true, true, 'marker', [7]]);
});

test('a scrub with members that are silent or were not defragmented is incomplete and stays due', async () => {
  // The first member is silent, the third was not defragmented, and the last is both.
  const members = async () => [null, member(1e6), member(60e6), null];
  const { outcome, complete, cleared } = await scrubbed({ members, defragmentAll: async () => [2, 3] });
  assert.match(String(outcome), /^3 of etcd's members/, 'each of them counts once');
  assert.equal([complete, cleared], [false, []]);
});

test('a scrub that might fill the database is refused before it writes, and recorded as incomplete', async () => {
  const { outcome, complete, marker } = await scrubbed({
    members: async () => [member(1e6), member(61e6)],
    pushWal: () => Promise.reject(new Error('an entry was written')),
  });
  assert.match(String(outcome), /more than 60 % of its quota/);
  assert.equal([complete, marker], [false, 'earlier'], 'the earlier proof stays');
});

test('a scrub does not count a member as silent that is being defragmented', async () => {
  let isSilent = true;
  const { outcome } = await scrubbed({
    whenDefragmented: async () => {
      isSilent = false;
    },
    members: async () => [member(1e6), isSilent ? null : member(1e6)],
  });
  assert.is(outcome, true);
});

test('a scrub that fails is recorded as incomplete', async () => {
  const { operator, written } = operatorOver({ pushWal: () => Promise.reject(new Error('etcd')) });
  const failed = await operator.scrub().catch((error: unknown) => error);
  assert.is((failed as Error).message, 'etcd');
  assert.equal([written[0]!.complete, written[0]!.detail], [false, 'the scrub ended early: etcd']);
});

test('scrubs at the same time are one scrub, and a later one begins anew', async () => {
  let pushes = 0;
  const { operator } = operatorOver({ pushWal: async () => String(++pushes) });
  const [one, other] = await Promise.all([operator.scrub(), operator.scrub()]);
  assert.is(one, other);
  await operator.scrub();
  assert.is(pushes, 2);
});

test('a scrub takes the settings of the members of etcd where the operator gives none', async () => {
  const asked: object[] = [];
  const { operator } = operatorOver({
    pushWal: async (settings) => {
      asked.push(settings);
      return 'marker';
    },
  });
  await operator.scrub();
  await operator.scrub({ files: 3 });
  assert.equal(asked, [
    { snapshotEntries: 1, files: 1 },
    { snapshotEntries: 1, files: 3 },
  ]);
});

test('a scrub with no erasure due and no scrub before it clears nothing and writes no earlier proof', async () => {
  const { operator, written, cleared, log } = operatorOver({ members: async () => [member(61e6)] });
  log.scrubbed = async () => null;
  log.scrubDue = async () => null;
  await operator.scrub();
  assert.equal([written[0]!.marker, written[0]!.at], [null, 5]);
  const { operator: next, ...after } = operatorOver({});
  after.log.scrubDue = async () => null;
  assert.ok((await next.scrub()).ok);
  assert.equal([written.length, cleared, after.cleared], [1, [], []]);
});

test('a scrub is refused while etcd or the leader is silent, and any other failure rejects', async () => {
  const silent = new SharedLogUnavailableError('etcd does not answer');
  const failing = (error: Error) => operatorOver({ pushWal: () => Promise.reject(error) }).operator.scrub();
  const outcome = await failing(silent);
  assert.equal([outcome.ok, !outcome.ok && outcome.text], [false, 'etcd does not answer']);
  assert.is(String(await rejection(failing(new Error('a defect')))), 'Error: a defect');
  const forwarded = await follower(() => Promise.reject(new LinkError('no answer', false))).operator.scrub();
  assert.equal(!forwarded.ok && [forwarded.code, forwarded.text], ['dependency_unavailable', 'no answer']);
});

/** An operator on a follower whose leader answers as `call` states. */
function follower(call: (call: LinkCall) => Promise<unknown>, nodeId = 'n2') {
  const known = { nodeId, url: 'http://n2', since: 3, cause: 'why', fence: { revision: '9' } };
  const role = { isLeader: false, leader: known as typeof known | null, lastLeader: known };
  const link = { call } as unknown as OperatorDeps['link'];
  return { ...operatorOver({ member: role as OperatorDeps['member'], link, nodeId: 'n1' }), role };
}

test('a scrub is refused once another node leads', async () => {
  const lost = new OwnerLostError('another node leads now');
  const { outcome } = await scrubbed({ defragmentAll: () => Promise.reject(lost) });
  assert.is(outcome, 'dependency_unavailable: another node leads now');
});

test('a follower sends a scrub and a step-down to the leader, and refuses them if it knows none', async () => {
  const calls: LinkCall[] = [];
  const { operator, role } = follower(async (call) => {
    calls.push(call);
    return { outcome: { ok: true, value: calls.length } };
  });
  assert.equal(await operator.stepDown(), { ok: true, value: 1 });
  assert.equal(await operator.scrub({ files: 3 }), { ok: true, value: 2 });
  const at = { url: 'http://n2', method: 'POST' };
  assert.equal(calls, [
    { ...at, path: '/step-down', body: {}, timeoutMs: limits.forwardMs },
    { ...at, path: '/cluster-scrub', body: { files: 3 }, timeoutMs: limits.scrubMs },
  ]);
  role.leader = null;
  assert.equal(await operator.stepDown(), noLeader());
  // This node still finds itself the leader, but does not lead.
  assert.equal(await follower(async () => assert.unreachable(), 'n1').operator.scrub(), noLeader());
});

test('the leader steps down itself', async () => {
  const causes: string[] = [];
  const stepDown = async (cause: string) => void causes.push(cause);
  const { operator } = operatorOver({
    member: { ...leader, stepDown } as unknown as OperatorDeps['member'],
    nodeId: 'n1',
  });
  assert.equal(await operator.stepDown(), { ok: true, value: { nodeId: 'n1' } });
  assert.equal(causes, ['requested by the operator']);
});

test('a node is forgotten unless it is running', async () => {
  const { operator, log } = operatorOver({});
  log.nodes = async () => [{ nodeId: 'n2' } as NodeView];
  assert.equal(await operator.forget('n3'), { ok: true, value: null });
  const refused = await operator.forget('n2');
  assert.equal(!refused.ok && [refused.code, refused.text], ['invalid_parameter', 'node n2 is running: stop it first']);
  log.nodes = () => Promise.reject(new SharedLogUnavailableError('etcd does not answer'));
  const silent = await operator.forget('n3');
  assert.equal(!silent.ok && [silent.code, silent.text], ['dependency_unavailable', 'etcd does not answer']);
});

test('the status names leader, takeover and every member of etcd, and does without a log that is silent', async () => {
  const { role, log } = follower(async () => assert.unreachable());
  Object.assign(log, { nodes: async () => ['node'], refused: async () => ['refused'] });
  const deps = { clusterId: () => 'c', endpoints: ['http://e1', 'http://e2'], members: async () => [member(7), null] };
  const status = async () => {
    const outcome = await operatorOver({
      ...deps,
      log: log as SharedLog,
      member: role as OperatorDeps['member'],
    }).operator.status();
    if (!outcome.ok) throw new Error(outcome.code);
    return outcome.value;
  };
  const known = await status();
  assert.is(known.clusterId, 'c');
  assert.equal(known.leader, { nodeId: 'n2', since: 3, fence: '9' });
  assert.equal(known.lastTakeover, { at: 3, nodeId: 'n2', cause: 'why' });
  assert.equal([known.nodes, known.refused, known.scrubbed?.marker], [['node'], ['refused'], 'earlier']);
  assert.equal(
    known.members.map(({ endpoint, healthy, dbBytes, leads }) => [endpoint, healthy, dbBytes, leads]),
    [
      ['http://m', true, 7, false],
      ['http://e2', false, 0, false],
    ],
  );
  const fails = () => Promise.reject(new Error('etcd'));
  Object.assign(log, { nodes: fails, refused: fails, scrubbed: fails });
  role.leader = null;
  const silent = await status();
  assert.equal([silent.nodes, silent.refused, silent.scrubbed, silent.leader], [[], [], undefined, null]);
});

test.run();
