/** The change feed as its readers see it: rows, positions, and what a listener is told. */

/**
 * One player as it is told: its row of a frame as JSON (`toldPlayerSchema` of the contract), or null where it was
 * erased.
 */
export interface ChangeRow {
  /** Hex. */
  readonly subject: string;
  readonly text: string | null;
  /**
   * Numbers of the peers whose events went with an erased player; of a player that is disputed and has not moved, those
   * of the peers that are told.
   */
  readonly peers?: readonly number[];
  /** Nobody but these peers is told. */
  readonly quiet?: true;
}

/** Up to which record, and up to when (ms since 1970), all has been told. */
export interface ChangesUpTo {
  readonly seq: number;
  readonly asOf: number;
}

/** The next of what there is to tell. */
export interface ChangePiece {
  /** Counts the pieces that told anything; what this one tells, it tells at this position. */
  readonly position: number;
  /** Erased players first. */
  readonly rows: readonly ChangeRow[];
  /** Null before everything was told once. */
  readonly upTo: ChangesUpTo | null;
  /** Whether there is more to tell at once, and whether erased players are among it. */
  readonly more: boolean;
  readonly moreErased: boolean;
}

/** A part of what was told after a position, in the order of rows. */
export interface ChangeWalk {
  /** Of the table when it was read. */
  readonly position: number;
  readonly count: number;
  /** Rows as JSON, joined by commas. */
  readonly text: string;
  /** The row to go on at; null at the end. */
  readonly next: number | null;
}

/** A place in what was told: positions count within a generation, which ends with the node and with the replica. */
export interface FeedPosition extends ChangesUpTo {
  readonly generation: string;
  readonly position: number;
  /** Names the log that several nodes share, so that a reader may go on at another one; absent: a node alone. */
  readonly logTag?: string;
}

/** What a piece goes on from: a position of this node's, or what another node has told. */
export type ResumeFrom = number | ChangesUpTo;

export interface FeedListener {
  /**
   * Something was told, in order; `mark` null: not everything was told once yet. The next is looked for once this
   * resolves, but for erasures, which wait for nobody.
   */
  publish(rows: readonly ChangeRow[], mark: FeedPosition | null): Promise<void>;
  /** What was told is not known any more: nobody can go on from where it is. */
  forgotten(): void;
}

/** The change feed: every change of a verdict, in order, as it becomes durable. */
export interface VerdictChanges {
  /** The newest position; null before everything was told once. */
  readonly mark: FeedPosition | null;
  /** The position at which an erased player was told last: what was read before it may name one. */
  readonly erasedAt: number;
  /** Tells a listener from now on, until the result is called. */
  listen(listener: FeedListener): () => void;
  /** Rows as JSON that were told after a position; null where memory does not reach back as far. */
  recent(position: number): string[] | null;
  /**
   * A piece of what was told after `since`, from row `from` on; null where the generation is over or the pool failed,
   * `forgotten` where it is not known what another node's reader lacks. A piece may be older than what was told
   * meanwhile: its position says so.
   */
  walk(generation: string, from: number, since: ResumeFrom): Promise<ChangeWalk | 'forgotten' | null>;
}
