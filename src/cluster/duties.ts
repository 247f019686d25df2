/** The leader's duties besides deciding: it deletes slots, and erased bytes elsewhere. Each may be repeated. */
import { messageOf } from '../errors.js';
import type { MemberStatus } from '../group/cluster-api.js';
import { every } from '../group/ports/clock.js';
import { type Fence, type NodeView, SharedLogUnavailableError } from '../group/ports/shared-log.js';
import { OwnerLostError, ScrubDeferredError } from '../group/ports/storage.js';
import { formatReadByAll } from '../group/record-format.js';
import { limits } from '../limits.js';
import type { LinkClient } from './link-client.js';
import type { ClusterMember, MemberDeps } from './member.js';

export interface DutiesDeps extends Pick<MemberDeps, 'log' | 'timers' | 'nodeId' | 'now' | 'note'> {
  readonly member: ClusterMember;
  readonly link: Pick<LinkClient, 'call'>;
  /** Returns the bytes appended to the shared log since the start. */
  readonly appendedBytes: () => number;
  readonly durableSeq: () => number;
  /** Returns the status of each member of etcd; null for a member that does not answer. */
  readonly members: () => Promise<readonly (MemberStatus | null)[]>;
  readonly defragment: (member: number) => Promise<void>;
  /** Called after the log became nearly full, or has room again. */
  readonly fullChanged: () => void;
  /** Called after records of a newer format became possible. */
  readonly formatRaised: () => Promise<void>;
  readonly onFailure: (what: string, error: unknown) => void;
}

/** Bytes of the largest database of a member: of its file, and those that hold values. */
interface DatabaseSize {
  readonly bytes: number;
  readonly inUse: number;
}

export class LeaderDuties {
  #alarms = '';
  /** First sequence numbers of the slots in etcd; null until they are read. */
  #slots: number[] | null = null;
  #trimmedBytes = 0;
  #trimmedAt = Number.NEGATIVE_INFINITY;
  #compactedAt = Number.NEGATIVE_INFINITY;
  #defragmentedAt = Number.NEGATIVE_INFINITY;
  #stopTimer: () => void = () => undefined;
  #busy: Promise<void> | null = null;
  /** The newest defragmentation. The next one starts after it, because a member does not answer meanwhile. */
  #defragmenting: Promise<unknown> = Promise.resolve();
  #trimming: Promise<unknown> = Promise.resolve();
  readonly #ending = new AbortController();
  /** The newest record that was redacted since the last scrub of etcd; 0 if there is none. */
  #redactedSeq = 0;

  constructor(private readonly deps: DutiesDeps) {}

  start(): void {
    this.#stopTimer = every(this.deps.timers, limits.trimLookMs, () => void this.#trimIfDue());
  }

  /** Starts no further duty. Resolves once the running one has ended. The caller aborts calls to etcd. */
  async stop(): Promise<void> {
    this.#ending.abort();
    this.#stopTimer();
    await this.#busy;
    await this.#defragmenting;
  }

  /** Forgets the slots, because this node starts or stops leading. */
  roleChanged(): void {
    const { member, log } = this.deps;
    this.#slots = null;
    // Only the leader looks at these.
    member.logIsFull = false;
    member.isScrubIncomplete = false;
    member.refusedNodes = 0;
    member.etcdBytes = 0;
    this.#alarms = '';
    if (member.fence === null) log.prefer(null);
    // The leader before may have replaced records and not deleted their slots yet.
    this.#redactedSeq = this.deps.member.appliedSeq;
  }

  appended(firstSeq: number): void {
    this.#slots?.push(firstSeq);
  }

  /** Records that record `seq` was replaced in the log, so that the slot that contains it must be deleted. */
  redacted(seq: number): void {
    this.#redactedSeq = Math.max(this.#redactedSeq, seq);
  }

  async #trimIfDue(): Promise<void> {
    const { member, appendedBytes, onFailure } = this.deps;
    if (!member.isLeader || this.#busy !== null) return;
    const now = this.deps.timers.elapsed();
    const isDue =
      now - this.#trimmedAt >= limits.trimEveryMs || appendedBytes() - this.#trimmedBytes >= limits.trimEveryBytes;
    if (!isDue) return;
    this.#trimmedAt = now;
    this.#trimmedBytes = appendedBytes();
    this.#busy = this.#trimAndShrink()
      .catch((error: unknown) => onFailure('trimming the shared log', error))
      .finally(() => {
        this.#busy = null;
      });
    await this.#busy;
  }

