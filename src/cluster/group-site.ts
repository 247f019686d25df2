/**
 * The group of this node as its role needs it: takes slots over into log and state, leads, and follows again. One such
 * step at a time.
 */
import type { GroupLoop } from '../group/actor/loop.js';
import type { Fence, Slot } from '../group/ports/shared-log.js';
import type { MemberSite } from './member-deps.js';

/** This node's log, as it follows and leads. */
export interface FollowingLog {
  take(slots: readonly Slot[]): Promise<void>;
  forgets(slot: Slot): boolean;
  lead(fence: Fence): void;
  follow(): void;
  settled(): Promise<void>;
  /** First record of the batch that this node's files do not hold yet; null if there is none. */
  readonly storingFrom: number | null;
}

export interface GroupSiteDeps {
  readonly log: FollowingLog;
  /** The group's loop; another one after `reload`. */
  readonly loop: () => GroupLoop;
  /** Makes the state anew from this node's log. */
  readonly reload: () => Promise<void>;
  /** What the configuration says of the group, once this node decides. */
  readonly configure: () => Promise<void>;
  readonly snapshotSeq: () => number;
  readonly unfit: () => string | null;
  readonly unfitToLead: () => string | null;
  readonly roleChanged: () => void;
  /** Slots with records to replace were taken over: this node's free space still holds them. */
  readonly replaced: () => void;
}

export class GroupSite implements MemberSite {
  readonly #deps: GroupSiteDeps;
  /** Counts the changes of role, so that a step knows whether another one was asked for meanwhile. */
  #turn = 0;
  /** One step at a time. */
  #line: Promise<unknown> = Promise.resolve();

  constructor(deps: GroupSiteDeps) {
    this.#deps = deps;
  }

  get appliedSeq(): number {
    return this.#deps.loop().actor.durableSeq;
  }

  /** The newest record that this node's own files hold. */
  get durableSeq(): number {
    const { storingFrom } = this.#deps.log;
    return storingFrom === null ? this.appliedSeq : Math.min(this.appliedSeq, storingFrom - 1);
  }

  get snapshotSeq(): number {
    return this.#deps.snapshotSeq();
  }

  get unfit(): string | null {
    return this.#deps.unfit();
  }

  get unfitToLead(): string | null {
    return this.#deps.unfitToLead();
  }

  get weights() {
    const { basedOnSeq, computedAt } = this.#deps.loop().weights;
    return { basedOnSeq, computedAt };
  }

  noteWeights(basedOnSeq: number, computedAt: number | null): void {
    this.#deps.loop().weights.published(Math.min(basedOnSeq, this.appliedSeq), computedAt);
  }

  take(slots: readonly Slot[]): Promise<void> {
    return this.#inLine(async () => {
      let plain: Slot[] = [];
      for (const slot of slots) {
        if (slot.redactions.length > 0) {
          await this.#takeNow(plain);
          plain = [];
          if (this.#deps.log.forgets(slot)) await this.#deps.loop().forgetErased();
          this.#deps.replaced();
        }
        plain.push(slot);
      }
      await this.#takeNow(plain);
    });
  }

  async #takeNow(slots: readonly Slot[]): Promise<void> {
    const { appliedSeq } = this;
    // Taken by another path meanwhile.
    const next = slots.filter(({ firstSeq }) => firstSeq > appliedSeq);
    if (next.length === 0) return;
    await this.#deps.log.take(next);
    this.#deps.loop().followed(next);
  }

  /** Does nothing more once `follow` was called: the fence is then no longer this node's. */
  lead(fence: Fence): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    return this.#inLine(async () => {
      if (turn !== this.#turn) return;
      const { log, loop, roleChanged, configure } = this.#deps;
      log.lead(fence);
      roleChanged();
      loop().lead();
      await configure().catch((error: unknown) => {
        // A command that was refused because this node no longer leads says nothing about the configuration.
        if (turn === this.#turn) throw error;
      });
    });
  }

  follow(): Promise<void> {
    this.#turn += 1;
    // At once: nothing is decided while a step before ends.
    this.#deps.log.follow();
    this.#deps.loop().follow();
    return this.#inLine(async () => {
      const { log, loop, roleChanged, reload } = this.#deps;
      roleChanged();
      await log.settled();
      // What waited for the append is told of it first.
      await new Promise((resolve) => setImmediate(resolve));
      if (!loop().failed && loop().actor.isSettled) return;
      loop().replace();
      await reload();
    });
  }

  #inLine<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#line.then(step);
    this.#line = done.catch(() => undefined);
    return done;
  }
}
