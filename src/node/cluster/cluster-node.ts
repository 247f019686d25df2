/** Connects the parts of a node of a cluster. Loaded with `CLUSTER=etcd` only, because it loads the client of etcd. */
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { createClusterGroup } from '../../cluster/cluster-group.js';
import { LeaderDuties } from '../../cluster/duties.js';
import { LinkClient } from '../../cluster/link-client.js';
import { type LinkRequest, LinkServer } from '../../cluster/link-server.js';
import { LocalGroup, type LocalGroupDeps } from '../../cluster/local-group.js';
import { ClusterMember } from '../../cluster/member.js';
import { ClusterOperator, nightlyScrub } from '../../cluster/operations.js';
import { messageOf } from '../../errors.js';
import type { GroupApi } from '../../group/api.js';
import { type Clock, every, type RandomSource, type Timers, waitOf } from '../../group/ports/clock.js';
import { type Fence, LogLostError, type NodeView, SharedLogUnavailableError } from '../../group/ports/shared-log.js';
import { DiskFullError, OwnerLostError, StoreEndedError } from '../../group/ports/storage.js';
import { refusalOfFormat } from '../../group/record-format.js';
import { lastSeqOf } from '../../group/recovery/recovery.js';
import { limits } from '../../limits.js';
import type { EtcdLog } from '../../store/etcd/etcd-log.js';
import { readMark, writeMark } from '../../store/files/folder-files.js';
import { knownFreeBytesOf } from '../../store/files/full-disk.js';
import type { LmdbLogWriter } from '../../store/log/lmdb-log.js';
import { HiddenCommitError } from '../../store/log/log-environment.js';
import { SharedLogWriter } from '../../store/log/shared-log-writer.js';
import { within } from '../../workers/within.js';
import type { Config } from '../config.js';
import { RejoinError, StartEndedError, StartRefusedError } from '../startup.js';
import { version } from '../version.js';
import { membersOf, openEtcdLog, settingsOf } from './cluster-folder.js';
import { CopyDonor } from './copy-donor.js';
import { fetchCopy, fetchMissing, isIncomplete, removeUnfinished } from './copy-fetch.js';
import { LocalScrub } from './local-scrub.js';
import { NodeLink } from './node-link.js';

export interface ClusterNodePorts {
  readonly log: Logger;
  readonly onFatal: (error: unknown) => void;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly ending?: AbortSignal;
}

export class ClusterNode {
  readonly member: ClusterMember;
  readonly #settings: ReturnType<typeof settingsOf>;
  readonly #site: LocalGroup;
  readonly #link: LinkClient;
  readonly server: LinkServer;
  readonly #duties: LeaderDuties;
  readonly #operations: ClusterOperator;
  readonly #scrubAtNight: () => Promise<void>;
  #stopNights: () => void = () => undefined;
  readonly #nodeLink: NodeLink;
  #clusterId: string | null = null;
  #formingFence: Fence | null = null;
  #writer: SharedLogWriter | null = null;
  #group: GroupApi | null = null;
  readonly #scrub: LocalScrub;
  #closing: Promise<void> | null = null;
  #hasLeft = false;
  #stopLooking: () => void = () => undefined;
  readonly #freeBytesMin: number;

