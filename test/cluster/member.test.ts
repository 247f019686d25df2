/** The role of a node, over a shared log that the test answers for. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ClusterMember, type MemberDeps, type MemberGroup } from '../../src/cluster/member.js';
import {
  type LeaderView,
  type NodeView,
  type RefusedNode,
  type SharedLog,
  SharedLogUnavailableError,
  type SharedView,
  type Slot,
} from '../../src/group/ports/shared-log.js';
import { DivergedError } from '../../src/group/ports/storage.js';
import { limits } from '../../src/limits.js';
import { random } from '../../src/node/system.js';
import { batchOf } from '../store/log-contract.js';
import { deferred } from '../support/deferred.js';
import { VirtualTime } from '../support/virtual-time.js';

/** The time of every member. */
const time = new VirtualTime();

/**
 * A member whose shared log answers as `view` states, and which `await using` ends. `site`, `log` and `deps` replace
 * parts of its dependencies.
 */
function memberOver(
  view: () => Partial<SharedView>,
  more: { site?: Partial<MemberGroup>; log?: Partial<SharedLog>; deps?: Partial<MemberDeps> } = {},
): ClusterMember & AsyncDisposable {
  const log: Partial<SharedLog> = {
    view: async () => ({ leader: null, nodes: [], format: 1, revision: '1', trimmed: 0, slots: [], ...view() }),
    watch: () => () => undefined,
    grantLease: async () => undefined,
    keepAlive: async () => 3,
    hasSecret: async () => true,
    putNode: async () => null,
    putRefused: async () => undefined,
    ...more.log,
  };
  const seqs = { appliedSeq: 0, durableSeq: 0, snapshotSeq: 0 };
  const fits = { unfit: null, unfitToLead: null, refusal: null };
  const defaults = { ...seqs, ...fits, hasSettings: true, stored: async () => undefined };
  const weights = { basedOnSeq: 0, computedAt: null };
  // The object of the test itself, which the test may change.
  const site: Partial<MemberGroup> = Object.assign(more.site ?? {}, { ...defaults, weights, ...more.site });
  const member = new ClusterMember({
    ...{ log: log as SharedLog, site: site as MemberGroup, nodeId: 'n1', url: 'http://127.0.0.1:1', version: '0' },
    ...{ leaseS: 3, etcdQuotaBytes: 1e9, stalenessMaxMs: 5_000, allowStaleReads: false },
    ...{ timers: time, random },
    now: () => 0,
    note: () => undefined,
    onLeader: () => undefined,
    onBehind: (reason) => assert.unreachable(reason),
    onRefused: (reason) => assert.unreachable(reason),
    onFailed: (error) => assert.unreachable(String(error)),
    ...more.deps,
  });
  return Object.assign(member, { [Symbol.asyncDispose]: () => time.wait(member.end()) });
}

/** Lets a member ask for its lease and follow the log. */
function begin(member: ClusterMember): void {
  member.lease.start();
  member.start(null);
}

/** Resolves to what a caller that waits for at most a minute gets, and whether it had to wait for long. */
async function waited(wait: Promise<boolean>): Promise<{ readonly served: boolean; readonly isLong: boolean }> {
  const since = time.elapsed();
  const served = await time.wait(wait);
  return { served, isLong: time.elapsed() - since >= 30_000 };
}

/** Resolves with the reason for which a node whose last record is `appliedSeq` joins again. */
function rejoinReason(
  appliedSeq: number,
  view: Pick<SharedView, 'trimmed' | 'slots'>,
  taking = new Error('no slot follows the log of this node'),
): Promise<string> {
  const reason = new Promise<string>((resolve, reject) => {
    const member = memberOver(() => view, {
      site: { appliedSeq, durableSeq: appliedSeq, take: () => Promise.reject(taking) },
      deps: {
        onBehind: (reason, hasDiverged) => {
          void member.end();
          resolve(hasDiverged ? `diverged: ${reason}` : reason);
        },
        onFailed: reject,
      },
    });
    member.start(null);
  });
  return time.wait(reason);
}

const slotAt = (firstSeq: number) => ({ firstSeq, bytes: new Uint8Array(), redactions: [] });

