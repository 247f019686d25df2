/** Limits the requests of one peer and of one address per second, and registrations of one address per hour. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { refused } from '../../errors.js';
import { limits } from '../../limits.js';
import type { HttpSettings } from '../deps.js';
import { refusalReply } from './reply.js';
import type { ApiReply } from './request.js';

/** Null for a limit that is off. */
export function createRateLimits(settings: HttpSettings) {
  const limit = (name: string, count: number, windowS: number) =>
    count === 0 ? null : new CallerLimit(name, count, windowS);
  return {
    peer: limit('peer', settings.rateLimitPeerPerS, 1),
    address: limit('address', settings.rateLimitAddressPerS, 1),
    registrations: limit('registrations', settings.registrationsPerAddressPerHour, HOUR_S),
  };
}

const SECOND_MS = 1000;
const HOUR_S = 3600;

export class CallerLimit {
  readonly #limiter: RateLimiterMemory;
  /** Counted callers and the end of their count, in ms of `performance.now()`. */
  readonly #callers = new Map<string, number>();
  #sweptAt = 0;

  /** `name`: the policy in answers; `count`: the quota in `windowS`; `callersMax`: callers with an own count. */
  constructor(
    private readonly name: string,
    private readonly count: number,
    private readonly windowS = 1,
    private readonly callersMax: number = limits.rateLimitCallersMax,
  ) {
    this.#limiter = new RateLimiterMemory({ points: count, duration: windowS });
  }

  /** Counts one request of a caller. Resolves to the refusal if the quota is exceeded, else null. */
  async consume(caller: string): Promise<ApiReply | null> {
    const key = this.#keyOf(caller);
    try {
      await this.#limiter.consume(key);
      return null;
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      // Refused requests must not extend the wait after a batch.
      await this.#limiter.reward(key, 1);
      return this.#refusal(error.msBeforeNext);
    }
  }

  /** Counts `more` requests of a caller. If they exceed the quota of the window, the next request waits. */
  async charge(caller: string, more: number): Promise<void> {
    const key = this.#keyOf(caller);
    const { consumedPoints } = await this.#limiter.penalty(key, more);
    if (consumedPoints <= this.count) return;
    const waitS = (consumedPoints / this.count) * this.windowS;
    await this.#limiter.set(key, consumedPoints, waitS);
    this.#callers.set(key, performance.now() + waitS * SECOND_MS);
  }

  /** Counts callers separately up to a bound, which bounds the memory for any number of callers. */
  #keyOf(caller: string): string {
    const now = performance.now();
    const until = this.#callers.get(caller);
    if (until === undefined) {
      if (this.#callers.size >= this.callersMax) this.#sweep(now);
      if (this.#callers.size >= this.callersMax) return 'others';
    }
    const windowMs = this.windowS * SECOND_MS;
    if (until === undefined || until < now + windowMs) this.#callers.set(caller, now + windowMs);
    return caller;
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < SECOND_MS) return;
    this.#sweptAt = now;
    for (const [caller, until] of this.#callers) if (until <= now) this.#callers.delete(caller);
  }

  /** Fields as in draft-ietf-httpapi-ratelimit-headers-10. */
  #refusal(waitMs: number): ApiReply {
    const retryAfterS = Math.max(1, Math.ceil(waitMs / SECOND_MS));
    const per = this.windowS === HOUR_S ? { per_hour: this.count } : { per_s: this.count };
    const reply = refusalReply(refused('rate_limited', { retryAfterS, details: { limit: this.name, ...per } }));
    const headers = {
      ...reply.headers,
      'RateLimit-Policy': `"${this.name}";q=${this.count};w=${this.windowS}`,
      RateLimit: `"${this.name}";r=0;t=${retryAfterS}`,
    };
    return { ...reply, headers };
  }
}
