/** Declares the state of a feed that the client reports to the application. */
import type { TrustError } from '../trust-error.js';

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
