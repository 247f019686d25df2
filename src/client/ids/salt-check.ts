/** Compares the client's salt with the group's at the first contact: a wrong one would make all players unknown. */
import * as crypto from 'node:crypto';
import { bounds } from '../bounds.js';
import { isRecord } from '../json-text.js';
import { type Answer, notTheContract } from '../transport/caller.js';
import { abortable } from '../transport/listeners.js';
import type { Runtime } from '../transport/time.js';
import { TrustError } from '../trust-error.js';

/** The first 8 hexadecimal digits of SHA-256("ptf-salt-check" + salt), as `GET /peers` returns them. */
export function saltCheckOf(salt: string): string {
  return crypto.hash('sha256', `ptf-salt-check${salt}`, 'hex').slice(0, 8);
}

export class SaltCheck {
  readonly #expected: string;
  /** True if the salt is the group's, or the node publishes no salt check. */
  isVerified = false;
  /** The kinds of ids that the group accepts; null if they are opaque, undefined before its node has answered. */
  kinds: readonly string[] | null | undefined;
  /** The error of a salt that is known to differ from the group's; null if it is the group's or not verified yet. */
  mismatch: TrustError | null = null;
  #mismatchAt = 0;
  #running: Promise<void> | null = null;

  /** `readPeers`: reads `GET /peers`; rejects with a `TrustError` if the node does not answer. */
  constructor(
    salt: string,
    private readonly runtime: Runtime,
    private readonly readPeers: () => Promise<Answer>,
  ) {
    this.#expected = saltCheckOf(salt);
  }

  /** True if `verify` need not ask the node. A mismatch is verified again after a while. */
  get isSettled(): boolean {
    if (this.isVerified) return true;
    return this.mismatch !== null && this.runtime.elapsedMs() - this.#mismatchAt < bounds.saltRecheckMs;
  }

  /** Makes the next `verify` ask the node again, however recent a mismatch is. */
  askAgain(): void {
    this.#mismatchAt = Number.NEGATIVE_INFINITY;
  }

  /** Rejects with `salt_mismatch`, with the error that prevented an answer, or with the signal's reason. */
  async verify(signal?: AbortSignal): Promise<void> {
    if (!this.isSettled) {
      this.#running ??= this.#ask().finally(() => {
        this.#running = null;
      });
      await abortable(this.#running, signal);
    }
    if (this.mismatch !== null) throw this.mismatch;
  }

  async #ask(): Promise<void> {
    const answer = await this.readPeers();
    const group = isRecord(answer.body) ? answer.body.group : undefined;
    if (!isRecord(group)) throw notTheContract(answer);
    const { salt_check: found, player_id_kinds: kinds } = group;
    // A node without a salt check cannot be compared.
    this.isVerified = typeof found !== 'string' || found === this.#expected;
    // A node that states no kinds accepts ids as they are. The node of another group states those of that group.
    if (this.isVerified) this.kinds = Array.isArray(kinds) && kinds.length > 0 ? kinds.map(String) : null;
    const text = `groupSalt is not the salt of the group ${JSON.stringify(String(group.group_id))}: the node's salt_check is ${found}, that of groupSalt is ${this.#expected}; give the client the node's GROUP_SALT`;
    this.mismatch = this.isVerified ? null : new TrustError('salt_mismatch', text);
    this.#mismatchAt = this.runtime.elapsedMs();
  }
}
