/**
 * The lease by which the others see that this node lives. Its keys in the shared log go with it. By its own clock,
 * which only runs forward, this node takes it to end a margin sooner than the others can.
 */
import { randomBytes } from 'node:crypto';
import type { SharedLog } from '../group/ports/shared-log.js';
import { limits } from '../limits.js';

export interface LeaseDeps {
  readonly log: Pick<SharedLog, 'grantLease' | 'keepAlive' | 'revokeLease'>;
  readonly ttlS: number;
  /** ms, by a clock that only runs forward. */
  readonly elapsed: () => number;
  /** It was renewed; `isNew`: granted anew, so that keys that were bound to the old one are gone. */
  readonly onRenewed: (isNew: boolean) => void;
  /** It may have ended, as others see it. */
  readonly onExpired: () => void;
  readonly onFailure: (error: unknown) => void;
}

export class Lease {
  readonly #deps: LeaseDeps;
  /** Null: none is granted. */
  #id: string | null = null;
  #validUntil = Number.NEGATIVE_INFINITY;
  #isExpiredTold = true;
  #timers: NodeJS.Timeout[] = [];
  #beating = false;
  #ended = false;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
  }

  /** Null where it may have ended. */
  get id(): string | null {
    return this.leftMs > 0 ? this.#id : null;
  }

  get leftMs(): number {
    return Math.max(0, this.#validUntil - this.#deps.elapsed());
  }

  start(): void {
    const beatMs = (this.#deps.ttlS * 1000) / 4;
    this.#timers = [setInterval(() => void this.#beat(), beatMs), setInterval(() => this.#look(), limits.leaseLookMs)];
    for (const timer of this.#timers) timer.unref();
    void this.#beat();
  }

  /** Its keys go at once; it is granted anew at the next beat, unless it was ended. */
  async revoke(): Promise<void> {
    const id = this.#id;
    this.#forget();
    if (id !== null) await this.#deps.log.revokeLease(id);
  }

  async end(): Promise<void> {
    this.#ended = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.revoke();
  }

  /** Whether it may have ended, asked right before something that needs it. */
  #look(): void {
    if (this.#isExpiredTold || this.leftMs > 0) return;
    this.#isExpiredTold = true;
    this.#deps.onExpired();
  }

  async #beat(): Promise<void> {
    if (this.#beating || this.#ended) return;
    this.#beating = true;
    const { log, ttlS, elapsed, onRenewed, onFailure } = this.#deps;
    // It runs from when etcd took the call, which is no sooner than this.
    const sentAt = elapsed();
    const id = this.#id;
    try {
      if (id === null) {
        const made = (randomBytes(8).readBigUInt64BE() >> 2n) + 1n;
        await log.grantLease(String(made), ttlS);
        if (this.#ended) return void (await log.revokeLease(String(made)));
        this.#id = String(made);
        this.#renewed(sentAt);
        onRenewed(true);
      } else if ((await log.keepAlive(id, (ttlS * 1000) / 2)) > 0) {
        if (this.#id !== id) return;
        this.#renewed(sentAt);
        onRenewed(false);
      } else if (this.#id === id) {
        this.#forget();
        this.#look();
      }
    } catch (error) {
      onFailure(error);
    } finally {
      this.#beating = false;
    }
  }

  #renewed(sentAt: number): void {
    this.#validUntil = sentAt + this.#deps.ttlS * 1000 - limits.leaseMarginMs;
    this.#isExpiredTold = this.leftMs <= 0;
  }

  #forget(): void {
    this.#id = null;
    this.#validUntil = Number.NEGATIVE_INFINITY;
  }
}
