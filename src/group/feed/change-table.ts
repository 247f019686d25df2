/**
 * Stores the last published values of each player, in columns by the row of a state, and finds the changes since.
 * Values are published instead of events, so a player that changed twice is published once.
 */
import { KEY_WORDS } from '../../core/columns/packed-keys.js';
import type { AsOf } from '../../core/evidence/decay.js';
import { subjectBytes, subjectHex } from '../../core/hashing/pseudonym.js';
import type { LogRecord } from '../../core/records/records.js';
import { holdersOf } from '../../core/rules/decide-dispute.js';
import { readTrust, wholeConfidence, wholeScore } from '../../core/scoring/score.js';
import type { GroupState } from '../../core/state.js';
import type { EventColumns } from '../../core/tables/event-columns.js';
import { verdictNumbers, verdicts } from '../../core/vocabulary.js';
import {
  ALLOWED,
  type ChangePiece,
  type ChangeRow,
  type ChangesUpTo,
  type ChangeWalk,
  type PublishedValues,
  playerOf,
} from '../verdict-changes.js';

/** Minimum changes that are published: hundredths of a score, ten-thousandths of a confidence. */
export interface ChangeSteps {
  readonly score: number;
  readonly confidence: number;
  /**
   * Publishes a row that leaves its step: all nodes then publish the same rows whenever they began. Absent: a row is
   * published once it has moved by a step, which is less often.
   */
  readonly fixed?: true;
}

/** The rows of the state that records after a certain one may have changed; `all` if any row may have changed. */
export type TouchedRows = ReadonlySet<number> | 'all';

/** Bounds of one call; `touchedMax`: changed rows that are tracked one by one. */
export interface ChangeBounds {
  readonly rowsMax: number;
  readonly lookedAtMax: number;
  readonly touchedMax: number;
}

function rowOf(subject: string | null, state: GroupState): number | null {
  return subject === null ? null : state.subjects.find(subjectBytes(subject));
}

/**
 * Returns the row whose values a record may change, below 0 if the state no longer has the player; `all` if any may.
 */
export function reachOf(record: LogRecord, state: GroupState): number | 'all' | 'erased' | null {
  switch (record.type) {
    case 'event_accepted':
      return state.subjects.find(record.subject);
    case 'event_withdrawn':
    case 'evidence_taken_back':
    case 'player_allowed':
    case 'player_allowance_ended':
    case 'dispute_opened':
    case 'erasure_refused':
      return rowOf(record.subject, state);
    case 'dispute_decided':
      return rowOf(state.disputes.byId(record.dispute_id)?.subject ?? null, state);
    case 'weights_published':
    case 'scoring_changed':
    case 'pre_trust_set':
    case 'peer_status_changed':
    case 'half_life_changed':
    case 'ban_half_life_changed':
      return 'all';
    case 'subject_erased':
      return 'erased';
    default:
      return null;
  }
}

export class ChangeTable {
  /** Columns by row: values in hundredths and ten-thousandths; the position of publication, 0 for never. */
  #score = new Uint16Array(0);
  #confidence = new Uint16Array(0);
  #verdict = new Uint8Array(0);
  #publishedAt = new Uint32Array(0);
  #position = 0;
  readonly #touched = new Set<number>();
  readonly #disputed = new Set<number>();
  readonly #refused = new Set<number>();
  #erased: ChangeRow[] = [];
  /** A sweep over all rows, due when weights, peers or the time changed, or too many rows did. */
  #sweep: (ChangesUpTo & { next: number; readonly end: number }) | null = null;
  #sweepDue = true;
  /** Changed rows that remain to be read until all changes known at its beginning are published. */
  #pass: (ChangesUpTo & { left: number }) | null = null;
  #asOfAt = Number.NaN;
  #upTo: ChangesUpTo | null = null;

  constructor(
    private readonly state: GroupState,
    private readonly steps: ChangeSteps,
    private readonly bounds: ChangeBounds,
  ) {}

