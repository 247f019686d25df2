/**
 * Holds the players that the client remembers, up to a bound: answers of calls, and values published by the stream. If
 * there is no room, expired answers are dropped first, then published rows that were never read, then the least
 * recently read rows.
 */
import type { TrustValues } from '../player-trust.js';
import type { StreamTable } from './stream-frames.js';

/** Values, and the time at which they were true, by the `AgeClock`. */
export interface Held {
  readonly values: TrustValues;
  readonly at: number;
}

/**
 * The values held of a player. Published values are current as long as the stream is, because the stream reports every
 * change from them. An answer was true only when it arrived: the stream measures changes from its own last report, so
 * that a player may move away from an answer, or back to the published values, without a report. Therefore an answer
 * never replaces published values.
 */
export interface Row {
  readonly published: Held | null;
  /** The newest answer since the last report. */
  readonly answer: Held | null;
}

interface TableRow extends Row {
  /** Number of the snapshot during or after which the row was written. */
  readonly generation: number;
  /** The read counter when the row was last moved to the end; 0 if it was never read. */
  readAt: number;
}

/** Tells whether the stream reported a player during calls about it. Concurrent calls share one token. */
export interface ReadToken {
  readonly key: string;
  /** Number of the snapshot during or after which the first of these calls was sent. */
  readonly generation: number;
  calls: number;
}

/** A row counts as near the end of the order if it was moved within the last (rows / `nearPart`) reads. */
const nearPart = 8;

export class TrustTable implements StreamTable {
  /** Rows that were published and read. Insertion order follows the last reads, within the tolerance of `nearPart`. */
  readonly #read = new Map<string, TableRow>();
  /** Rows that were published and never read, oldest first. */
  readonly #published = new Map<string, TableRow>();
  /** Rows with an answer only, oldest answer first. */
  readonly #answered = new Map<string, TableRow>();
  readonly #reading = new Map<string, ReadToken>();
  #reads = 0;
  /** 0 without a stream. */
  answerMs = 0;
  #generation = 0;
  inSnapshot = false;
  complete = false;
  /** True if a player found no room since the snapshot began. */
  #overflowed = false;

  constructor(private readonly rowsMax: number) {}

  get size(): number {
    return this.#read.size + this.#published.size + this.#answered.size;
  }

  /** Returns the row of a key and counts the call as a read. */
  get(key: string): Row | undefined {
    this.#reads++;
    const row = this.#read.get(key) ?? this.#published.get(key);
    if (row === undefined) return this.#answered.get(key);
    // Moving a row costs as much as ten lookups; a row near the end of the order stays where it is.
    if (row.readAt > 0 && this.#reads - row.readAt < this.rowsMax / nearPart) return row;
    row.readAt = this.#reads;
    this.#published.delete(key);
    this.#read.delete(key);
    this.#read.set(key, row);
    return row;
  }

  /** Must be called before a call is sent, so that its answer does not overwrite what the stream reports meanwhile. */
  reading(key: string): ReadToken {
    const token = this.#reading.get(key) ?? { key, generation: this.#generation, calls: 0 };
    token.calls++;
    this.#reading.set(key, token);
    return token;
  }

  /**
   * Stores the answer of a call. Ignored if the stream reported the player since `reading` or began a snapshot, since a
   * snapshot does not name players that were erased meanwhile.
   */
  answered(token: ReadToken, values: TrustValues, at: number): void {
    const { key, generation } = token;
    if (this.#reading.get(key) !== token || generation < this.#generation) return;
    const before = this.#read.get(key) ?? this.#published.get(key);
    // Published values from before the present snapshot are dropped: the snapshot repeats them, or removes the player.
    const published = before?.generation === generation ? before.published : null;
    this.#remove(key);
    this.#makeRoom(at);
    const row = { published, answer: { values, at }, generation, readAt: ++this.#reads };
    (published === null ? this.#answered : this.#read).set(key, row);
  }

  /**
   * Notes that an erasure was answered. Ignored if the stream reported the player since `reading`: the report includes
   * the erasure, or the stream will report the erasure later.
   */
  erased(token: ReadToken): void {
    if (this.#reading.get(token.key) === token) this.removePublished(token.key);
  }

  /** Notes that the call of these tokens ended, whether it succeeded or not. */
  done(tokens: Iterable<ReadToken>): void {
    for (const token of tokens) {
      token.calls--;
      if (token.calls === 0 && this.#reading.get(token.key) === token) this.#reading.delete(token.key);
    }
  }

  setPublished(key: string, values: TrustValues, at: number): void {
    this.#reading.delete(key);
    const before = this.#read.get(key) ?? this.#answered.get(key);
    const row = { published: { values, at }, answer: null, generation: this.#generation, readAt: before?.readAt ?? 0 };
    this.#answered.delete(key);
    if (before !== undefined) this.#read.set(key, row);
    else if (this.#published.delete(key) || this.size < this.rowsMax) this.#published.set(key, row);
    else this.#overflow(key, row, at);
  }

  removePublished(key: string): void {
    this.#reading.delete(key);
    this.#remove(key);
  }

  snapshotBegins(): void {
    this.inSnapshot = true;
    this.complete = false;
    this.#generation++;
    this.#overflowed = false;
  }

  snapshotEnds(): void {
    this.inSnapshot = false;
    for (const rows of [this.#read, this.#published, this.#answered]) {
      for (const [key, { generation }] of rows) if (generation < this.#generation) rows.delete(key);
    }
    this.complete = !this.#overflowed;
  }

  streamBroke(): void {
    this.inSnapshot = false;
  }

  orphan(at: number): void {
    this.answerMs = 0;
    this.complete = false;
    for (const rows of [this.#read, this.#published]) {
      for (const [key, { published, ...row }] of rows) {
        if (published !== null && published.at < at) rows.set(key, { ...row, published: { ...published, at } });
      }
    }
  }

  /** Replaces the oldest published row that was never read by the newest published one, never one that was read. */
  #overflow(key: string, row: TableRow, at: number): void {
    if (this.#forgetAnswer(at)) {
      this.#published.set(key, row);
      return;
    }
    const oldest = this.#published.entries().next();
    // A row from before the present snapshot does not count as missing: the snapshot names an existing player.
    if (oldest.done || oldest.value[1].generation === this.#generation) this.#incomplete();
    if (oldest.done) return;
    this.#published.delete(oldest.value[0]);
    this.#published.set(key, row);
  }

  #makeRoom(at: number): void {
    if (this.size < this.rowsMax || this.#forgetAnswer(at)) return;
    const [published] = this.#published.size > 0 ? this.#published : this.#read;
    if (published !== undefined) this.#incomplete();
    const victim = published?.[0] ?? this.#answered.keys().next().value;
    if (victim !== undefined) this.#remove(victim);
  }

  /** Drops the oldest answer if it has expired; returns whether it did. */
  #forgetAnswer(at: number): boolean {
    const [oldest] = this.#answered;
    if (oldest === undefined) return false;
    const [key, { answer, generation }] = oldest;
    const isOver = generation < this.#generation || (answer !== null && answer.at < at - this.answerMs);
    return isOver && this.#answered.delete(key);
  }

  #incomplete(): void {
    this.complete = false;
    this.#overflowed = true;
  }

  #remove(key: string): void {
    this.#read.delete(key);
    this.#published.delete(key);
    this.#answered.delete(key);
  }
}
