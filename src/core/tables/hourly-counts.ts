/**
 * How many events each peer had sent an hour ago or earlier: what other peers may know of a peer's count. Read beside
 * the verdict stream, a count that is current would tell who reported whom. Counts step at whole hours, all peers'
 * together. They are rebuilt by a replay and kept in snapshots, so that a restart shows nothing sooner.
 */
import { HOUR_MS } from '../../limits.js';

/** A peer's events by the hour (since 1970) of its newest one. */
export interface HourlyCount {
  readonly peer: number;
  readonly hour: number;
  /** Events received before that hour began. */
  readonly before: number;
  /** Events received before the hour before it began. */
  readonly earlier: number;
}

export class HourlyCounts {
  readonly #byPeer: (Omit<HourlyCount, 'peer'> | undefined)[] = [];

  /** Notes that a peer sends its next event at `at` (ms since 1970), after `sent` others. */
  note(peer: number, sent: number, at: number): void {
    const hour = Math.floor(at / HOUR_MS);
    const known = this.#byPeer[peer];
    if (known?.hour === hour) return;
    const earlier = earlierOf(known, hour, sent);
    // Where the clock went back, events of the hour that it came from may be seconds old.
    const before = known !== undefined && hour < known.hour ? earlier : sent;
    this.#byPeer[peer] = { hour, before, earlier };
  }

  /**
   * How many of the `sent` events others may know of at `now`: none that is younger than an hour, all that are older
   * than two.
   */
  asOf(peer: number, sent: number, now: number): number {
    const known = this.#byPeer[peer];
    // No entry: a snapshot of a release that kept none, and no event since.
    if (known === undefined) return sent;
    const hour = Math.floor(now / HOUR_MS);
    if (hour > known.hour + 1) return sent;
    return hour === known.hour + 1 ? known.before : known.earlier;
  }

  get all(): HourlyCount[] {
    return this.#byPeer.flatMap((known, peer) => (known === undefined ? [] : [{ peer, ...known }]));
  }

  restore({ peer, hour, before, earlier }: HourlyCount): void {
    this.#byPeer[peer] = { hour, before, earlier };
  }
}

/** Where the clock went back, what was known before stays the answer: never sooner than it should. */
function earlierOf(known: Omit<HourlyCount, 'peer'> | undefined, hour: number, sent: number): number {
  if (known === undefined || hour > known.hour + 1) return sent;
  return hour === known.hour + 1 ? known.before : known.earlier;
}
