/** Computes evidence as if other half-lives had always held, from the log; what has left the log keeps its value. */
import { limits } from '../../limits.js';
import { decayed, decayFactorAt, evidenceAt, type Scale, type Scales, scaleAt } from '../evidence/decay.js';
import { isMeasure, revokesLowering } from '../evidence/event-types.js';
import { writeVote } from '../evidence/evidence.js';
import { subjectHex } from '../hashing/pseudonym.js';
import type { EventAccepted, LogRecord } from '../records/records.js';
import { type GroupState, MEASURES_FROM } from '../state.js';
import type { EvidenceSubjects } from '../tables/evidence-view.js';

/** The assumed half-lives in days; null leaves that of the state. */
export interface HalfLives {
  readonly claims: number | null;
  readonly measures: number | null;
}

type Kind = 'lowering' | 'raising' | 'measure';
const kinds = ['lowering', 'raising', 'measure'] as const;

/** Mass of an event: scaled to the time of the simulation, and its present value in the state. */
interface EventMass {
  readonly entry: number;
  readonly kind: Kind;
  readonly mass: number;
  readonly now: number;
  /** Number of times that the entry's lowering had been revoked before. */
  readonly liftings: number;
}

class ScaleHistory {
  readonly #rescales: GroupState['rescales'];
  readonly #at: number;
  readonly #halfLifeDays: number;
  readonly #factorNow: number;
  #scale: Scale;
  #applied = 0;
  /** Product of the factors of the changes still to come. */
  #toCome: number;

  /** `first`: the scale at the start of the log; `present`: that of the state; `at`: the time of the simulation. */
  constructor(first: Scale, present: Scale, rescales: GroupState['rescales'], halfLifeDays: number, at: number) {
    this.#scale = first;
    this.#rescales = rescales;
    this.#halfLifeDays = halfLifeDays;
    this.#at = at;
    this.#toCome = factorOf(rescales);
    this.#factorNow = decayFactorAt(at, present.epoch, present.halfLifeDays);
  }

  changed(epoch: number, halfLifeDays = this.#scale.halfLifeDays): void {
    this.#scale = { epoch, halfLifeDays };
    this.#applied++;
    this.#toCome = factorOf(this.#rescales.slice(this.#applied));
  }

