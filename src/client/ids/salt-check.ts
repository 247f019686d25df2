/**
 * Compares the client's salt with the group's at the first contact with the node, so that a wrong salt is an error and
 * not a group of unknown players.
 */
import * as crypto from 'node:crypto';
import { bounds } from '../bounds.js';
import { type Answer, isRecord } from '../transport/caller.js';
import { onAbort, type Runtime } from '../transport/runtime.js';
import { TrustError } from '../trust-error.js';

/** Reads `GET /peers`. Rejects with a `TrustError` where the node does not answer. */
export type ReadPeers = () => Promise<Answer>;

/** The first 8 hexadecimal digits of SHA-256("ptf-salt-check" + salt), as `GET /peers` shows them. */
export function saltCheckOf(salt: string): string {
  return crypto.hash('sha256', `ptf-salt-check${salt}`, 'hex').slice(0, 8);
}

export class SaltCheck {
  readonly #expected: string;
  readonly #runtime: Runtime;
  readonly #readPeers: ReadPeers;
  #matches = false;
  #kinds: readonly string[] | null | undefined;
  #mismatch: TrustError | null = null;
  #mismatchAt = 0;
  #running: Promise<void> | null = null;

  constructor(salt: string, runtime: Runtime, readPeers: ReadPeers) {
    this.#expected = saltCheckOf(salt);
    this.#runtime = runtime;
    this.#readPeers = readPeers;
  }

  /** Whether the salt is the group's, as far as the node tells. */
  get isVerified(): boolean {
    return this.#matches;
  }

  /** The kinds of player ids that the group takes; null where its ids are opaque, undefined while nobody knows. */
  get kinds(): readonly string[] | null | undefined {
    return this.#kinds;
  }

  /** The error of a salt that is known not to be the group's; null where it is the group's, or nothing is known yet. */
  get mismatch(): TrustError | null {
    return this.#mismatch;
  }

  /**
   * Whether `verify` has nothing left to ask. A mismatch is asked about again after a while, since an address may have
   * led to another group's node.
   */
  get isSettled(): boolean {
    if (this.#matches) return true;
    return this.#mismatch !== null && this.#runtime.elapsedMs() - this.#mismatchAt < bounds.saltRecheckMs;
  }

  /** Makes the next `verify` ask the node again, however young a mismatch is. */
  askAgain(): void {
    this.#mismatchAt = Number.NEGATIVE_INFINITY;
  }

  /** Rejects with `salt_mismatch`, with what kept the node from answering, or with the signal's reason. */
  async verify(signal?: AbortSignal): Promise<void> {
    if (!this.isSettled) {
      this.#running ??= this.#ask().finally(() => {
        this.#running = null;
      });
      await abortable(this.#running, signal);
    }
    if (this.#mismatch !== null) throw this.#mismatch;
  }

  async #ask(): Promise<void> {
    const { body } = await this.#readPeers();
    const group = isRecord(body) && isRecord(body.group) ? body.group : {};
    const found = group.salt_check;
    const kinds = group.player_id_kinds;
    // A node that states none takes ids as they are.
    this.#kinds = Array.isArray(kinds) && kinds.length > 0 ? kinds.map(String) : null;
    // A node that publishes none cannot be asked.
    this.#matches = typeof found !== 'string' || found === this.#expected;
    this.#mismatch = this.#matches ? null : mismatchOf(String(group.group_id), String(found), this.#expected);
    this.#mismatchAt = this.#runtime.elapsedMs();
  }
}

function mismatchOf(groupId: string, found: string, expected: string): TrustError {
  return new TrustError(
    'salt_mismatch',
    `groupSalt is not the salt of the group ${JSON.stringify(groupId)}: the node's salt_check is ${found}, that of groupSalt is ${expected}; give the client the node's GROUP_SALT`,
  );
}

/** The promise, or a rejection with the signal's reason where that is aborted first. */
function abortable(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      // Another caller, or nobody, waits for it.
      promise.catch(() => undefined);
      reject(signal.reason);
      return;
    }
    const release = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(release);
  });
}
