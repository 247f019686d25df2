/** A node of a cluster before it serves: what it refuses, waits for and fetches. And how it leaves after a failure. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupApi } from '../../../src/group/api.js';
import {
  type LeaderView,
  LogLostError,
  type NodeView,
  SharedLogUnavailableError,
  type SharedView,
} from '../../../src/group/ports/shared-log.js';
import { DiskFullError, OwnerLostError, type StoredBatch, StoreEndedError } from '../../../src/group/ports/storage.js';
import { RECORD_FORMAT } from '../../../src/group/record-format.js';
import { limits } from '../../../src/limits.js';
import { ClusterNode } from '../../../src/node/cluster/cluster-node.js';
import { loadConfig } from '../../../src/node/config.js';
import { RejoinError, StartEndedError, StartRefusedError } from '../../../src/node/startup.js';
import { random } from '../../../src/node/system.js';
import type { EtcdLog } from '../../../src/store/etcd/etcd-log.js';
import { type ClusterMark, readMark, writeMark } from '../../../src/store/files/folder-files.js';
import type { LmdbLogWriter } from '../../../src/store/log/lmdb-log.js';
import { HiddenCommitError } from '../../../src/store/log/log-environment.js';
import { Life } from '../../group/life.js';
import { withBounds } from '../../sim/profile.js';
import { rejection } from '../../store/log-contract.js';
import { MemoryLog } from '../../support/memory-log.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { VirtualTime } from '../../support/virtual-time.js';

const variables = {
  ...{ CLUSTER: 'etcd', ETCD_ENDPOINTS: 'http://127.0.0.1:1', NODE_ID: 'n1', ADVERTISE_URL: 'http://127.0.0.1:2' },
  ...{ CLUSTER_SECRET: 'a secret of at least 32 bytes, for tests', GROUP_SALT: 'a salt of sixteen bytes' },
};
const mark: ClusterMark = { cluster_id: 'c', node_id: 'n1' };
const emptyView: SharedView = { leader: null, nodes: [], format: 1, revision: '1', trimmed: 0, slots: [] };
const silent = new SharedLogUnavailableError('etcd is silent');
const leader: LeaderView = { nodeId: 'n2', url: 'http://n2', since: 0, cause: '', fence: { revision: '1' } };

/** A node over a shared log whose answers the test may change. `calls` lists what changes the shared log. */
async function nodeOver(given: { mark?: ClusterMark; log?: Partial<EtcdLog>; view?: Partial<SharedView> } = {}) {
  const outcome = loadConfig(variables, () => undefined);
  if (!outcome.ok) throw new Error(outcome.problems.join());
  const dir = temporaryFolder();
  if (given.mark !== undefined) await writeMark(dir, given.mark);
  const calls: string[] = [];
  const lines: string[] = [];
  const fatal: unknown[] = [];
  const ending = new AbortController();
  const view: SharedView = { ...emptyView, ...given.view };
  const log: Partial<EtcdLog> = {
    clusterId: async () => 'c',
    view: async () => view,
    grantLease: async () => undefined,
    revokeLease: async () => void calls.push('revoke'),
    keepAlive: async () => 3,
    hasSecret: async () => true,
    nodes: async () => [],
    putNode: async () => {
      calls.push('join');
      return null;
    },
    putRefused: async () => undefined,
    campaign: async (_leader, lease) => {
      calls.push(`campaign ${lease === node.member.lease.id}`);
      return { revision: '7' };
    },
    resign: async ({ cause }) => void calls.push(`resign: ${cause}`),
    begin: async (_fence, _id, seq) => void calls.push(`begin ${seq}`),
    client: { close: () => calls.push('close') } as unknown as EtcdLog['client'],
    ...given.log,
  };
  const time = new VirtualTime();
  const ports = {
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    onFatal: (error: unknown) => void fatal.push(error),
    ...{ clock: { now: () => 5 }, timers: time, random, ending: ending.signal },
  };
  const node = new ClusterNode(outcome.config, dir, ports as never, log as EtcdLog);
  // The files of a node are real, and time passes while it waits for them.
  const passing = <T>(work: Promise<T>) => time.wait(work, Number.POSITIVE_INFINITY);
  const prepare = (lastSeq: number | null) => passing(node.prepare(lastSeq));
  const begin = () => passing(node.begin());
  return { node, dir, calls, lines, fatal, ending, log, view, time, prepare, begin };
}

