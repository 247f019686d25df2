/** Declares what the cluster member of a node needs from the rest of the node. */
import type { Timers } from '../group/ports/clock.js';
import type { Fence, LeaderView, SharedLog, Slot } from '../group/ports/shared-log.js';

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
  /** Makes this node decide. All earlier records must be applied. */
  lead(fence: Fence): Promise<void>;
  /** Stops this node from deciding. Resolves once its state equals the state of the shared log. */
  follow(): Promise<void>;
}

export interface MemberDeps {
  readonly log: SharedLog;
  readonly site: MemberGroup;
  readonly nodeId: string;
  readonly url: string;
  readonly version: string;
  readonly format: number;
  readonly leaseS: number;
  readonly etcdQuotaBytes: number;
  readonly stalenessMaxMs: number;
  readonly allowStaleReads: boolean;
  readonly timers: Pick<Timers, 'elapsed' | 'later'>;
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

export interface Takeover {
  readonly at: number;
  readonly nodeId: string;
  readonly cause: string;
}
