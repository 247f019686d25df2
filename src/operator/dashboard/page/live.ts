/** The newest overview, as the server sends it, and whether it still does. */

import type { OverviewValue } from '../wire.js';
import { get, Refused, toSignIn } from './api.js';

export type Connection = 'connecting' | 'live' | 'lost';

type Listener = (overview: OverviewValue) => void;

/** Told of each change of the connection, and each second of the age of the newest overview. */
export interface LiveWatcher {
  onConnection(connection: Connection): void;
  /** `ageMs` is null before the first overview. */
  onAge(ageMs: number | null): void;
}

const retryMs = 5_000;
const lookMs = 1_000;
/** The server sends an overview every 2 s: after such a silence the figures are old, whatever the connection says. */
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

  /** Told at once where an overview is known, then of every new one. Answers how to stop. */
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
      // The browser comes back by itself unless the server said no, and does not tell why it did.
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
