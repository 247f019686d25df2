/** Declares what the reader of the verdict stream writes to: the cache of a client, or another follower. */
import type { TrustValues } from '../player-trust.js';

export interface StreamTable {
  readonly size: number;
  /** True while every player of the group is held: a player that is not held has no events. */
  readonly complete: boolean;
  readonly inSnapshot: boolean;
  /** How long an answer counts as current, in ms: as long as the stream may be silent. */
  answerMs: number;
  /** Stores the published values of a player, which are true at `at` by the `AgeClock`. */
  setPublished(key: string, values: TrustValues, at: number): void;
  removePublished(key: string): void;
  snapshotBegins(): void;
  /** Ends a snapshot: a player that it did not name has no events. */
  snapshotEnds(): void;
  /** Notes that a connection ended. The next one begins its snapshot anew, and may omit players that this one named. */
  streamBroke(): void;
  /** Notes that the stream ended for good; it kept the table current until `at`. */
  orphan(at: number): void;
  /** Called with the newest event id after each piece; reading continues once it resolves, and ends if it rejects. */
  settle?(lastEventId: string): Promise<void>;
}
