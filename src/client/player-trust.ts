/** What the client says about a player, wherever it has it from. */
import type { TrustScoreBody } from '../contract/response-bodies.js';
import type { TrustErrorCode } from './trust-error.js';

/**
 * The service's word for a player.
 * @public
 */
export type Verdict = TrustScoreBody['verdict'];

/**
 * Where the values of a {@link PlayerTrust} come from:
 *
 * - `node`: from the node's answer to this very call.
 * - `cache`: from the cache that the stream keeps current.
 * - `last-known`: what the node said last, because it did not answer in time. `asOf` says how old it is.
 * - `assumed`: nobody answered and nothing is known: neutral, with confidence 0. Never act on it.
 *
 * @public
 */
export type TrustSource = 'node' | 'cache' | 'last-known' | 'assumed';

/**
 * The values that the service holds of a player.
 * @public
 */
export interface TrustValues {
  /** 0 to 100; 50 is neutral. */
  readonly score: number;
  /** 0 (no signal) to 1. */
  readonly confidence: number;
  /** The service's word for the score. */
  readonly verdict: Verdict;
  /** False: the group holds no events of this player, and the values are those of an unknown one. */
  readonly known: boolean;
  /** Present where the player is on the group's allow list, and reads as neutral whatever was reported. */
  readonly allowed?: true;
}

/**
 * A player's trust, and how far it can be relied on.
 * @public
 */
export interface PlayerTrust extends TrustValues {
  /** The id as the caller wrote it. */
  readonly playerId: string;
  /** Where the values come from. */
  readonly source: TrustSource;
  /**
   * When the node last vouched for the values, by this machine's clock in ms since 1970. Null where they are assumed.
   */
  readonly asOf: number | null;
  /** Why the values do not come from the node or the cache; null where they do. */
  readonly cause: TrustErrorCode | null;
}

/** What is said of a player without events: the service's own reading of no evidence. */
export const unknownPlayer: TrustValues = { score: 50, confidence: 0, verdict: 'neutral', known: false };
