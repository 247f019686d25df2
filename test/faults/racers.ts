/** Owners of a folder to race with: in this process, or each in one of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { OwnerLostError } from '../../src/group/ports/storage.js';
import { acquireFolder, FolderOwnedError } from '../../src/store/ownership/owner.js';
import { deadProcess } from '../store/dead-process.js';
import { batchOf } from '../store/log-contract.js';

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

/** Acquires a folder; to it every owner is one that died. Resolves to null where another one wins. */
export type Acquire = (dir: string) => Promise<Owner | null>;

const isOwnerLost = (error: unknown): boolean => error instanceof OwnerLostError;

/** `isFenced`: whether a failed append only shows that another owner was there. */
export async function acquireHere(dir: string, isFenced = isOwnerLost): Promise<Owner | null> {
  const owner = await acquireFolder(dir, deadProcess()).catch((error: unknown) => {
    if (error instanceof FolderOwnedError) return null;
    throw error;
  });
  if (owner === null) return null;
  return {
    epoch: owner.epoch,
    async write(from, count) {
      const acknowledged: number[] = [];
      for (let seq = from; seq < from + count; seq++) {
        try {
          await owner.append(batchOf(seq), []);
        } catch (error) {
          if (isFenced(error)) return { acknowledged, fenced: true };
          throw error;
        }
        acknowledged.push(seq);
      }
      return { acknowledged, fenced: false };
    },
    seqsFrom: async (from) => owner.from(from, 1_000, 1e9).map(({ firstSeq }) => firstSeq),
    leave: () => owner.abandon(),
  };
}

const entry = fileURLToPath(new URL('./racer-process.js', import.meta.url));

/** A call of a process with its arguments, and the answer. */
export type RacerCall = readonly [name: 'acquire' | 'write' | 'seqsFrom' | 'leave', ...args: (string | number)[]];
export type RacerAnswer = { readonly value: unknown } | { readonly failed: string };

/** Processes that acquire folders; one that is done with a folder is there for the next. */
export class RacerProcesses {
  readonly #idle: ChildProcess[] = [];
  readonly #all: ChildProcess[] = [];

  readonly acquire: Acquire = async (dir) => {
    const child = this.#idle.pop() ?? this.#start();
    const epoch = (await this.#ask(child, ['acquire', dir])) as number | null;
    if (epoch === null) {
      this.#idle.push(child);
      return null;
    }
    return {
      epoch,
      write: async (from, count) => (await this.#ask(child, ['write', from, count])) as Written,
      seqsFrom: async (from) => (await this.#ask(child, ['seqsFrom', from])) as number[],
      leave: async () => {
        await this.#ask(child, ['leave']);
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

  async #ask(child: ChildProcess, call: RacerCall): Promise<unknown> {
    const answered = new AbortController();
    const { signal } = answered;
    const ended = once(child, 'exit', { signal }).then(([code, by]) => {
      throw new Error(`a racer ended with ${by ?? code}`);
    });
    const answer = once(child, 'message', { signal });
    child.send(call);
    const [found] = (await Promise.race([answer, ended])) as [RacerAnswer];
    ended.catch(() => undefined);
    answered.abort();
    if ('failed' in found) throw new Error(found.failed);
    return found.value;
  }
}
