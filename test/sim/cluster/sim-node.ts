/**
 * One node of a simulated cluster: the real group, role, lease, duties, forwarding, log and loop, over models of etcd
 * and of the link, and a log in memory. They are joined as `src/node/cluster/cluster-node.ts` joins them. A `NodeDisk`
 * outlives the processes of a node.
 */
import { createClusterGroup } from '../../../src/cluster/cluster-group.js';
import { LeaderDuties } from '../../../src/cluster/duties.js';
import { LocalGroup } from '../../../src/cluster/local-group.js';
import { ClusterMember } from '../../../src/cluster/member.js';
import type { ClusterOperator } from '../../../src/cluster/operations.js';
import { SecretProof } from '../../../src/core/hashing/secret-proof.js';
import type { GroupSettings } from '../../../src/core/settings.js';
import type { Outcome } from '../../../src/errors.js';
import { GroupActor } from '../../../src/group/actor/actor.js';
import { GroupLoop } from '../../../src/group/actor/loop.js';
import type { AcceptedEvent, EventSubmission, GroupApi } from '../../../src/group/api.js';
import type { ClusterOperations } from '../../../src/group/cluster-api.js';
import { createGroup } from '../../../src/group/group.js';
import { ClockGuard } from '../../../src/group/health/clock-guard.js';
import { DiskWatch } from '../../../src/group/health/disk-watch.js';
import { LogLostError, SharedLogUnavailableError } from '../../../src/group/ports/shared-log.js';
import { type LogWriter, OwnerLostError, type StoredBatch } from '../../../src/group/ports/storage.js';
import { lastSeqOf, recover } from '../../../src/group/recovery/recovery.js';
import type { BackgroundCheck } from '../../../src/group/recovery/scheduled-check.js';
import type { VerdictChanges } from '../../../src/group/verdict-changes.js';
import { limits } from '../../../src/limits.js';
import type { CopyDonor } from '../../../src/node/cluster/copy-donor.js';
import { NodeLink } from '../../../src/node/cluster/node-link.js';
import type { EtcdKeys } from '../../../src/store/etcd/etcd-keys.js';
import { EtcdLog } from '../../../src/store/etcd/etcd-log.js';
import type { SlotCipher } from '../../../src/store/etcd/slot-codec.js';
import { type OwnLog, SharedLogWriter } from '../../../src/store/log/shared-log-writer.js';
import { bounds, salt, t0 } from '../../support/given.js';
import { MemoryLog, MemoryLogWriter } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { SimPool } from '../pool.js';
import type { World } from '../world.js';
import { type EtcdModel, type Link, ModelClient } from './etcd-model.js';
import { NodeProcess } from './node-process.js';
import { SimLink, type SimLinkDeps } from './sim-link.js';

/** In log records. */
const snapshotEvery = 60;

/** The disk and the links of a node, which outlive its processes. */
export interface NodeDisk {
  readonly nodeId: string;
  readonly link: Link;
  log: MemoryLog;
  snapshots: MemorySnapshotStore;
  /** The last record on the disk that was lost; 0 if none was. */
  lostSeq: number;
  /** True if the next start replaces the log. */
  hasDiverged: boolean;
  /** ms by which the wall clock of the node is ahead. */
  clockAheadMs: number;
  /** Commits of the own log that fail, with or without an effect. */
  commitFault: 'refuse' | 'lose' | null;
}

export interface NodeDeps extends Omit<SimLinkDeps, 'process'> {
  readonly disk: NodeDisk;
  readonly etcd: EtcdModel;
  readonly keys: EtcdKeys;
  readonly cipher: SlotCipher;
  /** The source of random bytes. */
  readonly world: World;
  readonly leaseS: number;
  /** Returns the other nodes that run and can be reached. */
  readonly others: () => SimNode[];
  /** Called if the process must end and start again. */
  readonly onEnd: (reason: string) => void;
  /** Called if the node has left for good: only a start can help. */
  readonly onLeft: () => void;
  readonly onDefect: (error: unknown) => void;
  readonly note: (text: string) => void;
}

/** The log of this node alone, each commit of which takes some ms. */
class SimOwnLog extends MemoryLogWriter implements OwnLog {
  readonly #disk: NodeDisk;
  readonly #process: NodeProcess;

