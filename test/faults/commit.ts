/**
 * Commits that go wrong, at every index of a group's life on the real store: the node stops at once, acknowledges
 * nothing more, and what a start recovers holds all that was acknowledged, and nothing that was not written.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import type { PeerView } from '../../src/group/api.js';
import { lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { openLogReader } from '../../src/store/log/lmdb-log.js';
import { acquireFolder, ownFolder } from '../../src/store/ownership/owner.js';
import { LmdbSnapshotStore } from '../../src/store/snapshots/lmdb-snapshots.js';
import { verifyFolder } from '../../src/workers/verify/verify-folder.js';
import { deadProcess } from '../store/dead-process.js';
import { deferred } from '../support/deferred.js';
import { subjectOf } from '../support/given.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import { startTestNode, type TestNode } from '../support/node.js';
import type { Random } from '../support/random.js';
import { until } from '../support/until.js';
import { type Fault, inFastFolder, type Rounds } from './fault.js';
import { type CommitFault, commitFaults, FaultyLog } from './faulty-log.js';
import { submissionOf } from './group-calls.js';

const salt = 'a salt of sixteen bytes or more';
/** From a failed commit until the node says that it must end. */
const stopWithinMs = 1_000;
/** How long a delayed commit is watched for an answer that must not come. */
const watchMs = 30;

/** The acknowledged writes, and those in progress when the node failed. */
interface Acknowledged {
  readonly peers: PeerView[];
  readonly events: Set<string>;
  readonly withdrawn: Set<string>;
  readonly erased: Set<string>;
  pending: string[];
}

interface Running {
  readonly node: TestNode;
  readonly log: FaultyLog;
  readonly failed: Promise<'failed'>;
  failedAt: number | null;
}

/** A node that starts, and its log from when it has one: a start whose first commit goes wrong leaves no node. */
interface Starting {
  readonly running: Promise<Running>;
  readonly log: () => FaultyLog | null;
}

function startOn(dir: string, fault: CommitFault, at: number): Starting {
  let log: FaultyLog | null = null;
  const { promise: failed, resolve: fail } = deferred<'failed'>();
  const running = { failedAt: null as number | null };
  const starting = startTestNode(
    { DATA_DIR: dir, GROUP_SALT: salt, SNAPSHOT_EVERY: '20', WEIGHTS_INTERVAL_MS: '3600000' },
    {
      ownFolder: async (folder) => {
        const owned = await ownFolder(folder, deadProcess());
        return {
          async openLog() {
            log = new FaultyLog(await owned.openLog(), folder, fault, at);
            return log;
          },
          // As a process that dies.
          release: () => owned.stop(),
        };
      },
      onFatal: () => {
        running.failedAt ??= performance.now();
        fail('failed');
      },
    },
  );
  return { running: starting.then((node) => Object.assign(running, { node, log: log!, failed })), log: () => log };
}

/** The life: each step answers once it is acknowledged. Ends at the first that the failure leaves without an answer. */
async function live({ node, failed }: Running, acknowledged: Acknowledged): Promise<void> {
  const { group } = node;
  let over = false;
  /** `names`: what is under way. Null once the node has failed, and if it refuses. */
  async function step<T>(names: readonly string[], act: () => Promise<T>): Promise<T | null> {
    if (over) return null;
    acknowledged.pending = [...names];
    const answer = await Promise.race([act(), failed]);
    over = answer === 'failed';
    if (answer === 'failed') return null;
    acknowledged.pending = [];
    return answer;
  }
  const register = async (peerName: string) => {
    const issued = await step([`peer ${peerName}`], () => group.register({ peerName, gameIds: ['g'] }, 'test'));
    if (issued?.ok) acknowledged.peers.push(issued.value.peer);
  };
  const submit = async (ids: readonly string[], player: string) => {
    const peer = acknowledged.peers[0];
    if (peer === undefined) return;
    const events = ids.map((id) => submissionOf(peer, id, player));
    const answers = await step(ids, () => group.submit(peer, events));
    for (const [i, outcome] of answers?.entries() ?? []) if (outcome.ok) acknowledged.events.add(ids[i]!);
  };
  await register('a');
  await register('b');
  for (let i = 0; i < 4; i++) await submit([`single-${i}`], `player ${i}`);
  await submit(
    Array.from({ length: 25 }, (_, i) => `batch-${i}`),
    'player 1',
  );
  const [one, two] = acknowledged.peers;
  if (two !== undefined)
    await step(['suspension'], () => group.changePeer('peer_status', two.peerId, { status: 'suspended' }, 'test'));
  await submit(['to-withdraw'], 'player 2');
  if (one !== undefined) {
    const withdrawn = await step(['withdrawal'], () => group.withdraw(one, 'to-withdraw'));
    if (withdrawn?.ok) acknowledged.withdrawn.add('to-withdraw');
    const erased = await step(['erasure'], () => group.erase(one, subjectOf('player 1')));
    if (erased?.ok) acknowledged.erased.add('player 1');
  }
  await submit(['last'], 'player 3');
}

