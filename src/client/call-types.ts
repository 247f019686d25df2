/** Declares the options, arguments and results of the client's calls, but those of scores and events, and its feed. */
import type { RegistrationBody } from '../contract/request-bodies.js';
import type { RegisteredPeerBody } from '../contract/response-bodies.js';
import type { TrustError } from './trust-error.js';

/** The options of every call. @public */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The answer of a read if the node does not answer in time: the `last-known` values with their age if there are any,
 * else neutral; or always `neutral`. @public
 */
export type Fallback = 'last-known' | 'neutral';

/** The options of a read. @public */
export interface ReadOptions extends CallOptions {
  /** Time budget of this read before it falls back, in ms. Default: the client's own. */
  readonly budgetMs?: number | undefined;
  /** The answer of this read if the node does not answer in time. Default: the client's own. */
  readonly fallback?: Fallback | undefined;
}

/** The options of a submission of many events. @public */
export interface SubmitManyOptions extends CallOptions {
  /** Called after each batch with the number of completed events and the number of all events. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** The arguments of a registration. @public */
export interface Registration {
  /** The name that the group sees. */
  readonly peerName: RegistrationBody['peer_name'];
  /** The games for which the peer will submit events. */
  readonly gameIds: RegistrationBody['game_ids'];
  /** For the operator only; never published. */
  readonly contactEmail?: string | undefined;
  /** The public key for the signatures of the peer's writes; see `generateSigningKey`. */
  readonly publicKey?: string | undefined;
}

/** A registered peer. The node returns the key only this once. @public */
export interface RegisteredPeer {
  /** The peer's id. */
  readonly peerId: RegisteredPeerBody['peer_id'];
  /** The peer's key; store it in a secrets store. */
  readonly apiKey: RegisteredPeerBody['api_key'];
  /** `active`. */
  readonly status: RegisteredPeerBody['status'];
}

/** An erased player, or one whose erasure waits for the operator. @public */
export interface ErasedSubject {
  /** The player's subject hash. */
  readonly subjectHash: string;
  /** `pending` if the operator must confirm the erasure. */
  readonly status: 'erased' | 'pending';
  /** Number of erased events; 0 while pending. */
  readonly eventsErased: number;
  /** Proof for the player: the audit log keeps SHA-256(receipt + hash). */
  readonly receipt: string;
}

/**
 * The phase of the feed that keeps the cache current.
 *
 * - `connecting`: there is no connection yet, or it was lost and is retried; reads call the node.
 * - `snapshot`: the feed is reading the whole group.
 * - `live`: the cache is current to `asOf`.
 * - `refused`: the node refuses the key (401, 403), or the salt is not the group's. The feed does not reconnect until
 *   `retry` or `follow` is called; reads call the node.
 * - `closed`: ended by `close`. @public
 */
export type FeedPhase = 'connecting' | 'snapshot' | 'live' | 'refused' | 'closed';

/** The state of the feed at one time. @public */
export interface FeedState {
  /** The present phase. */
  readonly phase: FeedPhase;
  /**
   * Time up to which all verdicts are known, by this machine's clock in ms since 1970; null before the first snapshot.
   */
  readonly asOf: number | null;
  /** The event id from which the stream resumes. */
  readonly lastEventId: string;
  /** The log record up to which all verdicts are known; 0 before the first snapshot. */
  readonly seq: number;
  /** Number of players held. */
  readonly players: number;
  /** True if the feed holds every player of the group: a player that it does not hold then has no events. */
  readonly complete: boolean;
  /** The node that the feed reads from, or tries to reach, as an index of the client's list of addresses. */
  readonly node: number;
  /** Number of connections made, including the present one. */
  readonly connections: number;
  /** The error that ended the last connection or prevented the next one; null while the feed is live. */
  readonly lastError: TrustError | null;
}

/** The options of `follow`. @public */
export interface FollowOptions {
  /** Called whenever the feed's phase changes. */
  readonly onState?: ((state: FeedState) => void) | undefined;
  /**
   * Called with the subject hash (hex) of a player that was erased together with events of this peer. Not called for
   * erasures while the feed is not connected; `GET /api/v1/events/erased` lists those.
   */
  readonly onErased?: ((subjectHash: string) => void) | undefined;
}

/** A feed that keeps the client's cache current. @public */
export interface Feed {
  /** The state of the feed. */
  readonly state: FeedState;
  /**
   * Resolves once the cache is current. Rejects with `closed` if the feed is closed before, and with the node's refusal
   * if no retry can succeed: the key is wrong or revoked (401, 403), or the salt is not the group's (`salt_mismatch`).
   */
  live(): Promise<void>;
  /**
   * Connects again after a refusal, for example once a suspended peer is reinstated; does nothing in any other phase.
   */
  retry(): void;
  /** Ends the stream. Reads call the node again. */
  close(): Promise<void>;
}