const slotAt = (firstSeq: number) => ({ firstSeq, bytes: new Uint8Array(), redactions: [] });

test('a folder of no cluster or another one, a damaged one, and a log of a newer format are refused', async () => {
  const refuses = async (given: Parameters<typeof nodeOver>[0], lastSeq: number | null, text: RegExp) => {
    const { node, prepare } = await nodeOver(given);
    const error = await rejection(prepare(lastSeq));
    assert.instance(error, StartRefusedError, String(text));
    assert.match((error as Error).message, text);
    await node.close();
  };
  const noLog: Partial<EtcdLog> = { clusterId: async () => null };
  const noAccess: Partial<EtcdLog> = { clusterId: () => Promise.reject(new Error('no access')) };
  const damaged = { ...mark, cluster_id: null as unknown as string };
  await refuses({}, 5, /^DATA_DIR: .* contains the data of a node without a cluster; import it with ptf import-data/);
  await refuses({}, null, /without a cluster/);
  const other = { ...mark, cluster_id: 'd' };
  await refuses({ mark: other }, 5, /belongs to the shared log d, but etcd has the log c under ETCD_PREFIX/);
  await refuses({ mark, log: noLog }, 5, /belongs to the shared log c, but etcd has no log under ETCD_PREFIX/);
  const format = RECORD_FORMAT + 1;
  await refuses({ view: { format } }, 0, /format \d+, and this release reads formats up to \d+: install a newer/);
  await refuses({ mark: damaged, log: noLog }, null, /^the store in .* is damaged$/);
  await refuses({ log: noAccess }, 0, /^ETCD_ENDPOINTS: no access$/);
  await refuses({ mark, log: noAccess }, 5, /^ETCD_ENDPOINTS: no access$/);
});

test('a node whose log the shared log continues joins and fetches nothing', async () => {
  const continued: readonly [lastSeq: number, view: Partial<SharedView>, mark?: ClusterMark][] = [
    [0, {}],
    [9, { trimmed: 9 }, mark],
    [9, { slots: [slotAt(10)] }, mark],
    [9, { format: RECORD_FORMAT, slots: [slotAt(9)] }, mark],
  ];
  for (const [lastSeq, view, own] of continued) {
    const { node, prepare, calls, log } = await nodeOver({ view, ...(own && { mark: own }) });
    const looked: unknown[] = [];
    log.view = async (...args) => {
      looked.push(args);
      return { ...emptyView, ...view };
    };
    await prepare(lastSeq);
    assert.equal([calls, looked], [['join'], [[lastSeq + 1, 1]]]);
    await node.close();
  }
});

test('a node whose log the shared log does not continue fetches: what it lacks, or a whole copy', async () => {
  const isUnfinished = (dir: string) => void writeFileSync(join(dir, '.joining'), '');
  const diverged: ClusterMark = { ...mark, diverged: true };
  const fetched: readonly [
    string,
    number | null,
    Partial<SharedView>,
    (ClusterMark | undefined)?,
    ((dir: string) => void)?,
  ][] = [
    ['missing', 9, { trimmed: 10 }, mark],
    ['missing', 9, { slots: [slotAt(11)] }, mark],
    ['copy', 0, { trimmed: 10 }],
    ['copy', 0, { trimmed: 10 }, mark],
    ['copy', null, {}, mark],
    ['copy', 9, {}, diverged],
    ['copy', 9, {}, mark, isUnfinished],
    ['copy', 9, {}, undefined, isUnfinished],
  ];
  for (const [what, lastSeq, view, own, before] of fetched) {
    const { node, prepare, dir, lines, ending, log } = await nodeOver({ view, ...(own && { mark: own }) });
    before?.(dir);
    let found = '';
    log.nodes = async () => {
      // A whole copy is built in a folder of its own.
      found = existsSync(join(dir, '.tmp-joining')) ? 'copy' : 'missing';
      ending.abort();
      return [];
    };
    assert.instance(await rejection(prepare(lastSeq)), StartEndedError);
    assert.is(found, what, `${lastSeq} ${JSON.stringify([view, own])}`);
    assert.ok(lines.some((line) => line.includes('this node joins and fetches data from another node')));
    await node.close();
  }
});