/** Compares a start on the folder with the acknowledged writes. */
async function check(
  dir: string,
  fault: CommitFault,
  acknowledged: Acknowledged,
  say: (what: string) => void,
): Promise<void> {
  const report = await verifyFolder(dir, 'full');
  if (!report.ok) say(`the store does not hold: ${report.faults.join('; ')}`);
  const reader = openLogReader(dir);
  const [fromSnapshot, fromStart] = [new LmdbSnapshotStore(dir), new MemorySnapshotStore()].map((snapshots) => {
    const recovered = recover(reader, snapshots, Buffer.from(salt), lastSeqOf(reader));
    // Null of a log in which no group was formed.
    return recovered === null ? null : stateDigest(recovered.follower.state);
  });
  await reader.close();
  if (fromSnapshot !== fromStart) say('snapshot and tail lead elsewhere than the whole log');
  const { node } = await startOn(dir, 'none', 0).running;
  try {
    const { group } = node;
    const peers = group.peers(0, 10).map(({ peerId }) => peerId);
    for (const { peerId } of acknowledged.peers) if (!peers.includes(peerId)) say(`peer ${peerId} is lost`);
    for (const player of acknowledged.erased)
      if (group.trust(subjectOf(player)) !== undefined) say(`${player} is back`);
    const peer = acknowledged.peers[0];
    if (peer === undefined) return;
    const isStored = async (id: string) => {
      const [outcome] = await group.submit(peer, [submissionOf(peer, id, 'asked')]);
      return !outcome!.ok && outcome!.code === 'duplicate_event';
    };
    for (const id of acknowledged.events) if (!(await isStored(id))) say(`${id} was acknowledged and is lost`);
    for (const id of acknowledged.withdrawn)
      if ((await group.withdraw(peer, id)).ok) say(`the withdrawal of ${id} is lost`);
    const events = acknowledged.pending.filter((name) => /^(single|batch|last|to-)/.test(name));
    for (const id of events) {
      // A written commit whose answer was lost is there; one that never was written is not.
      if ((await isStored(id)) !== (fault === 'lost')) say(`${id}: ${fault}, and stored is ${fault !== 'lost'}`);
    }
  } finally {
    await node.close();
  }
}

const nothingAcknowledged = (): Acknowledged => ({
  peers: [],
  events: new Set(),
  withdrawn: new Set(),
  erased: new Set(),
  pending: [],
});

/**
 * The commit that forms the group goes wrong: there is no node then, and the next start forms the group or finds it
 * formed.
 */
async function playFormation(dir: string, fault: CommitFault, reporter: Reporter): Promise<void> {
  const { say, isStrict } = reporter;
  const starting = startOn(dir, fault, 0);
  const outcome = starting.running.then(
    (running) => running,
    () => null,
  );
  if (fault === 'delayed') {
    await Promise.race([outcome, until(() => starting.log()?.faultAt != null)]);
    const early = await Promise.race([outcome.then(() => true), delay(watchMs, false)]);
    if (early) say('a node started before its group was formed');
    starting.log()!.release();
  }
  const running = await outcome;
  const endedAt = performance.now();
  const log = starting.log()!;
  if (log.happened === 'none') say('no commit went wrong');
  await running?.node.close().catch(() => undefined);
  if ((running === null) !== (fault !== 'delayed')) say(`a node ${running === null ? 'did not start' : 'started'}`);
  const ms = endedAt - (log.faultAt ?? endedAt);
  if (running === null && isStrict && ms > stopWithinMs) say(`it took ${Math.round(ms)} ms to refuse the start`);
  // Acknowledged writes are present once the folder is acquired, and not before.
  const owner = await acquireFolder(dir, deadProcess());
  const isFormed = lastSeqOf(owner) > 0;
  await owner.abandon();
  if (isFormed !== (fault === 'lost' || fault === 'delayed')) say(`the group is ${isFormed ? '' : 'not '}formed`);
  // A whole life on what was left.
  await playRound(dir, 'none', -1, reporter);
}

