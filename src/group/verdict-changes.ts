/** Declares the change feed as its readers see it: players, rows, positions, and the listener. */
import { CONFIDENCE_UNIT, SCORE_UNIT } from '../core/scoring/score.js';
import { type Verdict, verdicts } from '../core/vocabulary.js';

/** Rounded as in a score read. */
export interface PublishedPlayer {
  /** Hex. */
  readonly subject: string;
  readonly score: number;
  readonly confidence: number;
  readonly verdict: Verdict;
  readonly allowed: boolean;
}

/** Values as the change table stores them. */
export interface PublishedValues {
  /** In hundredths. */
  readonly score: number;
  /** In ten-thousandths. */
  readonly confidence: number;
  /** The number of the verdict, with `ALLOWED` added for a player on the allow list. */
  readonly verdict: number;
}

export const ALLOWED = 0x80;

/** Players in columns: as objects they would take the node's thread much longer to receive from the replica. */
export interface PublishedPlayers {
  /** Hashes in hex, one behind the other. */
  readonly subjects: string;
  readonly scores: Uint16Array;
  readonly confidences: Uint16Array;
  readonly verdicts: Uint8Array;
}

export function playerOf(subject: string, { score, confidence, verdict }: PublishedValues): PublishedPlayer {
  return {
    subject,
    score: score / SCORE_UNIT,
    confidence: confidence / CONFIDENCE_UNIT,
    verdict: verdicts[verdict & ~ALLOWED]!,
    allowed: (verdict & ALLOWED) !== 0,
  };
}

export function playersIn({ subjects, scores, confidences, verdicts }: PublishedPlayers): PublishedPlayer[] {
  const digits = subjects.length / scores.length;
  return Array.from(scores, (score, i) => {
    const values = { score, confidence: confidences[i]!, verdict: verdicts[i]! };
    return playerOf(subjects.slice(i * digits, (i + 1) * digits), values);
  });
}

export interface ChangeRow {
  readonly subject: string;
  readonly player: PublishedPlayer | null;
  /** Peers whose events were removed with an erased player, or that must see a new mark on an unchanged one. */
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
  /** Number of pieces with rows so far. */
  readonly position: number;
  /** Erased players first. */
  readonly rows: readonly ChangeRow[];
  /** Null before everything was published once. */
  readonly upTo: ChangesUpTo | null;
  /** True if further rows can be published at once, and true if erased players are among them. */
  readonly more: boolean;
  readonly moreErased: boolean;
}

/** In the order of rows. */
export interface ChangeWalk {
  /** Position of the table when it was read. */
  readonly position: number;
  readonly players: PublishedPlayers;
  /** Null at the end. */
  readonly next: number | null;
}

export type Walked = ChangeWalk | 'forgotten' | null;

/** Positions count within a generation, which ends with the node and with the replica. */
export interface FeedPosition extends ChangesUpTo {
  readonly generation: string;
  readonly position: number;
  /** So that a reader can continue at another node; absent on a single node. */
  readonly logTag?: string;
}

/** The start of a piece: a position of this node, or the record and time up to which another node has published. */
export type ResumeFrom = number | ChangesUpTo;

export interface FeedListener {
  /** `mark`: null before all was published once. The next piece, but no erasure, waits until the promise resolves. */
  publish(rows: readonly ChangeRow[], mark: FeedPosition | null): Promise<void>;
  /** The published state was lost: no reader can continue from its position. */
  forgotten(): void;
}

export interface VerdictChanges {
  /** Null before everything was published once. */
  readonly mark: FeedPosition | null;
  /** Position at which an erased player was last published: data read before may name an erased player. */
  readonly erasedAt: number;
  listen(listener: FeedListener): () => void;
  /** Null if memory does not reach back that far. */
  recent(position: number): PublishedPlayer[] | null;
  /**
   * Resolves with null if the generation is over or the pool failed; with `forgotten` if the rows that a reader of
   * another node lacks are not known. A piece may be older than rows published meanwhile, which its position shows.
   * `isWanted`: false once the reader has left; otherwise readers that come and go would fill the queue.
   */
  walk(generation: string, from: number, since: ResumeFrom, isWanted?: () => boolean): Promise<Walked>;
}
