/** Declares the trust of a player as the client returns it: the values and their source. */
import type { TrustScoreBody } from '../contract/response-bodies.js';
import type { TrustErrorCode } from './trust-error.js';

/** The service's verdict on a player. @public */
export type Verdict = TrustScoreBody['verdict'];

/**
 * The source of the values of a {@link PlayerTrust}:
 *
 * - `node`: the node's answer to this very call.
 * - `cache`: the cache that the stream keeps current.
 * - `last-known`: the node's last answer, because it did not answer in time. `asOf` says how old it is.
 * - `assumed`: the node did not answer and nothing is known: neutral, with confidence 0. Never act on it. @public
 */
export type TrustSource = 'node' | 'cache' | 'last-known' | 'assumed';

/** The values that the service holds of a player. @public */
export interface TrustValues {
  /** 0 to 100; 50 is neutral. */
  readonly score: number;
  /** 0 (no signal) to 1. */
  readonly confidence: number;
  /** The service's verdict for the score. */
  readonly verdict: Verdict;
  /** False if the group holds no events of this player; the values are then those of an unknown one. */
  readonly known: boolean;
  /** Present if the player is on the group's allow list and reads as neutral, whatever was reported. */
  readonly allowed?: true;
}

/** A player's trust, and how far it can be relied on. @public */
export interface PlayerTrust extends TrustValues {
  /** The id as the caller wrote it. */
  readonly playerId: string;
  /** The source of the values. */
  readonly source: TrustSource;
  /**
   * Time at which the node last confirmed the values, by this machine's clock in ms since 1970. Null if they are
   * assumed.
   */
  readonly asOf: number | null;
  /** The reason why the values come neither from the node nor from the cache; null if they do. */
  readonly cause: TrustErrorCode | null;
}

/** The values of a player without events, equal to the service's own. */
export const unknownPlayer: TrustValues = { score: 50, confidence: 0, verdict: 'neutral', known: false };
