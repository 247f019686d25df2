/** What the calls of a client take and give back, apart from scores and events. */
import type { RegistrationBody } from '../../contract/request-bodies.js';
import type { RegisteredPeerBody } from '../../contract/response-bodies.js';
import type { FeedState } from '../feed/feed-state.js';
import type { Fallback } from './score-reader.js';

/**
 * What every call takes.
 * @public
 */
export interface CallOptions {
  /** Gives the call up: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What a read takes.
 * @public
 */
export interface ReadOptions extends CallOptions {
  /** What this read may take before it falls back, in ms; the client's own budget where it is left out. */
  readonly budgetMs?: number | undefined;
  /** What this read answers where the node does not; the client's own where it is left out. */
  readonly fallback?: Fallback | undefined;
}

/**
 * What a submission of many events takes.
 * @public
 */
export interface SubmitManyOptions extends CallOptions {
  /** Called after each batch with the number of events that are through, and of all. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Who registers.
 * @public
 */
export interface Registration {
  /** The name that the group sees. */
  readonly peerName: RegistrationBody['peer_name'];
  /** The games that the peer will submit events for. */
  readonly gameIds: RegistrationBody['game_ids'];
  /** For the operator only, never public. */
  readonly contactEmail?: string | undefined;
  /** The public key that the peer's writes will be signed with; see `generateSigningKey`. */
  readonly publicKey?: string | undefined;
}

/**
 * A peer as registered. The key is shown this once.
 * @public
 */
export interface RegisteredPeer {
  /** The peer's id. */
  readonly peerId: RegisteredPeerBody['peer_id'];
  /** The peer's key: keep it in a secrets store. */
  readonly apiKey: RegisteredPeerBody['api_key'];
  /** `active`. */
  readonly status: RegisteredPeerBody['status'];
}

/**
 * An erased player, or one whose erasure waits for the operator.
 * @public
 */
export interface ErasedSubject {
  /** The player's subject hash. */
  readonly subjectHash: string;
  /** `pending` where the operator confirms erasures. */
  readonly status: 'erased' | 'pending';
  /** How many events were erased; 0 while pending. */
  readonly eventsErased: number;
  /** Proof for the player: the audit log keeps SHA-256(receipt + hash). */
  readonly receipt: string;
}

/**
 * What the stream's cache takes.
 * @public
 */
export interface FollowOptions {
  /** Called whenever the feed's phase changes. */
  readonly onState?: ((state: FeedState) => void) | undefined;
  /**
   * Called with the subject hash (hex) of a player that was erased together with events of this peer. While the feed is
   * not connected nothing is told; `GET /api/v1/events/erased` lists what went meanwhile.
   */
  readonly onErased?: ((subjectHash: string) => void) | undefined;
}

/**
 * A feed that keeps the client's cache current.
 * @public
 */
export interface Feed {
  /** What the feed is doing. */
  readonly state: FeedState;
  /**
   * Resolves once the cache is current. Rejects with `closed` where the feed is closed before, and with the node's
   * refusal where no retry can cure it: the key is wrong or revoked (401, 403), or the salt is not the group's
   * (`salt_mismatch`).
   */
  live(): Promise<void>;
  /**
   * Connects again after a refusal, for example once a suspended peer is reinstated; does nothing in any other phase.
   */
  retry(): void;
  /** Ends the stream. Reads call the node again. */
  close(): Promise<void>;
}
