/** Declares the change feed as its readers see it: rows, positions, and the listener. */

import type { Verdict } from '../core/vocabulary.js';

/** One published player: its row of a frame as JSON (`toldPlayerSchema` of the contract), or null if it was erased. */
export interface ChangeRow {
  /** Hex. */
  readonly subject: string;
  readonly text: string | null;
  /**
   * Numbers of the peers whose events were removed with an erased player; for a player that has not changed but is
   * disputed, or whose erasure was refused, those of the peers that receive the row.
   */
  readonly peers?: readonly number[];
  /** Set if the row is sent to `peers` only. */
  readonly quiet?: true;
  /** The verdict that this row replaces, if it was another. */
  readonly was?: Verdict;
}

/** Record up to which, and time (ms since 1970) up to which, everything is published. */
export interface ChangesUpTo {
  readonly seq: number;
  readonly asOf: number;
}

export interface ChangePiece {
  /** Number of pieces with rows so far; the position of this one. */
  readonly position: number;
  /** Erased players first. */
  readonly rows: readonly ChangeRow[];
  /** Null before everything was published once. */
  readonly upTo: ChangesUpTo | null;
  /** True if further rows can be published at once, and true if erased players are among them. */
  readonly more: boolean;
  readonly moreErased: boolean;
}

/** A part of the rows published after a position, in the order of rows. */
export interface ChangeWalk {
  /** Position of the table when it was read. */
  readonly position: number;
  readonly count: number;
  /** Rows as JSON, joined by commas. */
  readonly text: string;
  /** The row to continue from; null at the end. */
  readonly next: number | null;
}

/**
 * A position in the published rows: positions count within a generation, which ends with the node and with the replica.
 */
export interface FeedPosition extends ChangesUpTo {
  readonly generation: string;
  readonly position: number;
  /** Identifies the log that several nodes share, so that a reader can continue at another; absent on a single node. */
  readonly logTag?: string;
}

/** The start of a piece: a position of this node, or the record and time up to which another node has published. */
export type ResumeFrom = number | ChangesUpTo;

export interface FeedListener {
  /**
   * Receives published rows in order; `mark` is null if not everything was published once yet. The next piece is read
   * once the promise resolves, except that erasures do not wait.
   */
  publish(rows: readonly ChangeRow[], mark: FeedPosition | null): Promise<void>;
  /** The published state was lost: no reader can continue from its position. */
  forgotten(): void;
}

/** The change feed: every change of a verdict, in order, as it becomes durable. */
export interface VerdictChanges {
  /** The newest position; null before everything was published once. */
  readonly mark: FeedPosition | null;
  /** Position at which an erased player was last published: data read before may name an erased player. */
  readonly erasedAt: number;
  /** Calls a listener from now on, until the returned function is called. */
  listen(listener: FeedListener): () => void;
  /** Rows as JSON that were published after a position; null if memory does not reach back that far. */
  recent(position: number): string[] | null;
  /**
   * Resolves with a piece of the rows published after `since`, from row `from` on; with null if the generation is over
   * or the pool failed; with `forgotten` if the rows that a reader of another node lacks are not known. A piece may be
   * older than rows published meanwhile, which its position shows.
   */
  walk(generation: string, from: number, since: ResumeFrom): Promise<ChangeWalk | 'forgotten' | null>;
}
