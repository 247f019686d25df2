/** The real actor, with someone looking on: what was offered, which turn took it, and what was answered. */

import type { GroupBounds } from '../../src/core/commands.js';
import { Batch } from '../../src/core/records/batch.js';
import type { EventAccepted, RecordType } from '../../src/core/records/records.js';
import { GroupActor } from '../../src/group/actor/actor.js';
import type { Envelope } from '../../src/group/actor/mailbox.js';
import type { Effect, Resolve } from '../../src/group/actor/turn.js';
import type { Answer, Command } from '../../src/group/actor-commands.js';
import type { Follower } from '../../src/group/recovery/recovery.js';
import { Difference } from './difference.js';

export interface TurnTaken {
  readonly now: number;
  readonly mails: readonly Envelope<Command, Resolve>[];
  /** Events that it accepts, by their ids. */
  readonly accepted: ReadonlyMap<string, EventAccepted>;
  /** Events that it withdraws, by their record. */
  readonly withdrawn: ReadonlySet<number>;
  /** Records that it asks to be committed; 0: it has nothing to write. */
  readonly records: number;
  /** Those of them that no command asked for: what a redaction writes. */
  readonly own: number;
  /** The newest record with it. */
  readonly lastSeq: number;
  /** For each command about a dispute: the numbers whose evidence lowered the player just before it was decided. */
  readonly lowering: ReadonlyMap<Resolve, ReadonlySet<number>>;
}

export interface Watch {
  offered(mail: Envelope<Command, Resolve>, taken: boolean): void;
  /** A command that was taken, and no turn was; its answer says that there is too much at once. */
  pushedOut(token: Resolve): void;
  /** Before any of its answers leaves. */
  turn(turn: TurnTaken): void;
  /** The turn in flight is durable, says the log. */
  durable(): void;
  answered(token: Resolve, answer: Answer): void;
}

/** Records that no command is for, or that follow one. */
const ownTypes: ReadonlySet<RecordType> = new Set([
  'batches_rewritten',
  'events_erased',
  'redacted',
  'evidence_kept',
  'evidence_taken_back',
  'events_retired',
]);

const ownOf = (batch: Uint8Array): number => [...new Batch(batch)].filter(({ type }) => ownTypes.has(type)).length;

function acceptedIn(batch: Uint8Array): [id: string, event: EventAccepted][] {
  return [...new Batch(batch)].flatMap((record) =>
    record.type === 'event_accepted' ? [[record.event_id, record] as [string, EventAccepted]] : [],
  );
}

function withdrawnIn(batch: Uint8Array): number[] {
  return [...new Batch(batch)].flatMap((record) => (record.type === 'event_withdrawn' ? [record.event_seq] : []));
}

export class ObservedActor extends GroupActor<Resolve> {
  readonly #watch: Watch;
  readonly #mails: Envelope<Command, Resolve>[] = [];
  /** Commands of the present turn, in the order in which they are decided. */
  #taken: readonly Envelope<Command, Resolve>[] = [];
  readonly #lowering = new Map<Resolve, ReadonlySet<number>>();

  constructor(follower: Follower, bounds: GroupBounds, watch: Watch) {
    super(follower, bounds);
    this.#watch = watch;
    const { removal } = this;
    const giveUp = removal.giveUp.bind(removal);
    removal.giveUp = () => this.#seen(giveUp());
    const answerDurable = removal.answerDurable.bind(removal);
    removal.answerDurable = () => this.#seen(answerDurable());
  }

  override offer(mail: Envelope<Command, Resolve>): boolean {
    const taken = super.offer(mail);
    if (taken) this.#mails.push(mail);
    this.#watch.offered(mail, taken);
    return taken;
  }

  override makeRoomFor(mail: Envelope<Command, Resolve>): Effect<Resolve>[] {
    const effects = super.makeRoomFor(mail);
    for (const effect of effects) {
      if (effect.type !== 'answer') continue;
      this.#mails.splice(
        this.#mails.findIndex(({ token }) => token === effect.token),
        1,
      );
      this.#watch.pushedOut(effect.token);
    }
    return effects;
  }

  /** Holders may overtake each other; the commands of one may not. */
  protected override takeCommands(): Envelope<Command, Resolve>[] {
    const taken = super.takeCommands();
    for (const { token, holder } of taken) {
      const place = this.#mails.findIndex((mail) => mail.holder === holder);
      if (this.#mails[place]?.token !== token) throw new Difference('order', 'a command overtook one of its holder');
      this.#mails.splice(place, 1);
    }
    this.#taken = taken;
    this.#lowering.clear();
    return taken.map((mail) => this.#noting(mail));
  }

  /** Notes who lowers a disputed player when the command is read: later ones of the turn may erase the player. */
  #noting(mail: Envelope<Command, Resolve>): Envelope<Command, Resolve> {
    const { command, token } = mail;
    if (command.type !== 'open_dispute' && command.type !== 'decide_dispute') return mail;
    const note = () => {
      const { subjects, disputes } = this.state;
      const disputed = command.type === 'open_dispute' ? command.subject : disputes.byId(command.disputeId)?.subject;
      const row =
        disputed === undefined
          ? -1
          : subjects.find(typeof disputed === 'string' ? Buffer.from(disputed, 'hex') : disputed);
      const { entries } = subjects;
      const lowering = row < 0 ? [] : [...subjects.entriesOf(row)].filter((entry) => entries.lowers(entry));
      this.#lowering.set(token, new Set(lowering.map((entry) => entries.peer(entry))));
      return command;
    };
    return Object.defineProperty({ ...mail }, 'command', { get: note });
  }

  override takeTurn(now: number, nonce: Uint8Array): Effect<Resolve>[] {
    const effects = super.takeTurn(now, nonce);
    const mails = this.#taken;
    const commit = effects.find((effect) => effect.type === 'commit');
    const own = commit === undefined ? 0 : ownOf(commit.batch.bytes);
    const withdrawn = new Set(commit === undefined ? [] : withdrawnIn(commit.batch.bytes));
    const accepted = new Map(commit === undefined ? [] : acceptedIn(commit.batch.bytes));
    this.#watch.turn({
      now,
      mails,
      accepted,
      withdrawn,
      records: commit?.records ?? 0,
      own,
      lastSeq: this.state.lastSeq,
      lowering: this.#lowering,
    });
    return this.#seen(effects);
  }

  override committed(): Effect<Resolve>[] {
    this.#watch.durable();
    return this.#seen(super.committed());
  }

  #seen<E extends Effect<Resolve>>(effects: E[]): E[] {
    for (const effect of effects) if (effect.type === 'answer') this.#watch.answered(effect.token, effect.answer);
    return effects;
  }
}
