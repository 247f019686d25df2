/**
 * The types of the values that the operator's commands return, with wire names only; `values.ts` creates them from
 * views.
 */

import type { WitnessReason } from '../../core/relations.js';
import type { DisputeStatus, Environment, IdentityMode, PeerStatus, Verdict } from '../../core/vocabulary.js';

/** A peer as the operator sees it. Times are ISO 8601 in UTC here and below. */
export interface PeerValue {
  readonly peer_id: string;
  readonly peer_name: string;
  readonly game_ids: readonly string[];
  readonly status: PeerStatus;
  readonly registered_at: string;
  /** The Ed25519 key with which the peer signs its writes, base64url; null if it does not sign. */
  readonly public_key: string | null;
  readonly event_count: number;
  readonly pre_trusted: boolean;
  readonly weight: number;
  readonly tau: number;
  readonly a: number;
  readonly b: number;
}

export interface ListedPeerValue extends PeerValue {
  /** Number of erasures that it requested of players that others had reported. */
  readonly shared_erasures: number;
  /** Null before the first computation of weights that saw the peer. */
  readonly signals: {
    readonly players: number;
    readonly shared_players: number;
    readonly discounted_with: readonly {
      readonly peer_id: string;
      readonly shared_players: number;
      readonly agreement: number;
    }[];
    /** Peers that count as one witness with it, and the reasons. */
    readonly one_witness_with: readonly { readonly peer_id: string; readonly reason: WitnessReason }[];
  } | null;
}

/** A player that reads as neutral, whatever was reported. */
export interface AllowedPlayerValue {
  readonly subject_hash: string;
  /** Id of the entry in the audit log. */
  readonly entry_id: string;
  readonly until: string;
  readonly note: string;
}

/** An erasure that waits for the operator, oldest request first. */
export interface PendingErasureValue {
  readonly subject_hash: string;
  readonly requested_at: string;
  /** Time by which it should be decided: thirty days after the request. */
  readonly due_at: string;
}

/** An origin, declared or removed. */
export interface OriginValue {
  readonly name: string;
  readonly status: 'declared' | 'removed';
  readonly declared_at: string;
  /** Ids of the peers that carry it. */
  readonly carriers: readonly string[];
  readonly weight: number;
  readonly tau: number;
  readonly a: number;
  readonly b: number;
}

export interface DisputeValue {
  readonly dispute_id: string;
  readonly opened_at: string;
  /** The peer that disputes; null if it had no key. */
  readonly peer_id: string | null;
  readonly subject_hash: string;
  readonly text: string;
  /** The peer whose events are disputed, if the dispute names one. */
  readonly against: string | null;
  readonly status: DisputeStatus;
  readonly decided_at: string | null;
  /** Peers whose events about the player do not count. */
  readonly voids: readonly string[];
  /** Peers that hold events about the player. */
  readonly reporters: readonly string[];
}

export interface StatusValue {
  /** The running release. */
  readonly version: string;
  readonly group_id: string;
  readonly identity_mode: IdentityMode;
  readonly environment: Environment;
  readonly ready: boolean;
  /** False while the node serves reads only. */
  readonly writable: boolean;
  readonly reason: string | null;
  readonly last_seq: number;
  readonly weights: { readonly based_on_seq: number; readonly computed_at: string | null };
  readonly counts: { readonly peers: number; readonly players: number; readonly events: number };
  readonly new_peers: { readonly registered: number; readonly reporting: number };
  readonly half_life_days: number;
  readonly pre_trusted: readonly string[];
  readonly witness_groups: { readonly groups: number; readonly peers: number };
  readonly mailbox: { readonly events: number; readonly bytes: number };
  readonly snapshots: readonly number[];
  readonly pending_erasures: number;
  readonly open_disputes: number;
  readonly owner_epoch: number;
  /** In bytes; null before the first successful read of the disk. */
  readonly disk: {
    readonly free: number;
    /** Free space below which writes are refused. */
    readonly free_min: number;
    readonly log: number;
    readonly snapshots: number;
  } | null;
  /** The background check of log and snapshots. */
  readonly check: {
    readonly running: boolean;
    readonly checked_seq: number;
    /** Null before the first check ended. */
    readonly ended_at: string | null;
    readonly faults: readonly string[];
  };
}

export interface AuditEntryValue {
  readonly seq: number;
  readonly at: string;
  readonly action: string;
  readonly actor: string;
  readonly target: string;
  readonly prev_hash: string;
  readonly hash: string;
}

export interface VerifyValue {
  readonly ok: boolean;
  readonly last_seq: number;
  readonly batches: number;
  readonly records: number;
  readonly audit_entries: number;
  readonly snapshots: readonly { readonly seq: number; readonly ok: boolean; readonly fault?: string }[];
  readonly faults: readonly string[];
}

export interface PublishedWeightsValue {
  readonly seq: number;
  readonly at: string;
  readonly based_on_seq: number;
  readonly computed_at: string;
  readonly bad_share: number;
  readonly peers: readonly {
    readonly peer_id: string;
    readonly weight: number;
    readonly tau: number;
    readonly a: number;
    readonly b: number;
  }[];
}

export interface SimulatedReadValue {
  readonly score: number;
  readonly confidence: number;
  readonly verdict: Verdict;
}

export interface SimulationValue {
  readonly seq: number;
  readonly at: string;
  readonly players: number;
  /** Number of players whose verdict changes; `changed` lists some of them. */
  readonly changed_count: number;
  readonly changed: readonly {
    readonly subject_hash: string;
    readonly event_count: number;
    readonly before: SimulatedReadValue;
    readonly after: SimulatedReadValue;
  }[];
  /** Number of players by verdict before, then by verdict after. */
  readonly verdicts: Readonly<Record<Verdict, Readonly<Record<Verdict, number>>>>;
  readonly peers: readonly {
    readonly peer_id: string;
    readonly peer_name: string;
    readonly weight_before: number;
    readonly weight_after: number;
  }[];
}

export interface PreTrustValue {
  readonly pre_trusted: readonly {
    readonly peer_id: string;
    readonly peer_name: string;
    readonly status: PeerStatus;
  }[];
}

/** The nodes of a group and the members of etcd, as one node sees them. */
export interface ClusterValue {
  readonly cluster_id: string;
  readonly node_id: string;
  readonly role: string;
  readonly applied_seq: number;
  readonly staleness_ms: number;
  readonly lease_ms: number;
  /** Slots up to this record were deleted. */
  readonly floor_seq: number;
  readonly leader: { readonly node_id: string; readonly since: string; readonly fence: string } | null;
  readonly takeovers: number;
  readonly last_takeover: { readonly at: string; readonly node_id: string; readonly cause: string } | null;
  readonly nodes: readonly {
    readonly node_id: string;
    readonly url: string;
    readonly role: string;
    readonly applied_seq: number;
    readonly durable_seq: number;
    readonly snapshot_seq: number;
    readonly lag: number;
    readonly version: string;
    readonly started_at: string;
    readonly reason: string | null;
  }[];
  readonly members: readonly {
    readonly endpoint: string;
    readonly healthy: boolean;
    readonly leads: boolean;
    readonly version: string;
    readonly db_bytes: number;
    readonly db_bytes_in_use: number;
  }[];
  readonly scrubbed: {
    readonly at: string;
    readonly complete: boolean;
    readonly detail: string;
    /** Hex of the bytes that `ptf cluster search` looks for. */
    readonly marker: string | null;
  } | null;
}
