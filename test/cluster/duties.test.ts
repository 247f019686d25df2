/** The duties of the leader: deferred erasures, the format of records, and the size of etcd's database. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type DutiesDeps, LeaderDuties } from '../../src/cluster/duties.js';
import type { LinkClient } from '../../src/cluster/link-client.js';
import type { ClusterMember } from '../../src/cluster/member.js';
import { type NodeView, type SharedLog, SharedLogUnavailableError } from '../../src/group/ports/shared-log.js';
import { OwnerLostError, ScrubDeferredError } from '../../src/group/ports/storage.js';
import { RECORD_FORMAT } from '../../src/group/record-format.js';
import { limits } from '../../src/limits.js';
import { withBounds } from '../sim/profile.js';
import { rejection } from '../store/log-contract.js';
import { deferred } from '../support/deferred.js';
import { VirtualTime } from '../support/virtual-time.js';

/** The time of all duties. */
const time = new VirtualTime();
const until = (holds: () => boolean): Promise<void> => time.until(holds);

/** Runs the duties until a condition holds. */
async function runUntil(duties: LeaderDuties, holds: () => boolean): Promise<void> {
  duties.start();
  await until(holds);
  await duties.stop();
}

const base = { url: 'http://x', applied: 1, durable: 1, snapshot: 0, version: '1', started: 0, reason: null };
const nodeOf = (nodeId: string, format: number, role = 'follower'): NodeView => ({ ...base, nodeId, format, role });

function worldOf(nodes: NodeView[], more: Partial<DutiesDeps> = {}, scrubsDue: number[] = []) {
  const raised: number[] = [];
  const asked: string[] = [];
  let trims = 0;
  let compactions = 0;
  const preferred: (number | null)[] = [];
  const trimmed: number[] = [];
  const slots: number[] = [];
  const log: Partial<SharedLog> = {
    nodes: async () => nodes,
    refused: async () => [{ nodeId: 'n9', url: 'http://y', reason: 'r' }],
    slotSeqs: async () => {
      trims += 1;
      return [...slots];
    },
    raiseFormat: async (_fence, format) => void raised.push(format),
    prefer: (at) => void preferred.push(at),
    compact: async () => {
      compactions += 1;
    },
    scrubbed: async () => null,
    trim: async (_fence, firstSeq) => void trimmed.push(firstSeq),
    putScrubDue: async (seq) => void scrubsDue.push(seq),
  };
  const member = {
    ...{
      isLeader: true,
      appliedSeq: 7,
      fence: { revision: '1' } as { revision: string } | null,
      etcdBytes: 0,
      etcdQuotaBytes: 100e6,
      logIsFull: false,
      writeFormat: 1,
    },
    isScrubIncomplete: false,
    refusedNodes: 0,
    floorSeq: 0,
  };
  const duties = new LeaderDuties({
    // These objects have the members that the duties use in these tests.
    log: log as SharedLog,
    member: member as unknown as ClusterMember,
    link: { call: async ({ url }: { url: string }) => void asked.push(url) } as unknown as LinkClient,
    timers: time,
    nodeId: 'n0',
    appendedBytes: () => 0,
    durableSeq: () => 1,
    members: async () => [],
    defragment: async () => undefined,
    fullChanged: () => undefined,
    formatRaised: async () => void asked.push('format raised'),
    now: () => 1_000,
    onFailure: (_what, error) => assert.unreachable(String(error)),
    note: () => undefined,
    ...more,
  });
  const counts = { trims: () => trims, compactions: () => compactions };
  return { duties, log, raised, asked, preferred, slots, trimmed, member, nodes, ...counts };
}

test('records of a newer format are written once every live node reads them', async () => {
  const world = worldOf([nodeOf('n0', RECORD_FORMAT), nodeOf('n1', 1)]);
  world.duties.start();
  await until(() => world.trims() > 0);
  assert.equal([world.raised, world.member.writeFormat], [[], 1]);
  world.nodes[1] = nodeOf('n1', RECORD_FORMAT + 1);
  await until(() => world.raised.length > 0);
  await world.duties.stop();
  // The format rises to the newest one of this release.
  assert.equal([world.raised, world.member.writeFormat], [[RECORD_FORMAT], RECORD_FORMAT]);
  assert.equal(world.asked, ['format raised'], 'the configuration that waited for the format is applied');
});