  constructor(disk: NodeDisk, process: NodeProcess) {
    super(disk.log, disk.log.acquire().epoch);
    this.#disk = disk;
    this.#process = process;
  }

  get newestFirstSeq(): number {
    return this.last()?.firstSeq ?? -1;
  }

  override append(batch: StoredBatch | null, rewrites: readonly StoredBatch[]): Promise<void> {
    return this.#commit(() => super.append(batch, rewrites));
  }

  appendAll(batches: readonly StoredBatch[]): Promise<void> {
    return this.#commit(() => Promise.all(batches.map((batch) => super.append(batch, []))));
  }

  #commit(write: () => Promise<unknown>): Promise<void> {
    return this.#process.work('log', 'commit', async () => {
      const { commitFault } = this.#disk;
      this.#disk.commitFault = null;
      if (commitFault === 'refuse') throw new Error('the disk refused the commit');
      await write();
      if (commitFault === 'lose') throw new Error('the disk lost the answer to the commit');
    });
  }
}

export class SimNode {
  readonly nodeId: string;
  readonly process: NodeProcess;
  readonly member: ClusterMember;
  readonly #deps: NodeDeps;
  readonly #log: EtcdLog<ModelClient>;
  readonly site: LocalGroup;
  readonly #duties: LeaderDuties;
  readonly #link: SimLink;
  readonly nodeLink: NodeLink;
  #group: GroupApi | null = null;
  #writer: SharedLogWriter | null = null;
  #loop: GroupLoop | null = null;
  #diskWatch: DiskWatch | null = null;
  #freeBytes = 2 ** 40;
  #hasLeft = false;

