/** Receives the overviews that the server sends, holds the newest one, and tracks the state of the connection. */

import type { OverviewValue } from '../wire.js';
import { get, Refused, toSignIn } from './api.js';

export type Connection = 'connecting' | 'live' | 'lost';

type Listener = (overview: OverviewValue) => void;

/** Notified of each change of the connection, and every second of the age of the newest overview. */
export interface LiveWatcher {
  onConnection(connection: Connection): void;
  /** `ageMs` is null before the first overview. */
  onAge(ageMs: number | null): void;
}

const retryMs = 5_000;
const lookMs = 1_000;
/**
 * The server sends an overview every 2 s: after this silence the figures are outdated, whatever the state of the
 * connection.
 */
const silentMs = 3_500;

export class Live {
  readonly #listeners = new Set<Listener>();
  readonly #watcher: LiveWatcher;
  #connection: Connection = 'connecting';
  #heardAt: number | null = null;
  overview: OverviewValue | null = null;

  constructor(watcher: LiveWatcher) {
    this.#watcher = watcher;
    this.#open();
    setInterval(() => this.#look(), lookMs);
  }

  #look(): void {
    const ageMs = this.#heardAt === null ? null : performance.now() - this.#heardAt;
    if (this.#connection === 'live' && ageMs !== null && ageMs > silentMs) this.#turn('lost');
    this.#watcher.onAge(ageMs);
  }

  /**
   * Calls the listener at once if there is an overview, then for each new one. Returns a function that ends the
   * subscription.
   */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.overview !== null) listener(this.overview);
    return () => this.#listeners.delete(listener);
  }

  #open(): void {
    const source = new EventSource('live');
    source.addEventListener('overview', ({ data }: MessageEvent<string>) => {
      const overview: OverviewValue = JSON.parse(data);
      this.overview = overview;
      this.#heardAt = performance.now();
      this.#turn('live');
      this.#watcher.onAge(0);
      for (const listener of this.#listeners) listener(overview);
    });
    source.addEventListener('ended', () => {
      source.close();
      toSignIn();
    });
    source.addEventListener('error', () => {
      this.#turn('lost');
      // The browser reconnects by itself unless the server refused the stream, and does not report the reason.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => void this.#again(), retryMs);
    });
  }

  async #again(): Promise<void> {
    try {
      await get('session');
    } catch (error) {
      if (error instanceof Refused && error.code === 'invalid_session') return;
    }
    this.#open();
  }

  #turn(connection: Connection): void {
    if (connection === this.#connection) return;
    this.#connection = connection;
    this.#watcher.onConnection(connection);
  }
}