/** Where a fault of a round is reported, and whether a late one counts. */
interface Reporter {
  readonly say: (what: string) => void;
  readonly isStrict: boolean;
}

interface Played {
  /** Commits and scrubs of its life. */
  readonly commits: number;
  readonly happened: CommitFault;
}

async function playRound(dir: string, fault: CommitFault, at: number, { say, isStrict }: Reporter): Promise<Played> {
  const acknowledged = nothingAcknowledged();
  const running = await startOn(dir, fault, at).running;
  const { node, log } = running;
  const living = live(running, acknowledged);
  if (fault === 'delayed') {
    while (log.faultAt === null && (await Promise.race([living.then(() => 'over'), delay(1)])) !== 'over');
    const before = acknowledged.events.size;
    await delay(watchMs);
    if (log.faultAt !== null && acknowledged.events.size !== before)
      say('an event was answered while its commit was on its way');
    log.release();
  }
  await living;
  if (fault !== 'delayed' && log.faultAt !== null) {
    await running.failed;
    const ms = running.failedAt! - log.faultAt;
    if (isStrict && ms > stopWithinMs) say(`it took ${Math.round(ms)} ms to stop`);
    const { ready, reason } = node.group.health();
    if (ready || reason !== 'log_failed') say(`health says ${reason ?? 'ready'}`);
    const peer = acknowledged.peers[0];
    if (peer !== undefined) {
      const [outcome] = await node.group.submit(peer, [submissionOf(peer, 'after', 'player')]);
      if (outcome!.ok) say('an event was acknowledged after the failure');
    }
  }
  const { commits, happened } = log;
  // For a failed node this rejects with the reason of the failure.
  await node.close().catch(() => undefined);
  await check(dir, happened, acknowledged, say);
  return { commits, happened };
}

/** Every fault at every index: those of the commit that forms the group first, the others in an order from the seed. */
function plannedFaults(commits: number, random: Random): { readonly fault: CommitFault; readonly at: number }[] {
  const first = commitFaults.map((fault) => ({ fault, at: 0 }));
  const planned = commitFaults.flatMap((fault) =>
    Array.from({ length: commits - 1 }, (_, i) => ({ fault, at: i + 1 })),
  );
  for (let i = planned.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [planned[i], planned[j]] = [planned[j]!, planned[i]!];
  }
  return [...first, ...planned];
}

/** One fault at one index, and the name under which it counts. */
async function playFault(dir: string, fault: CommitFault, at: number, reporter: Reporter): Promise<string> {
  if (at === 0) {
    await playFormation(dir, fault, reporter);
    return `${fault}, of the commit that forms the group`;
  }
  const { happened } = await playRound(dir, fault, at, reporter);
  return happened === 'none' ? `${fault}, behind the end of its life` : fault;
}

async function run(rounds: Rounds): Promise<void> {
  const { tally, random } = rounds;
  const isStrict = rounds.strict;
  await inFastFolder(async (root) => {
    const whole = { say: (what: string) => tally.break(`without a fault: ${what}`), isStrict };
    const { commits } = await playRound(`${root}/whole`, 'none', -1, whole);
    tally.add('commits and scrubs of a life', commits);
    const planned = plannedFaults(commits, random);
    for (const round of rounds) {
      const { fault, at } = planned[round % planned.length]!;
      const reporter = { say: (what: string) => tally.break(`round ${round}, ${fault} at ${at}: ${what}`), isStrict };
      try {
        tally.add(await playFault(`${root}/${round}`, fault, at, reporter));
      } catch (error) {
        // A start on what the fault left, for one.
        reporter.say(error instanceof Error ? error.message : String(error));
      }
    }
  });
}

export const commit: Fault = {
  name: 'commit',
  summary: 'commits refused, torn, lost, late or out of space, at every index of a life',
  rounds: 200,
  run,
};
