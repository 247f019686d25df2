/** Receives the overviews that the server sends, holds the newest one, and tracks the state of the connection. */
import type { OverviewValue } from '../wire.js';
import { get, Refused, toSignIn } from './requests.js';

export type Connection = 'connecting' | 'live' | 'lost';

const retryMs = 5_000;
const lookMs = 1_000;
/** The server sends an overview every 2 s: after this silence the figures are outdated, whatever the connection. */
const silentMs = 3_500;

export class Live {
  readonly #onOverview: () => void;
  readonly #onChange: () => void;
  #receivedAt = 0;
  connection: Connection = 'connecting';
  overview: OverviewValue | null = null;

  /** `onOverview` is called with each overview, `onChange` with each change of the connection and every second. */
  constructor(onOverview: () => void, onChange: () => void) {
    this.#onOverview = onOverview;
    this.#onChange = onChange;
    this.#open();
    setInterval(() => {
      if (this.connection === 'live' && this.ageMs > silentMs) this.connection = 'lost';
      onChange();
    }, lookMs);
  }

  get ageMs(): number {
    return performance.now() - this.#receivedAt;
  }

  #open(): void {
    const source = new EventSource('live');
    source.addEventListener('overview', ({ data }: MessageEvent<string>) => {
      this.overview = JSON.parse(data);
      this.#receivedAt = performance.now();
      this.connection = 'live';
      this.#onOverview();
    });
    source.addEventListener('ended', () => {
      source.close();
      toSignIn();
    });
    source.addEventListener('error', () => {
      this.connection = 'lost';
      this.#onChange();
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
}
