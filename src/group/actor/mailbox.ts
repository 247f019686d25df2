/**
 * The actor's queue: first in, first out, bounded in events and bytes. A command is admitted whole or not at all. When the queue is full,
 * whoever has the most events in it can give way to a holder with fewer.
 */
import { limits } from '../../limits.js';
import type { Share } from './shares.js';

export interface Mail<C, T> {
  readonly command: C;
  /** Whoever waits for the answer; opaque here. */
  readonly token: T;
  /** Events in it, at least 1. */
  readonly events: number;
  readonly bytes: number;
  /** Of the holder of its events; null for what never gives way. */
  readonly share: Share | null;
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
    if (!this.#hasRoomFor(mail)) return false;
    this.#mail.push(mail);
    this.#events += mail.events;
    this.#bytes += mail.bytes;
    if (mail.share !== null) mail.share.waiting += mail.events;
    return true;
  }

  /**
   * Takes out the newest mail of whoever has the most events here, again and again until there is room for `mail`, or until its holder would
   * have as many as anybody. Returns what was taken out.
   */
  pushOutFor(mail: Mail<C, T>): Mail<C, T>[] {
    const out: Mail<C, T>[] = [];
    if (mail.share === null) return out;
    while (!this.#hasRoomFor(mail)) {
      const most = this.#largestShare();
      if (most === undefined || most.waiting <= mail.share.waiting + mail.events) break;
      const [newest] = this.#mail.splice(
        this.#mail.findLastIndex(({ share }) => share === most),
        1,
      );
      this.#leave(newest!);
      out.push(newest!);
    }
    return out;
  }

  /** Takes out every mail whose command satisfies `leaves`. */
  takeOut(leaves: (command: C) => boolean): Mail<C, T>[] {
    const out = this.#mail.filter(({ command }) => leaves(command));
    if (out.length === 0) return out;
    const staying = this.#mail.filter(({ command }) => !leaves(command));
    this.#mail.splice(0, this.#mail.length, ...staying);
    for (const mail of out) this.#leave(mail);
    return out;
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
    // Nothing of it stays here: under a lasting overload the mailbox is never empty.
    const taken = this.#mail.splice(0, count);
    for (const mail of taken) this.#leave(mail);
    return taken;
  }

  #hasRoomFor({ events, bytes }: Mail<C, T>): boolean {
    return this.#events + events <= limits.mailboxEvents && this.#bytes + bytes <= limits.mailboxBytes;
  }

  #leave({ events, bytes, share }: Mail<C, T>): void {
    this.#events -= events;
    this.#bytes -= bytes;
    if (share !== null) share.waiting -= events;
  }

  #largestShare(): Share | undefined {
    let most: Share | undefined;
    for (const { share } of this.#mail) if (share !== null && share.waiting > (most?.waiting ?? 0)) most = share;
    return most;
  }
}
