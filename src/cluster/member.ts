/** Decides whether this node follows, campaigns or leads. A `MemberGroup` applies the role to the group. */
import { countOf } from '../core/records/batch.js';
import { messageOf } from '../errors.js';
import { type ClusterHealth, type ClusterRole, unknownStalenessMs } from '../group/cluster-api.js';
import { every, waitOf } from '../group/ports/clock.js';
import {
  type Fence,
  type LeaderView,
  type NodeView,
  type SharedLog,
  SharedLogUnavailableError,
  type SharedView,
  type Slot,
} from '../group/ports/shared-log.js';
import { DivergedError } from '../group/ports/storage.js';
import { mayWrite, RECORD_FORMAT, refusalOfFormat } from '../group/record-format.js';
import { limits } from '../limits.js';
import { Lease, type LeaseDeps } from './lease.js';

export interface MemberGroup {
  readonly appliedSeq: number;
  readonly durableSeq: number;
  readonly snapshotSeq: number;
  /** Why this node must leave the cluster; null if it may stay. */
  readonly unfit: string | null;
  /** Why this node must not lead, though it may follow; null if it may lead. */
  readonly unfitToLead: string | null;
  /** Why this node must not stay, once it has applied the whole log; null if it may. */
  readonly refusal: string | null;
  /** True once the log has the settings of the group. */
  readonly hasSettings: boolean;
  /** The last record that this node's weights include, and the time of their computation. */
  readonly weights: { readonly basedOnSeq: number; readonly computedAt: number | null };
  /** Receives the same data about the leader's weights. */
  noteWeights(basedOnSeq: number, computedAt: number | null): void;
  /** The slots follow the applied records without a gap. */
  take(slots: readonly Slot[]): Promise<void>;
  /** Resolves once this node's files hold every slot that it took. */
  stored(): Promise<void>;
  /** Makes this node decide. All earlier records must be applied. */
  lead(fence: Fence): Promise<void>;
  /** Stops this node from deciding. Resolves once its state equals the state of the shared log. */
  follow(): Promise<void>;
}

export interface MemberDeps extends Pick<LeaseDeps, 'random' | 'timers'> {
  readonly log: SharedLog;
  readonly site: MemberGroup;
  readonly nodeId: string;
  readonly url: string;
  readonly version: string;
  readonly leaseS: number;
  readonly etcdQuotaBytes: number;
  readonly stalenessMaxMs: number;
  readonly allowStaleReads: boolean;
  /** ms since 1970. */
  readonly now: () => number;
  readonly note: (level: 'info' | 'warn' | 'error', fields: object, text: string) => void;
  /** Called when another leader is known, or none any more. `isEarlierAlive`: the node that led before is alive. */
  readonly onLeader: (leader: LeaderView | null, isEarlierAlive: boolean) => void;
  /** This node must join again. `hasDiverged`: its log is of another history. */
  readonly onBehind: (reason: string, hasDiverged: boolean) => void;
  /** Called once if this node is refused after it has applied the whole log. */
  readonly onRefused: (reason: string) => void;
  readonly onFailed: (error: unknown) => void;
}

const otherSecret =
  'CLUSTER_SECRET differs from the secret of the group: set that of the other nodes, and start this node again';

function reasonOf(holder: NodeView | null): string | null {
  if (holder === null) return null;
  return `NODE_ID ${holder.nodeId} belongs to a living node: stop that node, or set another NODE_ID; a node that crashed counts as alive until its lease ends`;
}

