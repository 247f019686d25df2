/** Asks for the overview of the node again and again, holds the newest one, and tracks whether the node answers. */
import type { OverviewValue } from '../wire.js';
import { get, Refused } from './requests.js';

export type Connection = 'connecting' | 'live' | 'lost';

const pauseMs = 2_000;
const lookMs = 1_000;
/** A path that went silent answers no request that is under way. */
const answerMs = 5_000;
/** After this silence the figures are outdated, even if an answer is still expected. */
const silentMs = 3_500;

export class Live {
  #receivedAt = 0;
  connection: Connection = 'connecting';
  overview: OverviewValue | null = null;

  /** `onOverview` is called with each overview, `onChange` with each change of the connection and every second. */
  constructor(onOverview: () => void, onChange: () => void) {
    void this.#ask(onOverview, onChange);
    setInterval(() => {
      if (this.connection === 'live' && this.ageMs > silentMs) this.connection = 'lost';
      onChange();
    }, lookMs);
  }

  get ageMs(): number {
    return performance.now() - this.#receivedAt;
  }

  async #ask(onOverview: () => void, onChange: () => void): Promise<void> {
    const answer = await get<OverviewValue>('overview', AbortSignal.timeout(answerMs)).catch((error: unknown) => error);
    if (answer instanceof Refused && answer.code === 'invalid_session') return;
    setTimeout(() => void this.#ask(onOverview, onChange), pauseMs);
    if (answer instanceof Error) {
      this.connection = 'lost';
      return onChange();
    }
    this.overview = answer as OverviewValue;
    this.#receivedAt = performance.now();
    this.connection = 'live';
    onOverview();
  }
}
