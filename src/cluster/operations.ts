/** What an operator asks of the nodes of a group together; what only the leader can do goes to the leader. */
import { granted, type Outcome, refused } from '../errors.js';
import type { OnProgress } from '../group/api.js';
import type { ClusterOperations, ClusterStatus } from '../group/cluster-api.js';
import {
  type Scrubbed,
  type SharedLog,
  SharedLogUnavailableError,
  type WalSettings,
} from '../group/ports/shared-log.js';
import { noLeader } from '../group/refusals.js';
import { limits } from '../limits.js';
import type { MemberStatus } from './duties.js';
import { type LinkClient, LinkError } from './link-client.js';
import type { ClusterMember } from './member.js';

export interface OperatorDeps {
  readonly log: SharedLog;
  readonly member: ClusterMember;
  readonly link: LinkClient;
  readonly nodeId: string;
  readonly clusterId: () => string;
  readonly endpoints: readonly string[];
  readonly members: () => Promise<readonly (MemberStatus | null)[]>;
  /**
   * Writes so much that every member of etcd begins new files of its write-ahead log and purges the old ones. Resolves
   * to the marker that was written first, as hex.
   */
  readonly pushWal: (settings: WalSettings, onProgress: OnProgress) => Promise<string>;
  readonly defragmentAll: () => Promise<void>;
  /** ms since 1970. */
  readonly now: () => number;
}

type Ended = Omit<Scrubbed, 'at'>;

export class ClusterOperator implements ClusterOperations {
  readonly #deps: OperatorDeps;
  #scrubbing: Promise<Outcome<Ended>> | null = null;

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
  }

  async status(): Promise<Outcome<ClusterStatus>> {
    const { member, log, nodeId, endpoints } = this.#deps;
    const { role, hasLeader, appliedSeq, stalenessMs, isStale, reason, leader } = member;
    const { leaseMs, floorSeq, takeovers, forwarded, etcdBytes, lastTakeover } = member;
    const [nodes, members, scrubbed] = await Promise.all([
      log.nodes().catch(() => []),
      this.#deps.members(),
      log.scrubbed().catch(() => null),
    ]);
    return granted({
      ...{ role, hasLeader, appliedSeq, stalenessMs, isStale, reason },
      ...{ leaseMs, floorSeq, takeovers, forwarded, etcdBytes, lastTakeover },
      nodeId,
      clusterId: this.#deps.clusterId(),
      leader: leader && { nodeId: leader.nodeId, since: leader.since, fence: leader.fence.revision },
      nodes,
      members: members.map((status, at) => {
        const none = {
          endpoint: endpoints[at]!,
          healthy: false,
          leads: false,
          version: '',
          dbBytes: 0,
          dbBytesInUse: 0,
        };
        return status === null ? none : { ...status, healthy: true };
      }),
      scrubbed,
    });
  }

  async stepDown(): Promise<Outcome<{ readonly nodeId: string }>> {
    const { member, nodeId } = this.#deps;
    if (!member.isLeader) return this.#askLeader('/step-down', limits.forwardMs);
    await member.stepDown('the operator asked for it');
    return granted({ nodeId });
  }

  scrub(settings: Partial<WalSettings> = {}, onProgress: OnProgress = () => undefined): Promise<Outcome<Ended>> {
    if (!this.#deps.member.isLeader) return this.#askLeader('/cluster-scrub', limits.scrubMs, settings);
    const whole = { snapshotEntries: limits.walSnapshotEntries, files: limits.walFiles, ...settings };
    this.#scrubbing ??= answered(this.#scrub(whole, onProgress)).finally(() => {
      this.#scrubbing = null;
    });
    return this.#scrubbing;
  }

  /** A node whose lease ended is in nobody's way: its key went with the lease. */
  async forget(nodeId: string): Promise<Outcome<null>> {
    const nodes = await this.#deps.log.nodes();
    if (!nodes.some((node) => node.nodeId === nodeId)) return granted(null);
    return refused('invalid_parameter', { text: `node ${nodeId} lives: stop it first` });
  }

  async #scrub(settings: WalSettings, onProgress: OnProgress): Promise<Outcome<Ended>> {
    const { log, members, pushWal, defragmentAll, now } = this.#deps;
    const due = await log.scrubDue();
    const silent = (await members()).filter((status) => status === null).length;
    const marker = await pushWal(settings, onProgress);
    await defragmentAll();
    const complete = silent === 0;
    const detail = complete
      ? 'the write-ahead log of every member of etcd was pushed on, and their databases are defragmented'
      : `${silent} members of etcd did not answer: their files may still hold what was erased`;
    await log.putScrubbed({ at: now(), complete, detail, marker });
    if (complete && due !== null) await log.clearScrubDue(due);
    return granted({ complete, detail, marker });
  }

  async #askLeader<T>(path: string, timeoutMs: number, body: object = {}): Promise<Outcome<T>> {
    const { member, nodeId, link } = this.#deps;
    const { leader } = member;
    if (leader === null || leader.nodeId === nodeId) return noLeader();
    const call = { url: leader.url, method: 'POST', path, body, timeoutMs } as const;
    return answered(link.call<{ readonly outcome: Outcome<T> }>(call).then(({ outcome }) => outcome));
  }
}

/** Makes a refusal of what only says that another node, or etcd, did not answer. */
function answered<T>(work: Promise<Outcome<T>>): Promise<Outcome<T>> {
  return work.catch((error: unknown) => {
    if (error instanceof SharedLogUnavailableError || error instanceof LinkError) {
      return refused('dependency_unavailable', { text: error.message });
    }
    throw error;
  });
}