test('settings that wait for a newer format are written later if etcd was silent', async () => {
  const triesAfter = async (failure: Error) => {
    let tries = 0;
    let looks = 0;
    const failures: unknown[] = [];
    const { duties, log, member } = worldOf([], {
      formatRaised: async () => {
        tries += 1;
        if (tries === 1) throw failure;
      },
      onFailure: (_what, error) => failures.push(error),
    });
    log.nodes = async () => {
      looks += 1;
      return [];
    };
    await withBounds({ trimLookMs: 1, trimEveryMs: 1 }, async () => {
      await runUntil(duties, () => looks > 2);
    });
    assert.equal([failures, member.writeFormat], [[failure], RECORD_FORMAT]);
    return tries;
  };
  assert.is(await triesAfter(new SharedLogUnavailableError('etcd does not answer')), 2);
  assert.is(await triesAfter(new Error('PRE_TRUSTED_PEERS')), 1, 'nothing is trimmed while it fails');
});

test('an erasure waits for a node that joins, but only for a limited time', async () => {
  const joining = { ...nodeOf('n1', 1, 'joining'), started: 500 };
  const at = (now: number) => worldOf([joining], { now: () => now }).duties.mayScrub();
  assert.instance(await rejection(at(500)), ScrubDeferredError);
  assert.match(String(await rejection(at(499 + limits.joinHoldMs))), 'waits for node n1, which joins');
  await at(500 + limits.joinHoldMs);
  await worldOf([nodeOf('n1', 1)]).duties.mayScrub();
});

test('a scrub asks the other nodes that serve, and ends as soon as the node does', async () => {
  const nodes = [nodeOf('n0', 1, 'leader'), nodeOf('n1', 1), nodeOf('n2', 1, 'left'), nodeOf('n3', 1, 'joining')];
  const world = worldOf(nodes);
  await world.duties.scrubElsewhere();
  assert.is(world.asked.length, 1);
  const silent = { call: () => new Promise(() => undefined) } as unknown as LinkClient;
  const hanging = worldOf(nodes, { link: silent }).duties;
  const scrubbed = hanging.scrubElsewhere().catch((error: unknown) => error);
  await hanging.stop();
  assert.instance(await scrubbed, ScrubDeferredError);
});

test('a scrub does not wait for a node whose lease has ended, and tells a living node that fails', async () => {
  const nodes = [nodeOf('n0', 1, 'leader'), nodeOf('n1', 1)];
  const call = ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))));
  const { duties, log } = worldOf(nodes, { link: { call } as unknown as LinkClient });
  let looks = 0;
  log.nodes = async () => {
    looks += 1;
    if (looks === 2) throw new SharedLogUnavailableError('silent');
    return looks < 4 ? nodes : nodes.slice(0, 1);
  };
  await withBounds({ clusterReportMs: 1 }, async () => {
    const scrubbed = duties.scrubElsewhere();
    await until(() => looks === 4);
    await scrubbed;
  });
  const failing = worldOf(nodes, { link: { call: () => Promise.reject(new Error('refused')) } }).duties;
  assert.match(String(await rejection(failing.scrubElsewhere())), 'an erasure waits for the other nodes: refused');
});

test('after a takeover a scrub deletes the slots of all records that the leader before may have replaced', async () => {
  const due: number[] = [];
  // The files of this node follow its state.
  const world = worldOf([], { durableSeq: () => 3 }, due);
  await world.duties.scrubElsewhere();
  assert.equal(due, []);
  world.duties.roleChanged();
  await world.duties.scrubElsewhere();
  assert.equal(due, [7]);
});

// Found by the simulation: two trims at once took each other's slots off the list, and an erased player stayed in etcd.
test('trims run one after the other, so that every slot of an erased player is deleted', async () => {
  const noted: string[] = [];
  const { duties, slots, trimmed, member } = worldOf([], { note: (_level, _fields, text) => void noted.push(text) });
  slots.push(10, 20, 30, 40, 50);
  duties.roleChanged();
  duties.redacted(25);
  await Promise.all([duties.scrubElsewhere(), duties.scrubElsewhere()]);
  duties.redacted(35);
  await duties.scrubElsewhere();
  assert.equal(trimmed, [30, 40]);
  // The newest slot stays, because the next one refers to it.
  for (const seq of [55, 56]) {
    duties.redacted(seq);
    await duties.scrubElsewhere();
  }
  assert.equal([trimmed, member.floorSeq], [[30, 40, 50], 49]);
  // The newest report of a node may be from before the erasure, and etcd has room.
  assert.not(noted.some((text) => text.startsWith('etcd is filling up')));
});

test('after a trim that failed the slots are read again, because it may have deleted some', async () => {
  const { duties, slots, trimmed, log, trims } = worldOf([]);
  slots.push(10, 20, 30);
  duties.roleChanged();
  duties.redacted(15);
  const { trim } = log;
  log.trim = () => Promise.reject(new Error('no answer'));
  assert.match(String(await rejection(duties.scrubElsewhere())), 'an erasure waits for the other nodes: no answer');
  log.trim = trim!;
  duties.appended(40);
  slots.splice(0, 1);
  slots.push(40);
  duties.redacted(35);
  await duties.scrubElsewhere();
  assert.equal([trims(), trimmed], [2, [40]]);
  duties.appended(50);
  duties.redacted(45);
  await duties.scrubElsewhere();
  assert.equal([trims(), trimmed], [2, [40, 50]], 'an appended slot is known');
});

