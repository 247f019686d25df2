/** Holds the newest changes of verdicts for the dashboard, from the change feed. Forgets a player that is erased. */
import type { ChangeRow, FeedListener, FeedPosition } from '../../group/verdict-changes.js';
import { limits } from '../../limits.js';
import { isoTime } from '../../operations/operation.js';
import type { VerdictChangeValue } from './wire.js';

export class VerdictHistory implements FeedListener {
  /** The newest change of each player; the newest last. */
  readonly #changes = new Map<string, VerdictChangeValue>();

  async publish(rows: readonly ChangeRow[], mark: FeedPosition | null): Promise<void> {
    for (const { subject, player, was } of rows) {
      if (player === null) this.#changes.delete(subject);
      if (player === null || was === undefined || mark === null) continue;
      const { verdict } = player;
      this.#changes.delete(subject);
      this.#changes.set(subject, { subject_hash: subject, at: isoTime(mark.asOf), was, verdict });
      const [oldest] = this.#changes.keys();
      if (this.#changes.size > limits.verdictChangesMax && oldest !== undefined) this.#changes.delete(oldest);
    }
  }

  /** The changes so far stay true. */
  forgotten(): void {}

  /** The newest first. */
  value(): readonly VerdictChangeValue[] {
    return [...this.#changes.values()].reverse();
  }
}