  constructor(deps: NodeDeps) {
    const { disk, etcd, keys, cipher, time, random, leaseS, note } = deps;
    const process = new NodeProcess(time, random);
    const { nodeId } = disk;
    this.#deps = deps;
    this.nodeId = nodeId;
    this.process = process;
    const client = new ModelClient(etcd, nodeId, Number(nodeId.slice(1)), disk.link, process);
    const secret = new SecretProof('the secret of the simulation', 'sim', 'secret');
    const log = new EtcdLog(client, keys, cipher, secret);
    this.#log = log;
    this.site = new LocalGroup(process);
    const onFailure = (what: string, error: unknown) => note(`${nodeId}: ${what} failed: ${error}`);
    const noted = (_level: string, fields: object, text: string) =>
      note(`${nodeId}: ${text} ${JSON.stringify(fields)}`);
    this.member = new ClusterMember({
      log,
      site: this.site,
      nodeId,
      url: nodeId,
      version: '1',
      leaseS,
      random: deps.world,
      etcdQuotaBytes: limits.etcdQuotaBytes,
      stalenessMaxMs: 5_000,
      allowStaleReads: false,
      timers: process,
      now: () => this.#now(),
      note: noted,
      onLeader: (leader, isEarlierAlive) => this.nodeLink.leaderChanged(leader, isEarlierAlive),
      onBehind: (reason, hasDiverged) => {
        if (hasDiverged) disk.hasDiverged = true;
        this.#end(`joins again: ${reason}`);
      },
      onRefused: () => undefined,
      onFailed: (error) => this.#loopFailed(error),
    });
    this.#link = new SimLink({ ...deps, process });
    this.#duties = new LeaderDuties({
      log,
      member: this.member,
      link: this.#link,
      timers: process,
      nodeId,
      appendedBytes: () => this.#writer?.appendedBytes ?? 0,
      durableSeq: () => this.site.durableSeq,
      members: async () =>
        etcd.members.map((_, at) => {
          const bytes = etcd.store.bytes;
          return {
            endpoint: String(at),
            leads: at === 0,
            version: '3',
            dbBytes: bytes,
            dbBytesInUse: bytes,
            alarms: [],
          };
        }),
      defragment: async () => undefined,
      fullChanged: () => this.site.writableChanged(),
      formatRaised: () => this.site.configure(),
      now: () => this.#now(),
      onFailure,
      note: noted,
    });
    this.nodeLink = new NodeLink({
      nodeId,
      link: this.#link,
      member: this.member,
      site: this.site,
      group: () => this.#group,
      others: async () => (await log.nodes()).filter((node) => node.nodeId !== nodeId),
      scrub: () => this.#scrub(),
      timers: process,
      onFailure,
      onRequestFailed: (error) => onFailure('a request', error),
      // No simulated node asks for these.
      donor: {} as CopyDonor,
      operations: {} as ClusterOperator,
    });
  }

  #now(): number {
    return t0 + this.process.elapsed() + this.#deps.disk.clockAheadMs;
  }

  /** True if the group of this node is recovered. */
  get isUp(): boolean {
    return this.#loop !== null && this.process.isRunning;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  get loop(): GroupLoop {
    return this.#loop!;
  }

  /** Starts the node on its disk. Fetches the log of another node if its own cannot continue. */
  async start(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      if (!this.process.isDead) this.#deps.onDefect(error);
    }
  }

  async #start(): Promise<void> {
    const { disk } = this.#deps;
    this.member.lease.start();
    for (let tries = 0; ; tries++) {
      const lastSeq = lastSeqOf(disk.log);
      const mustFetch = lastSeq === 0 || disk.hasDiverged;
      try {
        if ((await this.member.join()) !== null) {
          await this.#pause(limits.leaseLookMs);
          continue;
        }
        const { trimmed, slots } = await this.#log.view(lastSeq + 1, 1);
        const follows = trimmed <= lastSeq && (slots[0]?.firstSeq ?? 0) <= lastSeq + 1;
        if (follows && !mustFetch) break;
        await this.#fetch(trimmed);
      } catch (error) {
        if (!(error instanceof SharedLogUnavailableError)) throw error;
        // The node serves its state until that is stale.
        if (!mustFetch && tries > 1) break;
        await this.#pause(limits.leaseLookMs);
      }
    }
    this.#open();
  }

  /** Replaces the log by a copy of another node's files, if one has what the shared log lacks. */
  async #fetch(trimmed: number): Promise<void> {
    const { disk, others, random } = this.#deps;
    await this.#pause(random.below(400));
    const donor = others().find((node) => node.isUp && lastSeqOf(node.#deps.disk.log) >= trimmed);
    if (donor === undefined) return this.#pause(limits.joinRetryMs);
    const copy = new MemoryLog();
    const writer = copy.acquire();
    for (const batch of donor.#deps.disk.log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)) {
      await writer.append(batch, []);
    }
    disk.log = copy;
    disk.snapshots = new MemorySnapshotStore();
    disk.hasDiverged = false;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.process.later(resolve, ms);
    });
  }

  #open(): void {
    const { disk, world, note } = this.#deps;
    const { process } = this;
    const writer = new SharedLogWriter(new SimOwnLog(disk, process), this.#log, salt, process, {
      appended: (firstSeq) => this.#duties.appended(firstSeq),
      redacted: (seq) => this.#duties.redacted(seq),
      forgetErased: () => this.site.forgetErased(),
      replaces: () => undefined,
      scrubOwn: (overwrite) => overwrite(),
      mayScrub: () => this.#duties.mayScrub(),
      storeFailed: (error) => {
        this.site.storeFailed(error);
        this.#leave(error);
      },
      scrubElsewhere: (signal) => this.#duties.scrubElsewhere(signal),
    });
    this.#writer = writer;
    const { snapshots } = disk;
    const pool = new SimPool(disk.log, snapshots, salt, process, () => undefined);
    pool.filesStored = () => writer.stored();
    const clock = { now: () => this.#now() };
    const guard = new ClockGuard({ clock, timers: process, seenAt: 0, onChange: () => this.#loop?.writableChanged() });
    const use = () => ({ freeBytes: this.#freeBytes, logBytes: 1, snapshotsBytes: 1, newestSnapshotBytes: 1 });
    const diskWatch = new DiskWatch({
      gauge: { look: async () => use(), freeBytes: () => this.#freeBytes },
      timers: process,
      minBytes: 2 ** 31,
      onChange: (low) => this.#loop?.diskChanged(low),
      onFailure: () => undefined,
    });
    this.#diskWatch = diskWatch;
    const loopOver = (log: LogWriter) => {
      const recovered = recover(log, snapshots, salt, lastSeqOf(log));
      if (recovered === null) throw new Error('the log is empty');
      const turn = { events: limits.clusterTurnEvents, bytes: limits.clusterTurnBytes };
      return new GroupLoop({
        actor: new GroupActor(recovered.follower, bounds, turn),
        log,
        snapshots,
        recoveredFrom: recovered.snapshotSeq,
        pool,
        disk: diskWatch,
        reserve: { during: (act) => act(false) },
        clock,
        clockGuard: guard,
        timers: process,
        random: world,
        observer: { turnCommitted: () => undefined, eventsDecided: () => undefined, workDone: () => undefined },
        snapshotEvery,
        weightsIntervalMs: 20_000,
        publishErasures: async () => undefined,
        onFatal: (error) => this.#loopFailed(error),
        onFailure: (what, error) => note(`${this.nodeId}: ${what} failed: ${error}`),
        isOneOfSeveral: true,
        leading: false,
        commitPatienceMs: limits.appendPatienceMs,
        formatMax: () => this.member.writeFormat,
        logIsFull: () => this.member.logIsFull,
      });
    };
    this.#loop = loopOver(writer);
    this.site.open({
      log: writer,
      loop: () => this.#loop!,
      reload: async () => {
        this.#loop = loopOver(writer);
      },
      configure: async () => undefined,
      snapshotSeq: () => snapshots.list()[0] ?? 0,
      unfit: () => (diskWatch.low ? 'disk_low' : null),
      unfitToLead: () => (guard.isAheadNow() ? 'the clock of the node jumped ahead' : null),
      refusal: () => null,
      hasSettings: () => true,
      roleChanged: () => this.#duties.roleChanged(),
    });
    const { formed } = this.loop.state;
    const group = createGroup({
      identity: { groupId: formed.group_id, identityMode: formed.identity_mode, environment: formed.environment },
      current: this,
      cluster: this.member,
      clock,
      random: world,
      // No simulated caller asks for these.
      verdicts: {} as VerdictChanges,
      check: {} as BackgroundCheck,
      inForce: () => ({}) as GroupSettings,
    });
    group.open();
    this.#group = createClusterGroup(group, { member: this.member, link: this.nodeLink }, {} as ClusterOperations);
    writer.follow();
    this.member.start(null);
    this.#duties.start();
    note(`${this.nodeId}: starts at record ${lastSeqOf(disk.log)}`);
  }

  async submit(event: EventSubmission): Promise<Outcome<AcceptedEvent>> {
    const [outcome] = await this.#group!.submit(this.#group!.peerById(event.peerId) ?? null, [event]);
    return outcome!;
  }

  /** The operator erases a player. */
  erase(subject: Uint8Array): Promise<Outcome<unknown>> {
    return this.#group!.confirmErasure(subject, 'operator');
  }

  async setDiskLow(isLow: boolean): Promise<void> {
    this.#freeBytes = isLow ? 2 ** 30 : 2 ** 40;
    await this.#diskWatch?.look();
  }

  /** Overwrites replaced records, as the leader asks for. */
  async #scrub(): Promise<void> {
    await this.site.forgetErased();
    await this.#writer!.stored();
    await this.#writer!.local.scrub();
  }

  #loopFailed(error: unknown): void {
    // No fault takes slots from etcd, so that the progress check then fails.
    if (error instanceof LogLostError) return void this.member.stepDown(error.message, Number.POSITIVE_INFINITY);
    if (error instanceof OwnerLostError || error instanceof SharedLogUnavailableError) {
      void this.member.demote(error.message);
      return;
    }
    this.#leave(error);
  }

  #leave(error: unknown): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    void this.member.retire(String(error));
    this.#deps.onLeft();
  }

  #end(reason: string): void {
    if (!this.process.isDead) this.#deps.onEnd(reason);
  }

  kill(): void {
    this.process.die();
    this.#log.client.isClosed = true;
    this.#link.isClosed = true;
  }

  /** Stops as after SIGTERM. */
  async stop(): Promise<void> {
    await this.member.stepDown('the node is shutting down', Number.POSITIVE_INFINITY);
    await Promise.all([this.#duties.stop(), this.member.end()]);
    this.kill();
  }
}
