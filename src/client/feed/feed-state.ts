/** What a feed says about itself. */
import type { TrustError } from '../trust-error.js';

/**
 * What the feed of the cache is doing.
 *
 * - `connecting`: no connection yet, or lost and trying again; reads call the node.
 * - `snapshot`: the group is being read as a whole.
 * - `live`: the cache is current to `asOf`.
 * - `refused`: the node refuses the key (401, 403), or the salt is not the group's. Nothing is tried until `retry` or
 *   `follow` is called; reads call the node.
 * - `closed`: ended by `close`.
 *
 * @public
 */
export type FeedPhase = 'connecting' | 'snapshot' | 'live' | 'refused' | 'closed';

/**
 * The state of the feed at a moment.
 * @public
 */
export interface FeedState {
  /** What it is doing. */
  readonly phase: FeedPhase;
  /** Up to when everything is known, by this machine's clock in ms since 1970; null before the first snapshot. */
  readonly asOf: number | null;
  /** The id to resume from. */
  readonly lastEventId: string;
  /** The log record up to which everything is known; 0 before the first snapshot. */
  readonly seq: number;
  /** Players held. */
  readonly players: number;
  /** Whether they are all of the group: a player that is not held then has no events. */
  readonly complete: boolean;
  /** The node that the feed reads from, or tries, by its place in the client's list of addresses. */
  readonly node: number;
  /** Connections made, the present one included. */
  readonly connections: number;
  /** What ended the last connection, or kept the next from being made; null while the feed is live. */
  readonly lastError: TrustError | null;
}