  /** Call before the state applies the record, because an erased player is known only until then. */
  before(record: LogRecord): void {
    if (record.type !== 'subject_erased' || record.subject === null) return;
    const row = this.state.subjects.find(subjectBytes(record.subject));
    if (row < 0) return;
    this.#touched.delete(row);
    this.#disputed.delete(row);
    this.#refused.delete(row);
    if (!this.#isPublished(row)) return;
    this.#publishedAt[row] = 0;
    this.#erased.push({ subject: record.subject, player: null, peers: this.#reportersOf(row) });
  }

  /** Call after the state has applied the record. */
  after(record: LogRecord): void {
    const reach = reachOf(record, this.state);
    if (reach === 'all') this.#sweepDue = true;
    if (typeof reach !== 'number' || reach < 0) return;
    if (record.type === 'dispute_opened' || record.type === 'dispute_decided') this.#disputed.add(reach);
    if (record.type === 'erasure_refused') this.#refused.add(reach);
    this.#touch(reach);
  }

  afterEvents({ keys, count }: EventColumns): void {
    for (let i = 0; i < count; i++) this.#touch(this.state.subjects.findFrom(keys, i * KEY_WORDS));
  }

  /**
   * Publishes the next piece, once all players were read for the first time; until then a walk sends them. Values are
   * as reads see them at `asOf`, in a state that contains everything up to `upToAt` (ms since 1970).
   */
  next(asOf: AsOf, upToAt: number): ChangePiece {
    if (asOf.at !== this.#asOfAt) {
      this.#asOfAt = asOf.at;
      this.#sweepDue = true;
    }
    const rows: ChangeRow[] = this.#erased.splice(0, this.bounds.rowsMax);
    const position = this.#position + 1;
    const isBegun = this.#upTo !== null;
    this.#lookAtTouched(asOf, upToAt, position, rows);
    const isSwept = this.#sweepOn(asOf, upToAt, position, rows);
    const moreErased = this.#erased.length > 0;
    const more = !isSwept || moreErased || this.#touched.size > 0;
    if (!more) this.#reached({ seq: this.state.lastSeq, asOf: upToAt });
    if (rows.length > 0 || (!isBegun && this.#upTo !== null)) this.#position = position;
    return { position: this.#position, rows, upTo: this.#upTo, more, moreErased };
  }

  /** Publishes only erased players, which never wait for other changes. */
  nextErased(): ChangePiece {
    const rows = this.#erased.splice(0, this.bounds.rowsMax);
    if (rows.length > 0) this.#position++;
    return { position: this.#position, rows, upTo: this.#upTo, more: true, moreErased: this.#erased.length > 0 };
  }

  walk(from: number, since: number): ChangeWalk {
    return this.#walk(from, (row) => this.#publishedAt[row]! > since);
  }

  /** Rows that a reader lacks who got those of `asOf` elsewhere. `touched`: changed since. The steps must be fixed. */
  walkElsewhere(from: number, touched: TouchedRows, asOf: AsOf): ChangeWalk {
    return this.#walk(from, (row) => {
      if (!this.#isPublished(row) || !this.state.subjects.has(row)) return false;
      return touched === 'all' || touched.has(row) || !this.#isNear(row, this.#read(row, asOf));
    });
  }

  #walk(from: number, isLacking: (row: number) => boolean): ChangeWalk {
    const { rowsMax, lookedAtMax } = this.bounds;
    const end = Math.min(this.state.subjects.rows, this.#publishedAt.length, from + lookedAtMax);
    const rows: number[] = [];
    let row = from;
    for (; row < end && rows.length < rowsMax; row++) if (isLacking(row)) rows.push(row);
    const isAtEnd = row >= this.state.subjects.rows || row >= this.#publishedAt.length;
    const players = {
      subjects: rows.map((one) => this.#subjectOf(one)).join(''),
      scores: Uint16Array.from(rows, (one) => this.#score[one]!),
      confidences: Uint16Array.from(rows, (one) => this.#confidence[one]!),
      verdicts: Uint8Array.from(rows, (one) => this.#verdict[one]!),
    };
    return { position: this.#position, players, next: isAtEnd ? null : row };
  }

  #reportersOf(row: number): number[] {
    return holdersOf(this.state, this.#subjectOf(row)).map(({ peer }) => peer);
  }

  #subjectOf(row: number): string {
    return subjectHex(this.state.subjects.keyOf(row));
  }

  /** `row` below 0: there is no such player. */
  #touch(row: number): void {
    if (row < 0) return;
    if (this.#touched.size >= this.bounds.touchedMax) this.#sweepDue = true;
    else this.#touched.add(row);
  }

  /** In the order of their change. A pending sweep gets half of the piece, however many changed rows there are. */
  #lookAtTouched(asOf: AsOf, upToAt: number, position: number, rows: ChangeRow[]): void {
    const isSweeping = this.#sweep !== null || this.#sweepDue;
    const rowsMax = isSweeping ? Math.ceil(this.bounds.rowsMax / 2) : this.bounds.rowsMax;
    if (!isSweeping) this.#pass ??= { seq: this.state.lastSeq, asOf: upToAt, left: this.#touched.size };
    for (const row of this.#touched) {
      if (rows.length >= rowsMax) break;
      this.#touched.delete(row);
      if (this.#pass !== null) this.#pass.left--;
      this.#look(row, asOf, position, rows);
    }
    if (this.#pass === null || this.#pass.left > 0) return;
    this.#reached(this.#pass);
    this.#pass = null;
  }

  /** Marks everything up to the given record and time as published, unless erased players wait. */
  #reached({ seq, asOf: upToAt }: ChangesUpTo): void {
    if (this.#erased.length > 0 || seq < (this.#upTo?.seq ?? 0)) return;
    this.#upTo = { seq, asOf: upToAt };
  }

  /** Returns true if no rows are left to read. */
  #sweepOn(asOf: AsOf, upToAt: number, position: number, rows: ChangeRow[]): boolean {
    const { subjects, lastSeq } = this.state;
    if (this.#sweep === null) {
      if (!this.#sweepDue) return true;
      this.#sweepDue = false;
      this.#sweep = { next: 0, end: subjects.rows, seq: lastSeq, asOf: upToAt };
      // This sweep includes rows that were too many to track.
      this.#pass = null;
    }
    const sweep = this.#sweep;
    const end = Math.min(sweep.end, sweep.next + this.bounds.lookedAtMax);
    while (sweep.next < end && rows.length < this.bounds.rowsMax) this.#look(sweep.next++, asOf, position, rows);
    if (sweep.next < sweep.end) return false;
    // Every row was read since the sweep began, so everything known then is published, whatever came later.
    this.#reached(sweep);
    this.#sweep = null;
    return !this.#sweepDue;
  }

  #look(row: number, asOf: AsOf, position: number, rows: ChangeRow[]): void {
    const { subjects } = this.state;
    if (!subjects.has(row)) return;
    const read = this.#read(row, asOf);
    const { score, confidence, verdict } = read;
    const concerned = this.#disputed.delete(row) ? this.#reportersOf(row) : [];
    if (this.#refused.delete(row)) {
      concerned.push(...this.state.erasureRequests.of(this.#subjectOf(row)).refused.flatMap(({ peers }) => peers));
    }
    if (this.#isPublished(row) && this.#isNear(row, read)) {
      // The row has not moved: only the peers that see a new mark on it get it again.
      if (concerned.length > 0 && this.#upTo !== null)
        rows.push({ ...this.#rowOf(row), peers: concerned, quiet: true });
      return;
    }
    const before = this.#isPublished(row) ? verdicts[this.#verdict[row]! & ~ALLOWED]! : undefined;
    const changed = before === undefined || before === verdicts[verdict & ~ALLOWED] ? {} : { was: before };
    if (row >= this.#publishedAt.length) this.#grow();
    this.#score[row] = score;
    this.#confidence[row] = confidence;
    this.#verdict[row] = verdict;
    this.#publishedAt[row] = position;
    if (this.#upTo !== null) rows.push({ ...this.#rowOf(row), ...changed });
  }

  #read(row: number, asOf: AsOf): PublishedValues {
    const view = readTrust(this.state, row, asOf);
    const verdict = verdictNumbers.get(view.verdict)! | (view.allowed === undefined ? 0 : ALLOWED);
    return { score: wholeScore(view), confidence: wholeConfidence(view), verdict };
  }

  #isNear(row: number, { score, confidence, verdict }: PublishedValues): boolean {
    if (this.#verdict[row] !== verdict) return false;
    const { score: scoreStep, confidence: confidenceStep, fixed } = this.steps;
    const isWithin = (one: number, other: number, step: number) =>
      fixed === true ? Math.floor(one / step) === Math.floor(other / step) : Math.abs(one - other) < step;
    return (
      isWithin(score, this.#score[row]!, scoreStep) && isWithin(confidence, this.#confidence[row]!, confidenceStep)
    );
  }

  #rowOf(row: number): ChangeRow {
    const subject = this.#subjectOf(row);
    const values = { score: this.#score[row]!, confidence: this.#confidence[row]!, verdict: this.#verdict[row]! };
    return { subject, player: playerOf(subject, values) };
  }

  #isPublished(row: number): boolean {
    return row < this.#publishedAt.length && this.#publishedAt[row]! > 0;
  }

  #grow(): void {
    const length = Math.ceil(this.state.subjects.rows * 1.5);
    const grown = <T extends Uint8Array | Uint16Array | Uint32Array>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.#score = grown(new Uint16Array(length), this.#score);
    this.#confidence = grown(new Uint16Array(length), this.#confidence);
    this.#verdict = grown(new Uint8Array(length), this.#verdict);
    this.#publishedAt = grown(new Uint32Array(length), this.#publishedAt);
  }
}