export class ClusterMember implements ClusterHealth {
  readonly lease: Lease;
  role: ClusterRole = 'joining';
  fence: Fence | null = null;
  leader: LeaderView | null = null;
  /** The last time, by `elapsed`, at which this node had applied the whole shared log. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  lastLeader: LeaderView | null = null;
  floorSeq = 0;
  #incoming: Slot[] = [];
  #stopWatch: (() => void) | null = null;
  #heardSeq = 0;
  /** The last slot of a poll, which the watch brings some ms later, unless it has lost the slot; 0 for none. */
  #awaited = { seq: 0, since: 0 };
  #wake: () => void = () => undefined;
  #isAsked = false;
  /** The time, by `elapsed`, at which the newest poll began. */
  #polledAt = Number.NEGATIVE_INFINITY;
  /** Waits for a poll, for a change of the leader, or for the end of a takeover by this node. */
  readonly #waits = new Set<() => void>();
  /** The time, by `elapsed`, until which this node does not campaign. */
  #waitsUntil = Number.NEGATIVE_INFINITY;
  #demoting: Promise<void> | null = null;
  #running: Promise<void> | null = null;
  #stopReports: () => void = () => undefined;
  reason: string | null = null;
  #ended = false;
  #isRetired = false;
  /** The lease and the reason of the last report that this node is refused. */
  #refusalReported: string | null = null;
  #hasJoined = false;
  /** True from a loss of the lease, and of the place with it, until the node has its place again. */
  #isAway = false;
  /** True while this node tells the others that it is back: a report would still say that it has left. */
  #isReentering = false;
  isUnreachable = false;
  readonly #started: number;
  /** The newest format of records that may be written. */
  writeFormat = 1;
  takeovers = 0;
  forwarded = 0;
  etcdBytes = 0;
  /** True while this node leads and the database of etcd is nearly as large as its quota. */
  logIsFull = false;
  isScrubIncomplete = false;
  /** True once this node's settings were compared with those of the group; it then stays, whatever settings change. */
  #isCompared = false;
  refusedNodes = 0;
  readonly etcdQuotaBytes: number;

  constructor(private readonly deps: MemberDeps) {
    this.etcdQuotaBytes = deps.etcdQuotaBytes;
    this.#started = deps.now();
    const { log, timers, random } = deps;
    this.lease = new Lease({
      ...{ log, timers, random, ttlS: deps.leaseS },
      onRenewed: (isNew, sentAt) => {
        this.#answered();
        if (isNew) {
          this.#isAway = this.#hasJoined;
          if (this.fence !== null) void this.demote('the lease was granted again');
          void this.report();
        } else if (this.role === 'leader') this.#confirmedAt = Math.max(this.#confirmedAt, sentAt);
      },
      onExpired: () => {
        if (this.fence !== null) void this.demote('the lease may have expired');
      },
      onFailure: (error) => this.#unreachable(error),
    });
  }

  get isLeader(): boolean {
    return this.role === 'leader' && this.lease.leftMs > 0;
  }

  /** True if this node leads and is not about to hand over to another node. */
  get decides(): boolean {
    const { unfit, unfitToLead } = this.deps.site;
    return this.isLeader && unfit === null && unfitToLead === null;
  }

  get hasLeader(): boolean {
    return this.leader !== null && !this.isUnreachable;
  }

  get appliedSeq(): number {
    return this.deps.site.appliedSeq;
  }

  get stalenessMs(): number {
    if (this.isLeader) return 0;
    if (this.#isAway) return unknownStalenessMs;
    return Math.min(Math.max(0, this.deps.timers.elapsed() - this.#confirmedAt), unknownStalenessMs);
  }

  get isStale(): boolean {
    return !this.deps.allowStaleReads && this.stalenessMs > this.deps.stalenessMaxMs;
  }

  get leaseMs(): number {
    return this.lease.leftMs;
  }

  /** Resolves to true once all records that were decided before the call are applied; to false after a limit. */
  refresh(): Promise<boolean> {
    const askedAt = this.deps.timers.elapsed();
    return this.#waitUntil(() => {
      const isConfirmed = this.isLeader || this.#confirmedAt >= askedAt;
      // A poll that began before the call may miss records.
      if (!isConfirmed && this.#polledAt < askedAt) this.#isAsked = true;
      return isConfirmed;
    }, limits.refreshMs);
  }

  /** True once another leader than that of `fence` serves, possibly this node; false after `ms`, or at the end. */
  nextLeader(fence: Fence | null, ms: number): Promise<boolean> {
    return this.#waitUntil(() => this.#isServed && this.leader!.fence.revision !== fence?.revision, ms);
  }

  /** Resolves to true once this node decides; to false if it does not take over, or after `ms`. */
  async takenOver(ms: number): Promise<boolean> {
    await this.#waitUntil(() => this.decides || this.fence === null, ms);
    return this.decides;
  }

  /** True if a leader is known. A node that takes over or hands over does not serve yet or any more. */
  get #isServed(): boolean {
    return this.leader !== null && (this.leader.nodeId !== this.deps.nodeId || this.decides);
  }

  /** True if this node can find out now whether another node leads. */
  get canLearn(): boolean {
    return !this.#isOut && !this.isUnreachable;
  }

  get #isOut(): boolean {
    return this.#ended || this.#isRetired || this.role === 'left';
  }

