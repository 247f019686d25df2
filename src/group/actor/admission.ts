/**
 * Decides whether further events are admitted, by the time that the events before them will take. Once its queue has
 * filled up, the node is overloaded: few events may wait, so that admitted ones are answered soon, and all others are
 * refused at once, except those of a holder below its share. The overload ends after a short idle time, or after a
 * while without refusals.
 */
import { limits } from '../../limits.js';
import type { Holder } from '../holder.js';
import { Shares } from './shares.js';

export class Admission {
  /** ms, by a monotonic clock. */
  readonly #elapsed: () => number;
  #overloaded = false;
  #refusedAt = 0;
  /** Time since which no command waits; null while a command waits. */
  #restingSince: number | null = Number.NEGATIVE_INFINITY;
  /** Time that an event takes in a turn, and time that a commit takes: means of the last turns. */
  readonly #eventMs = new RunningMean();
  readonly #commitMs = new RunningMean();
  readonly #shares = new Shares();
  #periodSince = 0;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  get overloaded(): boolean {
    this.#calmDown();
    return this.#overloaded;
  }

  hasRoom(holder: Holder, more: number): boolean {
    return this.#shares.hasRoom(holder, more);
  }

  /**
   * True if `more` events of a holder are admitted. `before`: number of events that have their turn earlier; `own`:
   * those of them that are of the same holder and not admitted yet. A refusal starts an overload, or prolongs it.
   */
  admits(before: number, more: number, holder: Holder, own = 0): boolean {
    if (before <= limits.eventsAheadAlways || this.hasRoom(holder, own + more)) return true;
    if (before + more <= limits.mailboxEvents && before * this.#eventMs.value <= this.#workMaxMs()) return true;
    this.refused();
    return false;
  }

  refused(): void {
    if (!this.#overloaded) this.#shares.forget();
    this.#overloaded = true;
    this.#refusedAt = this.#elapsed();
  }

  /**
   * Notes that an event was refused without a call of `admits`, if it would have been refused with this number of
   * waiting events.
   */
  noteRefusal(waiting: number): void {
    if (waiting > limits.eventsAheadAlways) this.#refusedAt = this.#elapsed();
  }

  offered(holder: Holder | null, events: number): void {
    this.#calmDown();
    this.#restingSince = null;
    if (holder !== null) this.#shares.add(holder, events);
  }

  /**
   * Notes a turn of `events`, which took `ms`. A turn with few events measures the turn's own cost, not that of an
   * event.
   */
  turnTaken(events: number, ms: number): void {
    const now = this.#elapsed();
    if (now - this.#periodSince >= limits.sharePeriodMs) {
      this.#periodSince = now;
      this.#shares.endPeriod();
    }
    if (events >= limits.eventsTimed) this.#eventMs.add(ms / events);
  }

  /** Notes that a turn is durable; its commit took `ms`. */
  committed(ms: number): void {
    this.#commitMs.add(ms);
  }

  /** Notes that events have arrived and wait to be offered: the node does not rest, though no command waits. */
  isArriving(): void {
    if (this.#restingSince !== null) this.#restingSince = this.#elapsed();
  }

  pauses(): void {
    this.#restingSince ??= this.#elapsed();
  }

  #calmDown(): void {
    if (!this.#overloaded) return;
    const now = this.#elapsed();
    const hasRested = this.#restingSince !== null && now - this.#restingSince >= limits.overloadRestMs;
    if (hasRested || now - this.#refusedAt >= limits.overloadEndsMs) this.#overloaded = false;
  }

  #workMaxMs(): number {
    if (!this.overloaded) return limits.burstWorkMs;
    // On a slow disk commands wait for commits: turns shorter than half a commit would waste it.
    return Math.max(limits.overloadWorkMs, this.#commitMs.value / 2);
  }
}

/** A mean of the last few values in which newer ones count more. */
class RunningMean {
  value = 0;
  #isFirst = true;

  add(value: number): void {
    this.value += (value - this.value) * (this.#isFirst ? 1 : limits.admissionSmoothing);
    this.#isFirst = false;
  }
}
