/** What a reader of the verdict stream writes to: the cache of a client, or whatever else follows all verdicts. */
import type { TrustValues } from '../player-trust.js';

export interface StreamTable {
  /** Players held. */
  readonly size: number;
  /** True while every player of the group is held. */
  readonly complete: boolean;
  readonly inSnapshot: boolean;
  /** How long an answer passes for current, in ms: as long as the stream may be silent. */
  answerMs: number;
  /** The stream publishes values of a player, true at `at` by the `AgeClock`. */
  setPublished(key: string, values: TrustValues, at: number): void;
  /** The stream says that the player is gone. */
  removePublished(key: string): void;
  snapshotBegins(): void;
  /** What the snapshot did not name has no events. */
  snapshotEnds(): void;
  /** A connection is over. The next one begins its snapshot anew. */
  streamBroke(): void;
  /** The stream is over for good; it kept the table current until `at`. */
  orphan(at: number): void;
  /**
   * Called with the newest id after each piece of the stream; what follows is read once the promise resolves. A rejection
   * ends the connection.
   */
  settle?(lastEventId: string): Promise<void>;
}
