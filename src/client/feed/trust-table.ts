/**
 * What the client remembers of players, bounded: answers to calls, and what the stream tells. Answers that are current
 * no longer go first, then rows that were only told, then the least recently read.
 */
import type { TrustValues } from '../player-trust.js';

/** Values, and when they were true, by the `AgeClock`. */
export interface Held {
  readonly values: TrustValues;
  readonly at: number;
}

/**
 * What is held of a player. What the stream told is current for as long as the stream is: it tells each step away from
 * it. An answer was true when it came, and no longer: the stream measures from what it told itself, so a player may
 * move on from an answer, or back from its verdict, without a word. So an answer never takes the place of what was
 * told.
 */
export interface Row {
  readonly published: Held | null;
  /** The last that came since. */
  readonly answer: Held | null;
}

/** A time that the rows of one frame share: as a member of its own, it would take 16 bytes in each. */
interface SharedTime {
  readonly at: number;
}

/** A row as it is held: there may be 100,000, so that what the stream said is one small number wherever it fits. */
class TableRow implements Row {
  /** Packed or as it came; null where the stream said nothing. */
  readonly publishedValues: number | TrustValues | null;
  readonly publishedAt: SharedTime | null;
  readonly answer: Held | null;
  /** The snapshot during or after which it came. */
  readonly generation: number;
  /** Reads counted when it was last moved to the end of the line. */
  readAt: number;

  constructor(
    publishedValues: number | TrustValues | null,
    publishedAt: SharedTime | null,
    answer: Held | null,
    generation: number,
    readAt: number,
  ) {
    this.publishedValues = publishedValues;
    this.publishedAt = publishedAt;
    this.answer = answer;
    this.generation = generation;
    this.readAt = readAt;
  }

  get published(): Held | null {
    const { publishedValues, publishedAt } = this;
    if (publishedValues === null || publishedAt === null) return null;
    return {
      values: typeof publishedValues === 'number' ? unpacked(publishedValues) : publishedValues,
      at: publishedAt.at,
    };
  }
}

const verdicts: readonly TrustValues['verdict'][] = ['trusted', 'neutral', 'suspicious', 'untrusted'];
/** A score has at most two decimals and a confidence at most four, so that either is one of so many. */
const steps = 10_001;

/** Values as one number below 2^29; as they are where they have more decimals than the contract allows. */
function packed(values: TrustValues): number | TrustValues {
  const { score, confidence, verdict, known } = values;
  const [scoreStep, confidenceStep] = [Math.round(score * 100), Math.round(confidence * 10_000)];
  const isExact = scoreStep / 100 === score && confidenceStep / 10_000 === confidence && known;
  const isWithin = scoreStep >= 0 && scoreStep < steps && confidenceStep >= 0 && confidenceStep < steps;
  if (!isExact || !isWithin) return values;
  return (scoreStep * steps + confidenceStep) * verdicts.length + verdicts.indexOf(verdict);
}

function unpacked(number: number): TrustValues {
  const verdict = verdicts[number % verdicts.length]!;
  const both = Math.floor(number / verdicts.length);
  return { score: Math.floor(both / steps) / 100, confidence: (both % steps) / 10_000, verdict, known: true };
}

/** Says whether the stream told something newer while calls about a player were under way; these share it. */
export interface ReadToken {
  readonly key: string;
  /** The snapshot during or after which the first of them left. */
  readonly generation: number;
  calls: number;
}

/**
 * A row that was moved within the last reads, as many as this part of the table has rows, is near the end of the line.
 */
const nearPart = 8;

