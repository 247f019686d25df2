/**
 * Prefetches the memory that the decisions of a turn will read: overlapping reads take little longer than a single one.
 */
import type { EventSubmission } from '../../core/commands.js';
import type { GroupState } from '../../core/state.js';
import { EventColumns, type EventKeys } from '../../core/tables/event-columns.js';
import { limits } from '../../limits.js';
import type { Command } from '../actor-commands.js';

/** Enough for a full batch; the memory that it reads stays in a core's second-level cache. */
const EVENTS = limits.batchEventsMax;

export class Prefetch {
  #columns = new EventColumns(EVENTS);
  #next = 0;

  constructor(private readonly state: GroupState) {}

  /** Returns the index at which the next call begins. */
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
    // A single command may have more events.
    if (events.length > this.#columns.capacity) this.#columns = new EventColumns(events.length);
    const columns = this.#columns;
    columns.count = 0;
    for (const { subject } of events) columns.addKey(subject);
    const eventIds = events.map(({ eventId }) => eventId);
    this.state.idTags.writeAll(eventIds, columns.tags);
    this.state.prefetch(columns);
    return to;
  }

  next(): EventKeys {
    return { columns: this.#columns, i: this.#next++ };
  }
}
