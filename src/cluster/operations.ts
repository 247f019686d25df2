/** Carries out the operator's commands on the whole cluster, or forwards them to the leader. */
import { granted, messageOf, type Outcome, refused } from '../errors.js';
import type { OnProgress } from '../group/api.js';
import type { ClusterOperations, ClusterStatus } from '../group/cluster-api.js';
import {
  type Scrubbed,
  type SharedLog,
  SharedLogUnavailableError,
  type WalSettings,
} from '../group/ports/shared-log.js';
import { OwnerLostError } from '../group/ports/storage.js';
import { noLeader } from '../group/refusals.js';
import { DAY_MS, HOUR_MS, limits } from '../limits.js';
import type { DutiesDeps } from './duties.js';
import { LinkError } from './link-client.js';

export interface OperatorDeps extends Pick<DutiesDeps, 'log' | 'member' | 'link' | 'nodeId' | 'members' | 'now'> {
  readonly clusterId: () => string;
  readonly endpoints: readonly string[];
  readonly pushWal: (settings: WalSettings, onProgress: OnProgress) => Promise<string>;
  /** The members' settings, unless a scrub names others. */
  readonly walSettings: WalSettings;
  readonly whenDefragmented: () => Promise<unknown>;
  /** Resolves to the members of etcd, by index, that could not be defragmented. */
  readonly defragmentAll: () => Promise<readonly number[]>;
}

type ScrubResult = Omit<Scrubbed, 'at'>;

/** A member of etcd that does not answer. */
const silent = { leads: false, version: '', dbBytes: 0, dbBytesInUse: 0, alarms: [] };

const tooFull = `the database of etcd takes more than ${limits.etcdFragmentedPart * 100} % of its quota, and a scrub might fill it`;

export class ClusterOperator implements ClusterOperations {
  #scrubbing: Promise<Outcome<ScrubResult>> | null = null;

  constructor(private readonly deps: OperatorDeps) {}

  async status(): Promise<Outcome<ClusterStatus>> {
    const { member, log, nodeId, endpoints } = this.deps;
    const { role, appliedSeq, stalenessMs, leaseMs, floorSeq, takeovers, leader, lastLeader } = member;
    const [nodes, refused, members, scrubbed] = await Promise.all([
      log.nodes().catch(() => []),
      log.refused().catch(() => []),
      this.deps.members(),
      log.scrubbed().catch(() => undefined),
    ]);
    return granted({
      ...{ role, appliedSeq, stalenessMs, leaseMs, floorSeq, takeovers },
      nodeId,
      clusterId: this.deps.clusterId(),
      leader: leader && { nodeId: leader.nodeId, since: leader.since, fence: leader.fence.revision },
      lastTakeover: lastLeader && { at: lastLeader.since, nodeId: lastLeader.nodeId, cause: lastLeader.cause },
      nodes,
      refused,
      members: members.map((status, at) => {
        return { endpoint: endpoints[at]!, ...silent, ...status, healthy: status !== null };
      }),
      scrubbed,
    });
  }

  async stepDown(): Promise<Outcome<{ readonly nodeId: string }>> {
    const { member, nodeId } = this.deps;
    if (!member.isLeader) return this.#askLeader('/step-down', limits.forwardMs);
    await member.stepDown('requested by the operator');
    return granted({ nodeId });
  }

