/**
 * The actor's queue: first in, first out, bounded in events and bytes. A command is admitted as a whole or not at all.
 * If the queue is full, commands of the holder with the most events may be pushed out by a holder with fewer.
 */
import { limits } from '../../limits.js';
import type { Share } from './shares.js';

export interface Envelope<C, T> {
  readonly command: C;
  /** Identifies the caller that waits for the answer; opaque here. */
  readonly token: T;
  /** Number of events in the command, at least 1. */
  readonly events: number;
  readonly bytes: number;
  /** Share of the holder of its events; null for a command that is never pushed out. */
  readonly share: Share | null;
}

/** Upper bounds of one turn. */
export interface TurnBounds {
  readonly events: number;
  readonly bytes: number;
}

const turnBounds: TurnBounds = { events: limits.turnEvents, bytes: limits.turnBytes };

export class Mailbox<C, T> {
  readonly #envelopes: Envelope<C, T>[] = [];
  #events = 0;
  #bytes = 0;

  get events(): number {
    return this.#events;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get empty(): boolean {
    return this.#envelopes.length === 0;
  }

  /** Adds an envelope; false if the mailbox would overflow. */
  offer(envelope: Envelope<C, T>): boolean {
    if (!this.#hasRoomFor(envelope)) return false;
    this.#envelopes.push(envelope);
    this.#events += envelope.events;
    this.#bytes += envelope.bytes;
    if (envelope.share !== null) envelope.share.waiting += envelope.events;
    return true;
  }

  /**
   * Removes the newest envelope of the holder with the most events, repeatedly, until there is room for `envelope` or
   * its holder would have as many events as any other. Returns the removed envelopes.
   */
  pushOutFor(envelope: Envelope<C, T>): Envelope<C, T>[] {
    const out: Envelope<C, T>[] = [];
    if (envelope.share === null) return out;
    while (!this.#hasRoomFor(envelope)) {
      const most = this.#largestShare();
      if (most === undefined || most.waiting <= envelope.share.waiting + envelope.events) break;
      const [newest] = this.#envelopes.splice(
        this.#envelopes.findLastIndex(({ share }) => share === most),
        1,
      );
      this.#leave(newest!);
      out.push(newest!);
    }
    return out;
  }

  /** Removes and returns every envelope whose command satisfies `leaves`. */
  removeWhere(leaves: (command: C) => boolean): Envelope<C, T>[] {
    const out = this.#envelopes.filter(({ command }) => leaves(command));
    if (out.length === 0) return out;
    const staying = this.#envelopes.filter(({ command }) => !leaves(command));
    this.#envelopes.splice(0, this.#envelopes.length, ...staying);
    for (const envelope of out) this.#leave(envelope);
    return out;
  }

  /** Removes and returns the envelopes of one turn: in order, up to its bounds, at least one. */
  takeTurn(bounds: TurnBounds = turnBounds): Envelope<C, T>[] {
    let count = 0;
    let events = 0;
    let bytes = 0;
    for (const next of this.#envelopes) {
      if (count > 0 && (events + next.events > bounds.events || bytes + next.bytes > bounds.bytes)) break;
      events += next.events;
      bytes += next.bytes;
      count++;
    }
    // The array is truncated as well: under a lasting overload the mailbox is never empty.
    const turn = this.#envelopes.splice(0, count);
    for (const envelope of turn) this.#leave(envelope);
    return turn;
  }

  #hasRoomFor({ events, bytes }: Envelope<C, T>): boolean {
    return this.#events + events <= limits.mailboxEvents && this.#bytes + bytes <= limits.mailboxBytes;
  }

  #leave({ events, bytes, share }: Envelope<C, T>): void {
    this.#events -= events;
    this.#bytes -= bytes;
    if (share !== null) share.waiting -= events;
  }

  #largestShare(): Share | undefined {
    let most: Share | undefined;
    for (const { share } of this.#envelopes) if (share !== null && share.waiting > (most?.waiting ?? 0)) most = share;
    return most;
  }
}
