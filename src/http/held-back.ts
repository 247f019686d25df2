/**
 * Tells a caller that is late from a node that did not read on. The parser counts from the first byte of a request; where one was
 * cut because reading stopped, the time until its rest could be read is not the caller's.
 */
import type { Duplex } from 'node:stream';
import { limits } from '../limits.js';

export class HeldBack {
  /** When reading last began again, by `performance.now()`. */
  readonly #readSince = new WeakMap<Duplex, number>();

  /** Watches a connection for as long as it lives. */
  add(socket: Duplex): void {
    socket.on('resume', () => this.#readSince.set(socket, performance.now()));
  }

  /** Whether what a connection lacks may be on its way still, unread: `again` then acts once that has had its time. */
  excuses(socket: Duplex, again: () => void): boolean {
    const readMs = performance.now() - (this.#readSince.get(socket) ?? Number.NEGATIVE_INFINITY);
    if (!socket.isPaused() && readMs >= limits.headersTimeoutMs) return false;
    setTimeout(again, limits.headersTimeoutMs).unref();
    return true;
  }
}
