/**
 * Decides by the time that earlier events will take whether further ones are admitted. Once its queue has filled up,
 * the node is overloaded: few events may wait, all others are refused at once, except those of a holder below its
 * share. The overload ends after a short idle time, or a while without refusals.
 */
import { limits } from '../../limits.js';
import type { Holder } from '../ports/pool.js';

export class Admission {
  #overloaded = false;
  #refusedAt = 0;
  #restingSince: number | null = Number.NEGATIVE_INFINITY;
  /** Time of an event in a turn, and of a commit: means of the last turns. */
  readonly #eventMs = new RunningMean();
  readonly #commitMs = new RunningMean();
  readonly #shares = new Shares();
  #periodSince = 0;

  constructor(private readonly elapsed: () => number) {}

  get overloaded(): boolean {
    this.#calmDown();
    return this.#overloaded;
  }

  hasRoom(holder: Holder, more: number): boolean {
    return this.#shares.hasRoom(holder, more);
  }

  /**
   * `before`: events that have their turn earlier; `own`: those of them of the same holder that are not admitted yet. A
   * refusal starts an overload, or prolongs it.
   */
  admits(before: number, more: number, holder: Holder, own = 0): boolean {
    if (before <= limits.eventsAheadAlways || this.hasRoom(holder, own + more)) return true;
    if (before + more <= limits.mailboxEvents && before * this.#eventMs.value <= this.#workMaxMs()) return true;
    this.refused();
    return false;
  }

  refused(): void {
    // While there was room for all, no holder had too many.
    if (!this.#overloaded) this.#shares.keep(0);
    this.#overloaded = true;
    this.#refusedAt = this.elapsed();
  }

  /** Notes a refusal without a call of `admits`. */
  noteRefusal(waiting: number): void {
    if (waiting > limits.eventsAheadAlways) this.#refusedAt = this.elapsed();
  }

  offered(holder: Holder | null, events: number): void {
    this.#calmDown();
    this.#restingSince = null;
    if (holder !== null) this.#shares.add(holder, events);
  }

  /** A turn with few events measures the turn's own cost, not that of an event. */
  turnTaken(events: number, ms: number): void {
    const now = this.elapsed();
    if (now - this.#periodSince >= limits.sharePeriodMs) {
      this.#periodSince = now;
      this.#shares.keep(0.5);
    }
    if (events >= limits.eventsTimed) this.#eventMs.add(ms / events);
  }

  committed(ms: number): void {
    this.#commitMs.add(ms);
  }

  /** Notes that events have arrived and wait to be offered: the node does not rest, though no command waits. */
  isArriving(): void {
    if (this.#restingSince !== null) this.#restingSince = this.elapsed();
  }

  pauses(): void {
    this.#restingSince ??= this.elapsed();
  }

  #calmDown(): void {
    if (!this.#overloaded) return;
    const now = this.elapsed();
    const hasRested = this.#restingSince !== null && now - this.#restingSince >= limits.overloadRestMs;
    if (hasRested || now - this.#refusedAt >= limits.overloadEndsMs) this.#overloaded = false;
  }

  #workMaxMs(): number {
    if (!this.overloaded) return limits.burstWorkMs;
    // On a slow disk commands wait for commits: turns shorter than half a commit would waste it.
    return Math.max(limits.overloadWorkMs, this.#commitMs.value / 2);
  }
}

class RunningMean {
  value = 0;
  #isFirst = true;

  add(value: number): void {
    this.value += (value - this.value) * (this.#isFirst ? 1 : limits.admissionSmoothing);
    this.#isFirst = false;
  }
}

const OTHERS: Holder = 'others';

/** Counts the recently admitted events of each holder, so that one that floods the node does not lock others out. */
export class Shares {
  readonly #recent = new Map<Holder, number>();
  #total = 0;

  /** True if the holder then stays below a part of the mean, or below two batches. */
  hasRoom(holder: Holder, more: number): boolean {
    const recent = this.#recent.get(this.#counted(holder)) ?? 0;
    const mean = this.#total / Math.max(1, this.#recent.size);
    return recent + more <= Math.max(limits.shareFirstEvents, limits.shareFirst * mean);
  }

  add(holder: Holder, events: number): void {
    const counted = this.#counted(holder);
    this.#recent.set(counted, (this.#recent.get(counted) ?? 0) + events);
    this.#total += events;
  }

  /** Forgets all but a part, in [0, 1), of the admitted events. */
  keep(part: number): void {
    this.#total = 0;
    for (const [holder, before] of this.#recent) {
      const recent = Math.floor(part * before);
      this.#total += recent;
      if (recent === 0) this.#recent.delete(holder);
      else this.#recent.set(holder, recent);
    }
  }

  #counted(holder: Holder): Holder {
    return this.#recent.has(holder) || this.#recent.size < limits.sharesMax ? holder : OTHERS;
  }
}