  /** Makes no call before `prepare`. */
  constructor(
    config: Config,
    private readonly dir: string,
    private readonly ports: ClusterNodePorts,
    private readonly log: EtcdLog = openEtcdLog(config),
  ) {
    const settings = settingsOf(config);
    this.#settings = settings;
    this.#freeBytesMin = Math.max(config.diskFreeMinMb * 1_000_000, limits.commitFreeBytes);
    const { log: logger, onFatal, clock, timers, random } = ports;
    this.#site = new LocalGroup(timers);
    const note = (level: 'info' | 'warn' | 'error', fields: object, text: string) => logger[level](fields, text);
    const onFailure = (what: string, error: unknown) =>
      logger.error({ err: error }, `${what} failed and will be tried again`);
    const members = () => membersOf(log);
    const now = () => clock.now();
    const shared = { log, nodeId: settings.nodeId, timers, members, now, note, onFailure };
    this.member = new ClusterMember({
      ...shared,
      site: this.#site,
      random,
      url: settings.url,
      version,
      leaseS: config.leaseS,
      etcdQuotaBytes: config.etcdQuotaBytes,
      stalenessMaxMs: config.stalenessMaxMs,
      allowStaleReads: config.allowStaleReads,
      onLeader: (leader, isEarlierAlive) => this.#nodeLink.leaderChanged(leader, isEarlierAlive),
      onBehind: (reason, hasDiverged) => {
        const marked = hasDiverged ? this.#markDiverged() : Promise.resolve();
        void marked.then(() => onFatal(new RejoinError(`${reason}, so the node joins again`)));
      },
      onRefused: (reason) => onFatal(new StartRefusedError(reason)),
      onFailed: (error) => this.loopFailed(error),
    });
    const onRequestFailed = (error: unknown) => logger.error({ err: error }, 'a request from another node failed');
    this.#link = new LinkClient(settings.secret, config.groupId, timers);
    const answer = (request: LinkRequest) => this.#nodeLink.answer(request);
    this.server = new LinkServer(settings.secret, config.groupId, answer, onRequestFailed);
    const linked = { ...shared, member: this.member, link: this.#link };
    this.#duties = new LeaderDuties({
      ...linked,
      appendedBytes: () => this.#writer?.appendedBytes ?? 0,
      durableSeq: () => this.#site.durableSeq,
      fullChanged: () => this.#site.writableChanged(),
      formatRaised: () => this.#site.configure(),
      defragment: (at) => log.client.defragment(at),
    });
    this.#operations = new ClusterOperator({
      ...linked,
      clusterId: () => this.#clusterId ?? '',
      endpoints: settings.endpoints,
      pushWal: (wal, onProgress) => log.pushWal(wal, onProgress),
      walSettings: { snapshotEntries: config.etcdSnapshotCount, files: config.etcdMaxWals },
      whenDefragmented: () => this.#duties.whenDefragmented(),
      defragmentAll: () => this.#duties.defragment(),
    });
    const overwrite = async (signal: AbortSignal): Promise<void> => {
      await this.#site.forgetErased();
      // The leader deletes slots after this, and a batch that follows the replaced ones may not be stored yet.
      await this.#writer?.stored();
      await this.#writer?.local.scrub(signal);
    };
    this.#scrub = new LocalScrub(dir, overwrite, timers, onFailure);
    this.#nodeLink = new NodeLink({
      ...linked,
      site: this.#site,
      donor: new CopyDonor({ dir, timers, site: () => (this.#site.isOpen ? this.#site : null) }),
      operations: this.#operations,
      group: () => this.#group,
      others: () => this.#others(),
      scrub: () => this.#scrub.run(),
      onRequestFailed,
    });
    this.#scrubAtNight = nightlyScrub({
      ...shared,
      isLeader: () => this.member.isLeader,
      scrub: () => this.#operations.scrub(),
    });
  }

  /** Fetches a copy if the folder, not open yet, cannot continue from the shared log. `lastSeq`: null if damaged. */
  async prepare(lastSeq: number | null): Promise<void> {
    const { log, timers } = this.ports;
    removeUnfinished(this.dir);
    const mark = readMark(this.dir);
    const mustFetch = isIncomplete(this.dir) || mark?.diverged === true;
    const hasOwn = mark !== null && lastSeq !== null && lastSeq > 0 && !mustFetch;
    const clusterId = await this.#clusterIdWithin(hasOwn ? limits.etcdOwnStartMs : limits.etcdStartMs, !hasOwn);
    if (clusterId === undefined) {
      // The node serves its state until that is stale, and continues once etcd answers.
      this.#clusterId = mark?.cluster_id ?? null;
      this.member.lease.start();
      return;
    }
    this.#clusterId = clusterId;
    if (mark === null && lastSeq !== 0 && !mustFetch) {
      throw new StartRefusedError(
        `DATA_DIR: ${this.dir} contains the data of a node without a cluster; import it with ptf import-data, or set an empty folder`,
      );
    }
    if (mark !== null && mark.cluster_id !== clusterId) {
      const found = clusterId === null ? 'no log' : `the log ${clusterId}`;
      throw new StartRefusedError(
        `DATA_DIR: ${this.dir} belongs to the shared log ${mark.cluster_id}, but etcd has ${found} under ETCD_PREFIX; see "Restore" in docs/operating/cluster.md`,
      );
    }
    this.member.lease.start();
    await this.#join(hasOwn ? limits.etcdOwnStartMs : Number.POSITIVE_INFINITY);
    const { trimmed, format, slots } = await this.#retried(() => this.log.view((lastSeq ?? 0) + 1, 1));
    const unreadable = refusalOfFormat(format);
    if (unreadable !== null) throw new StartRefusedError(unreadable);
    const follows = lastSeq !== null && trimmed <= lastSeq && (slots[0]?.firstSeq ?? 0) <= lastSeq + 1;
    if (follows && !mustFetch) return;
    if (clusterId === null) throw new StartRefusedError(`the store in ${this.dir} is damaged`);
    log.warn({ last_seq: lastSeq, trimmed_seq: trimmed }, 'this node joins and fetches data from another node');
    const signal = this.ports.ending ?? new AbortController().signal;
    const copy = { dir: this.dir, mark: { cluster_id: clusterId, node_id: this.#settings.nodeId }, trimmed };
    const fetch = hasOwn ? fetchMissing : fetchCopy;
    await fetch({ ...copy, link: this.#link, nodes: () => this.#others(), log, timers, signal }).catch(
      (error: unknown) => {
        this.#endIfAsked();
        throw error;
      },
    );
  }

  /** Waits up to `waitMs` for a place in the group, on which the others retain the slots that this node needs. */
  async #join(waitMs: number): Promise<void> {
    const endMs = this.ports.timers.elapsed() + waitMs;
    for (;;) {
      this.#endIfAsked();
      const refusal = await this.member.join().catch((error: unknown) => {
        if (error instanceof SharedLogUnavailableError) return undefined;
        throw error;
      });
      if (refusal === null || (refusal === undefined && this.ports.timers.elapsed() >= endMs)) return;
      await waitOf(this.ports.timers, limits.leaseLookMs).over;
    }
  }

  /** Resolves to the id of the shared log; null if none exists; undefined if etcd is silent and not `isRequired`. */
  async #clusterIdWithin(waitMs: number, isRequired: boolean): Promise<string | null | undefined> {
    return this.#retried(() => this.log.clusterId(), waitMs).catch((error: unknown) => {
      if (error instanceof StartEndedError) throw error;
      if (error instanceof SharedLogUnavailableError && !isRequired) return undefined;
      throw new StartRefusedError(`ETCD_ENDPOINTS: ${messageOf(error)}`);
    });
  }

  /** Repeats a call until etcd answers, and rejects with its last error after `waitMs`. */
  async #retried<T>(call: () => Promise<T>, waitMs = Number.POSITIVE_INFINITY): Promise<T> {
    const endMs = this.ports.timers.elapsed() + waitMs;
    for (;;) {
      this.#endIfAsked();
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof SharedLogUnavailableError) || this.ports.timers.elapsed() >= endMs) throw error;
        this.ports.log.warn({ fault: messageOf(error) }, 'etcd does not answer yet');
      }
    }
  }

  /** Makes the next start replace the folder's data; it would otherwise only find the same divergence. */
  #markDiverged(): Promise<void> {
    const mark = { cluster_id: this.#clusterId!, node_id: this.#settings.nodeId, diverged: true } as const;
    return writeMark(this.dir, mark).catch((error: unknown) =>
      this.ports.log.error({ err: error }, 'the mark of this folder could not be written'),
    );
  }

  #endIfAsked(): void {
    if (this.ports.ending?.aborted === true) throw new StartEndedError('the node was stopped before it had started');
  }

  async #others(): Promise<NodeView[]> {
    return (await this.log.nodes()).filter(({ nodeId }) => nodeId !== this.#settings.nodeId);
  }

  wrap(local: LmdbLogWriter): SharedLogWriter {
    this.#writer = new SharedLogWriter(local, this.log, Buffer.from(this.#settings.salt), this.ports.timers, {
      appended: (firstSeq) => this.#duties.appended(firstSeq),
      redacted: (seq) => this.#duties.redacted(seq),
      forgetErased: () => this.#site.forgetErased(),
      replaces: () => this.#scrub.mark(),
      scrubOwn: (overwrite, stopping) => this.#scrub.run(overwrite, stopping),
      mayScrub: () => this.#duties.mayScrub(),
      storeFailed: (error) => this.#storeFailed(error),
      scrubElsewhere: (signal) => this.#duties.scrubElsewhere(signal),
    });
    return this.#writer;
  }

  async begin(): Promise<void> {
    const writer = this.#writer!;
    while (lastSeqOf(writer) === 0) {
      await this.#retried(() => this.#beginOnce(writer));
      if (this.#formingFence !== null) break;
      await waitOf(this.ports.timers, limits.clusterPollMs).over;
    }
    if (this.#clusterId === null) this.#clusterId = (await this.#clusterIdWithin(limits.etcdStartMs, true)) ?? null;
    await writeMark(this.dir, { cluster_id: this.#clusterId!, node_id: this.#settings.nodeId });
  }

  async #beginOnce(writer: SharedLogWriter): Promise<void> {
    const { nodeId, url } = this.#settings;
    const view = await this.log.view(1);
    if (view.slots[0]?.firstSeq === 1) {
      writer.take(view.slots);
      await writer.stored();
      return;
    }
    if (view.trimmed > 0) throw new RejoinError('the shared log was trimmed during the start');
    // The answer to a campaign of this node was lost, and while its lease lives, no other node can lead.
    if (view.leader?.nodeId === nodeId) {
      return void (await this.log.resign({ fence: view.leader.fence, cause: 'the group was not formed' }));
    }
    const lease = this.member.lease.id;
    if (view.leader !== null || lease === null) return;
    const leader = { nodeId, url, since: this.ports.clock.now(), cause: 'the node forms the group' };
    const fence = await this.log.campaign(leader, lease);
    if (fence === null) return;
    if ((await this.log.clusterId()) === null) await this.log.begin(fence, this.ports.random.uuid(), 0);
    // An earlier leader may have formed the group and crashed.
    if ((await this.log.view(1)).slots.length > 0) {
      return void (await this.log.resign({ fence, cause: 'the group was already formed' }));
    }
    this.#formingFence = fence;
    writer.lead(fence);
  }

  groupOver(local: GroupApi): GroupApi {
    this.#group = createClusterGroup(local, { member: this.member, link: this.#nodeLink }, this.#operations);
    return this.#group;
  }

  /** A digest that identifies the shared log in ids of the verdict stream, without revealing its id. */
  get logTag(): string {
    return hash('sha256', this.#clusterId ?? '', 'hex').slice(0, 12);
  }

  start(site: Omit<LocalGroupDeps, 'log' | 'roleChanged'>): void {
    const writer = this.#writer!;
    this.#site.open({
      ...site,
      log: writer,
      roleChanged: () => this.#duties.roleChanged(),
    });
    writer.follow();
    this.member.start(this.#formingFence);
    this.#duties.start();
    this.#stopNights = every(this.ports.timers, limits.scrubLookMs, () => void this.#scrubAtNight());
    this.#scrub.start();
  }

  /** Handles a failure of the loop: the node follows if it only lost the lead, and leaves otherwise. */
  loopFailed(error: unknown): void {
    // The next leader is refused, too: the group has none until the operator decides which log goes on.
    if (error instanceof LogLostError) return void this.member.stepDown(messageOf(error), Number.POSITIVE_INFINITY);
    if (error instanceof OwnerLostError || error instanceof SharedLogUnavailableError) {
      void this.member.demote(messageOf(error));
      return;
    }
    // The node stops in any case, and reads what its files lack when it starts.
    if (!(error instanceof StoreEndedError)) this.#leave(error);
  }

  /** No commit may follow one that failed. Before the recovery, the start of the node reports the failure. */
  #storeFailed(error: unknown): void {
    if (this.#group === null) return;
    this.#site.storeFailed(error);
    this.#leave(error);
  }

  #leave(error: unknown): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.ports.log.error({ err: error }, 'the node leaves the cluster');
    void this.member.retire(messageOf(error));
    if (error instanceof DiskFullError) this.#startAgainWithRoom();
    // Nothing was written, and a start finds the newest commit.
    if (error instanceof HiddenCommitError) this.ports.onFatal(new RejoinError(messageOf(error)));
  }

  /** Starts the node again once its disk has room, because only a start can tell the outcome of a failed commit. */
  #startAgainWithRoom(): void {
    this.#stopLooking = every(this.ports.timers, limits.clusterReportMs, () => {
      if (!(knownFreeBytesOf(this.dir) >= this.#freeBytesMin)) return;
      this.#stopLooking();
      this.ports.onFatal(new RejoinError('the disk has room again, so the node starts again'));
    });
  }

  /** Another node takes over while this one answers. Open forwarded commands soon end with an unknown outcome. */
  async beginClose(): Promise<void> {
    this.ports.timers.later(() => this.#link.close(), limits.shutdownAnswersMs);
    const left = this.member.stepDown('the node is shutting down', Number.POSITIVE_INFINITY);
    await within(limits.clusterEndMs, left);
    this.#writer?.endTaking();
  }

  /** Revokes the lease if etcd answers soon, and ends all running calls. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stopLooking();
    this.#stopNights();
    this.#link.close();
    await this.server.close();
    const ended = Promise.allSettled([this.#duties.stop(), this.member.end(), this.#scrub.stop()]);
    await within(limits.clusterEndMs, ended);
    // Closing the client aborts the calls to etcd that are still running.
    this.log.client.close();
    await ended;
  }
}