test('a node joins again if the slots that follow were deleted, or do not continue its own log', async () => {
  assert.match(await rejoinReason(9, { trimmed: 20, slots: [slotAt(21)] }), /begins after/);
  assert.match(await rejoinReason(9, { trimmed: 5, slots: [slotAt(12)] }), /differs from the shared log/);
  const slots = [{ ...slotAt(10), bytes: batchOf(10).bytes }];
  const diverged = new DivergedError('the slot at record 10 does not follow record 9 of this node');
  const reason = await rejoinReason(9, { trimmed: 5, slots }, diverged);
  assert.match(reason, /^diverged: .* differs from the shared log: the slot at record/);
});

const leaderOf = (revision: string): LeaderView => ({
  ...{ nodeId: 'n2', url: 'http://127.0.0.1:2', since: 0, cause: '', fence: { revision } },
});

test('a caller that waits for the next leader learns of it, and of a stop', async () => {
  let leader = leaderOf('1');
  await using member = memberOver(() => ({ leader, slots: [] }));
  member.start(null);
  assert.ok(await time.wait(member.nextLeader(null, 60_000)));
  assert.not(await time.wait(member.nextLeader(leader.fence, 1)), 'the same leader is not the next one');
  const next = member.nextLeader(leader.fence, 60_000);
  leader = leaderOf('2');
  assert.ok(await time.wait(next));
  const never = member.nextLeader(leader.fence, 60_000);
  await time.wait(member.end());
  assert.equal(await waited(never), { served: false, isLong: false }, 'the stop ended the wait');
});

test('a node that starts serves once its files hold what it read, because no erasure waited for it', async () => {
  let stores = 0;
  const { promise: stored, resolve: store } = deferred();
  const site = {
    stored: () => {
      stores += 1;
      return stored;
    },
  };
  await using member = memberOver(() => ({ leader: leaderOf('1'), slots: [] }), { site });
  member.start(null);
  await time.until(() => stores === 1);
  assert.not(await time.wait(member.refresh()));
  assert.ok(member.isStale);
  store();
  assert.ok(await time.wait(member.refresh()));
  assert.not(member.isStale);
  assert.is(stores, 1, 'later the erasures wait for it');
});

test('an outage of etcd is noted once when it begins, and once when it ends', async () => {
  const notes: string[] = [];
  let polls = 0;
  await using member = memberOver(
    () => {
      polls += 1;
      if (polls > 3 && polls <= 6) throw new SharedLogUnavailableError('silent');
      return { leader: leaderOf('1'), slots: [] };
    },
    { deps: { note: (_level, _fields, text) => notes.push(text) } },
  );
  begin(member);
  await time.until(() => polls === 9);
  assert.equal(notes, ['etcd does not answer', 'etcd answers again']);
});

test('a question for the newest record costs one poll', async () => {
  let polls = 0;
  await using member = memberOver(() => {
    polls += 1;
    return { leader: leaderOf('1'), slots: [] };
  });
  member.start(null);
  assert.ok(await time.wait(member.refresh()));
  const moment = () => time.wait(new Promise<void>((resolve) => void time.later(resolve, 1)));
  await moment();
  const before = polls;
  assert.ok(await time.wait(member.refresh()));
  await moment();
  assert.is(polls - before, 1);
});