  async #trimAndShrink(): Promise<void> {
    const size = await this.#lookAtMembers();
    await this.#trim(0, size.inUse > this.deps.member.etcdQuotaBytes * limits.etcdPressedPart);
    await this.#shrink(size);
  }

  /** Returns the size of the largest database, refuses writes near the quota, and prefers the leading member. */
  async #lookAtMembers(): Promise<DatabaseSize> {
    const { log, members, member } = this.deps;
    const { etcdQuotaBytes: quotaBytes } = member;
    const all = await members();
    const leading = all.findIndex((status) => status?.leads === true);
    if (leading !== -1 && member.isLeader) log.prefer(leading);
    const statuses = all.filter((status) => status !== null);
    const bytes = Math.max(0, ...statuses.map(({ dbBytes }) => dbBytes));
    // This node may have lost the lead meanwhile, and only the leader looks again.
    if (statuses.length > 0 && member.isLeader) {
      member.etcdBytes = bytes;
      // A silent member may have the largest database.
      const mayClear = statuses.length === all.length;
      const part = member.logIsFull ? limits.etcdRoomPart : limits.etcdFullPart;
      const alarms = [...new Set(statuses.flatMap((status) => status.alarms))].sort();
      this.#noteAlarms(alarms.join(', '));
      // etcd refuses every write until the alarm is disarmed, however much room there is by then.
      const isFull = alarms.includes('NOSPACE') || bytes > quotaBytes * part;
      this.#setFull(isFull || (member.logIsFull && !mayClear));
    }
    return { bytes, inUse: Math.max(0, ...statuses.map(({ dbBytesInUse }) => dbBytesInUse)) };
  }

  #noteAlarms(alarms: string): void {
    const { note } = this.deps;
    if (alarms === this.#alarms) return;
    this.#alarms = alarms;
    if (alarms === '') note('warn', {}, 'etcd has no alarm any more');
    else note('error', { alarms }, `etcd raised the alarm ${alarms}: mend its cause, then run: etcdctl alarm disarm`);
  }

  #setFull(isFull: boolean): void {
    const { member, fullChanged, note } = this.deps;
    if (member.logIsFull === isFull) return;
    member.logIsFull = isFull;
    const fields = { bytes: member.etcdBytes, quota_bytes: member.etcdQuotaBytes };
    if (isFull) note('error', fields, 'etcd is nearly full: writes are answered 503, reads continue');
    else note('warn', fields, 'etcd has room again: writes are accepted');
    fullChanged();
  }

  /** etcd compares the size of the members' files with its quota, and space that became free within a file counts. */
  async #shrink({ bytes, inUse }: DatabaseSize): Promise<void> {
    const { log, member, onFailure } = this.deps;
    const { etcdQuotaBytes: quotaBytes } = member;
    if (!member.isLeader) return;
    const now = this.deps.timers.elapsed();
    if (now - this.#compactedAt >= limits.etcdCompactEveryMs) {
      this.#compactedAt = now;
      await log.compact();
      const scrubbed = await log.scrubbed();
      member.isScrubIncomplete = member.isLeader && scrubbed?.complete === false;
    }
    // Writes that are refused must become possible again although other keys take most of the room.
    const part = member.logIsFull ? limits.etcdRoomPart : limits.etcdPressedPart;
    const isFragmented = bytes > quotaBytes * limits.etcdFragmentedPart && inUse < quotaBytes * part;
    if (!isFragmented || now - this.#defragmentedAt < limits.etcdDefragmentEveryMs) return;
    this.#defragmentedAt = now;
    // Trimming goes on meanwhile.
    this.defragment(this.#ending.signal).catch((error: unknown) => onFailure('defragmenting etcd', error));
  }

  /** Permits records of a newer format once every live node reads them. Until then an upgrade can be reverted. */
  async #raiseFormat(fence: Fence, nodes: readonly NodeView[]): Promise<void> {
    const { log, member, formatRaised, note } = this.deps;
    const readByAll = formatReadByAll(nodes);
    const before = member.writeFormat;
    if (readByAll <= before) return;
    await log.raiseFormat(fence, readByAll);
    member.writeFormat = readByAll;
    note('info', { format: readByAll }, 'every node reads records of this format, so they are written from now on');
    await formatRaised().catch((error: unknown) => {
      // The next trim tries again.
      if (error instanceof SharedLogUnavailableError) member.writeFormat = before;
      throw error;
    });
  }

  /** Deletes slots that all live nodes have, and those up to `upTo` in any case. `isPressed`: no node is waited for. */
  #trim(upTo: number, isPressed: boolean): Promise<void> {
    // One after the other, because each removes what it deleted from the known slots.
    const done = this.#trimming.then(() => this.#trimNow(upTo, isPressed));
    this.#trimming = done.catch(() => undefined);
    return done;
  }

  async #trimNow(upTo: number, isPressed: boolean): Promise<void> {
    const { log, member, note } = this.deps;
    const { fence } = member;
    if (fence === null) return;
    if (this.#slots === null) {
      const found = await log.slotSeqs(0, limits.slotsKnownMax);
      if (member.fence !== fence) return;
      this.#slots = found;
    }
    const nodes = await log.nodes();
    const { length: refusedNodes } = await log.refused();
    if (member.isLeader) member.refusedNodes = refusedNodes;
    await this.#raiseFormat(fence, nodes);
    // The slots of an earlier leadership say nothing about what the next leaders appended and deleted.
    if (member.fence !== fence || this.#slots === null) return;
    const slowest = Math.min(...nodes.map(({ durable }) => durable), this.deps.durableSeq());
    const slots = this.#slots;
    const countUpTo = (seq: number) => slots.findLastIndex((firstSeq) => firstSeq <= seq) + 1;
    const reached = countUpTo(isPressed ? this.deps.durableSeq() : slowest) - 1;
    const keep = isPressed ? limits.slotsRetainedPressed : limits.slotsRetained;
    // The newest slot is never deleted, because the next slot refers to it.
    const boundary = Math.min(slots.length - 1, Math.max(reached - keep, countUpTo(upTo)));
    if (boundary <= 0) return;
    const first = slots[boundary]!;
    if (isPressed && slowest < first - 1)
      note('warn', { trimmed_seq: first - 1 }, 'etcd is filling up, so a node that is far behind must join again');
    await log.trim(fence, first, first - 1).catch((error: unknown) => {
      // Another trim, whose answer was lost, may have deleted more.
      this.#slots = null;
      throw error;
    });
    slots.splice(0, boundary);
    member.floorSeq = first - 1;
  }

  /** A scrub deletes slots that a joining node needs next. Rejects with `ScrubDeferredError` while one joins. */
  async mayScrub(): Promise<void> {
    const { log, now } = this.deps;
    const nodes = await log.nodes().catch((error: unknown) => {
      throw new ScrubDeferredError(`an erasure waits for etcd: ${messageOf(error)}`, { cause: error });
    });
    const joining = nodes.find(({ role, started }) => role === 'joining' && now() - started < limits.joinHoldMs);
    if (joining !== undefined) throw new ScrubDeferredError(`an erasure waits for node ${joining.nodeId}, which joins`);
  }

  /** Removes replaced records from the other nodes and etcd. Rejects with `ScrubDeferredError` to be retried. */
  async scrubElsewhere(signal?: AbortSignal): Promise<void> {
    const ending = AbortSignal.any([this.#ending.signal, ...(signal === undefined ? [] : [signal])]);
    try {
      await untilAborted(this.#scrubElsewhere(ending), ending);
    } catch (error) {
      throw new ScrubDeferredError(`an erasure waits for the other nodes: ${messageOf(error)}`, { cause: error });
    }
  }

  async #scrubElsewhere(signal: AbortSignal): Promise<void> {
    const { log, link, nodeId, durableSeq, member } = this.deps;
    const upTo = this.#redactedSeq;
    const body = { seq: durableSeq() };
    const call = { method: 'POST', path: '/scrub', body, timeoutMs: limits.scrubNodeMs } as const;
    for (const node of await log.nodes()) {
      // A node that still joins after `joinHoldMs` reads the erasures before it serves any request.
      if (node.nodeId === nodeId || node.role === 'left' || node.role === 'joining') continue;
      await this.#whileAlive(node, (gone) => {
        return link.call({ ...call, url: node.url, signal: AbortSignal.any([signal, gone]) });
      });
    }
    if (upTo === 0 || member.fence === null) return;
    await this.#trim(upTo, false);
    await this.defragment(signal);
    // The write-ahead logs of etcd still contain the slots, until the nightly scrub purges these logs.
    await log.putScrubDue(upTo);
    if (this.#redactedSeq === upTo) this.#redactedSeq = 0;
  }

  /** Ends the wait for a node whose lease ends: its own files say that a scrub is due, also if it only hung. */
  async #whileAlive({ nodeId }: NodeView, ask: (gone: AbortSignal) => Promise<unknown>): Promise<void> {
    const { log, timers } = this.deps;
    const gone = new AbortController();
    const look = async () => {
      if (!(await log.nodes()).some((node) => node.nodeId === nodeId)) gone.abort();
    };
    // A look that fails says nothing, and the next one may not.
    const stop = every(timers, limits.clusterReportMs, () => void look().catch(() => undefined));
    await ask(gone.signal)
      .catch((error: unknown) => {
        if (!gone.signal.aborted) throw error;
      })
      .finally(stop);
  }

  /** The leading member comes last. Resolves to those, by index, whose files may still contain deleted slots. */
  defragment(signal?: AbortSignal): Promise<number[]> {
    const done = this.#defragmenting.then(() => this.#defragmentAll(signal));
    this.#defragmenting = done.catch(() => undefined);
    return done;
  }

  whenDefragmented(): Promise<unknown> {
    return this.#defragmenting;
  }

  async #defragmentAll(signal: AbortSignal | undefined): Promise<number[]> {
    const { members, defragment, onFailure, member } = this.deps;
    const statuses = await members();
    const order = statuses.map((status, at) => ({ status, at })).filter(({ status }) => status !== null);
    order.sort((one, other) => Number(one.status!.leads) - Number(other.status!.leads));
    const missed = statuses.flatMap((status, at) => (status === null ? [at] : []));
    for (const { at } of order) {
      if (signal?.aborted === true) throw new Error('the node is shutting down');
      // The next leader may be defragmenting another member.
      if (!member.isLeader) throw new OwnerLostError('another node leads now');
      await defragment(at).catch((error: unknown) => {
        missed.push(at);
        onFailure('defragmenting a member of etcd', error);
      });
    }
    return missed;
  }
}

/** Settles with `work`, or rejects as soon as `signal` aborts. The result of the work is then ignored. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('the node is shutting down'));
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