test('an erasure waits for an etcd that is silent, and members are defragmented by the leader alone', async () => {
  const status = { leads: false } as unknown as NonNullable<Awaited<ReturnType<DutiesDeps['members']>>[number]>;
  const { duties, log, member } = worldOf([], {
    members: async () => [status],
    defragment: () => Promise.reject(new Error('defragmented')),
  });
  log.nodes = () => Promise.reject(new Error('no answer'));
  assert.match(String(await rejection(duties.mayScrub())), 'ScrubDeferredError: an erasure waits for etcd: no answer');
  member.isLeader = false;
  const lost = await rejection(duties.defragment());
  assert.instance(lost, OwnerLostError);
  assert.match(String(lost), 'another node leads now');
  member.isLeader = true;
  assert.match(String(await rejection(duties.defragment(AbortSignal.abort()))), 'the node is shutting down');
});

test('members that are silent or refuse the defragmentation are reported, and the others are defragmented', async () => {
  const done: number[] = [];
  const failures: string[] = [];
  const member = { leads: false } as unknown as NonNullable<Awaited<ReturnType<DutiesDeps['members']>>[number]>;
  const { duties } = worldOf([], {
    members: async () => [member, null, { ...member, leads: true }, member],
    defragment: async (at) => {
      if (at === 0) throw new Error('permission denied');
      done.push(at);
    },
    onFailure: (_what, error) => void failures.push(String(error)),
  });
  assert.equal(await duties.defragment(), [1, 0]);
  assert.equal(done, [3, 2]);
  assert.equal(failures, ['Error: permission denied']);
});

/** The status of a member whose file, and the values in it, have so many megabytes. */
const sizeOf = (file: number, inUse: number, alarms: readonly string[] = []) => ({
  ...{ endpoint: 'http://m', leads: true, version: '3.4.0', dbBytes: file * 1e6, dbBytesInUse: inUse * 1e6, alarms },
});

/** A leader that looks at the members again and again; `answer` is their status at that time. */
function looking(answer: () => Awaited<ReturnType<DutiesDeps['members']>>, more: Partial<DutiesDeps> = {}) {
  let appended = 0;
  let looks = 0;
  const world = worldOf([nodeOf('n0', 2)], {
    members: async () => {
      looks += 1;
      return answer();
    },
    // Makes the next look due at once.
    appendedBytes: () => (appended += limits.trimEveryBytes),
    ...more,
  });
  /** Resolves after so many further looks. */
  const looked = (count: number) => {
    const before = looks;
    return until(() => looks >= before + count);
  };
  return { ...world, looked };
}

test('writes are refused while the database is close to its quota, and by the leader only', async () => {
  let file = 81;
  let changes = 0;
  const world = looking(() => [sizeOf(1, 1), sizeOf(file, 70)], {
    fullChanged: () => {
      changes += 1;
    },
  });
  world.duties.start();
  await until(() => world.member.logIsFull);
  file = 71;
  await world.looked(3);
  assert.ok(world.member.logIsFull, 'a little room opens and closes nothing');
  file = 69;
  await until(() => !world.member.logIsFull);
  file = 81;
  await until(() => world.member.logIsFull);
  await world.duties.stop();
  world.member.fence = null;
  world.duties.roleChanged();
  assert.equal([world.member.logIsFull, changes], [false, 3]);
  assert.is(world.preferred[0], 0, 'the node writes to the member that leads etcd');
  assert.is(world.preferred.at(-1), null, 'and to its own one when it no longer leads');
});

test('an alarm of etcd is logged by its name once, and writes are refused while it says NOSPACE', async () => {
  const notes: string[] = [];
  let alarms: readonly string[] = ['NOSPACE'];
  const note: DutiesDeps['note'] = (level, _fields, text) => void notes.push(`${level}: ${text}`);
  const world = looking(() => [sizeOf(1, 1, alarms), sizeOf(1, 1, alarms)], { note });
  world.duties.start();
  await world.looked(4);
  assert.ok(world.member.logIsFull);
  assert.is(notes.filter((text) => /^error: .*alarm NOSPACE.*etcdctl alarm disarm/.test(text)).length, 1);
  alarms = [];
  await until(() => !world.member.logIsFull);
  await world.duties.stop();
  assert.ok(notes.includes('warn: etcd has no alarm any more'));
});