  /** The mass of evidence of time `from` on the scale of the records that are applied at present. */
  scaled(strength: number, from: number): number {
    return strength * scaleAt(from, this.#scale.epoch, this.#scale.halfLifeDays);
  }

  /** Returns a mass of the present records under the assumed half-life, and its present value in the state. */
  of(mass: number, from: number): Pick<EventMass, 'mass' | 'now'> {
    const decided = mass / scaleAt(from, this.#scale.epoch, this.#scale.halfLifeDays);
    return {
      mass: decided * scaleAt(from, this.#at, this.#halfLifeDays),
      now: decayed(mass * this.#toCome, this.#factorNow),
    };
  }

  now(sum: number): number {
    return decayed(sum, this.#factorNow);
  }
}

export class ScenarioHalfLife {
  readonly #claims: ScaleHistory;
  readonly #measures: ScaleHistory;
  readonly #sums: Readonly<Record<Kind, { readonly mass: Float64Array; readonly now: Float64Array }>>;
  /** Per entry: the number of its events that were applied. */
  readonly #counted: Uint32Array;
  readonly #repeated = new Map<number, EventMass>();
  /** Per entry: number of times that its lowering was revoked. */
  readonly #liftings: Uint32Array;
  /** Subjects (hex) whose erasure is in progress, with the record that erased them. */
  readonly #erased = new Map<string, number>();
  #version: number;

  /** `at` (ms since 1970) is the time as of which sums are computed; it is not before the newest record. */
  constructor(
    private readonly state: GroupState,
    private readonly halfLives: HalfLives,
    private readonly at: number,
  ) {
    const entries = entriesEnd(state);
    const { formed, measureScale, rescales } = state;
    const claims = { epoch: formed.epoch, halfLifeDays: formed.half_life_days };
    const measures = { epoch: formed.epoch, halfLifeDays: formed.ban_half_life_days ?? limits.banHalfLifeDaysDefault };
    this.#claims = new ScaleHistory(claims, state, rescales, halfLives.claims ?? state.halfLifeDays, at);
    const banDays = halfLives.measures ?? measureScale.halfLifeDays;
    this.#measures = new ScaleHistory(measures, measureScale, measureScale.rescales, banDays, at);
    const none = () => ({ mass: new Float64Array(entries), now: new Float64Array(entries) });
    this.#sums = { lowering: none(), raising: none(), measure: none() };
    this.#counted = new Uint32Array(entries);
    this.#liftings = new Uint32Array(entries);
    this.#version = formed.scoring ?? 1;
    for (const [seq, { subject }] of state.erasures) if (subject !== null) this.#erased.set(subject, seq);
  }

  get scales(): Scales {
    const { halfLifeDays, measureScale } = this.state;
    return {
      epoch: this.at,
      halfLifeDays: this.halfLives.claims ?? halfLifeDays,
      measureScale: { epoch: this.at, halfLifeDays: this.halfLives.measures ?? measureScale.halfLifeDays },
    };
  }

  /** Applies the next record of the log, from the first to the state's last. `at`: the time of its batch. */
  apply(record: LogRecord, seq: number, at: number): void {
    if (record.type === 'event_accepted') this.#event(record, seq, at);
    else if (record.type === 'event_withdrawn') this.#countRepeated(record.counts?.event_seq ?? 0);
    else if (record.type === 'epoch_moved') this.#claims.changed(record.epoch);
    else if (record.type === 'half_life_changed') this.#claims.changed(record.epoch, record.half_life_days);
    else if (record.type === 'ban_epoch_moved') this.#measures.changed(record.epoch);
    else if (record.type === 'ban_half_life_changed') this.#measures.changed(record.epoch, record.ban_half_life_days);
    else if (record.type === 'scoring_changed') this.#version = record.scoring;
  }

  #event(event: EventAccepted, seq: number, receivedAt: number): void {
    const { subjects, withdrawals } = this.state;
    if (withdrawals.has(seq) || (this.#erased.size > 0 && seq < (this.#erased.get(subjectHex(event.subject)) ?? 0)))
      return;
    const row = subjects.find(event.subject);
    const entry = row < 0 ? -1 : subjects.findEntry(row, event.peer);
    if (entry < 0) return;
    if (revokesLowering(event)) {
      // This holds whether or not there is a record of the revocation: if an earlier `ban_lifted` is withdrawn, the
      // lowering that it revoked stays revoked under this one.
      for (const kind of ['lowering', 'measure'] as const) {
        this.#sums[kind].mass[entry] = 0;
        this.#sums[kind].now[entry] = 0;
      }
      this.#liftings[entry]!++;
    }
    const added = { entry, ...this.#massOf(event, receivedAt), liftings: this.#liftings[entry]! };
    if (event.repeats === undefined) this.#add(added);
    else this.#repeated.set(seq, added);
    this.#counted[entry]!++;
  }

  #massOf(event: EventAccepted, receivedAt: number): Pick<EventMass, 'kind' | 'mass' | 'now'> {
    const from = evidenceAt(event.timestamp, receivedAt);
    const mass = Math.abs(event.mass);
    if (!isMeasure(event.event_type))
      return { kind: event.mass < 0 ? 'lowering' : 'raising', ...this.#claims.of(mass, from) };
    const measure = this.#version < MEASURES_FROM ? this.#measures.scaled(event.severity, from) : mass;
    return { kind: 'measure', ...this.#measures.of(measure, from) };
  }

  /** Counts the event that repeats a withdrawn one, unless its lowering was revoked. */
  #countRepeated(seq: number): void {
    const repeated = this.#repeated.get(seq);
    if (repeated === undefined) return;
    this.#repeated.delete(seq);
    if (repeated.kind === 'raising' || repeated.liftings === this.#liftings[repeated.entry]) this.#add(repeated);
  }

  #add({ entry, kind, mass, now }: EventMass): void {
    this.#sums[kind].mass[entry]! += mass;
    this.#sums[kind].now[entry]! += now;
  }

  /** Returns the state's subjects with these sums, scaled to `at`. Valid until the state changes. */
  subjects(): EvidenceSubjects {
    const { subjects } = this.state;
    const { entries } = subjects;
    const [lowering, raising, measure] = kinds.map((kind) => (entry: number) => this.#sumOf(kind, entry));
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
        count: (entry) => entries.count(entry),
        isVoid: (entry) => entries.isVoid(entry),
        follows: (entry) => entries.follows(entry),
        lowering: lowering!,
        raising: raising!,
        measure: measure!,
        putVotes: (first, count, factors, measureFactors, at, votes, to) => {
          let put = to;
          for (let entry = first; entry < first + count; entry++) {
            if (entries.isVoid(entry)) continue;
            const sums = {
              lowering: decayed(lowering!(entry), factors[at]!),
              raising: decayed(raising!(entry), factors[at]!),
              measure: decayed(measure!(entry), measureFactors[at]!),
            };
            put = writeVote(votes, put, entries.peer(entry), sums, entries.follows(entry));
          }
          return put;
        },
      },
    };
  }

  #sumOf(kind: Kind, entry: number): number {
    const { entries } = this.state.subjects;
    const history = kind === 'measure' ? this.#measures : this.#claims;
    const held = history.now(entries[kind](entry));
    const assumed = kind === 'measure' ? this.halfLives.measures : this.halfLives.claims;
    if (assumed === null) return held;
    const { mass, now } = this.#sums[kind];
    const isWhole = this.#counted[entry] === entries.count(entry);
    return mass[entry]! + (isWhole ? 0 : Math.max(0, held - now[entry]!));
  }
}

/** Always finite: a mass of 0 multiplied by infinity would not be a number. */
function factorOf(rescales: GroupState['rescales']): number {
  return rescales.reduce((product, { factor }) => Math.min(product * factor, Number.MAX_VALUE), 1);
}

function entriesEnd({ subjects }: GroupState): number {
  let end = 0;
  for (const row of subjects.held()) end = Math.max(end, subjects.firstEntry(row) + subjects.peerCount(row));
  return end;
}
