/**
 * Whether further events are let in, by the work that waits before them. A calm node takes a burst. One whose queue has
 * filled up is overloaded: from then on little may wait, so that what is let in is answered soon, and the rest is told
 * at once to come again; a holder that had less than its share is let in all the same. It is calm once more when it has
 * had nothing to do for a moment, or had to refuse nothing for a while.
 */
import { limits } from '../../limits.js';
import type { Holder } from '../holder.js';
import { type Share, Shares } from './shares.js';

export class Admission {
  /** ms, by a clock that only runs forward. */
  readonly #elapsed: () => number;
  #overloaded = false;
  #refusedAt = 0;
  /** Since when nobody waits; null: somebody does. */
  #restingSince: number | null = Number.NEGATIVE_INFINITY;
  /** What an event takes of a turn, and what a commit takes: means of the last turns. */
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

  /** The share of a holder, good until this turn of the event loop is over: one that is not used is forgotten. */
  shareOf(holder: Holder): Share {
    return this.#shares.of(holder);
  }

  /** Whether `more` events of a holder come before those of others. */
  hasRoom(share: Share, more: number): boolean {
    return this.#shares.hasRoom(share, more);
  }

  /**
   * Whether `more` events of a holder are let in where `waiting` wait for a turn. A refusal makes an overload, or keeps
   * it up.
   */
  admits(waiting: number, more: number, share: Share): boolean {
    if (waiting <= limits.eventsAheadAlways || this.hasRoom(share, more)) return true;
    if (waiting + more <= limits.mailboxEvents && waiting * this.#eventMs.value <= this.#workMaxMs()) return true;
    this.refused();
    return false;
  }

  /** Events were refused. */
  refused(): void {
    if (!this.#overloaded) this.#shares.forget();
    this.#overloaded = true;
    this.#refusedAt = this.#elapsed();
  }

  /** An event was refused that nobody asked about: with that many waiting, it would have been refused. */
  noteRefusal(waiting: number): void {
    if (waiting > limits.eventsAheadAlways) this.#refusedAt = this.#elapsed();
  }

  /** A command was put into the mailbox; `share` is that of the holder of its events. */
  offered(share: Share | null, events: number): void {
    this.#calmDown();
    this.#restingSince = null;
    if (share !== null) this.#shares.add(share, events);
  }

  /** A turn took `events`, which took `ms`. One of few tells what a turn takes, not an event. */
  turnTaken(events: number, ms: number): void {
    const now = this.#elapsed();
    if (now - this.#periodSince >= limits.sharePeriodMs) {
      this.#periodSince = now;
      this.#shares.endPeriod();
    }
    if (events >= limits.eventsTimed) this.#eventMs.add(ms / events);
  }

  /** A turn is durable; its commit took `ms`. */
  committed(ms: number): void {
    this.#commitMs.add(ms);
  }

  /** Nobody waits any more. */
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
    // On a slow disk it is the commits that are waited for: turns that take less than half of one would only waste it.
    return Math.max(limits.overloadWorkMs, this.#commitMs.value / 2);
  }
}

/** Of the last few values, newer ones count more. */
class RunningMean {
  value = 0;
  #isFirst = true;

  add(value: number): void {
    this.value += (value - this.value) * (this.#isFirst ? 1 : limits.admissionSmoothing);
    this.#isFirst = false;
  }
}
