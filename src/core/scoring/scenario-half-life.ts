/**
 * Computes the evidence of a state as if it had always decayed with another half-life, for a simulation. The sums are
 * separate and computed from the events of the log; the state is only read. The share of a sum that stems from events
 * no longer in the log keeps its present value.
 */
import { decayed, decayFactorAt, evidenceAt, scaleAt } from '../evidence/decay.js';
import { revokesLowering } from '../evidence/event-types.js';
import { writeVote } from '../evidence/evidence.js';
import { subjectHex } from '../hashing/pseudonym.js';
import type { EventAccepted, LogRecord } from '../records/records.js';
import type { GroupState } from '../state.js';
import type { EvidenceSubjects } from '../tables/evidence-view.js';

/** The scale of masses in the records that are applied at present. */
interface Scale {
  epoch: number;
  halfLifeDays: number;
}

/**
 * The mass that an event adds to the sums of an entry: scaled to the time of the simulation, and its present value in
 * the state.
 */
interface EventMass {
  readonly entry: number;
  readonly lowers: boolean;
  readonly mass: number;
  readonly now: number;
  /** Number of times that the entry's lowering had been revoked before. */
  readonly liftings: number;
}

export class ScenarioHalfLife {
  readonly #state: GroupState;
  readonly #halfLifeDays: number;
  readonly #at: number;
  readonly #scale: Scale;
  /** Number of changes of scale so far, and the product of the factors of those still to come. */
  #rescalesApplied = 0;
  #toCome: number;
  readonly #decayFactorNow: number;
  /**
   * Per entry: sums scaled to `at`, the present value of the same events in the state, and the number of these events.
   */
  readonly #lowering: Float64Array;
  readonly #raising: Float64Array;
  readonly #loweringNow: Float64Array;
  readonly #raisingNow: Float64Array;
  readonly #counted: Uint32Array;
  /** Events that repeat others and do not count, by record. */
  readonly #repeated = new Map<number, EventMass>();
  /** Per entry: number of times that its lowering was revoked. */
  readonly #liftings: Uint32Array;
  /** Subjects (hex) whose erasure is in progress, with the record that erased them. */
  readonly #erased = new Map<string, number>();

  /** `at` (ms since 1970) is the time as of which sums are computed; it is not before the newest record. */
  constructor(state: GroupState, halfLifeDays: number, at: number) {
    const entries = entriesEnd(state);
    this.#state = state;
    this.#halfLifeDays = halfLifeDays;
    this.#at = at;
    this.#scale = { epoch: state.formed.epoch, halfLifeDays: state.formed.half_life_days };
    this.#toCome = factorOf(state.rescales);
    this.#decayFactorNow = decayFactorAt(at, state.epoch, state.halfLifeDays);
    this.#lowering = new Float64Array(entries);
    this.#raising = new Float64Array(entries);
    this.#loweringNow = new Float64Array(entries);
    this.#raisingNow = new Float64Array(entries);
    this.#counted = new Uint32Array(entries);
    this.#liftings = new Uint32Array(entries);
    for (const [seq, { subject }] of state.erasures) if (subject !== null) this.#erased.set(subject, seq);
  }

  /**
   * Applies the next record of the log; call it for every record from the first to the state's last. `at` is the time
   * of its batch.
   */
  apply(record: LogRecord, seq: number, at: number): void {
    if (record.type === 'event_accepted') this.#event(record, seq, at);
    else if (record.type === 'event_withdrawn') this.#countRepeated(record.counts?.event_seq ?? 0);
    else if (record.type === 'epoch_moved') this.#rescaled(record.epoch, this.#scale.halfLifeDays);
    else if (record.type === 'half_life_changed') this.#rescaled(record.epoch, record.half_life_days);
  }