  scrub(settings: Partial<WalSettings> = {}, onProgress: OnProgress = () => undefined): Promise<Outcome<ScrubResult>> {
    if (!this.deps.member.isLeader) return this.#askLeader('/cluster-scrub', limits.scrubMs, settings);
    const asked = { ...this.deps.walSettings, ...settings };
    this.#scrubbing ??= refusedIfSilent(this.#scrub(asked, onProgress)).finally(() => {
      this.#scrubbing = null;
    });
    return this.#scrubbing;
  }

  /** Confirms that the node is gone. Its key expired with its lease, so there is nothing to remove. */
  forget(nodeId: string): Promise<Outcome<null>> {
    const running = refused('invalid_parameter', { text: `node ${nodeId} is running: stop it first` });
    const isRunning = this.deps.log.nodes().then((nodes) => nodes.some((node) => node.nodeId === nodeId));
    return refusedIfSilent(isRunning.then((is) => (is ? running : granted(null))));
  }

  async #scrub(settings: WalSettings, onProgress: OnProgress): Promise<Outcome<ScrubResult>> {
    const { log, members, pushWal, defragmentAll, now, member } = this.deps;
    const due = await log.scrubDue();
    await this.deps.whenDefragmented();
    // A member that is down while the write-ahead log is pushed on keeps its old files when it returns.
    const statuses = await members();
    const silent = statuses.flatMap((status, at) => (status === null ? [at] : []));
    // The marker of the scrub before still proves which files are older than that.
    const endedEarly = async (why: string) => {
      const marker = (await log.scrubbed())?.marker ?? null;
      await log.putScrubbed({ at: now(), complete: false, detail: `the scrub ended early: ${why}`, marker });
    };
    // The entries fill the database until they are compacted.
    if (statuses.some((status) => (status?.dbBytes ?? 0) > member.etcdQuotaBytes * limits.etcdFragmentedPart)) {
      await endedEarly(tooFull);
      return refused('dependency_unavailable', { text: tooFull });
    }
    const marker = await pushWal(settings, onProgress).catch(async (error: unknown) => {
      await endedEarly(messageOf(error)).catch(() => undefined);
      throw error;
    });
    const missed = new Set([...silent, ...(await defragmentAll())]).size;
    const complete = missed === 0;
    const detail = complete
      ? 'every member of etcd purged its write-ahead log and defragmented its database'
      : `${missed} of etcd's members did not answer or refused the defragmentation (see the leader's log): their files may still contain erased data`;
    await log.putScrubbed({ at: now(), complete, detail, marker });
    if (complete && due !== null) await log.clearScrubDue(due);
    return granted({ complete, detail, marker });
  }

  async #askLeader<T>(path: string, timeoutMs: number, body: object = {}): Promise<Outcome<T>> {
    const { member, nodeId, link } = this.deps;
    const { leader } = member;
    if (leader === null || leader.nodeId === nodeId) return noLeader();
    const call = { url: leader.url, method: 'POST', path, body, timeoutMs } as const;
    return refusedIfSilent(link.call<{ readonly outcome: Outcome<T> }>(call).then(({ outcome }) => outcome));
  }
}

function refusedIfSilent<T>(work: Promise<Outcome<T>>): Promise<Outcome<T>> {
  return work.catch((error: unknown) => {
    if (error instanceof SharedLogUnavailableError || error instanceof LinkError || error instanceof OwnerLostError) {
      return refused('dependency_unavailable', { text: error.message });
    }
    throw error;
  });
}

interface NightDeps extends Pick<DutiesDeps, 'now' | 'onFailure'> {
  readonly log: Pick<SharedLog, 'scrubDue'>;
  readonly isLeader: () => boolean;
  readonly scrub: () => Promise<Outcome<Omit<ScrubResult, 'marker'>>>;
}

/** The returned function scrubs once a night if an erasure waits for it: a scrub that failed in the next one. */
export function nightlyScrub({ log, isLeader, scrub, now, onFailure }: NightDeps): () => Promise<void> {
  const nightNow = () => Math.floor((now() - limits.scrubHourUtc * HOUR_MS) / DAY_MS);
  let checked = nightNow();
  return async () => {
    if (nightNow() === checked || !isLeader()) return;
    checked = nightNow();
    try {
      if ((await log.scrubDue()) === null) return;
      const outcome = await scrub();
      if (!outcome.ok) throw new Error(outcome.text ?? outcome.code);
      if (!outcome.value.complete) throw new Error(outcome.value.detail);
    } catch (error) {
      onFailure('the nightly scrub of etcd', error);
    }
  };
}
