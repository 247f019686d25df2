/**
 * The calls of the service's HTTP interface that the bench makes, over kept-alive connections. A call is retried within
 * a bound while the node is busy (429, 503) or does not answer.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import type { EventBody } from '../src/contract/request-bodies.js';
import type {
  BatchResultBody,
  HealthBody,
  MatchScoresBody,
  RegisteredPeerBody,
} from '../src/contract/response-bodies.js';

const retryForMs = 60_000;
const retryAfterDefaultMs = 100;
const retryAfterMaxMs = 5_000;

export type RegisteredPeer = Pick<RegisteredPeerBody, 'peer_id' | 'api_key'>;
export type ScoreReply = MatchScoresBody['data'][number];
export type HealthReply = HealthBody;

export class ApiClient {
  readonly #pool: Pool;

  constructor(url: string, connections: number) {
    this.#pool = new Pool(url, { connections });
  }

  register(peerName: string, gameId: string): Promise<RegisteredPeer> {
    return this.#call('POST', '/api/v1/peers/register', { body: { peer_name: peerName, game_ids: [gameId] } });
  }

  submit(events: readonly EventBody[], apiKey?: string): Promise<BatchResultBody> {
    return this.#call('POST', '/api/v1/events/batch', { body: { events }, ...(apiKey !== undefined && { apiKey }) });
  }

  async scores(playerIds: readonly string[]): Promise<readonly ScoreReply[]> {
    const ids = playerIds.map(encodeURIComponent).join(',');
    const reply = await this.#call<{ data: readonly ScoreReply[] }>('GET', `/api/v1/trust-scores?ids=${ids}`);
    return reply.data;
  }

  health(): Promise<HealthReply> {
    return this.#call('GET', '/api/v1/health');
  }

  /** Destroys the connections. Calls in flight and calls that wait for a retry reject. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /**
   * Resolves with the body of a 2xx answer. Rejects with an error that quotes the body on any status that no retry
   * cures.
   */
  async #call<T>(method: 'GET' | 'POST', path: string, more: { body?: object; apiKey?: string } = {}): Promise<T> {
    const request: Dispatcher.RequestOptions = {
      method,
      path,
      headers: {
        ...(more.body && { 'content-type': 'application/json' }),
        ...(more.apiKey !== undefined && { 'x-peer-api-key': more.apiKey }),
      },
      ...(more.body && { body: JSON.stringify(more.body) }),
    };
    const giveUpMs = performance.now() + retryForMs;
    for (;;) {
      let [status, text, retryAfterMs] = [noAnswer, '', retryAfterDefaultMs];
      try {
        const answer = await this.#pool.request(request);
        status = answer.statusCode;
        const seconds = Number(answer.headers['retry-after'] ?? Number.NaN);
        if (Number.isFinite(seconds)) retryAfterMs = Math.min(seconds * 1000, retryAfterMaxMs);
        text = await answer.body.text();
      } catch (error) {
        [status, text] = [noAnswer, String(error)];
      }
      if (status >= 200 && status < 300) return JSON.parse(text) as T;
      const what = `${method} ${path.slice(0, 60)}: ${status || ''} ${text.slice(0, 300)}`;
      if (this.#pool.destroyed || !curable.includes(status)) throw new Error(what);
      if (performance.now() + retryAfterMs > giveUpMs) throw new Error(`${what}, for ${retryForMs} ms`);
      await delay(retryAfterMs);
    }
  }
}

/** Stands for a failed connection, in place of a status. The outcome of the request is then unknown. */
const noAnswer = 0;
/** Resending is safe: events are idempotent by `event_id`, and a peer that is registered twice only leaves one idle. */
const curable = [noAnswer, 429, 503];
