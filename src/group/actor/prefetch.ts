/**
 * What deciding a turn's events will read, fetched for many of them at a time: memory serves reads side by side nearly
 * as fast as one, but event by event each would wait for its own.
 */
import type { EventSubmission } from '../../core/commands.js';
import type { GroupState } from '../../core/state.js';
import { EventColumns, type EventKeys } from '../../core/tables/event-columns.js';
import { limits } from '../../limits.js';
import type { Command } from '../commands.js';

/** A full batch, and what it reads stays in a core's second cache. */
const EVENTS = limits.batchEventsMax;

export class Prefetch {
  readonly #state: GroupState;
  #columns = new EventColumns(EVENTS);
  #next = 0;

  constructor(state: GroupState) {
    this.#state = state;
  }

  /** Looks up the events of commands from `from` on; returns where the next look begins. */
  look(envelopes: readonly { readonly command: Command }[], from: number): number {
    const events: EventSubmission[] = [];
    let to = from;
    for (; to < envelopes.length; to++) {
      const { command } = envelopes[to]!;
      if (command.type !== 'submit') continue;
      if (events.length > 0 && events.length + command.events.length > EVENTS) break;
      for (const event of command.events) events.push(event);
    }
    this.#next = 0;
    // One command alone may have more.
    if (events.length > this.#columns.capacity) this.#columns = new EventColumns(events.length);
    const columns = this.#columns;
    columns.count = 0;
    for (const { subject } of events) columns.addKey(subject);
    const eventIds = events.map(({ eventId }) => eventId);
    this.#state.idTags.writeAll(eventIds, columns.tags);
    this.#state.prefetch(columns);
    return to;
  }

  /** What the next event that was looked up is decided and taken in by, in their order. */
  next(): EventKeys {
    return { columns: this.#columns, i: this.#next++ };
  }
}
