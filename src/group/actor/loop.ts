/**
 * Runs the actor: takes turns, commits one batch at a time, sends answers once they are permitted, passes work to the
 * pool. A failed commit has an unknown outcome and ends the loop; recovery finds out the outcome.
 */
import { NONCE_BYTES } from '../../core/records/batch.js';
import type { GroupState } from '../../core/state.js';
import type { Refusal } from '../../errors.js';
import { limits } from '../../limits.js';
import type { Answers, Command } from '../actor-commands.js';
import { type NotOffered, nothingNotOffered } from '../api.js';
import type { ClockGuard } from '../health/clock-guard.js';
import type { DiskWatch } from '../health/disk-watch.js';
import type { RandomSource, Timers } from '../ports/clock.js';
import type { GroupObserver } from '../ports/observer.js';
import type { GroupPool, Holder } from '../ports/pool.js';
import type { DiskReserve, LogWriter, SnapshotStore, StoredBatch } from '../ports/storage.js';
import { mayWrite, mixedReleases } from '../record-format.js';
import * as refusals from '../refusals.js';
import type { AgeBound } from '../removal/removal-process.js';
import { type RemovalDeps, RemovalSteps } from '../removal/removal-steps.js';
import { type SnapshotDeps, SnapshotWork } from '../replica/snapshot-work.js';
import { type PublishWeights, type WeightsDeps, WeightsWork } from '../weights/weights-computation.js';
import type { GroupActor } from './actor.js';
import { Admission } from './admission.js';
import type { Envelope } from './mailbox.js';
import type { Effect, Resolve } from './turn.js';

export interface LoopDeps extends SnapshotDeps, RemovalDeps, WeightsDeps {
  readonly actor: GroupActor<Resolve>;
  readonly log: LogWriter;
  readonly pool: GroupPool;
  readonly disk: DiskWatch;
  /** Gives a commit on a full disk the reserved space. */
  readonly reserve: DiskReserve;
  readonly clockGuard: Pick<ClockGuard, 'clockAhead' | 'isAheadNow'>;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly observer: GroupObserver;
  /** Set if several nodes take turns as leader, each with its own clock. */
  readonly isOneOfSeveral?: true;
  /** `lead` and `follow` change it. Default: true. */
  readonly leading?: boolean;
  /** The newest format of records that every node reads; absent if this node is alone. */
  readonly formatMax?: () => number;
  /** ms after which callers no longer wait for a commit, whose outcome then stays unknown; absent: no limit. */
  readonly commitPatienceMs?: number;
  readonly logIsFull?: () => boolean;
  /** Called if the log could not be written: a node alone must end, and one of several stops leading. */
  readonly onFatal: (error: unknown) => void;
}

/** Writes of callers. An operator's changes are few, and a stolen key must stop working on a full disk, too. */
const needsRoom: ReadonlySet<Command['type']> = new Set(['submit', 'register', 'withdraw', 'erase', 'open_dispute']);
/** Refused by a turn on a disk without room for its commit. Weights are computed again once there is room. */
const refusedIfFull = ({ type }: Command): boolean => needsRoom.has(type) || type === 'publish_weights';
/** Refused by a turn while the clock is wrong: what may become a record with its time. */
const refusedIfClockAhead = (command: Command): boolean => !isRead(command);

function isRead({ type }: Command): boolean {
  return type === 'locate' || type === 'chains';
}

export class GroupLoop {
  readonly actor: GroupActor<Resolve>;
  readonly log: LogWriter;
  readonly snapshots: SnapshotStore;
  readonly pool: GroupPool;
  readonly disk: DiskWatch;
  readonly clockGuard: LoopDeps['clockGuard'];
  readonly #weightsWork: WeightsWork;
  readonly #snapshotWork: SnapshotWork;
  readonly #removalSteps: RemovalSteps<Resolve>;
  readonly #admission: Admission;
  failed = false;
  draining = false;
  /** True once no further turn is taken. */
  #closed = false;
  #leading: boolean;
  /** The newest record of an erasure: until the files hold it, a snapshot might name the player. */
  #erasedSeq = 0;
  /** True while a commit takes longer than its callers wait: nothing is admitted. */
  stalled = false;
  #turnScheduled = false;
  #whenAnswered: (() => void)[] = [];

