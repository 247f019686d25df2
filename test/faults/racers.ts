/** Owners of a folder to race with: in this process, or each in one of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { OwnerLostError } from '../../src/group/ports/storage.js';
import { acquireFolder } from '../../src/store/ownership/owner.js';
import { deadProcess } from '../store/dead-process.js';
import { batchOf } from '../store/log-contract.js';
import type { RacerAnswer, RacerTask } from './racer-process.js';

export interface Written {
  readonly acknowledged: readonly number[];
  /** Another owner was there. */
  readonly fenced: boolean;
}

export interface Owner {
  readonly epoch: number;
  /** Appends so many batches from this number on, until it is fenced. */
  write(from: number, count: number): Promise<Written>;
  /** Numbers of the batches in the log. */
  seqsFrom(from: number): Promise<readonly number[]>;
  /** Leaves the folder as a process does that dies. */
  leave(): Promise<void>;
}

/**
 * Acquires a folder; to it every owner is one that died. Rejects with `FolderOwnedError`, or resolves to null, where
 * another one wins.
 */
export type Acquire = (dir: string) => Promise<Owner | null>;

export const acquireHere: Acquire = async (dir) => {
  const owner = await acquireFolder(dir, deadProcess());
  return {
    epoch: owner.epoch,
    async write(from, count) {
      const acknowledged: number[] = [];
      for (let seq = from; seq < from + count; seq++) {
        try {
          await owner.append(batchOf(seq), []);
        } catch (error) {
          if (error instanceof OwnerLostError) return { acknowledged, fenced: true };
          throw error;
        }
        acknowledged.push(seq);
      }
      return { acknowledged, fenced: false };
    },
    seqsFrom: async (from) => owner.from(from, 1_000, 1e9).map(({ firstSeq }) => firstSeq),
    leave: () => owner.abandon(),
  };
};

const entry = fileURLToPath(new URL('./racer-process.js', import.meta.url));

/** Processes that acquire folders; one that is done with a folder is there for the next. */
export class RacerProcesses {
  readonly #idle: ChildProcess[] = [];
  readonly #all: ChildProcess[] = [];

  readonly acquire: Acquire = async (dir) => {
    const child = this.#idle.pop() ?? this.#start();
    const acquired = await this.#ask(child, { type: 'acquire', dir }, 'acquired');
    if (acquired.epoch === null) {
      this.#idle.push(child);
      return null;
    }
    return {
      epoch: acquired.epoch,
      write: (from, count) => this.#ask(child, { type: 'write', from, count }, 'written'),
      seqsFrom: async (from) => (await this.#ask(child, { type: 'read', from }, 'found')).seqs,
      leave: async () => {
        await this.#ask(child, { type: 'leave' }, 'left');
        this.#idle.push(child);
      },
    };
  };

  end(): void {
    for (const child of this.#all) child.kill('SIGKILL');
  }

  #start(): ChildProcess {
    const child = fork(entry, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#all.push(child);
    return child;
  }

  async #ask<T extends RacerAnswer['type']>(
    child: ChildProcess,
    task: RacerTask,
    wanted: T,
  ): Promise<Extract<RacerAnswer, { type: T }>> {
    const answered = new AbortController();
    const { signal } = answered;
    const ended = once(child, 'exit', { signal }).then(([code, by]) => {
      throw new Error(`a racer ended with ${by ?? code}`);
    });
    const answer = once(child, 'message', { signal });
    child.send(task);
    const [found] = (await Promise.race([answer, ended])) as [RacerAnswer];
    ended.catch(() => undefined);
    answered.abort();
    if (found.type === wanted) return found as Extract<RacerAnswer, { type: T }>;
    throw new Error(found.type === 'failed' ? found.said : `a racer answered ${found.type}`);
  }
}