export class TrustTable {
  readonly #rowsMax: number;
  /** Told and read. Insertion order is the order of the last reads, to within a part of the table. */
  readonly #read = new Map<string, TableRow>();
  /** Told and never read, oldest first. */
  readonly #published = new Map<string, TableRow>();
  /** Not told, oldest answer first. */
  readonly #answered = new Map<string, TableRow>();
  readonly #reading = new Map<string, ReadToken>();
  #reads = 0;
  /** How long an answer passes for current, in ms: as long as the stream may be silent, and without one not at all. */
  answerMs = 0;
  #generation = 0;
  #frameTime: SharedTime = { at: 0 };
  #inSnapshot = false;
  #complete = false;
  /** Whether a player found no room since the snapshot began. */
  #overflowed = false;

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax;
  }

  get size(): number {
    return this.#read.size + this.#published.size + this.#answered.size;
  }

  /** True while the table holds every player of the group: who is not in it has no events. */
  get complete(): boolean {
    return this.#complete;
  }

  /** The row of a key, which counts as a read. */
  get(key: string): Row | undefined {
    this.#reads++;
    const row = this.#read.get(key) ?? this.#published.get(key);
    if (row === undefined) return this.#answered.get(key);
    // Moving a row costs ten look-ups: one that is near the end of the line already stays where it is.
    if (row.readAt > 0 && this.#reads - row.readAt < this.#rowsMax / nearPart) return row;
    row.readAt = this.#reads;
    this.#published.delete(key);
    this.#read.delete(key);
    this.#read.set(key, row);
    return row;
  }

  /** To be called before a call leaves, so that its answer does not overwrite what the stream tells meanwhile. */
  reading(key: string): ReadToken {
    const token = this.#reading.get(key) ?? { key, generation: this.#generation, calls: 0 };
    token.calls++;
    this.#reading.set(key, token);
    return token;
  }

  /**
   * The answer to a call. Ignored where the stream told something since `reading`, or began a snapshot: that names
   * nobody who was erased in between.
   */
  answered(token: ReadToken, values: TrustValues, at: number): void {
    const { key, generation } = token;
    if (this.#reading.get(key) !== token || generation < this.#generation) return;
    const before = this.#read.get(key) ?? this.#published.get(key);
    // What a snapshot that has begun since did not tell yet, it tells anew or drops.
    const published = before?.generation === generation ? before : null;
    this.#remove(key);
    this.#makeRoom(at);
    const { publishedValues = null, publishedAt = null } = published ?? {};
    const row = new TableRow(publishedValues, publishedAt, { values, at }, generation, ++this.#reads);
    (publishedValues === null ? this.#answered : this.#read).set(key, row);
  }

  /**
   * An erasure is answered. Ignored where the stream told something since `reading`: that is the erasure itself and
   * what came after it, or it will tell them yet.
   */
  erased(token: ReadToken): void {
    if (this.#reading.get(token.key) === token) this.removePublished(token.key);
  }

  /** The call of these tokens is over, whatever came of it. */
  done(tokens: Iterable<ReadToken>): void {
    for (const token of tokens) {
      token.calls--;
      if (token.calls === 0 && this.#reading.get(token.key) === token) this.#reading.delete(token.key);
    }
  }

  /** A value that the stream tells. */
  setPublished(key: string, values: TrustValues, at: number): void {
    this.#reading.delete(key);
    const before = this.#read.get(key) ?? this.#answered.get(key);
    if (this.#frameTime.at !== at) this.#frameTime = { at };
    const row = new TableRow(packed(values), this.#frameTime, null, this.#generation, before?.readAt ?? 0);
    this.#answered.delete(key);
    if (before !== undefined) this.#read.set(key, row);
    else if (this.#published.delete(key) || this.size < this.#rowsMax) this.#published.set(key, row);
    else this.#overflow(key, row, at);
  }

  /** The stream says that the player is gone. */
  removePublished(key: string): void {
    this.#reading.delete(key);
    this.#remove(key);
  }

  get inSnapshot(): boolean {
    return this.#inSnapshot;
  }

  snapshotBegins(): void {
    this.#inSnapshot = true;
    this.#complete = false;
    this.#generation++;
    this.#overflowed = false;
  }

  /** Drops what the snapshot did not name. */
  snapshotEnds(): void {
    this.#inSnapshot = false;
    for (const rows of [this.#read, this.#published, this.#answered]) {
      for (const [key, { generation }] of rows) if (generation < this.#generation) rows.delete(key);
    }
    this.#complete = !this.#overflowed;
  }

  /** A connection is over. The next one begins its snapshot anew: it need not name whom this one named. */
  streamBroke(): void {
    this.#inSnapshot = false;
  }

  /** The stream is over for good; it kept what it told current until `at`. */
  orphan(at: number): void {
    this.answerMs = 0;
    this.#complete = false;
    const time: SharedTime = { at };
    for (const rows of [this.#read, this.#published]) {
      for (const [key, { publishedValues, publishedAt, answer, generation, readAt }] of rows) {
        if (publishedAt === null || publishedAt.at >= at) continue;
        rows.set(key, new TableRow(publishedValues, time, answer, generation, readAt));
      }
    }
  }

  /**
   * More players than rows: the newest told one takes the place of the one told longest ago, never that of one that was
   * read.
   */
  #overflow(key: string, row: TableRow, at: number): void {
    if (this.#forgetAnswer(at)) {
      this.#published.set(key, row);
      return;
    }
    const oldest = this.#published.entries().next();
    // A row from before the running snapshot is not missed: where it still exists the snapshot names it.
    if (oldest.done || oldest.value[1].generation === this.#generation) this.#incomplete();
    if (oldest.done) return;
    this.#published.delete(oldest.value[0]);
    this.#published.set(key, row);
  }

  #makeRoom(at: number): void {
    if (this.size < this.#rowsMax || this.#forgetAnswer(at)) return;
    const [published] = this.#published.size > 0 ? this.#published : this.#read;
    if (published !== undefined) this.#incomplete();
    const victim = published?.[0] ?? this.#answered.keys().next().value;
    if (victim !== undefined) this.#remove(victim);
  }

  /** Drops the oldest answer where it passes for current no longer, and says whether it did. */
  #forgetAnswer(at: number): boolean {
    const [oldest] = this.#answered;
    if (oldest === undefined) return false;
    const [key, { answer, generation }] = oldest;
    const isOver = generation < this.#generation || (answer !== null && answer.at < at - this.answerMs);
    return isOver && this.#answered.delete(key);
  }

  #incomplete(): void {
    this.#complete = false;
    this.#overflowed = true;
  }

  #remove(key: string): void {
    this.#read.delete(key);
    this.#published.delete(key);
    this.#answered.delete(key);
  }
}