test('a node that lost the lead while it looked at the members refuses nothing', async () => {
  const { promise: held, resolve: answer } = deferred<ReturnType<Parameters<typeof looking>[0]>>();
  let isAsked = false;
  const members = () => {
    isAsked = true;
    return held;
  };
  const { duties, member, preferred } = looking(() => [], { members });
  duties.start();
  await until(() => isAsked);
  member.isLeader = false;
  duties.roleChanged();
  answer([sizeOf(90, 90)]);
  await duties.stop();
  assert.equal([member.logIsFull, preferred], [false, []]);
});

test('a leader prefers no member of etcd while none leads', async () => {
  const { duties, compactions, preferred, member } = looking(() => [null, { ...sizeOf(1, 1), leads: false }]);
  await runUntil(duties, () => compactions() > 0);
  assert.equal([preferred, member.etcdBytes], [[], 1e6]);
});

test('writes stay refused while a member is silent, because it may have the largest database', async () => {
  let answers: ReturnType<Parameters<typeof looking>[0]> = [sizeOf(81, 70), sizeOf(60, 55)];
  const world = looking(() => answers);
  world.duties.start();
  await until(() => world.member.logIsFull);
  answers = [null, sizeOf(60, 55)];
  await world.looked(2);
  assert.ok(world.member.logIsFull);
  answers = [sizeOf(60, 55), sizeOf(60, 55)];
  await until(() => !world.member.logIsFull);
  await world.duties.stop();
});

/** The members that a leader defragments, of whom the last is number `last`, where they have this status. */
async function defragmentedOf(members: ReturnType<Parameters<typeof looking>[0]>, last: number) {
  const defragmented: number[] = [];
  const { duties, member, compactions } = looking(() => members, {
    defragment: async (at) => void defragmented.push(at),
  });
  await runUntil(duties, () => (last < 0 ? compactions() > 0 : defragmented.includes(last)));
  return { defragmented, isFull: member.logIsFull };
}

test('members are defragmented if their files are large although little is in use, or while writes are refused', async () => {
  assert.equal((await defragmentedOf([sizeOf(70, 55)], -1)).defragmented, []);
  assert.equal((await defragmentedOf([sizeOf(70, 5), sizeOf(10, 5)], 1)).defragmented, [0, 1]);
  const { defragmented, isFull } = await defragmentedOf([sizeOf(85, 60)], 0);
  assert.equal([defragmented[0], isFull], [0, true], 'so that this ends');
});

test('defragmentations run one after the other, and trimming goes on meanwhile', async () => {
  let running = 0;
  let most = 0;
  const { promise: held, resolve: release } = deferred();
  const { duties, member } = looking(() => [sizeOf(70, 5)], {
    defragment: async () => {
      running += 1;
      most = Math.max(most, running);
      await held;
      running -= 1;
    },
  });
  duties.start();
  await until(() => running === 1);
  assert.is(member.etcdBytes, 70e6);
  member.etcdBytes = 0;
  const asked = duties.defragment();
  await until(() => member.etcdBytes > 0);
  release();
  assert.equal(await asked, []);
  await duties.stop();
  assert.is(most, 1);
});

test('slots wait for a slow node unless etcd is filling up', async () => {
  const noted: string[] = [];
  const trimmedWith = async (inUse: number): Promise<number[]> => {
    const slow = { ...nodeOf('n1', 1), durable: 5_000 };
    const world = worldOf([{ ...nodeOf('n0', 1), durable: 20_000 }, slow], {
      durableSeq: () => 20_000,
      members: async () => [sizeOf(55, inUse)],
      note: (_level, _fields, text) => noted.push(text),
    });
    for (let seq = 1; seq < 20_000; seq += 10) world.slots.push(seq);
    await runUntil(world.duties, () => world.compactions() > 0);
    return world.trimmed;
  };
  const slotOf = (seq: number, back: number) => seq - 9 - (back - 1) * 10;
  assert.equal(await trimmedWith(40), []);
  assert.equal(noted, []);
  assert.equal(await trimmedWith(51), [slotOf(20_000, limits.slotsRetainedPressed + 1)]);
  assert.equal(noted, ['etcd is filling up, so a node that is far behind must join again']);
});

test('a leader counts the refused nodes and reports an incomplete scrub, and neither outlasts its lead', async () => {
  const { duties, member, log } = worldOf([nodeOf('n0', 2)]);
  log.scrubbed = async () => ({ at: 1, complete: false, detail: 'a member was down', marker: null });
  await runUntil(duties, () => member.isScrubIncomplete && member.refusedNodes === 1);
  duties.roleChanged();
  assert.equal([member.isScrubIncomplete, member.refusedNodes], [false, 0]);
});

test.run();
