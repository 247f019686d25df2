/** What the role of a node needs of the node. */
import type { Fence, SharedLog, Slot } from '../group/ports/shared-log.js';

/** The group, as the role of its node needs it. */
export interface MemberSite {
  readonly appliedSeq: number;
  readonly durableSeq: number;
  readonly snapshotSeq: number;
  /** Why this node must not take part; null: it may. */
  readonly unfit: string | null;
  /** Why this node must not lead, though it may follow; null: it may. */
  readonly unfitToLead: string | null;
  /** Up to which record this node's weights are computed. */
  readonly weights: { readonly basedOnSeq: number; readonly computedAt: number | null };
  /** What the leader says of its weights. */
  noteWeights(basedOnSeq: number, computedAt: number | null): void;
  /** Takes slots over, which follow one another and what was applied, and resolves once they are applied. */
  take(slots: readonly Slot[]): Promise<void>;
  /** All that was decided before is applied: from here on this node decides. */
  lead(fence: Fence): Promise<void>;
  /** This node decides no more; resolves once its state is that of the shared log. */
  follow(): Promise<void>;
}

export interface MemberDeps {
  readonly log: SharedLog;
  readonly site: MemberSite;
  readonly nodeId: string;
  readonly url: string;
  readonly version: string;
  readonly format: number;
  readonly leaseS: number;
  readonly stalenessMaxMs: number;
  readonly allowStaleReads: boolean;
  /** ms, by a clock that only runs forward. */
  readonly elapsed: () => number;
  /** ms since 1970. */
  readonly now: () => number;
  readonly note: (level: 'info' | 'warn' | 'error', fields: object, text: string) => void;
  /** Slots that this node needs were deleted: it must join anew. */
  readonly onBehind: () => void;
  /** This node cannot take part any more. */
  readonly onFailed: (error: unknown) => void;
}

export interface Takeover {
  readonly at: number;
  readonly nodeId: string;
  readonly cause: string;
}