/** Follows a leader whose slots arrive by polls. Resolves to the revisions at which watches began. */
async function watchesOf(
  slotsOf: (elapsedMs: number) => SharedView['slots'],
  does: 'brings' | 'loses' | 'ends',
): Promise<{ readonly begun: readonly string[]; readonly rotated: number }> {
  const begun: string[] = [];
  const applied = { appliedSeq: 0 };
  const since = time.elapsed();
  const rotatedAt: number[] = [];
  const member = memberOver(
    () => ({ leader: leaderOf('1'), slots: slotsOf(time.elapsed() - since), revision: String(begun.length + 10) }),
    {
      site: Object.assign(applied, {
        take: async (slots: readonly Slot[]) => {
          applied.appliedSeq = slots.at(-1)!.firstSeq;
        },
      }),
      log: {
        watch(revision, heard, ended) {
          if (rotatedAt.length > 0) assert.is(rotatedAt.at(-1), time.elapsed());
          begun.push(revision);
          const act = {
            brings: () => heard(slotsOf(Number.POSITIVE_INFINITY)),
            loses: () => undefined,
            ends: () => ended(new SharedLogUnavailableError('the member has gone')),
          }[begun.length > 1 ? 'brings' : does];
          // As much later than the poll as a busy member is.
          const stop = time.later(act, limits.clusterPollMs + 20);
          return () => stop();
        },
        rotate() {
          rotatedAt.push(time.elapsed());
        },
      },
    },
  );
  member.start(null);
  const polls = async (ms: number) => time.wait(new Promise<void>((resolve) => void time.later(resolve, ms)));
  try {
    await polls(limits.clusterPollMs + 10);
    // A poll for a caller may follow the one before at once.
    await time.wait(member.refresh());
    await polls(3 * limits.clusterPollMs);
    assert.is(applied.appliedSeq, 1);
  } finally {
    await time.wait(member.end());
  }
  return { begun, rotated: rotatedAt.length };
}

const slotOnceJoined = (elapsedMs: number) =>
  elapsedMs >= limits.clusterPollMs ? [{ ...slotAt(1), bytes: batchOf(1).bytes }] : [];

test('a watch is replaced at once, at another member, if it lacks a slot that two polls found', async () => {
  assert.equal(await watchesOf(slotOnceJoined, 'brings'), { begun: ['11'], rotated: 0 });
  const lost = await watchesOf(slotOnceJoined, 'loses');
  assert.equal([lost.begun.length, lost.rotated], [2, 1]);
  const ended = await watchesOf(slotOnceJoined, 'ends');
  assert.equal([ended.begun.length, ended.rotated], [2, 0], 'the next one begins where the client went then');
});

// Found by the simulated cluster: an erasure was answered while a node that had no place yet served the player.
test('a node that gets its place late is stale until it has read on', async () => {
  let placed: boolean | null = null;
  const putNode = async () => {
    placed ??= member.isStale;
    return null;
  };
  await using member = memberOver(() => ({ leader: leaderOf('1'), slots: [] }), { log: { putNode } });
  member.start(null);
  assert.ok(await time.wait(member.refresh()));
  assert.not(member.isStale);
  member.lease.start();
  await time.until(() => placed !== null);
  assert.ok(placed);
  assert.ok(await time.wait(member.refresh()));
  assert.not(member.isStale);
});

test('a change of the leader says whether the node that led before is alive', async () => {
  const nodeOf = (nodeId: string) => ({ ...memberOver(() => ({})).view(), nodeId });
  const views: [leader: string, nodes: string[]][] = [
    ['n2', ['n2', 'n3']],
    ['n3', ['n2', 'n3']],
    ['n4', ['n4', 'n2']],
  ];
  const heard: unknown[] = [];
  await using member = memberOver(
    () => {
      const [nodeId, nodes] = views[0]!;
      return { leader: { ...leaderOf(nodeId), nodeId }, nodes: nodes.map(nodeOf) };
    },
    { deps: { onLeader: (leader, isEarlierAlive) => heard.push([leader?.nodeId, isEarlierAlive]) } },
  );
  member.start(null);
  for (let changes = 1; changes <= 3; changes++) {
    await time.until(() => heard.length === changes);
    views.shift();
    views.push(['n4', ['n4', 'n2']]);
  }
  assert.equal(heard, [
    ['n2', false],
    ['n3', true],
    ['n4', false],
  ]);
});

test('nobody is served by a node that still finds itself the leader, but does not lead', async () => {
  const own = { ...leaderOf('1'), nodeId: 'n1' };
  let leader: LeaderView | null = own;
  const heard: (string | undefined)[] = [];
  const resigned: string[] = [];
  await using member = memberOver(() => ({ leader, slots: [] }), {
    log: {
      resign: async ({ fence }) => {
        resigned.push(fence.revision);
        leader = leaderOf('2');
      },
    },
    deps: { onLeader: (one) => heard.push(one?.nodeId) },
  });
  member.start(null);
  assert.ok(await time.wait(member.nextLeader(null, 60_000)));
  assert.is(member.leader?.nodeId, 'n2');
  assert.equal(resigned, ['1']);
  assert.equal(heard, ['n1', undefined, 'n2']);
  assert.ok(member.canLearn);
  assert.equal(await waited(member.takenOver(60_000)), { served: false, isLong: false }, 'it takes over nothing');
});

