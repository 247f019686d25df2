/**
 * Stands in for the group until it is recovered, because a node of a cluster has a role before that; forwards every
 * call to the recovered group afterwards.
 */
import type { Timers } from '../group/ports/clock.js';
import type { Fence, Slot } from '../group/ports/shared-log.js';
import type { LocalGroup } from './local-group.js';
import type { MemberGroup } from './member-deps.js';

export class LateGroup implements MemberGroup {
  readonly #timers: Pick<Timers, 'later'>;
  #site: LocalGroup | null = null;
  #waiting: { readonly seq: number; readonly done: () => void }[] = [];

  constructor(timers: Pick<Timers, 'later'>) {
    this.#timers = timers;
  }

  /** The recovered group; null before. */
  get site(): LocalGroup | null {
    return this.#site;
  }

  bind(site: LocalGroup): void {
    this.#site = site;
  }

  get appliedSeq(): number {
    return this.#site?.appliedSeq ?? 0;
  }

  get durableSeq(): number {
    return this.#site?.durableSeq ?? 0;
  }

  get snapshotSeq(): number {
    return this.#site?.snapshotSeq ?? 0;
  }

  get unfit(): string | null {
    return this.#site?.unfit ?? null;
  }

  get unfitToLead(): string | null {
    return this.#site?.unfitToLead ?? null;
  }

  configure(): Promise<void> {
    return this.#bound.configure();
  }

  writableChanged(): void {
    this.#site?.writableChanged();
  }

  get weights() {
    return this.#site?.weights ?? { basedOnSeq: 0, computedAt: null };
  }

  noteWeights(basedOnSeq: number, computedAt: number | null): void {
    this.#site?.noteWeights(basedOnSeq, computedAt);
  }

  async take(slots: readonly Slot[]): Promise<void> {
    await this.#bound.take(slots);
    const { appliedSeq } = this;
    const reached = this.#waiting.filter(({ seq }) => seq <= appliedSeq);
    if (reached.length === 0) return;
    this.#waiting = this.#waiting.filter(({ seq }) => seq > appliedSeq);
    for (const { done } of reached) done();
  }

  lead(fence: Fence): Promise<void> {
    return this.#bound.lead(fence);
  }

  follow(): Promise<void> {
    return this.#site === null ? Promise.resolve() : this.#site.follow();
  }

  /**
   * Does nothing before the recovery, which waits until the files hold the first record: no state is ahead of them
   * until then.
   */
  storeFailed(error: unknown): void {
    this.#site?.storeFailed(error);
  }

  /** Makes the replica and the stream of this node forget erased players. */
  async forgetErased(): Promise<void> {
    await this.#site?.forgetErased();
  }

  /** Resolves to true once record `seq` is applied, and to false after `ms`. */
  async reached(seq: number, ms: number): Promise<boolean> {
    if (this.appliedSeq >= seq) return true;
    await new Promise<void>((resolve) => {
      const cancel = this.#timers.later(done, ms);
      const waiting = { seq, done };
      this.#waiting.push(waiting);
      const self = this;
      function done(): void {
        cancel();
        self.#waiting = self.#waiting.filter((other) => other !== waiting);
        resolve();
      }
    });
    return this.appliedSeq >= seq;
  }

  get #bound(): LocalGroup {
    if (this.#site === null) throw new Error('cluster: the group is used before its recovery has ended');
    return this.#site;
  }
}