  constructor(private readonly deps: LoopDeps) {
    this.#leading = deps.leading ?? true;
    this.actor = deps.actor;
    this.log = deps.log;
    this.snapshots = deps.snapshots;
    this.pool = deps.pool;
    this.disk = deps.disk;
    this.clockGuard = deps.clockGuard;
    this.#setRemovals();
    this.#admission = new Admission(() => deps.timers.elapsed());
    this.#snapshotWork = new SnapshotWork(deps, {
      storedSeq: () => this.storedSeq,
      forbidsSnapshots: () => this.actor.removal.forbidsSnapshots || this.#followsErasure,
      ending: () => this.draining || this.failed,
      closed: () => this.#closed,
      later: (act, ms) => this.#later(act, ms),
    });
    this.#removalSteps = new RemovalSteps(deps, {
      removal: this.actor.removal,
      storedSeq: () => this.storedSeq,
      dropSnapshots: () => this.#snapshotWork.drop(),
      report: (effects) => {
        this.#carryOut(effects);
        this.#wake();
      },
      ended: () => this.#isEnded,
      closed: () => this.#closed,
      later: (act, ms) => this.#later(act, ms),
      fail: (error) => this.fail(error),
    });
    this.#weightsWork = new WeightsWork(deps, {
      published: this.state.weights,
      durableSeq: () => this.actor.durableSeq,
      evidenceSeq: () => Math.min(this.state.evidenceSeq, this.actor.durableSeq),
      newVoiceSeq: () => Math.min(this.state.newVoiceSeq, this.actor.durableSeq),
      ending: () => this.draining || this.failed,
      readOnly: () => !this.#leading || !this.#hasRoom || this.clockGuard.clockAhead,
      publish: (command, bytes) => this.#publishWeights(command, bytes),
    });
  }

  get state(): GroupState {
    return this.actor.state;
  }

  get weights(): WeightsWork['schedule'] {
    return this.#weightsWork.schedule;
  }

  get #isEnded(): boolean {
    return this.failed || this.#closed;
  }

  resume(expireBefore?: AgeBound): void {
    this.#carryOut(this.actor.removal.resume(expireBefore));
    this.#snapshotWork.makeIfDue();
    this.#weightsWork.plan();
  }

  lead(): void {
    this.#leading = true;
    this.writableChanged();
  }

  /** The newest record that the files of this node hold: in a cluster they follow the state. */
  get storedSeq(): number {
    const { durableSeq } = this.actor;
    const { storingFrom } = this.log;
    return storingFrom === null ? durableSeq : Math.min(durableSeq, storingFrom - 1);
  }

  /** A follower removes nothing, but its snapshots must not contain what the leader is erasing either. */
  get #followsErasure(): boolean {
    return (!this.#leading && this.state.erasures.size > 0) || this.storedSeq < this.#erasedSeq;
  }

  /** Every command that waits for a decision is refused: another node decides. */
  follow(): void {
    this.#leading = false;
    this.#setRemovals();
    this.#carryOut([
      ...this.actor.refuseInFlight(refusals.logUnreachable(true)),
      ...this.actor.refuseWaiting((command) => !isRead(command), refusals.noLeader()),
      ...this.actor.removal.answerDurable(),
    ]);
  }

  /** Applies batches that another node decided and the shared log has. The files of this node follow. */
  followed(batches: readonly StoredBatch[]): void {
    for (const batch of batches) {
      const isErasing = this.state.erasures.size > 0;
      this.actor.follow(batch);
      if (!isErasing && this.state.erasures.size === 0) continue;
      this.#erasedSeq = this.state.lastSeq;
      if (this.state.erasures.size === 0) this.#lookOnceStored();
    }
    const { basedOnSeq, computedAt } = this.state.weights;
    this.weights.published(basedOnSeq, computedAt);
    this.#snapshotWork.makeIfDue();
    this.#wake();
  }

  /** No later record may come that would look again. A failure is reported by the log. */
  #lookOnceStored(): void {
    void this.log.stored().then(
      () => this.#snapshotWork.makeIfDue(),
      () => undefined,
    );
  }

  async forgetErased(): Promise<void> {
    await this.#removalSteps.forgetErased();
  }

  get logIsFull(): boolean {
    return this.deps.logIsFull?.() ?? false;
  }

  get #hasRoom(): boolean {
    return !this.disk.low && !this.logIsFull;
  }

  #noRoom(): Refusal {
    return this.logIsFull ? refusals.logFull() : refusals.diskLow(this.deps.isOneOfSeveral);
  }

  #clockAhead(): Refusal {
    return refusals.clockAhead(this.deps.isOneOfSeveral);
  }

  /** Resumes waiting work after the disk or the clock changed what is permitted. */
  writableChanged(): void {
    this.#setRemovals();
    if (this.#isEnded) return;
    this.resume();
    this.#wake();
  }

  #setRemovals(): void {
    const { clockAhead } = this.clockGuard;
    const { removal } = this.actor;
    removal.mayExpire = this.#leading && this.#hasRoom && !clockAhead;
    removal.mayRemove = this.#leading && this.disk.fitsRemoval && !clockAhead;
  }

  diskChanged(low: boolean): void {
    if (!low) this.#snapshotWork.rested();
    this.writableChanged();
  }

  get overloaded(): boolean {
    return this.#admission.overloaded;
  }

  noteRefusal(): void {
    this.#admission.noteRefusal(this.actor.mailbox.events);
  }

  hasRoom(events: number, holder: Holder): boolean {
    return this.#admission.hasRoom(holder, events);
  }

  /** True if `events` more of a holder would be admitted now: there is room for them, and they would not wait long. */
  admits(events: number, holder: Holder, { before, own }: NotOffered): boolean {
    const { mailbox } = this.actor;
    if (before > 0) this.#admission.isArriving();
    // A few events have their turn in the first rounds, however many events of other holders wait.
    const isSmall = events <= limits.smallEvents;
    if (isSmall && own + mailbox.eventsOf(holder) + events <= limits.eventsOwnAlways) return true;
    // With few waiting events the answer does not depend on their order.
    const all = before + mailbox.events;
    const first = all <= limits.eventsAheadAlways ? all : before + mailbox.eventsBefore(holder, events);
    return this.#admission.admits(first, events, holder, own);
  }

  admit(envelope: Envelope<Command, Resolve>): Refusal | undefined {
    if (this.draining || this.failed) return refusals.notThere();
    if (!this.#leading && !isRead(envelope.command)) return refusals.noLeader();
    if (this.stalled && !isRead(envelope.command)) return refusals.logUnreachable();
    const formatMax = this.deps.formatMax?.();
    if (formatMax !== undefined && !mayWrite(envelope.command.type, formatMax)) return mixedReleases();
    if (this.clockGuard.clockAhead && refusedIfClockAhead(envelope.command)) return this.#clockAhead();
    if (!this.#hasRoom && needsRoom.has(envelope.command.type)) return this.#noRoom();
    const { holder, events } = envelope;
    if (holder !== null && !this.admits(events, holder, nothingNotOffered)) return refusals.overloaded();
    if (this.#offer(envelope)) return undefined;
    this.#carryOut(this.actor.makeRoomFor(envelope));
    if (this.#offer(envelope)) return undefined;
    if (holder !== null) this.#admission.refused();
    return refusals.overloaded();
  }

  #offer(envelope: Envelope<Command, Resolve>): boolean {
    if (!this.actor.offer(envelope)) return false;
    this.#admission.offered(envelope.holder, envelope.events);
    this.#wake();
    return true;
  }

  #publishWeights(command: PublishWeights, bytes: number): Promise<Answers['publish_weights']> | null {
    if (!this.#leading) return null;
    let answered: Resolve = () => undefined;
    const answer = new Promise<Answers['publish_weights']>((resolve) => {
      answered = (given) => resolve(given as Answers['publish_weights']);
    });
    return this.#offer({ command, token: answered, events: 1, bytes, holder: null }) ? answer : null;
  }

  /** Callers that still wait for bytes to leave the log are answered after `waitMs`; the next start continues. */
  endSoon(waitMs: number): void {
    this.deps.timers.later(() => {
      if (!this.failed) this.#carryOut(this.actor.removal.giveUp());
    }, waitMs);
  }

  async drain(): Promise<void> {
    this.draining = true;
    this.#weightsWork.stop();
    while (this.actor.answering && !this.failed) await new Promise<void>((resolve) => this.#whenAnswered.push(resolve));
    this.#closed = true;
    await this.#removalSteps.end();
  }

  /** Stops all decisions and writes, because the process is about to end. */
  abandon(): void {
    this.failed = true;
    for (const resolve of this.#whenAnswered.splice(0)) resolve();
  }

  replace(): void {
    this.abandon();
    this.#carryOut(this.actor.refuseWaiting(() => true, refusals.notThere()));
  }

  /** Resolves with false if no snapshot was begun because `msLeft` is too short. */
  snapshotNow(msLeft: () => number = () => Number.POSITIVE_INFINITY): Promise<boolean> {
    return this.#snapshotWork.makeLast(msLeft);
  }

  /** Commands accumulate until the present phase of the event loop ends; then one turn takes them all. */
  #wake(): void {
    if (this.#turnScheduled || !this.actor.hasTurn || this.#isEnded) return;
    this.#turnScheduled = true;
    this.deps.timers.soon(() => {
      this.#turnScheduled = false;
      if (!this.actor.hasTurn || this.#isEnded) return;
      if (this.clockGuard.isAheadNow())
        this.#carryOut(this.actor.refuseWaiting(refusedIfClockAhead, this.#clockAhead()));
      if (this.disk.isFullNow()) this.#carryOut(this.actor.refuseWaiting(refusedIfFull, this.#noRoom()));
      if (!this.actor.hasTurn) return;
      this.#carryOut(this.#takeTurn());
      this.#wake();
    });
  }

  #takeTurn(): readonly Effect<Resolve>[] {
    const { timers, clock, random, isOneOfSeveral } = this.deps;
    const before = this.actor.mailbox.events;
    const started = timers.elapsed();
    // The clock of the previous leader may have been ahead: no event is received before an earlier one.
    const now = isOneOfSeveral === true ? Math.max(clock.now(), this.state.lastAt) : clock.now();
    const effects = this.actor.takeTurn(now, random.bytes(NONCE_BYTES));
    this.#admission.turnTaken(before - this.actor.mailbox.events, timers.elapsed() - started);
    return effects;
  }

  #carryOut(effects: readonly Effect<Resolve>[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case 'answer':
          effect.token(effect.answer);
          break;
        case 'decided':
          this.deps.observer.eventsDecided(effect.eventType, effect.outcome, effect.events);
          break;
        case 'commit':
          void this.#commit(effect);
          break;
        default:
          this.#removalSteps.begin(effect);
      }
    }
    if (this.actor.answering) return;
    this.#admission.pauses();
    for (const resolve of this.#whenAnswered.splice(0)) resolve();
  }

  async #commit(effect: Extract<Effect<Resolve>, { type: 'commit' }>): Promise<void> {
    const started = this.deps.timers.elapsed();
    const { commitPatienceMs } = this.deps;
    const endWait =
      commitPatienceMs === undefined ? null : this.deps.timers.later(() => this.#stall(), commitPatienceMs);
    try {
      await this.deps.reserve.during(async (isFull) => {
        await this.log.append(effect.batch, effect.rewrites);
        if (isFull) await this.log.stored();
      });
    } catch (error) {
      this.fail(error);
      return;
    } finally {
      endWait?.();
      this.stalled = false;
    }
    // A failed redaction began from a state that no longer exists.
    if (this.failed) return;
    const commitMs = this.deps.timers.elapsed() - started;
    this.#admission.committed(commitMs);
    const isErasing = this.actor.removal.forbidsSnapshots;
    if (isErasing) this.#erasedSeq = this.state.lastSeq;
    this.#carryOut(this.actor.committed());
    if (isErasing && !this.actor.removal.forbidsSnapshots) this.#lookOnceStored();
    this.#wake();
    // Answers are sent once the promises of their requests have settled; effects without a caller come after them.
    this.deps.timers.soon(() => {
      this.deps.observer.turnCommitted(effect.records, effect.batch.bytes.length, commitMs);
      this.#snapshotWork.makeIfDue();
      this.#weightsWork.plan();
    });
  }

  #stall(): void {
    if (this.#isEnded) return;
    this.stalled = true;
    this.#carryOut([
      ...this.actor.refuseInFlight(refusals.logUnreachable(true)),
      ...this.actor.refuseWaiting((command) => !isRead(command), refusals.logUnreachable()),
    ]);
  }

  #later(act: () => void, ms: number = limits.workRetryMs): void {
    this.deps.timers.later(() => {
      if (!this.#isEnded) act();
    }, ms);
  }

  fail(error: unknown): void {
    if (this.failed) return;
    this.abandon();
    this.deps.onFatal(error);
  }
}
