/**
 * Races for one folder: an owner that keeps writing, and starters that take it over at the same time, on the real owner
 * record. Exactly one starter wins, and from then on nothing of the old owner enters the log.
 */
import { join } from 'node:path';
import type { Random } from '../support/random.js';
import { type Fault, inFastFolder, type Rounds, type Tally } from './fault.js';
import { type Acquire, acquireHere, type Owner, RacerProcesses } from './racers.js';

const startersMax = 4;
const writesMax = 6;
/** Races on one folder, so that the log stays short. */
const racesPerFolder = 200;

class Race {
  readonly #tally: Tally;
  readonly #random: Random;
  readonly #acquire: Acquire;
  /** Number of the next batch. */
  #next = 1;

  constructor(tally: Tally, random: Random, acquire: Acquire) {
    this.#tally = tally;
    this.#random = random;
    this.#acquire = acquire;
  }

  /** One race on `dir`, whose owner is `owner`; answers the next owner. */
  async run(dir: string, owner: Owner, round: number): Promise<Owner> {
    const from = this.#next;
    const starters = 2 + this.#random.below(startersMax - 1);
    const writing = owner.write(from, this.#random.below(writesMax + 1));
    // To every starter this process is one that died: what the heartbeat and the process table say is another test's.
    const attempts = await Promise.allSettled(Array.from({ length: starters }, () => this.#acquire(dir)));
    const won = attempts.flatMap((attempt) =>
      attempt.status === 'fulfilled' && attempt.value !== null ? [attempt.value] : [],
    );
    const odd = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
    for (const error of odd) this.#refused(error);
    if (won.length === 0) won.push(await this.#again(dir));
    // A starter may come after the winner, whom it takes for dead as well: the last to win is the owner.
    const epoch = Math.max(...won.map((one) => one.epoch));
    this.#next = from + writesMax + 1;
    const winner = await this.#onlyOne(
      won.filter((one) => one.epoch === epoch),
      round,
    );
    const inherited = await winner.seqsFrom(from);
    const { acknowledged, fenced } = await writing;
    if (fenced) this.#tally.add('owners fenced amid their writes');
    const lost = acknowledged.filter((seq) => !inherited.includes(seq));
    if (lost.length > 0) this.#tally.break(`round ${round}: ${lost} acknowledged to the old owner, unseen by the new`);

    for (const loser of [owner, ...won.filter((one) => one !== winner)]) await this.#mustFail(loser, round);
    const { fenced: isLost } = await winner.write(this.#next, 1);
    if (isLost) this.#tally.break(`round ${round}: the last to win is not the owner`);
    const expected = [...inherited, this.#next];
    const found = await winner.seqsFrom(from);
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      this.#tally.break(`round ${round}: the log holds ${found}, not ${expected}`);
    }
    this.#next += 1;
    for (const loser of [owner, ...won.filter((one) => one !== winner)]) await loser.leave();
    return winner;
  }

  /** Among the winners of one epoch, of which one hid the acquisition of the others, exactly one can write. */
  async #onlyOne(won: readonly Owner[], round: number): Promise<Owner> {
    if (won.length === 1) return won[0]!;
    this.#tally.add('epochs that more than one start won');
    const writers: Owner[] = [];
    for (const one of won) if ((await one.write(this.#next, 1)).acknowledged.length > 0) writers.push(one);
    if (writers.length !== 1)
      throw new Error(`round ${round}: ${writers.length} processes write as owner ${won[0]!.epoch}`);
    this.#next += 1;
    return writers[0]!;
  }

  /** A start may fail where others open the folder at the same moment; it may not win what is not its own. */
  #refused(error: unknown): void {
    if (this.#acquire === acquireHere) throw error;
    this.#tally.add('starts that failed amid a race of processes');
  }

  /** The start that follows where all have failed. */
  async #again(dir: string): Promise<Owner> {
    const owner = await this.#acquire(dir);
    if (owner === null) throw new Error('nobody owns the folder, and nobody can');
    return owner;
  }

  async #mustFail(fenced: Owner, round: number): Promise<void> {
    const { acknowledged } = await fenced.write(this.#next, 1);
    if (acknowledged.length > 0) this.#tally.break(`round ${round}: an owner wrote after it was fenced`);
    else this.#tally.add('writes of fenced owners refused');
  }
}

async function run(rounds: Rounds): Promise<void> {
  const { tally, random } = rounds;
  const processes = new RacerProcesses();
  await inFastFolder(async (root) => {
    let acquire: Acquire = acquireHere;
    let race = new Race(tally, random, acquire);
    let owner: Owner | null = null;
    for (const round of rounds) {
      const folder = Math.floor(round / racesPerFolder);
      const dir = join(root, `folder-${folder}`);
      if (round % racesPerFolder === 0) {
        await owner?.leave();
        // In the long form, processes race for every other folder.
        acquire = rounds.strict && folder % 2 === 1 ? processes.acquire : acquireHere;
        race = new Race(tally, random, acquire);
        owner = await acquire(dir);
      }
      tally.add(acquire === acquireHere ? 'races in one process' : 'races of processes');
      try {
        owner = await race.run(dir, owner!, round);
      } catch (error) {
        tally.break(error instanceof Error ? error.message : String(error));
        rounds.end();
      }
    }
    await owner?.leave();
  }).finally(() => processes.end());
  tally.need('writes of fenced owners refused');
}

export const takeover: Fault = {
  name: 'takeover',
  summary: 'owners and starters race for one folder; a fenced owner must write nothing',
  rounds: 10_000,
  run,
};
