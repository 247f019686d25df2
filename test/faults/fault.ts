/** The interface of a kind of faults for the command that runs it: a number of rounds from a seed, and the findings. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../support/random.js';

/** The rounds of a run and what they find: iterated, they count themselves, and end early if the run is interrupted. */
export class Rounds implements Iterable<number> {
  readonly wanted: number;
  /** The same seed draws the same faults. */
  readonly seed: number;
  /**
   * A late result, or a fault that did not occur by chance, also counts as a broken rule; not in the short form, which
   * runs on busy machines.
   */
  readonly strict: boolean;
  readonly random: Random;
  readonly tally = new Tally();
  readonly #advance: () => void;
  #done = 0;
  #ended = false;

  /** `advance` is called after each. */
  constructor(wanted: number, seed: number, strict = false, advance: () => void = () => undefined) {
    this.wanted = wanted;
    this.seed = seed;
    this.random = new Random(seed);
    this.strict = strict;
    this.#advance = advance;
  }

  get done(): number {
    return this.#done;
  }

  /** The round under way is the last. */
  end(): void {
    this.#ended = true;
  }

  /** Numbers of rounds, from where an iteration before stopped. */
  *[Symbol.iterator](): Iterator<number> {
    while (this.#done < this.wanted && !this.#ended) {
      yield this.#done;
      this.#done += 1;
      this.#advance();
    }
  }
}

export interface Findings {
  /** Figures for the closing table, in order. */
  readonly figures: readonly (readonly [name: string, value: number | string])[];
  /** Broken rules, each with the data to reproduce it. Empty if the goal is met. */
  readonly broken: readonly string[];
}

export interface Fault {
  readonly name: string;
  readonly summary: string;
  /** Number of rounds in the long form. */
  readonly rounds: number;
  run(rounds: Rounds): Promise<void>;
}

/** Enough to see a fault by; the rest would only repeat it. */
const brokenMax = 20;

/** Gathers what was found, each outcome under its name. */
export class Tally {
  readonly #counts = new Map<string, number>();
  readonly #notes: (readonly [name: string, text: string])[] = [];
  readonly #broken: string[] = [];
  #brokenCount = 0;

  add(name: string, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  /** Keeps the greatest value. */
  most(name: string, value: number): void {
    this.#counts.set(name, Math.max(this.#counts.get(name) ?? value, value));
  }

  note(name: string, text: string): void {
    this.#notes.push([name, text]);
  }

  break(what: string): void {
    this.#brokenCount += 1;
    if (this.#broken.length < brokenMax) this.#broken.push(what);
  }

  /** Breaks where nothing has the name: a run without it has tried nothing. */
  need(name: string): void {
    if ((this.#counts.get(name) ?? 0) === 0) this.break(`${name}: none in the whole run`);
  }

  findings(): Findings {
    return { figures: [...this.#counts, ...this.#notes, ['broken rules', this.#brokenCount]], broken: this.#broken };
  }
}

/** Folders in memory where the system has such: nothing here tests the disk, and a sync costs nothing there. */
const fastRoot = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Runs `work` in a folder of its own, which goes afterwards. */
export async function inFastFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(fastRoot, 'ptf-fault-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    return await work(dir);
  } finally {
    process.off('exit', remove);
    remove();
  }
}
