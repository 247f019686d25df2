/**
 * Queues the commands before the actor, bounded in events and bytes. A command is admitted as a whole or not at all; if
 * the queue is full, a holder may push out commands of the holder with the most events.
 */
import { FairQueue } from '../../core/fair-queue.js';
import { limits } from '../../limits.js';
import type { Holder } from '../ports/pool.js';

export interface Envelope<C, T> {
  readonly command: C;
  /** Opaque here. */
  readonly token: T;
  /** At least 1. */
  readonly events: number;
  readonly bytes: number;
  /** Null for a command that is never pushed out. */
  readonly holder: Holder | null;
}

export interface TurnBounds {
  readonly events: number;
  readonly bytes: number;
}

const isBatch = ({ events }: Pick<Envelope<unknown, unknown>, 'events'>): boolean => events >= limits.fairShareEvents;
const turnBounds: TurnBounds = { events: limits.turnEvents, bytes: limits.turnBytes };

export class Mailbox<C, T> {
  readonly #queue = new FairQueue<Holder | null, Envelope<C, T>>(limits.fairShareEvents, ({ events }) => events);
  #hadBatch = true;
  bytes = 0;

  get events(): number {
    return this.#queue.size;
  }

  get empty(): boolean {
    return this.#queue.empty;
  }

  eventsOf(holder: Holder): number {
    return this.#queue.sizeOf(holder);
  }

  eventsBefore(holder: Holder, more: number): number {
    return this.#queue.sizeBefore(holder, more);
  }

  offer(envelope: Envelope<C, T>): boolean {
    if (!this.#hasRoomFor(envelope)) return false;
    this.#queue.push(envelope.holder, envelope);
    this.bytes += envelope.bytes;
    return true;
  }

  /** Removes the newest envelopes of the largest holder until there is room, or it has no more events than this one. */
  pushOutFor(envelope: Envelope<C, T>): Envelope<C, T>[] {
    const out: Envelope<C, T>[] = [];
    if (envelope.holder === null) return out;
    const own = this.#queue.sizeOf(envelope.holder) + envelope.events;
    while (!this.#hasRoomFor(envelope)) {
      const most = this.#queue.largest((holder) => holder !== null);
      if (most === undefined || this.#queue.sizeOf(most) <= own) break;
      const newest = this.#queue.pop(most)!;
      this.bytes -= newest.bytes;
      out.push(newest);
    }
    return out;
  }

  removeWhere(leaves: (command: C) => boolean): Envelope<C, T>[] {
    return this.#without(this.#queue.removeWhere(({ command }) => leaves(command)));
  }

  /**
   * Removes the envelopes of one turn, at least one. Commands of few events wait for at most one turn with batches,
   * which is short if such commands preceded it, and leave room for the bytes of a batch: a registration has many. A
   * cluster, whose turns are short and whose commits take long, has both in one turn.
   */
  takeTurn(bounds: TurnBounds = turnBounds): Envelope<C, T>[] {
    let { events: eventsMax, bytes: bytesMax } = bounds;
    let events = 0;
    let bytes = 0;
    const fits = (next: Envelope<C, T>): boolean => {
      if (events > 0 && (events + next.events > eventsMax || bytes + next.bytes > bytesMax)) return false;
      events += next.events;
      bytes += next.bytes;
      return true;
    };
    if (bounds.events <= limits.shortTurnEvents) return this.#without(this.#queue.take(fits));
    bytesMax = bounds.bytes - limits.batchBodyBytes;
    const turn = this.#queue.take(fits, isBatch);
    bytesMax = bounds.bytes;
    const areAlone = turn.length > 0 && this.#hadBatch;
    if (turn.length > 0 || !this.#hadBatch) eventsMax = events + limits.shortTurnEvents;
    if (!areAlone) turn.push(...this.#queue.take(fits, (next) => !isBatch(next)));
    this.#hadBatch = !areAlone;
    return this.#without(turn);
  }

  #hasRoomFor({ events, bytes }: Envelope<C, T>): boolean {
    return this.events + events <= limits.mailboxEvents && this.bytes + bytes <= limits.mailboxBytes;
  }

  #without(out: Envelope<C, T>[]): Envelope<C, T>[] {
    for (const { bytes } of out) this.bytes -= bytes;
    return out;
  }
}
