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
  #mail: Mail<C, T>[] = [];
  #from = 0;
  #events = 0;
  #bytes = 0;

  get events(): number {
    return this.#events;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get empty(): boolean {
    return this.#from === this.#mail.length;
  }

  /** False where the mailbox would overflow. */
  offer(mail: Mail<C, T>): boolean {
    if (this.#events + mail.events > limits.mailboxCommands || this.#bytes + mail.bytes > limits.mailboxBytes)
      return false;
    this.#mail.push(mail);
    this.#events += mail.events;
    this.#bytes += mail.bytes;
    return true;
  }

  /** What one turn takes: in order, up to the bounds of a turn, at least one. */
  take(): Mail<C, T>[] {
    let to = this.#from;
    let events = 0;
    let bytes = 0;
    while (to < this.#mail.length) {
      const next = this.#mail[to]!;
      if (to > this.#from && (events + next.events > limits.turnEvents || bytes + next.bytes > limits.turnBytes)) break;
      events += next.events;
      bytes += next.bytes;
      to++;
    }
    const taken = this.#mail.slice(this.#from, to);
    this.#from = to;
    this.#events -= events;
    this.#bytes -= bytes;
    if (this.empty) {
      this.#mail = [];
      this.#from = 0;
    } else if (this.#from > limits.turnEvents) {
      this.#mail = this.#mail.slice(this.#from);
      this.#from = 0;
    }
    return taken;
  }
}