  #rescaled(epoch: number, halfLifeDays: number): void {
    this.#scale.epoch = epoch;
    this.#scale.halfLifeDays = halfLifeDays;
    this.#rescalesApplied++;
    this.#toCome = factorOf(this.#state.rescales.slice(this.#rescalesApplied));
  }

  #event(event: EventAccepted, seq: number, receivedAt: number): void {
    const { subjects, withdrawals } = this.#state;
    if (withdrawals.has(seq) || (this.#erased.size > 0 && seq < (this.#erased.get(subjectHex(event.subject)) ?? 0)))
      return;
    const row = subjects.find(event.subject);
    const entry = row < 0 ? -1 : subjects.findEntry(row, event.peer);
    if (entry < 0) return;
    if (revokesLowering(event)) {
      // This holds whether or not there is a record of the revocation: if an earlier `ban_lifted` is withdrawn, the
      // lowering that it revoked stays revoked under this one.
      this.#lowering[entry] = 0;
      this.#loweringNow[entry] = 0;
      this.#liftings[entry]!++;
    }
    const from = evidenceAt(event.timestamp, receivedAt);
    const decided = event.mass / scaleAt(from, this.#scale.epoch, this.#scale.halfLifeDays);
    const mass = Math.abs(decided) * scaleAt(from, this.#at, this.#halfLifeDays);
    const now = decayed(Math.abs(event.mass) * this.#toCome, this.#decayFactorNow);
    const added = { entry, lowers: event.mass < 0, mass, now, liftings: this.#liftings[entry]! };
    if (event.repeats === undefined) this.#add(added);
    else this.#repeated.set(seq, added);
    this.#counted[entry]!++;
  }

  /** Counts the event that repeats a withdrawn one, unless its lowering was revoked. */
  #countRepeated(seq: number): void {
    const repeated = this.#repeated.get(seq);
    if (repeated === undefined) return;
    this.#repeated.delete(seq);
    if (!repeated.lowers || repeated.liftings === this.#liftings[repeated.entry]) this.#add(repeated);
  }

  #add({ entry, lowers, mass, now }: EventMass): void {
    const [sums, sumsNow] = lowers ? [this.#lowering, this.#loweringNow] : [this.#raising, this.#raisingNow];
    sums[entry]! += mass;
    sumsNow[entry]! += now;
  }

  /** Returns the state's subjects with these sums, scaled to `at`. Valid until the state changes. */
  subjects(): EvidenceSubjects {
    const { subjects } = this.#state;
    const { entries } = subjects;
    const isWhole = (entry: number) => this.#counted[entry] === entries.count(entry);
    const rest = (held: number, counted: number) => Math.max(0, decayed(held, this.#decayFactorNow) - counted);
    const lowering = (entry: number) =>
      this.#lowering[entry]! + (isWhole(entry) ? 0 : rest(entries.lowering(entry), this.#loweringNow[entry]!));
    const raising = (entry: number) =>
      this.#raising[entry]! + (isWhole(entry) ? 0 : rest(entries.raising(entry), this.#raisingNow[entry]!));
    return {
      rows: subjects.rows,
      size: subjects.size,
      firstEntry: (row) => subjects.firstEntry(row),
      peerCount: (row) => subjects.peerCount(row),
      evidenceAt: (row) => subjects.evidenceAt(row),
      updatedAt: (row) => subjects.updatedAt(row),
      readRows: (from, end, into) => subjects.readRows(from, end, into),
      entries: {
        size: entries.size,
        prefetch: (first, count) => entries.prefetch(first, count),
        peer: (entry) => entries.peer(entry),
        isBelow: (mix, first, count, own, pairs) => entries.isBelow(mix, first, count, own, pairs),
        count: (entry) => entries.count(entry),
        isVoid: (entry) => entries.isVoid(entry),
        lowering,
        raising,
        putVotes: (first, count, worths, at, votes, to) => {
          const decayFactor = worths[at]!;
          let put = to;
          for (let entry = first; entry < first + count; entry++) {
            if (entries.isVoid(entry)) continue;
            const b = decayed(lowering(entry), decayFactor);
            put = writeVote(votes, put, entries.peer(entry), b, decayed(raising(entry), decayFactor));
          }
          return put;
        },
      },
    };
  }
}

/** Always finite: a mass of 0 multiplied by infinity would not be a number. */
function factorOf(rescales: GroupState['rescales']): number {
  return rescales.reduce((product, { factor }) => Math.min(product * factor, Number.MAX_VALUE), 1);
}

/** Returns one more than the greatest entry in use. */
function entriesEnd({ subjects }: GroupState): number {
  let end = 0;
  for (let row = 0; row < subjects.rows; row++) {
    if (subjects.has(row)) end = Math.max(end, subjects.firstEntry(row) + subjects.peerCount(row));
  }
  return end;
}