test('a node does not fetch from itself', async () => {
  const { node, prepare, ending, log, lines } = await nodeOver({ view: { trimmed: 10 } });
  let looks = 0;
  log.nodes = async () => {
    looks += 1;
    if (looks === 2) ending.abort();
    return [{ nodeId: 'n1', role: 'follower', url: 'http://127.0.0.1:1' } as NodeView];
  };
  await rejection(prepare(0));
  assert.ok(lines.some((line) => line.includes('no other node can send a copy')));
  await node.close();
});

test('a node with data of its own starts without etcd, and another one is refused after a wait', async () => {
  await withBounds({ etcdOwnStartMs: 0, etcdStartMs: 0 }, async () => {
    let grants = 0;
    const log: Partial<EtcdLog> = {
      clusterId: () => Promise.reject(silent),
      grantLease: async () => {
        grants += 1;
      },
    };
    const own = await nodeOver({ mark, log });
    const { node, prepare } = await nodeOver({ mark });
    await prepare(9);
    await own.prepare(9);
    assert.equal([own.calls, grants, own.node.logTag], [[], 1, node.logTag]);
    for (const [lastSeq, given] of [
      [0, { log }],
      [0, { mark, log }],
      [9, { mark: { ...mark, diverged: true as const }, log }],
    ] as const) {
      const other = await nodeOver(given);
      const error = await rejection(other.prepare(lastSeq));
      assert.instance(error, StartRefusedError);
      assert.is((error as Error).message, 'ETCD_ENDPOINTS: etcd is silent');
    }
  });
});

test('a node asks again until etcd answers and it has its place, and ends if it is stopped', async () => {
  const answers = [silent, silent];
  const holders: (NodeView | Error | null)[] = [{ nodeId: 'n1' } as NodeView, silent, null];
  const { node, prepare, lines, log } = await nodeOver();
  log.clusterId = async () => {
    const error = answers.shift();
    if (error !== undefined) throw error;
    return 'c';
  };
  log.putNode = async () => {
    const next = holders.shift();
    if (next instanceof Error) throw next;
    return next ?? null;
  };
  await prepare(0);
  assert.equal([answers.length, holders.length], [0, 0]);
  assert.is(lines.filter((line) => line.includes('etcd does not answer yet')).length, 2);
  await node.close();
  const stopped = await nodeOver();
  stopped.ending.abort();
  assert.instance(await rejection(stopped.prepare(0)), StartEndedError);
  const failing = await nodeOver({ log: { putNode: () => Promise.reject(new Error('a defect')) } });
  assert.is(((await rejection(failing.prepare(0))) as Error).message, 'a defect');
});

test('a node with data of its own does not wait for its place if etcd falls silent', async () => {
  await withBounds({ etcdOwnStartMs: 0 }, async () => {
    const { node, prepare, calls } = await nodeOver({ mark, log: { putNode: () => Promise.reject(silent) } });
    await prepare(9);
    assert.equal(calls, []);
    await node.close();
  });
});

/** A prepared node with an empty log of its own. */
async function preparedNode(given: Parameters<typeof nodeOver>[0] = {}) {
  const prepared = await nodeOver(given);
  await prepared.prepare(0);
  prepared.calls.length = 0;
  const local = new MemoryLog();
  const own = local.acquire();
  const appendAll = (batches: readonly StoredBatch[]) => Promise.all(batches.map((batch) => own.append(batch, [])));
  const writer = prepared.node.wrap(Object.assign(own, { appendAll }) as unknown as LmdbLogWriter);
  return { ...prepared, local, writer };
}