  async #waitUntil(holds: () => boolean, ms: number): Promise<boolean> {
    const endAt = this.deps.timers.elapsed() + ms;
    for (;;) {
      if (holds()) return true;
      const leftMs = endAt - this.deps.timers.elapsed();
      if (leftMs <= 0 || this.#isOut) return false;
      const { over, end } = waitOf(this.deps.timers, leftMs);
      this.#waits.add(end);
      this.#wake();
      await over;
      this.#waits.delete(end);
    }
  }

  #noteLeader(leader: LeaderView | null, nodes: readonly NodeView[] = []): void {
    const isAnother = leader?.fence.revision !== this.leader?.fence.revision;
    const earlier = this.lastLeader?.nodeId;
    this.leader = leader;
    if (leader !== null) this.lastLeader = leader;
    const isEarlierAlive = nodes.some(({ nodeId }) => nodeId === earlier);
    if (isAnother) this.deps.onLeader(leader, isEarlierAlive);
    this.#release();
  }

  #release(): void {
    for (const done of [...this.#waits]) done();
  }

  /** Resolves to null once this node has its place among the nodes, otherwise to the reason why it is refused. */
  async join(): Promise<string | null> {
    const { log, nodeId, url, note } = this.deps;
    const lease = this.lease.id;
    if (lease === null) throw new SharedLogUnavailableError('etcd has granted no lease');
    const reason = (await log.hasSecret()) ? reasonOf(await log.putNode(this.view(), lease)) : otherSecret;
    if (reason !== null && reason !== this.reason) note('error', { reason }, 'the node is refused and asks again');
    this.reason = reason;
    this.#hasJoined = reason === null;
    const report = `${lease} ${reason}`;
    if (reason === null || report === this.#refusalReported) return reason;
    await log.putRefused({ nodeId, url, reason }, lease);
    this.#refusalReported = report;
    return reason;
  }

  /** Starts to follow. `fence` is the fence under which this node has just formed the group; otherwise null. */
  start(fence: Fence | null): void {
    if (this.role === 'joining') this.role = 'follower';
    this.fence = fence;
    this.#running = this.#run();
    this.#stopReports = every(this.deps.timers, limits.clusterReportMs, () => void this.report());
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.#stopWatch?.();
    this.#wake();
    this.#release();
    this.#stopReports();
    await this.lease.end().catch((error: unknown) => this.#unreachable(error));
    await this.#running;
  }

  /** Lets another node lead. This node, which answers and forwards writes, does not campaign for `waitMs`. */
  async stepDown(cause: string, waitMs: number = limits.stepDownMs): Promise<void> {
    this.#waitsUntil = this.deps.timers.elapsed() + waitMs;
    await this.demote(cause);
  }

  /** Leaves the cluster until `unfit` is null, so that the other nodes do not wait for this node. */
  async #leave(reason: string): Promise<void> {
    this.reason = reason;
    this.deps.note('error', { reason }, 'the node leaves the cluster and returns once the reason is gone');
    await this.demote(reason);
    this.role = 'left';
    this.#release();
    await this.report();
    await this.lease.revoke().catch((error: unknown) => this.#unreachable(error));
  }

  /** Leaves the cluster for good, because the storage failed and only a restart can help. */
  async retire(reason: string): Promise<void> {
    if (this.#ended || this.#isRetired) return;
    this.#isRetired = true;
    // The files, which are read anew, may lack records that callers have read already.
    this.#confirmedAt = Number.NEGATIVE_INFINITY;
    await this.#leave(reason);
    // Also on a node that did not lead: a failed commit has ended the group's loop, and the files are read anew.
    await this.deps.site.follow().catch((error: unknown) => {
      this.deps.note('error', { fault: messageOf(error) }, 'the state could not be read again');
    });
  }

  demote(cause: string): Promise<void> {
    this.#demoting ??= this.#demote(cause).finally(() => {
      this.#demoting = null;
    });
    return this.#demoting;
  }

  async #demote(cause: string): Promise<void> {
    const fence = this.fence;
    if (fence === null && this.role !== 'leader') return;
    const { note, site, log } = this.deps;
    note('warn', { cause }, 'the node no longer leads');
    this.fence = null;
    if (this.role === 'leader') this.role = 'follower';
    this.#noteLeader(null);
    await site.follow();
    if (fence !== null) await log.resign({ fence, cause }).catch((error: unknown) => this.#unreachable(error));
    this.#wake();
  }

  async report(): Promise<void> {
    const lease = this.lease.id;
    if (lease === null || this.#ended || !this.#hasJoined || this.#isReentering) return;
    const holder = await this.deps.log.putNode(this.view(), lease).catch((error: unknown) => {
      this.#unreachable(error);
      return null;
    });
    // A lease of this process that could not be revoked may still live.
    if (holder !== null && this.#isReplaced([holder])) this.#rejoin(reasonOf(holder)!);
  }

  #isReplaced(nodes: readonly NodeView[]): boolean {
    return nodes.some(({ nodeId, started }) => nodeId === this.deps.nodeId && started !== this.#started);
  }

  view(): NodeView {
    const { nodeId, url, version, site } = this.deps;
    const { appliedSeq: applied, durableSeq: durable, snapshotSeq: snapshot } = site;
    const at = { applied, durable, snapshot, started: this.#started };
    const weights = this.role === 'leader' ? { weights: site.weights } : {};
    return { nodeId, url, role: this.role, version, format: RECORD_FORMAT, ...at, reason: this.reason, ...weights };
  }

  async #run(): Promise<void> {
    const { site, onFailed } = this.deps;
    while (!this.#ended && !this.#isRetired) {
      try {
        await this.#demoting;
        const { unfit } = site;
        if (unfit !== null && this.role !== 'left') await this.#leave(unfit);
        if (unfit === null && (this.role === 'left' || this.#isAway) && !this.#isRetired) await this.#reenter();
        const { unfitToLead } = site;
        if (unfitToLead !== null && this.role === 'leader') await this.demote(unfitToLead);
        if (!this.#isRetired && this.role !== 'leader' && this.role !== 'left') await this.#step();
        // The reason to hand over may have passed before this node did.
        if (this.decides) this.#release();
      } catch (error) {
        if (!(error instanceof SharedLogUnavailableError)) {
          if (!this.#ended) onFailed(error);
          return;
        }
        this.#unreachable(error);
      }
      await this.#wait();
    }
  }

  /** First makes an erasure wait for this node, whose state is stale until it has read the shared log to its end. */
  async #reenter(): Promise<void> {
    const lease = this.lease.id;
    if (lease === null) return;
    this.#confirmedAt = Number.NEGATIVE_INFINITY;
    this.#isReentering = true;
    const put = this.deps.log.putNode({ ...this.view(), role: 'follower', reason: null }, lease);
    const holder = await put.finally(() => {
      this.#isReentering = false;
    });
    if (holder !== null && this.#isReplaced([holder])) this.#rejoin(reasonOf(holder)!);
    // The node may have left for good meanwhile.
    if (holder !== null || this.#isRetired || this.#ended || this.deps.site.unfit !== null) return;
    this.reason = null;
    this.#isAway = false;
    this.role = 'follower';
    this.deps.note('info', {}, 'the node is back in the cluster');
  }

  /** Reads the shared log to its end. Campaigns if no node leads. */
  async #step(): Promise<void> {
    const { log, timers } = this.deps;
    // Etcd did not answer while this node started. It stops serving, because until now no erasure waited for it.
    if (!this.#hasJoined && this.lease.id !== null) {
      this.#confirmedAt = Number.NEGATIVE_INFINITY;
      const refused = await this.join();
      if (refused !== null) return this.#rejoin(refused);
    }
    for (;;) {
      const askedAt = timers.elapsed();
      this.#polledAt = askedAt;
      const view = await log.view(this.appliedSeq + 1);
      this.floorSeq = Math.max(this.floorSeq, view.trimmed);
      this.#answered();
      if (this.#ended) return;
      this.writeFormat = view.format;
      // The other nodes may have been upgraded while this node was away.
      const unreadable = refusalOfFormat(view.format);
      if (unreadable !== null) return await this.retire(unreadable);
      if (view.trimmed > this.appliedSeq) return this.#rejoin("the shared log begins after this node's last record");
      // The node would answer reads from a log that the group does not have.
      if ((view.slots[0]?.firstSeq ?? 0) > this.appliedSeq + 1)
        return this.#rejoin("this node's log differs from the shared log, which has no slot that follows it");
      this.#noteLeader(view.leader, view.nodes);
      await this.#take(view.slots);
      if (this.#isRetired) return;
      const { weights } = view.nodes.find(({ nodeId }) => nodeId === view.leader?.nodeId) ?? {};
      if (weights !== undefined) this.deps.site.noteWeights(weights.basedOnSeq, weights.computedAt);
      // A full page means that more slots may follow.
      if (view.slots.length === limits.slotsRead) continue;
      const { refusal, hasSettings } = this.deps.site;
      // Compared before the first read is served, and before the node may lead.
      if (!this.#isCompared && refusal !== null) {
        this.#isRetired = true;
        return this.deps.onRefused(refusal);
      }
      // The first leader logs the settings just after it formed the group. A group of an older release logs none before
      // all nodes are upgraded; its nodes may differ until then, and refusing them would stop a rolling upgrade.
      this.#isCompared ||= hasSettings || !mayWrite('setting', view.format);
      // No erasure waited for a node that starts or returns: its files must have lost the players before it serves.
      if (this.#confirmedAt === Number.NEGATIVE_INFINITY) await this.deps.site.stored();
      this.#confirmedAt = Math.max(this.#confirmedAt, askedAt);
      this.#release();
      if (this.#heardSeq >= this.#awaited.seq) {
        this.#awaited = { seq: view.slots.at(-1)?.firstSeq ?? 0, since: askedAt };
      } else if (this.#stopWatch !== null && askedAt - this.#awaited.since >= limits.clusterPollMs) {
        this.#stopWatch();
        this.#stopWatch = null;
        // The next watch begins at another member.
        log.rotate();
      }
      if (this.#stopWatch === null) this.#watch(view.revision);
      if (view.leader === null) await this.#campaign();
      else if (view.leader.nodeId === this.deps.nodeId && !this.#isReplaced(view.nodes))
        await this.#ownKey(view.leader);
      return;
    }
  }

  #rejoin(reason: string, hasDiverged = false): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#release();
    this.deps.onBehind(reason, hasDiverged);
  }

  /** Handles a leader key of this node: a campaign whose answer was lost, or one from before a demotion. */
  async #ownKey({ fence, cause }: LeaderView): Promise<void> {
    if (this.fence?.revision === fence.revision) return this.#promote(fence, cause);
    await this.deps.log.resign({ fence, cause: 'the node no longer led' });
    this.#noteLeader(null);
  }

  async #campaign(): Promise<void> {
    const { log, nodeId, url, now, timers, site } = this.deps;
    const lease = this.lease.id;
    // The lease may be newer than the step, which then did not join, and a leader never joins.
    const mayLead = this.#hasJoined && site.unfit === null && site.unfitToLead === null;
    if (lease === null || !mayLead || timers.elapsed() < this.#waitsUntil) return;
    const cause = await this.#causeOfTakeover();
    const fence = await log.campaign({ nodeId, url, since: now(), cause }, lease);
    if (fence !== null) await this.#promote(fence, cause);
  }

  /** Returns why the group has no leader, for the record of the takeover. */
  async #causeOfTakeover(): Promise<string> {
    const last = this.lastLeader;
    if (last === null) return 'the group had no leader';
    const resigned = await this.deps.log.resigned();
    const isSame = resigned?.fence.revision === last.fence.revision;
    return isSame ? `${last.nodeId}: ${resigned.cause}` : `the lease of ${last.nodeId} expired`;
  }

  async #promote(fence: Fence, cause: string): Promise<void> {
    const { log, site, note } = this.deps;
    this.fence = fence;
    let view: SharedView;
    do {
      view = await log.view(this.appliedSeq + 1);
      if (this.fence !== fence) return;
      if (view.leader?.fence.revision !== fence.revision) {
        this.fence = null;
        this.#release();
        return;
      }
      await this.#take(view.slots);
      if (this.#isRetired) return;
    } while (view.slots.length > 0);
    this.#stopWatch?.();
    this.#stopWatch = null;
    this.#incoming = [];
    try {
      await site.lead(fence);
    } catch (error) {
      // Another node must be able to lead, whether or not this node recovers.
      await this.demote(messageOf(error));
      throw error;
    }
    if (this.fence !== fence) return;
    this.role = 'leader';
    this.#noteLeader(view.leader, view.nodes);
    this.takeovers += 1;
    note('info', { applied_seq: this.appliedSeq, fence: fence.revision, cause }, 'the node leads');
    void this.report();
  }

  /** Watches for new slots. The poll finds slots that the watch misses. */
  #watch(revision: string): void {
    const next = String(BigInt(revision) + 1n);
    const stop = this.deps.log.watch(
      next,
      (slots) => {
        this.#incoming.push(...slots);
        this.#heardSeq = Math.max(this.#heardSeq, slots.at(-1)!.firstSeq);
        this.#wake();
      },
      () => {
        if (this.#stopWatch === stop) this.#stopWatch = null;
      },
    );
    this.#stopWatch = stop;
    this.#awaited.seq = 0;
  }

  /** Waits until the next poll is due or requested. Applies slots of the watch meanwhile. */
  async #wait(): Promise<void> {
    const { timers } = this.deps;
    const since = timers.elapsed();
    // The next leader is looked for more often while callers wait for it.
    const until = () => since + (this.#waits.size > 0 ? limits.leaderLookMs : limits.clusterPollMs);
    while (!this.#ended && !this.#isAsked && timers.elapsed() < until()) {
      if (this.#incoming.length > 0 && this.role === 'follower' && this.#demoting === null) {
        const slots = this.#incoming.splice(0);
        try {
          await this.#take(slots);
        } catch (error) {
          this.deps.onFailed(error);
          return;
        }
        continue;
      }
      const wait = waitOf(timers, Math.max(1, until() - timers.elapsed()));
      this.#wake = wait.end;
      await wait.over;
    }
    // Also in a role that polls nothing: an ask that stays would end every later wait at once, and no timer would run.
    this.#isAsked = false;
  }

  /** Applies the slots that follow the applied records without a gap. Skips applied slots. */
  async #take(slots: readonly Slot[]): Promise<void> {
    const next: Slot[] = [];
    let seq = this.appliedSeq + 1;
    for (const slot of slots) {
      if (slot.firstSeq < seq) continue;
      if (slot.firstSeq > seq) break;
      next.push(slot);
      seq += countOf(slot.bytes);
    }
    if (next.length === 0) return;
    try {
      await this.deps.site.take(next);
    } catch (error) {
      if (!(error instanceof DivergedError)) throw error;
      this.#rejoin(`this node's log differs from the shared log: ${error.message}`, true);
    }
  }

  #answered(): void {
    if (!this.isUnreachable) return;
    this.isUnreachable = false;
    this.deps.note('info', {}, 'etcd answers again');
  }

  #unreachable(error: unknown): void {
    if (this.isUnreachable || this.#ended) return;
    this.isUnreachable = true;
    this.deps.note('error', { fault: messageOf(error) }, 'etcd does not answer');
  }
}
