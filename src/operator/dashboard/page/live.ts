/** The newest overview, as the server sends it, and whether it still does. */

import type { OverviewValue } from '../wire.js';
import { get, Refused, toSignIn } from './api.js';

export type Connection = 'connecting' | 'live' | 'lost';

type Listener = (overview: OverviewValue) => void;

const retryMs = 5_000;

export class Live {
  readonly #listeners = new Set<Listener>();
  readonly #onConnection: (connection: Connection) => void;
  #connection: Connection = 'connecting';
  overview: OverviewValue | null = null;

  constructor(onConnection: (connection: Connection) => void) {
    this.#onConnection = onConnection;
    this.#open();
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
      this.#turn('live');
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
    this.#onConnection(connection);
  }
}
