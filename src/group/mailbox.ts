/** The actor's queue: first in, first out, bounded in events and bytes. A command is admitted whole or not at all. */
import { limits } from '../limits.js';

export interface Mail<C, T> {
  readonly command: C;
  /** Whoever waits for the answer; opaque here. */
  readonly token: T;
  /** Events in it, at least 1. */
  readonly events: number;
  readonly bytes: number;
}

export class Mailbox<C, T> {
  readonly #mail: Mail<C, T>[] = [];
  #events = 0;
  #bytes = 0;

  get events(): number {
    return this.#events;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get empty(): boolean {
    return this.#mail.length === 0;
  }

  /** False where the mailbox would overflow. */
  offer(mail: Mail<C, T>): boolean {
    if (this.#events + mail.events > limits.mailboxEvents || this.#bytes + mail.bytes > limits.mailboxBytes)
      return false;
    this.#mail.push(mail);
    this.#events += mail.events;
    this.#bytes += mail.bytes;
    return true;
  }

  /** What one turn takes: in order, up to the bounds of a turn, at least one. */
  take(): Mail<C, T>[] {
    let count = 0;
    let events = 0;
    let bytes = 0;
    for (const next of this.#mail) {
      if (count > 0 && (events + next.events > limits.turnEvents || bytes + next.bytes > limits.turnBytes)) break;
      events += next.events;
      bytes += next.bytes;
      count++;
    }
    this.#events -= events;
    this.#bytes -= bytes;
    // Nothing of it stays here: under a lasting overload the mailbox is never empty.
    return this.#mail.splice(0, count);
  }
}
