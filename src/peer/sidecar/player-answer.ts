/** Declares the answer about one player, as the game server reads it, and finds the worst of several. */
import type { PlayerTrust } from '../../client/player-trust.js';

export type Action = 'pass' | 'restrict';

/** From the worst to the best. */
const ranks: readonly PlayerTrust['verdict'][] = ['untrusted', 'suspicious', 'neutral', 'trusted'];

export interface PlayerAnswer {
  readonly player_id: string;
  readonly verdict: PlayerTrust['verdict'];
  readonly score: number;
  readonly confidence: number;
  /** False if the group holds no events of this player. */
  readonly known: boolean;
  readonly source: PlayerTrust['source'];
  /** RFC 3339; null if the values are assumed. */
  readonly as_of: string | null;
  /** The reason why the values come neither from the node nor from the cache; null if they do. */
  readonly cause: string | null;
  /** True if the allow list lets the player pass; the verdict then is `neutral`. */
  readonly allowed: boolean;
  /** The action of the policy, and the action that it would take if it were enforced. */
  readonly action: Action;
  readonly would: Action;
}

/** An invalid id of a match, such as a bot's. */
export interface RefusedId {
  readonly player_id: string;
  readonly code: string;
  readonly error: string;
  readonly details?: object;
}

/** Returns the worst of the answers about the accounts of one person; an account of the allow list comes first. */
export function worstOf(answers: readonly PlayerAnswer[]): PlayerAnswer | undefined {
  const rank = ({ allowed, verdict, score }: PlayerAnswer) => (allowed ? -1 : 1_000 * ranks.indexOf(verdict) + score);
  return [...answers].sort((one, other) => rank(one) - rank(other))[0];
}