test('a node with another secret, or with the id of a living node, has no place and reports why once', async () => {
  let hasSecret = false;
  let holder: NodeView | null = { ...memberOver(() => ({})).view(), started: 1 };
  const reported: RefusedNode[] = [];
  let puts = 0;
  const member = memberOver(() => ({}), {
    log: {
      hasSecret: async () => hasSecret,
      putNode: async () => {
        puts += 1;
        return holder;
      },
      putRefused: async (node) => void reported.push(node),
    },
  });
  member.lease.start();
  await time.until(() => member.lease.id !== null);
  assert.match(String(await member.join()), /^CLUSTER_SECRET differs/);
  assert.is(await member.join(), member.reason);
  hasSecret = true;
  assert.match(String(await member.join()), /^NODE_ID n1 belongs to a living node/);
  assert.equal([reported.length, reported[1]?.reason, member.role], [2, member.reason, 'joining']);
  await member.report();
  assert.is(puts, 1, 'a node without a place reports nothing else');
  holder = null;
  assert.equal([await member.join(), member.reason], [null, null]);
  await member.report();
  assert.is(puts, 3);
});

test('a node that got its lease while it read the shared log joins before it campaigns', async () => {
  const calls: string[] = [];
  let grant = (): void => undefined;
  const { promise: campaigned, resolve: reached } = deferred();
  const member = memberOver(() => ({}), {
    log: {
      grantLease: () =>
        new Promise((resolve) => {
          grant = resolve;
        }),
      view: async () => {
        grant();
        await new Promise<void>((resolve) => void time.later(resolve, 1));
        return { leader: null, nodes: [], format: 1, revision: '1', trimmed: 0, slots: [] };
      },
      putNode: async () => {
        calls.push('joined');
        return null;
      },
      campaign: async () => {
        calls.push('campaigned');
        reached();
        return null;
      },
    },
  });
  begin(member);
  await time.wait(campaigned);
  await member.end();
  assert.is(calls[0], 'joined');
});

test('a node whose id another process took while it slept joins again, and does not resign for that process', async () => {
  const other = { ...memberOver(() => ({})).view(), started: 1 };
  let holder: NodeView | null = null;
  const reasons: string[] = [];
  const own = { ...leaderOf('1'), nodeId: 'n1' };
  await using member = memberOver(() => (holder === null ? {} : { leader: own, nodes: [holder] }), {
    log: { putNode: async () => holder, resign: async () => assert.unreachable(), campaign: async () => null },
    deps: { onBehind: (reason) => reasons.push(reason) },
  });
  member.lease.start();
  await time.until(() => member.lease.id !== null);
  await member.join();
  member.start(null);
  holder = other;
  await time.until(() => reasons.length > 0);
  assert.match(reasons[0]!, /^NODE_ID n1 belongs/);
});

test('a node whose settings differ from those in the log is refused before it may lead', async () => {
  const reasons: string[] = [];
  await using member = memberOver(() => ({}), {
    site: { refusal: 'PEERS_MAX is 5, and the group has 7' },
    log: { campaign: () => Promise.reject(new Error('it campaigned')) },
    deps: { onRefused: (reason) => reasons.push(reason) },
  });
  begin(member);
  await time.until(() => reasons.length > 0);
  assert.equal([reasons, member.isLeader], [['PEERS_MAX is 5, and the group has 7'], false]);
});

test('a node that follows before the log has the settings is refused once they differ, unless the group is older', async () => {
  const refused = async (format: number) => {
    const reasons: string[] = [];
    const site = { refusal: null as string | null, hasSettings: false };
    let looks = 0;
    const view = () => {
      looks += 1;
      if (looks === 2) Object.assign(site, { refusal: 'PEERS_MAX differs', hasSettings: true });
      return { leader: leaderOf('1'), format };
    };
    const member = memberOver(view, { site, deps: { onRefused: (reason) => reasons.push(reason) } });
    begin(member);
    await time.until(() => reasons.length > 0 || looks === 4);
    await time.wait(member.end());
    return reasons;
  };
  assert.equal(await refused(3), ['PEERS_MAX differs']);
  assert.equal(await refused(2), [], 'a rolling upgrade stops no node that serves');
});

