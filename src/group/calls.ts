/** Sends commands to the actor of a group and work to its pool, and returns the answer or the refusal of each. */
import { granted, type Outcome, type Refusal, refused } from '../errors.js';
import type { GroupLoop } from './actor/loop.js';
import type { Resolve } from './actor/turn.js';
import type { Answers, Command } from './actor-commands.js';
import type { Holder } from './holder.js';
import { type GroupPool, PoolBusyError } from './ports/pool.js';
import { overloaded } from './refusals.js';

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
    const { loop } = this.current;
    // The type of an answer follows from the type of its command.
    const token = answered as Resolve;
    return loop.admit({ command, token, events, bytes, holder });
  }

  async pool<R>(work: (pool: GroupPool) => Promise<R>): Promise<Outcome<R>> {
    try {
      return granted(await work(this.current.loop.pool));
    } catch (error) {
      if (error instanceof PoolBusyError) return overloaded();
      throw error;
    }
  }

  async alone<R>(what: 'simulation' | 'verification', work: () => Promise<Outcome<R>>): Promise<Outcome<R>> {
    if (this.#underWay.has(what)) return refused('overloaded', { text: `another ${what} is under way` });
    this.#underWay.add(what);
    try {
      return await work();
    } finally {
      this.#underWay.delete(what);
    }
  }
}
