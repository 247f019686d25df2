/** Delivers one webhook until the receiver accepts it. Its address may contain a secret: only the host is logged. */
import { hash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { request } from 'undici';
import type { Runtime, TrustValues, Verdict } from '../../client/entry.js';
import { bounds, fullJitterMs, isRecord, jsonIn, pause, retryAfterMs } from '../../client/for-peer.js';
import { PeerError } from '../peer-error.js';

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
/** Statuses by which a receiver says that the address or its secret will never work again. */
const gone: readonly number[] = [401, 404, 410];
/** Discord's code for a webhook that was deleted. */
const discordGone = 10015;
const answerMax = 4_096;

/**
 * Returns a function that sends a change. It resolves with false if the receiver rejected the message itself
 * repeatedly, and rejects with `webhook_gone`, or if aborted.
 */
export function webhookSender(options: WebhookOptions): (change: VerdictChange) => Promise<boolean> {
  const { discord, runtime, signal, say } = options;
  const { host } = new URL(options.url);
  return async (change) => {
    const text = JSON.stringify(discord ? discordBody(change) : webhookBody(change));
    for (let attempt = 0, refusals = 0; ; attempt++) {
      const answer = await post(change.id, text, options);
      if (answer.status >= 200 && answer.status < 300) {
        say(null);
        return true;
      }
      if (gone.includes(answer.status) || answer.code === discordGone) {
        const text = `${host} answered ${answer.status}: it accepts no webhooks at this address any more; the relay ends`;
        throw new PeerError('webhook_gone', text, 1);
      }
      const happened = answer.status === 0 ? 'does not answer' : `answered ${answer.status}`;
      say(`${host} ${happened}; retried until the receiver accepts the webhook`);
      if (contentFaults.includes(answer.status) && ++refusals >= bounds.webhookTriesMax) return false;
      const waitMs = fullJitterMs(runtime, attempt, bounds.webhookBackoffBaseMs, bounds.webhookBackoffCapMs);
      await pause(runtime, Math.min(answer.retryAfterMs, bounds.webhookBackoffCapMs) + waitMs, signal);
    }
  };
}

/** Status 0 if no answer arrived. */
async function post(id: string, text: string, options: WebhookOptions) {
  const { url, signal, runtime } = options;
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'ptf-peer', ...signatureOf(id, text, options) },
      body: text,
      signal: AbortSignal.any([signal, AbortSignal.timeout(bounds.webhookAnswerMs)]),
    });
    const { 'retry-after': after } = answer.headers;
    const waitMs = typeof after === 'string' ? retryAfterMs(after, runtime.now()) : undefined;
    return { status: answer.statusCode, retryAfterMs: waitMs ?? 0, code: await codeIn(answer.body) };
  } catch {
    signal.throwIfAborted();
    return { status: 0, retryAfterMs: 0, code: undefined };
  }
}

function signatureOf(id: string, text: string, { secret, discord, runtime }: WebhookOptions): Record<string, string> {
  if (discord) return {};
  const now = new Date(runtime.now());
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, now, text),
  };
}

/** The code in a small JSON answer, such as those of Discord; undefined if there is none. */
async function codeIn(body: AsyncIterable<Buffer>): Promise<unknown> {
  let text = '';
  for await (const part of body) {
    text += part.toString('latin1');
    if (text.length > answerMax) return undefined;
  }
  const value = jsonIn(text);
  return isRecord(value) ? value.code : undefined;
}

export interface ChangeDraft {
  readonly subject: string;
  readonly from: Verdict;
  /** Null if the player was removed from the group. */
  readonly to: TrustValues | null;
}

export interface VerdictChange extends ChangeDraft {
  readonly id: string;
  /** Time at which this relay noticed the change, in ms since 1970. */
  readonly at: number;
}

/** Returns the id of a change, which follows from its position in the stream, so that a repetition has the same id. */
export function changeIdOf(lastEventId: string, nth: number, { subject, from, to }: ChangeDraft): string {
  const what = JSON.stringify([lastEventId, nth, subject, from, to?.verdict ?? null]);
  return `msg_${hash('sha256', what, 'hex').slice(0, 40)}`;
}

/** Returns the body of a webhook: the envelope that Standard Webhooks recommends. */
export function webhookBody({ subject, from, to, at }: VerdictChange): object {
  const timestamp = new Date(at).toISOString();
  if (to === null) {
    return { type: 'player.removed', timestamp, data: { subject_hash: subject, previous_verdict: from } };
  }
  const { verdict, score, confidence } = to;
  const data = { subject_hash: subject, verdict, previous_verdict: from, score, confidence };
  return { type: 'verdict.changed', timestamp, data };
}

const colours: Readonly<Record<Verdict, number>> = {
  trusted: 0x2e7d32,
  neutral: 0x757575,
  suspicious: 0xf9a825,
  untrusted: 0xc62828,
};
const hashShown = 16;

function discordBody({ id, subject, from, to, at }: VerdictChange): object {
  const field = (name: string, value: string) => ({ name, value, inline: true });
  const fields = [field('Player', `\`${subject.slice(0, hashShown)}…\``), field('Before', from)];
  if (to !== null) fields.push(field('Score', String(to.score)), field('Confidence', String(to.confidence)));
  const embed = {
    title: to === null ? 'A player was removed from the group' : `A player is now ${to.verdict}`,
    color: to === null ? colours.neutral : colours[to.verdict],
    fields,
    timestamp: new Date(at).toISOString(),
    footer: { text: id },
  };
  return { allowed_mentions: { parse: [] }, embeds: [embed] };
}