/** A member that leads, and the next leader once it has resigned. The test may change `site`. */
async function leading(more: { log?: Partial<SharedLog>; deps?: Partial<MemberDeps> } = {}) {
  const own = { ...leaderOf('1'), nodeId: 'n1' };
  let leader: LeaderView | null = null;
  /** The roles that the node reported. */
  const put: string[] = [];
  const site = {
    ...{ unfit: null as string | null, unfitToLead: null as string | null },
    lead: async () => undefined,
    follow: async () => undefined,
  };
  const log: Partial<SharedLog> = {
    campaign: async () => {
      leader = own;
      return own.fence;
    },
    resign: async () => {
      leader = leaderOf('2');
    },
    revokeLease: async () => undefined,
    putNode: async ({ role }) => {
      put.push(role);
      return null;
    },
    ...more.log,
  };
  const member = memberOver(() => ({ leader, slots: [] }), { site, log, deps: more.deps ?? {} });
  begin(member);
  assert.ok(await time.wait(member.nextLeader(null, 60_000)));
  assert.ok(member.decides);
  return { member, site, put, [Symbol.asyncDispose]: () => time.wait(member.end()) };
}

/** A member that wins each campaign; `lead` is what its group does then. `resigned` lists its resignations. */
function campaigning(lead: () => Promise<void>, deps: Partial<MemberDeps> = {}) {
  const resigned: string[] = [];
  let leader: LeaderView | null = null;
  let campaigns = 0;
  const member = memberOver(() => ({ leader, slots: [] }), {
    site: { lead, follow: async () => undefined },
    log: {
      campaign: async () => {
        leader = { ...leaderOf(String(++campaigns)), nodeId: 'n1' };
        return leader.fence;
      },
      resign: async ({ fence, cause }) => {
        resigned.push(`${fence.revision} ${cause}`);
        leader = null;
      },
      resigned: async () => null,
      revokeLease: async () => undefined,
    },
    deps,
  });
  begin(member);
  return { member, resigned };
}

test('a node whose takeover fails resigns, so that another one can lead, and reports the failure', async () => {
  const failures: unknown[] = [];
  const lead = () => Promise.reject(new Error('PRE_TRUSTED_PEERS'));
  const deps = { onFailed: (error: unknown) => failures.push((error as Error).message) };
  const { member, resigned } = campaigning(lead, deps);
  await time.until(() => failures.length > 0);
  await time.wait(member.end());
  assert.equal([resigned, failures], [['1 PRE_TRUSTED_PEERS'], ['PRE_TRUSTED_PEERS']]);
  assert.equal([member.fence, member.role, member.takeovers, member.refusedNodes], [null, 'follower', 0, 0]);
});

test('a takeover that meets a silent etcd is tried again', async () => {
  let takeovers = 0;
  const { member } = campaigning(async () => {
    takeovers += 1;
    if (takeovers === 1) throw new SharedLogUnavailableError('silent');
  });
  await time.until(() => member.decides);
  await time.wait(member.end());
  assert.is(takeovers, 2);
});

test('a leader that may lead no longer decides nothing, and callers wait for the next leader', async () => {
  await using led = await leading();
  const { member, site } = led;
  site.unfitToLead = 'the clock jumped';
  assert.equal([member.isLeader, member.decides], [true, false]);
  assert.ok(await time.wait(member.nextLeader(null, 60_000)));
  assert.equal([member.leader?.nodeId, member.role], ['n2', 'follower']);
});

test('a leader that must leave decides nothing, and nobody waits for a node that has left', async () => {
  await using led = await leading();
  const { member, site } = led;
  site.unfit = 'disk_low';
  assert.equal([member.isLeader, member.decides], [true, false]);
  assert.equal(await waited(member.nextLeader(null, 60_000)), { served: false, isLong: false });
  assert.is(member.role, 'left');
});