test('the first node of a group begins the shared log, and marks its folder', async () => {
  const { node, begin, dir, calls, log } = await preparedNode({ log: { clusterId: async () => null } });
  log.clusterId = async () => (calls.some((call) => call.startsWith('begin')) ? 'new' : null);
  await begin();
  assert.equal(calls, ['campaign true', 'begin 0']);
  assert.equal(readMark(dir), { ...mark, cluster_id: 'new' });
  const later = await preparedNode();
  await later.begin();
  assert.equal(later.calls, ['campaign true'], 'an earlier leader began the log and crashed');
  assert.not.equal(node.logTag, later.node.logTag);
  assert.match(node.logTag, /^[0-9a-f]{12}$/);
});

test('a node whose campaign got no answer, but the lead, gives it up and campaigns again', async () => {
  const { begin, calls, log, view } = await preparedNode();
  let campaigns = 0;
  log.campaign = async () => {
    campaigns += 1;
    if (campaigns > 1) return { revision: '8' };
    Object.assign(view, { leader: { ...leader, nodeId: 'n1' } });
    throw silent;
  };
  log.resign = async ({ fence, cause }) => {
    calls.push(`resign ${fence.revision}: ${cause}`);
    Object.assign(view, { leader: null });
  };
  await begin();
  assert.equal([campaigns, calls], [2, ['resign 1: the group was not formed']]);
});

test('a node takes the first slot instead of forming the group, also if another node was faster', async () => {
  const life = await Life.begin();
  const slots = life.machine.log.from(1, 1, 1e6).map((batch) => ({ ...batch, redactions: [] }));
  const { begin, calls, local, dir } = await preparedNode({ view: { slots } });
  await begin();
  assert.equal([calls, local.last()?.firstSeq, readMark(dir)], [[], 1, mark]);
  const late = await preparedNode();
  late.log.campaign = async () => {
    Object.assign(late.view, { slots });
    return { revision: '7' };
  };
  await late.begin();
  assert.equal([late.calls, late.local.last()?.firstSeq], [['resign: the group was already formed'], 1]);
});

test('a node waits for the group while another node leads, or its campaign or its lease failed', async () => {
  let looks = 0;
  let campaigns = 0;
  const { begin, calls, view, log } = await preparedNode();
  Object.assign(view, { leader });
  const won = log.campaign!;
  log.view = async () => {
    looks += 1;
    if (looks === 3) Object.assign(view, { leader: null });
    return view;
  };
  log.campaign = async (...args) => (++campaigns === 1 ? null : won(...args));
  await begin();
  assert.ok(looks > 3, `${looks} looks`);
  assert.equal([campaigns, calls], [2, ['campaign true']]);
  const trimmed = await preparedNode();
  Object.assign(trimmed.view, { trimmed: 3 });
  assert.instance(await rejection(trimmed.begin()), RejoinError);
});

test('a loop that lost the lead lets the node follow; a failure makes it leave once, unless it stops', async () => {
  for (const error of [new OwnerLostError('another leads'), silent, new StoreEndedError('the node stops')]) {
    const { node, lines, fatal } = await nodeOver();
    node.loopFailed(error);
    assert.equal([node.member.role, lines, fatal], ['joining', [], []]);
  }
  const waits: unknown[] = [];
  const behind = (await nodeOver()).node;
  behind.member.stepDown = async (...args) => void waits.push(args);
  behind.loopFailed(new LogLostError(32));
  const page = 'see "Loss of two machines" in docs/operating/cluster.md';
  const cause = `etcd lacks the records before 32, which this node has; ${page}`;
  assert.equal(waits, [[cause, Number.POSITIVE_INFINITY]], 'it leads no more until it starts again');
  const { node, lines, fatal } = await nodeOver();
  for (const text of ['a defect', 'a consequence']) node.loopFailed(new Error(text));
  await until(() => node.member.role === 'left');
  assert.equal([node.member.reason, fatal], ['a defect', []]);
  assert.is(lines.filter((line) => line.includes('"the node leaves the cluster"')).length, 1);
});

