/**
 * Controls this node's copy of the group for the cluster member. It applies slots of the shared log, makes the node
 * lead, and makes it follow again. These steps run one at a time.
 */
import type { GroupLoop } from '../group/actor/loop.js';
import type { Timers } from '../group/ports/clock.js';
import type { GroupPool } from '../group/ports/pool.js';
import type { Fence, Slot } from '../group/ports/shared-log.js';
import { DivergedError } from '../group/ports/storage-errors.js';
import type { MemberGroup } from './member-deps.js';

/** The log of this node, as a follower and as the leader. */
export interface FollowingLog {
  take(slots: readonly Slot[]): Promise<void>;
  /** Resolves once the files of this node hold every slot that it took. */
  stored(): Promise<void>;
  /** Returns whether the slot erases players. A snapshot from before the slot would restore them. */
  forgets(slot: Slot): boolean;
  lead(fence: Fence): void;
  follow(): void;
  settled(): Promise<void>;
  /** First record of the batches that this node's files do not hold yet; null if there is none. */
  readonly storingFrom: number | null;
}

export interface LocalGroupDeps {
  readonly log: FollowingLog;
  readonly timers: Pick<Timers, 'soon'>;
  /** Returns the loop of the group, which `reload` replaces. */
  readonly loop: () => GroupLoop;
  /** Recovers the state from this node's log. */
  readonly reload: () => Promise<void>;
  /** Applies the group's settings in the configuration, once this node leads. */
  readonly configure: () => Promise<void>;
  readonly snapshotSeq: () => number;
  readonly unfit: () => string | null;
  readonly unfitToLead: () => string | null;
  readonly roleChanged: () => void;
  /** Called when replaced records are left in the free space of this node's files. */
  readonly replaced: () => void;
}

export class LocalGroup implements MemberGroup {
  readonly #deps: LocalGroupDeps;
  /** Counts the changes of role, so that a step can detect a later change. */
  #turn = 0;
  /** The last step. The next step starts after the last step ends. */
  #steps: Promise<unknown> = Promise.resolve();

  constructor(deps: LocalGroupDeps) {
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

  get pool(): GroupPool {
    return this.#deps.loop().pool;
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

  /** Resumes work that waited for room in the shared log. */
  writableChanged(): void {
    this.#deps.loop().writableChanged();
  }

  get weights() {
    const { basedOnSeq, computedAt } = this.#deps.loop().weights;
    return { basedOnSeq, computedAt };
  }

  noteWeights(basedOnSeq: number, computedAt: number | null): void {
    this.#deps.loop().weights.published(Math.min(basedOnSeq, this.appliedSeq), computedAt);
  }

  forgetErased(): Promise<void> {
    return this.#deps.loop().forgetErased();
  }

  take(slots: readonly Slot[]): Promise<void> {
    return this.#runInOrder(async () => {
      this.#demandContinuation(slots);
      let plain: Slot[] = [];
      for (const slot of slots) {
        if (slot.redactions.length > 0) {
          await this.#takeNow(plain);
          plain = [];
          await this.#deps.log.stored();
          if (this.#deps.log.forgets(slot)) await this.forgetErased();
          this.#deps.replaced();
        }
        plain.push(slot);
      }
      await this.#takeNow(plain);
    });
  }

  /** Throws `DivergedError` if the slots do not continue the log of this node, before any of them is stored. */
  #demandContinuation(slots: readonly Slot[]): void {
    const { appliedSeq } = this;
    const next = slots.find(({ firstSeq }) => firstSeq > appliedSeq);
    if (next === undefined || this.#deps.loop().actor.precedes(next)) return;
    throw new DivergedError(`the slot at record ${next.firstSeq} does not follow record ${appliedSeq} of this node`);
  }

  async #takeNow(slots: readonly Slot[]): Promise<void> {
    const { appliedSeq } = this;
    // Another step may have applied some of the slots.
    const next = slots.filter(({ firstSeq }) => firstSeq > appliedSeq);
    if (next.length === 0) return;
    await this.#deps.log.take(next);
    this.#deps.loop().followed(next);
  }

  /** Does nothing if `follow` is called before the step runs, because this node has then lost the fence. */
  lead(fence: Fence): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    return this.#runInOrder(async () => {
      if (turn !== this.#turn) return;
      const { log, loop, roleChanged } = this.#deps;
      log.lead(fence);
      roleChanged();
      loop().lead();
      await this.configure();
    });
  }

  /** Applies the configuration of this node, which leads. */
  async configure(): Promise<void> {
    const turn = this.#turn;
    await this.#deps.configure().catch((error: unknown) => {
      // A command that was refused because this node no longer leads does not mean that the configuration is wrong.
      if (turn === this.#turn) throw error;
    });
  }

  /** Handles a state that is ahead of this node's files: ends the loop. The next `follow` replaces it. */
  storeFailed(error: unknown): void {
    this.#deps.loop().fail(error);
  }

  follow(): Promise<void> {
    this.#turn += 1;
    // These calls are synchronous, so that the node decides nothing while an earlier step ends.
    this.#deps.log.follow();
    this.#deps.loop().follow();
    return this.#runInOrder(async () => {
      const { log, timers, loop, roleChanged, reload } = this.#deps;
      roleChanged();
      await log.settled();
      // The commands that wait for the append are answered first.
      await new Promise<void>((resolve) => timers.soon(resolve));
      if (!loop().failed && loop().actor.isSettled) return;
      loop().replace();
      await reload();
    });
  }

  #runInOrder<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#steps.then(step);
    this.#steps = done.catch(() => undefined);
    return done;
  }
}
