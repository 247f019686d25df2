/** Renews this node's lease, which ends by its own monotonic clock a margin before etcd lets it expire. */
import { every, type RandomSource, type Timers } from '../group/ports/clock.js';
import type { SharedLog } from '../group/ports/shared-log.js';
import { limits } from '../limits.js';

export interface LeaseDeps {
  readonly log: Pick<SharedLog, 'grantLease' | 'keepAlive' | 'revokeLease'>;
  readonly ttlS: number;
  readonly timers: Pick<Timers, 'elapsed' | 'later'>;
  readonly random: Pick<RandomSource, 'bytes'>;
  /** `isNew`: the lease was granted again, so that keys of the old one are gone. `sentAt`: the call, by `elapsed`. */
  readonly onRenewed: (isNew: boolean, sentAt: number) => void;
  /** Called once etcd may let the lease expire. */
  readonly onExpired: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** Returns an id for a lease: a positive number of 63 bits. */
export function drawLeaseId(random: Pick<RandomSource, 'bytes'>): string {
  return String((Buffer.from(random.bytes(8)).readBigUInt64BE() >> 2n) + 1n);
}

export class Lease {
  #id: string | null = null;
  #validUntil = Number.NEGATIVE_INFINITY;
  #isExpiryReported = true;
  #stopTimers: (() => void)[] = [];
  #isRenewing = false;
  #ended = false;

  constructor(private readonly deps: LeaseDeps) {}

  /** Null if the lease may have expired. */
  get id(): string | null {
    return this.leftMs > 0 ? this.#id : null;
  }

  get leftMs(): number {
    return Math.max(0, this.#validUntil - this.deps.timers.elapsed());
  }

  start(): void {
    const { timers, ttlS } = this.deps;
    this.#stopTimers = [
      every(timers, (ttlS * 1000) / 4, () => void this.#renew()),
      every(timers, limits.leaseLookMs, () => this.#checkExpiry()),
    ];
    void this.#renew();
  }

  /** Removes the lease and its keys at once. The next renewal grants a new lease, unless `end` was called. */
  async revoke(): Promise<void> {
    const id = this.#id;
    this.#forget();
    if (id !== null) await this.deps.log.revokeLease(id);
  }

  async end(): Promise<void> {
    this.#ended = true;
    for (const stop of this.#stopTimers) stop();
    await this.revoke();
  }

  #checkExpiry(): void {
    if (this.#isExpiryReported || this.leftMs > 0) return;
    this.#isExpiryReported = true;
    this.deps.onExpired();
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#ended) return;
    this.#isRenewing = true;
    const { log, ttlS, timers, random, onRenewed, onFailure } = this.deps;
    // The time of the lease starts when etcd handles the call, which is never before this moment.
    const sentAt = timers.elapsed();
    const id = this.#id;
    try {
      if (id === null) {
        const made = drawLeaseId(random);
        await log.grantLease(made, ttlS);
        if (this.#ended) return void (await log.revokeLease(made));
        this.#id = made;
        this.#extend(sentAt);
        onRenewed(true, sentAt);
      } else if ((await log.keepAlive(id, (ttlS * 1000) / 2)) > 0) {
        if (this.#id !== id) return;
        this.#extend(sentAt);
        onRenewed(false, sentAt);
      } else if (this.#id === id) {
        this.#forget();
        this.#checkExpiry();
      }
    } catch (error) {
      onFailure(error);
    } finally {
      this.#isRenewing = false;
    }
  }

  #extend(sentAt: number): void {
    this.#validUntil = sentAt + this.deps.ttlS * 1000 - limits.leaseMarginMs;
    // The answer to a process that was paused may come after the end, which is still to be reported.
    if (this.leftMs > 0) this.#isExpiryReported = false;
  }

  #forget(): void {
    this.#id = null;
    this.#validUntil = Number.NEGATIVE_INFINITY;
  }
}