test('a node starts again after a hidden commit at once, and after a full disk once there is room', async () => {
  const hidden = await nodeOver();
  hidden.node.loopFailed(new HiddenCommitError('log'));
  assert.instance(hidden.fatal[0], RejoinError);
  await withBounds({ commitFreeBytes: 0 }, async () => {
    const { node, dir, fatal, time } = await nodeOver();
    rmSync(dir, { recursive: true });
    node.loopFailed(new DiskFullError('full'));
    await time.step();
    assert.equal([fatal, time.elapsed()], [[], limits.clusterReportMs], 'the free space is unknown');
    mkdirSync(dir);
    await time.step();
    assert.equal([fatal.length, await time.step()], [1, false], 'it asks for one start');
    assert.match(String(fatal[0]), 'the disk has room again');
  });
});

test('a commit that failed after an append makes the node leave, unless its start still reports it', async () => {
  const { node, writer, lines } = await preparedNode();
  Object.assign(writer.local, { appendAll: () => Promise.reject(new Error('no commit')) });
  await writer.take([slotAt(1)]);
  await rejection(writer.stored());
  assert.equal([node.member.role, lines], ['joining', []]);
  await writer.settled();
  node.groupOver({} as GroupApi);
  await writer.take([slotAt(1)]);
  await rejection(writer.stored());
  await until(() => node.member.role === 'left');
  assert.is(node.member.reason, 'no commit');
});

/**
 * Lets a node begin and start over a group that applies nothing. `calls` lists what the group is told, too.
 * `beforeStart`: what happens to the node that has begun.
 */
async function startedNode(beforeStart = async (_begun: Awaited<ReturnType<typeof preparedNode>>) => {}) {
  const begun = await preparedNode();
  const { node, calls, dir, view, log, writer, begin } = begun;
  const note = (what: string) => async () => void calls.push(what);
  log.campaign = async () => {
    Object.assign(view, { leader: { ...leader, nodeId: 'n1', fence: { revision: '7' } } });
    return { revision: '7' };
  };
  Object.assign(log, { watch: () => () => undefined, prefer: () => undefined });
  writer.local.scrub = note('overwrite');
  await begin();
  await beforeStart(begun);
  writeFileSync(join(dir, 'scrub-due'), '');
  const actor = { durableSeq: 0, isSettled: true };
  const acts = { lead: note('lead'), follow: note('follow'), forgetErased: note('forget') };
  const loop = { actor, storedSeq: 0, failed: false, weights: {}, ...acts };
  const fits = { unfit: () => null, unfitToLead: () => null, refusal: () => null, hasSettings: () => true };
  node.start({ loop: () => loop, configure: note('configure'), snapshotSeq: () => 0, ...fits } as never);
  return begun;
}

test('a node that formed the group leads it, overwrites what is due, and lets another lead before it ends', async () => {
  const { node, calls, dir, time } = await startedNode();
  await time.until(() => node.member.isLeader);
  assert.ok(node.member.decides);
  await until(() => !existsSync(join(dir, 'scrub-due')) && calls.includes('configure') && calls.includes('join'));
  assert.equal([...calls].sort(), ['configure', 'forget', 'join', 'lead', 'overwrite']);
  calls.length = 0;
  await withBounds({ clusterEndMs: 60_000 }, () => time.wait(node.beginClose()));
  assert.equal([node.member.role, calls], ['follower', ['follow', 'resign: the node is shutting down']]);
  await node.close();
});

test('free space is overwritten once the disk holds every batch and the group forgot the erased', async () => {
  const { node, calls, writer, time } = await startedNode(async (begun) => {
    const { appendAll } = begun.writer.local;
    const append = async (batches: readonly StoredBatch[]) => {
      await until(() => begun.calls.includes('forget'));
      begun.calls.push('store');
      await appendAll(batches);
    };
    Object.assign(begun.writer.local, { appendAll: append });
    await begun.writer.take([slotAt(1)]);
  });
  await time.until(() => node.member.isLeader);
  await until(() => calls.includes('overwrite'));
  const order = ['forget', 'store', 'overwrite'];
  assert.equal(
    calls.filter((call) => order.includes(call)),
    order,
  );
  await writer.settled();
  await node.close();
});

test('a node that closes ends its calls to etcd last, and only once', async () => {
  const { node, calls } = await preparedNode();
  const closing = node.close();
  assert.is(node.close(), closing);
  await closing;
  assert.equal(calls, ['revoke', 'close']);
});

test.run();
