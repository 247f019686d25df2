/** Controls this node's copy of the group for the cluster member, one step at a time. */
import type { GroupLoop } from '../group/actor/loop.js';
import { type Timers, waitOf } from '../group/ports/clock.js';
import type { GroupPool } from '../group/ports/pool.js';
import type { Fence, Slot } from '../group/ports/shared-log.js';
import { DivergedError } from '../group/ports/storage.js';
import type { MemberGroup } from './member.js';

export interface FollowingLog {
  /** Takes slots without a wait. This node's files follow. */
  take(slots: readonly Slot[]): void;
  /** Resolves once there is room for more. */
  room(): Promise<void>;
  stored(): Promise<void>;
  lead(fence: Fence): void;
  follow(): void;
  /** Resolves once no append is in progress. */
  appended(): Promise<void>;
  settled(): Promise<void>;
}

export interface LocalGroupDeps {
  readonly log: FollowingLog;
  readonly loop: () => GroupLoop;
  readonly reload: () => Promise<void>;
  /** Applies the group's settings in the configuration, once this node leads. */
  readonly configure: () => Promise<void>;
  readonly snapshotSeq: () => number;
  readonly unfit: () => string | null;
  readonly unfitToLead: () => string | null;
  readonly refusal: () => string | null;
  readonly hasSettings: () => boolean;
  readonly roleChanged: () => void;
}

export class LocalGroup implements MemberGroup {
  /** Null until the group is recovered: the node has a role before that. */
  #parts: LocalGroupDeps | null = null;
  readonly #waiting = new Set<{ readonly seq: number; end(): void }>();
  /** Counts the changes of role, so that a step can detect a later change. */
  #turn = 0;
  /** The last step. The next step starts after the last step ends. */
  #steps: Promise<unknown> = Promise.resolve();

  constructor(private readonly timers: Pick<Timers, 'later' | 'soon'>) {}

  open(parts: LocalGroupDeps): void {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#parts !== null;
  }

  get #deps(): LocalGroupDeps {
    if (this.#parts === null) throw new Error('cluster: the group is used before its recovery has ended');
    return this.#parts;
  }

  get appliedSeq(): number {
    return this.#parts?.loop().actor.durableSeq ?? 0;
  }

  /** The newest record that this node's own files hold. */
  get durableSeq(): number {
    return this.#parts?.loop().storedSeq ?? 0;
  }

  get pool(): GroupPool {
    return this.#deps.loop().pool;
  }

  get snapshotSeq(): number {
    return this.#parts?.snapshotSeq() ?? 0;
  }

  get unfit(): string | null {
    return this.#parts?.unfit() ?? null;
  }

  get unfitToLead(): string | null {
    return this.#parts?.unfitToLead() ?? null;
  }

  get refusal(): string | null {
    return this.#parts?.refusal() ?? null;
  }

  get hasSettings(): boolean {
    return this.#parts?.hasSettings() ?? false;
  }

  writableChanged(): void {
    this.#parts?.loop().writableChanged();
  }

  get weights() {
    const { basedOnSeq, computedAt } = this.#parts?.loop().weights ?? { basedOnSeq: 0, computedAt: null };
    return { basedOnSeq, computedAt };
  }

  noteWeights(basedOnSeq: number, computedAt: number | null): void {
    this.#parts?.loop().weights.published(Math.min(basedOnSeq, this.appliedSeq), computedAt);
  }

  async forgetErased(): Promise<void> {
    await this.#parts?.loop().forgetErased();
  }

  /** Resolves to true once record `seq` is applied, and to false after `ms`. */
  async reached(seq: number, ms: number): Promise<boolean> {
    if (this.appliedSeq >= seq) return true;
    const { over, end } = waitOf(this.timers, ms);
    const waiting = { seq, end };
    this.#waiting.add(waiting);
    await over;
    this.#waiting.delete(waiting);
    return this.appliedSeq >= seq;
  }

  take(slots: readonly Slot[]): Promise<void> {
    return this.#runInOrder(async () => {
      this.#demandContinuation(slots);
      const { appliedSeq } = this;
      const { log, loop } = this.#deps;
      // Another step may have applied some of the slots.
      const next = slots.filter(({ firstSeq }) => firstSeq > appliedSeq);
      if (next.length === 0) return;
      log.take(next);
      loop().followed(next);
      for (const { seq, end } of this.#waiting) if (seq <= this.appliedSeq) end();
      await log.room();
    });
  }

  async stored(): Promise<void> {
    await this.#deps.log.stored();
  }

  /** Throws `DivergedError` if the slots do not continue the log of this node, before any of them is stored. */
  #demandContinuation(slots: readonly Slot[]): void {
    const { appliedSeq } = this;
    const next = slots.find(({ firstSeq }) => firstSeq > appliedSeq);
    if (next === undefined || this.#deps.loop().actor.precedes(next)) return;
    throw new DivergedError(`the slot at record ${next.firstSeq} does not follow record ${appliedSeq} of this node`);
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

  async configure(): Promise<void> {
    const turn = this.#turn;
    await this.#deps.configure().catch((error: unknown) => {
      // A command that was refused because this node no longer leads does not mean that the configuration is wrong.
      if (turn === this.#turn) throw error;
    });
  }

  /** Ends the loop, whose state is ahead of this node's files. The next `follow` replaces it. */
  storeFailed(error: unknown): void {
    this.#parts?.loop().fail(error);
  }

  follow(): Promise<void> {
    if (this.#parts === null) return Promise.resolve();
    this.#turn += 1;
    // These calls are synchronous, so that the node decides nothing while an earlier step ends.
    this.#deps.log.follow();
    this.#deps.loop().follow();
    return this.#runInOrder(async () => {
      const { log, loop, roleChanged, reload } = this.#deps;
      roleChanged();
      await log.appended();
      // The commands that wait for the append are answered first.
      await new Promise<void>((resolve) => this.timers.soon(resolve));
      if (!loop().failed && loop().actor.isSettled) return;
      await log.settled();
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
