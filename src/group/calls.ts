/** Sends commands to the actor of a group and work to its pool, and returns the answer or the refusal of each. */
import type { RepeatFound, SubmitEvents } from '../core/commands.js';
import { granted, type Outcome, type Refusal, refused } from '../errors.js';
import { limits } from '../limits.js';
import type { GroupLoop } from './actor/loop.js';
import type { Resolve } from './actor/turn.js';
import type { Answers, Command } from './actor-commands.js';
import type { AcceptedEvent } from './api.js';
import { type GroupPool, type Holder, PoolBusyError, type RepeatQuery, type RepeatsPiece } from './ports/pool.js';
import { StoreEndedError } from './ports/storage.js';
import { notThere, overloaded } from './refusals.js';

const COMMAND_BYTES = 1024;

export interface CurrentLoop {
  readonly loop: GroupLoop;
}

export class GroupCalls {
  /** Long work in progress that may take as much memory as the state again: one of each kind at a time. */
  readonly #underWay = new Set<'simulation' | 'verification'>();

  constructor(private readonly current: CurrentLoop) {}

  ask<C extends Command>(command: C, bytes = COMMAND_BYTES): Promise<Answers[C['type']] | Refusal> {
    return new Promise((resolve) => {
      const refusal = this.offer(command, resolve, 1, bytes, null);
      if (refusal !== undefined) resolve(refusal);
    });
  }

  /** Returns the refusal, or passes the answer to `answered`. `holder`: that of its events. */
  offer<C extends Command>(
    command: C,
    answered: (answer: Answers[C['type']]) => void,
    events: number,
    bytes: number,
    holder: Holder | null,
  ): Refusal | undefined {
    // The type of an answer follows from the type of its command.
    return this.current.loop.admit({ command, token: answered as Resolve, events, bytes, holder });
  }

  async pool<R>(work: (pool: GroupPool) => Promise<R>): Promise<Outcome<R>> {
    try {
      return granted(await work(this.current.loop.pool));
    } catch (error) {
      if (error instanceof PoolBusyError) return overloaded();
      if (error instanceof StoreEndedError) return notThere();
      throw error;
    }
  }

  async alone<R>(what: 'simulation' | 'verification', work: () => Promise<Outcome<R>>): Promise<Outcome<R>> {
    if (this.#underWay.has(what)) return refused('overloaded', { text: `another ${what} is under way` });
    this.#underWay.add(what);
    return work().finally(() => this.#underWay.delete(what));
  }
}

export interface Submitting {
  offer(submission: SubmitEvents, answered: (answer: Answers['submit']) => void): Refusal | undefined;
  read(query: Omit<RepeatQuery, 'holder'>): Promise<Outcome<RepeatsPiece>>;
}

/** `tries`: how often the log is read, since a pair of peer and player may have changed meanwhile. */
export async function submitAll(
  to: Submitting,
  submission: SubmitEvents,
  tries: number,
): Promise<Outcome<AcceptedEvent>[]> {
  const { caller, checked = [] } = submission;
  const answer = await offered(to, submission);
  if (Array.isArray(answer)) return answer;
  const { events, checks, expired, withdrawn } = answer;
  if (tries === 0) return events.map(() => overloaded());
  const found: RepeatFound[] = [];
  let from: RepeatQuery['from'] = null;
  for (let reads = 0; found.length < checks.length; reads++) {
    // A batch about many long chains is refused here: smaller ones share the reader with its other work.
    if (reads === limits.repeatReadsMax) return events.map(() => overloaded());
    const answered = new Set(found.map(({ index }) => index));
    const unread = checks.filter(({ index }) => !answered.has(index));
    const piece = await to.read({ checks: unread, expired, withdrawn, from });
    if (!piece.ok) return events.map(() => piece);
    found.push(...piece.value.found);
    from = piece.value.next;
  }
  // Other events of the submission may be asked about next time, while earlier answers still hold: the newest counts.
  return submitAll(to, { caller, events, checked: [...found, ...checked] }, tries - 1);
}

function offered(to: Submitting, submission: SubmitEvents): Promise<Answers['submit']> {
  const { length } = submission.events;
  return new Promise((resolve) => {
    const refusal = to.offer(submission, resolve);
    if (refusal !== undefined) resolve(Array.from({ length }, () => refusal));
  });
}
