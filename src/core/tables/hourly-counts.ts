/**
 * Stores event counts as others may learn them: without the last hour, changing at whole hours. With the verdict
 * stream, exact ones would reveal who reported whom. Restarts reveal nothing earlier.
 */
import { HOUR_MS } from '../../limits.js';

/** A peer's event counts, for the hour (since 1970) of its newest event. */
export interface HourlyCount {
  readonly peer: number;
  readonly hour: number;
  /** Number of events received before that hour began. */
  readonly before: number;
  /** Number of events received before the previous hour began. */
  readonly earlier: number;
}

export class HourlyCounts {
  readonly #byPeer: (Omit<HourlyCount, 'peer'> | undefined)[] = [];

  /** Notes that a peer, having sent `sent` events, sends the next one at `at` (ms since 1970). */
  note(peer: number, sent: number, at: number): void {
    const hour = Math.floor(at / HOUR_MS);
    const known = this.#byPeer[peer];
    if (known?.hour === hour) return;
    const earlier = countAt(known, hour, sent);
    // If the clock went back, events of the hour that it came from may be seconds old.
    const before = known !== undefined && hour < known.hour ? earlier : sent;
    this.#byPeer[peer] = { hour, before, earlier };
  }

  /** Returns how many of the `sent` events others may know of: none younger than an hour, all older than two. */
  asOf(peer: number, sent: number, now: number): number {
    return countAt(this.#byPeer[peer], Math.floor(now / HOUR_MS), sent);
  }

  /** Returns the start of the hour (ms since 1970) in which the peer sent its newest event; null if none is known. */
  lastHourOf(peer: number): number | null {
    const known = this.#byPeer[peer];
    return known === undefined ? null : known.hour * HOUR_MS;
  }

  get all(): HourlyCount[] {
    return this.#byPeer.flatMap((known, peer) => (known === undefined ? [] : [{ peer, ...known }]));
  }

  restore({ peer, hour, before, earlier }: HourlyCount): void {
    this.#byPeer[peer] = { hour, before, earlier };
  }
}

/** Without an entry, the snapshot is of a release without counts. If the clock went back, nothing is revealed early. */
function countAt(known: Omit<HourlyCount, 'peer'> | undefined, hour: number, sent: number): number {
  if (known === undefined || hour > known.hour + 1) return sent;
  return hour === known.hour + 1 ? known.before : known.earlier;
}
