/**
 * Delivers one webhook until the receiver accepts it: signed according to Standard Webhooks, retried with backoff and
 * at least as long as the receiver asks to wait. The address may contain a secret, so that only its host is logged.
 */
import { Webhook } from 'standardwebhooks';
import { request } from 'undici';
import { bounds } from '../../client/bounds.js';
import { fullJitterMs, pause, type Runtime } from '../../client/transport/time.js';
import { PeerError } from '../peer-error.js';
import { discordBody, type VerdictChange, webhookBody } from './verdict-change.js';

export interface WebhookOptions {
  readonly url: string;
  /** `whsec_` and base64, or base64 alone; not used with `discord`. */
  readonly secret: string;
  readonly discord: boolean;
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
  /** Reports the problem that prevents deliveries; null once they work. */
  readonly say: (problem: string | null) => void;
}

/** Statuses by which a receiver rejects this very message. */
const contentFaults: readonly number[] = [400, 413, 422];
const gone = 410;

export class WebhookSender {
  readonly #options: WebhookOptions;
  readonly #host: string;

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#host = new URL(options.url).host;
  }

  /**
   * Resolves with true if the receiver accepted the webhook, and with false if it rejected the message itself
   * repeatedly. Rejects with `webhook_gone` if the receiver wants no further webhooks, and with the reason of the
   * signal.
   */
  async send(change: VerdictChange): Promise<boolean> {
    const { discord, runtime, signal, say } = this.#options;
    const text = JSON.stringify(discord ? discordBody(change) : webhookBody(change));
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#attempt(change.id, text);
      if (answer.status >= 200 && answer.status < 300) {
        say(null);
        return true;
      }
      if (answer.status === gone) {
        throw new PeerError('webhook_gone', `${this.#host} answered 410: it accepts no webhooks any more`, 1);
      }
      say(
        `${this.#host} ${answer.status === 0 ? 'does not answer' : `answered ${answer.status}`}; retried until the receiver accepts the webhook`,
      );
      if (contentFaults.includes(answer.status) && attempt + 1 >= bounds.webhookTriesMax) return false;
      const waitMs = fullJitterMs(runtime, attempt, bounds.webhookBackoffBaseMs, bounds.webhookBackoffCapMs);
      await pause(runtime, Math.min(answer.retryAfterMs, bounds.webhookBackoffCapMs) + waitMs, signal);
    }
  }

  /** Status 0 if no answer arrived. */
  async #attempt(id: string, text: string): Promise<{ status: number; retryAfterMs: number }> {
    const { url, signal } = this.#options;
    signal.throwIfAborted();
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'ptf-peer', ...this.#signature(id, text) },
        body: text,
        signal: AbortSignal.any([signal, AbortSignal.timeout(bounds.webhookAnswerMs)]),
      });
      await answer.body.dump();
      const { 'retry-after': after } = answer.headers;
      const seconds = typeof after === 'string' ? Number(after) : 0;
      return { status: answer.statusCode, retryAfterMs: seconds > 0 ? seconds * 1_000 : 0 };
    } catch {
      signal.throwIfAborted();
      return { status: 0, retryAfterMs: 0 };
    }
  }

  #signature(id: string, text: string): Record<string, string> {
    const { secret, discord, runtime } = this.#options;
    if (discord) return {};
    const now = new Date(runtime.now());
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, now, text),
    };
  }
}