test('a node that has left goes on after a caller asked it for the newest records', async () => {
  await using led = await leading();
  const { member, site } = led;
  site.unfit = 'disk_low';
  await time.until(() => member.role === 'left');
  const since = time.elapsed();
  assert.not(await time.wait(member.refresh()));
  assert.ok(time.elapsed() - since < limits.refreshMs, 'it reads nothing that the caller could wait for');
  site.unfit = null;
  await time.until(() => member.role === 'follower');
});

// Found by the simulation: an erasure was answered while a node that had just returned still held the player.
test('a node that returns tells the others first, and is stale until it has read the log to its end', async () => {
  await using led = await leading();
  const { member, site, put } = led;
  site.unfit = 'disk_low';
  await time.until(() => member.role === 'left');
  let wasStale: boolean | null = null;
  put.push = (role) => {
    if (role === 'follower') wasStale ??= member.isStale;
    return 0;
  };
  site.unfit = null;
  await time.until(() => member.role === 'follower');
  assert.ok(wasStale, 'reported before it serves');
  await time.until(() => !member.isStale);
});

test('a node that lost its lease is stale from the next one on until it has read the shared log to its end', async () => {
  let isLost = false;
  let isSilent = false;
  const reports: string[] = [];
  await using member = memberOver(
    () => {
      if (isSilent) throw new SharedLogUnavailableError('etcd does not answer');
      return { leader: leaderOf('1') };
    },
    {
      log: {
        keepAlive: async () => (isLost ? 0 : 3),
        putNode: async ({ role }) => {
          reports.push(role);
          return null;
        },
      },
    },
  );
  begin(member);
  await time.until(() => member.lease.id !== null && !member.isStale);
  assert.is(member.hasLeader, true);
  isLost = true;
  isSilent = true;
  await time.until(() => member.lease.id === null);
  isLost = false;
  reports.length = 0;
  await time.until(() => member.lease.id !== null);
  await time.until(() => !member.hasLeader);
  assert.is(member.isStale, true);
  isSilent = false;
  await time.until(() => !member.isStale);
  assert.ok(reports.includes('follower'));
});

test('no report that is made while a node returns says that it has left', async () => {
  let isHeld = false;
  let isReleased = false;
  const roles: string[] = [];
  await using led = await leading({
    log: {
      putNode: async ({ role }) => {
        roles.push(role);
        while (isHeld && role === 'follower' && !isReleased) await new Promise((go) => time.later(() => go(null), 100));
        return null;
      },
    },
  });
  const { member, site } = led;
  site.unfit = 'disk_low';
  await time.until(() => member.role === 'left');
  isHeld = true;
  roles.length = 0;
  site.unfit = null;
  await time.until(() => roles.includes('follower'));
  const heldAt = time.elapsed();
  await time.until(() => time.elapsed() > heldAt + 5_000);
  assert.equal(roles.slice(roles.indexOf('follower')), ['follower']);
  isReleased = true;
  await time.until(() => member.role === 'follower');
});

// Found by the simulation: a leader that was paused called old records fresh until its next lease.
test('a leader that slept while its lease was renewed leads no longer, and is stale at once', async () => {
  let sleepsMs = 0;
  let sleptMs = 0;
  await using led = await leading({
    log: {
      keepAlive: async () => {
        sleptMs += sleepsMs;
        sleepsMs = 0;
        return 3;
      },
    },
    deps: { timers: { elapsed: () => time.elapsed() + sleptMs, later: (act, ms) => time.later(act, ms) } },
  });
  const { member } = led;
  sleepsMs = 60_000;
  await time.until(() => sleptMs > 0);
  assert.equal([member.isLeader, member.isStale], [false, true]);
  await time.until(() => member.role === 'follower');
  assert.is(member.lease.leftMs, 0, 'before another lease');
});

test('a node that retires is stale, because the files that it reads anew may lack records', async () => {
  await using led = await leading();
  const { member } = led;
  assert.not(member.isStale);
  await time.wait(member.retire('a commit failed'));
  assert.ok(member.isStale);
});

test('callers are served again at once if the leader may stay after all', async () => {
  await using led = await leading();
  const { member, site } = led;
  site.unfitToLead = 'the clock jumped';
  const served = member.takenOver(60_000);
  site.unfitToLead = null;
  assert.equal(await waited(served), { served: true, isLong: false });
});

test.run();
