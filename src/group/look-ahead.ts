/**
 * What deciding a turn's events will read, fetched for many of them at a time: memory serves reads side by side nearly as fast as
 * one, but event by event each would wait for its own.
 */
import type { EventSubmission } from '../core/commands.js';
import { EventColumns } from '../core/event-columns.js';
import type { IdTag } from '../core/event-ids.js';
import type { GroupState } from '../core/state.js';
import type { Command } from './commands.js';

/** A full batch, and what it reads stays in a core's second cache. */
const EVENTS = 512;

export class LookAhead {
  readonly #state: GroupState;
  readonly #columns = new EventColumns(EVENTS);
  #tags: IdTag[] = [];
  #next = 0;

  constructor(state: GroupState) {
    this.#state = state;
  }

  /** Looks up the events of commands from `from` on; returns where the next look begins. */
  look(mails: readonly { readonly command: Command }[], from: number): number {
    const events: EventSubmission[] = [];
    this.#next = 0;
    this.#columns.count = 0;
    let to = from;
    for (; to < mails.length; to++) {
      const { command } = mails[to]!;
      if (command.type !== 'submit') continue;
      if (events.length > 0 && events.length + command.events.length > EVENTS) break;
      for (const event of command.events) events.push(event);
    }
    this.#tags = this.#state.idTags.ofAll(events.map(({ eventId }) => eventId));
    for (const [i, { subject }] of events.entries()) {
      if (subject !== null && this.#columns.count < EVENTS) this.#columns.addKeys(subject, this.#tags[i]!);
    }
    this.#state.warm(this.#columns);
    return to;
  }

  /** The tag of the next event that was looked up, in their order. */
  nextTag(): IdTag {
    return this.#tags[this.#next++]!;
  }
}
