/**
 * Races for one folder: an owner that goes on writing, and starters that take it over at the same moment, on the real owner
 * record. Of the starters exactly one wins, and from then on nothing of the old owner is in the log.
 */
import { join } from 'node:path';
import { type LogWriter, OwnerLostError } from '../../src/group/ports.js';
import { claimFolder, FolderOwnedError } from '../../src/store/owner.js';
import { batchOf } from '../contracts/log.js';
import { deadProcess } from '../store/temporary-folder.js';
import { Random } from '../support/random.js';
import { type Fault, type Findings, inFastFolder, type Rounds, Tally } from './fault.js';

const startersMax = 4;
const writesMax = 6;
/** Races on one folder, so that the log stays short. */
const racesPerFolder = 200;

/** Appends until it is fenced or has had enough; answers the numbers of batches that were acknowledged. */
async function write(
  owner: LogWriter,
  from: number,
  count: number,
): Promise<{ acknowledged: number[]; fenced: boolean }> {
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
}

const seqsFrom = (log: LogWriter, from: number) => log.from(from, 1_000, 1e9).map(({ firstSeq }) => firstSeq);

class Race {
  readonly #tally: Tally;
  readonly #random: Random;
  /** Number of the next batch. */
  #next = 1;

  constructor(tally: Tally, random: Random) {
    this.#tally = tally;
    this.#random = random;
  }

  /** One race on `dir`, whose owner is `owner`; answers the next owner. */
  async run(dir: string, owner: LogWriter & Abandoned, round: number): Promise<LogWriter & Abandoned> {
    const from = this.#next;
    const starters = 2 + this.#random.below(startersMax - 1);
    const writing = write(owner, from, this.#random.below(writesMax + 1));
    // To every starter this process is one that died: what the heartbeat and the process table say is another test's.
    const claims = await Promise.allSettled(Array.from({ length: starters }, () => claimFolder(dir, deadProcess())));
    const won = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []));
    const odd = claims.flatMap((claim) => (claim.status === 'rejected' ? [claim.reason] : []));
    for (const error of odd) if (!(error instanceof FolderOwnedError)) throw error;
    // A starter may come after the winner, whom it takes for dead as well: the last to win is the owner.
    const winner = won.reduce((best, next) => (next.epoch > best.epoch ? next : best), won[0]!);
    if (new Set(won.map(({ epoch }) => epoch)).size !== won.length) {
      this.#tally.break(`round ${round}: two starters won the epoch ${winner.epoch}`);
    }
    const inherited = seqsFrom(winner, from);
    const { acknowledged, fenced } = await writing;
    if (fenced) this.#tally.add('owners fenced amid their writes');
    const lost = acknowledged.filter((seq) => !inherited.includes(seq));
    if (lost.length > 0) this.#tally.break(`round ${round}: ${lost} acknowledged to the old owner, unseen by the new`);

    this.#next = from + writesMax + 1;
    for (const loser of [owner, ...won.filter((one) => one !== winner)]) await this.#mustFail(loser, round);
    await winner.append(batchOf(this.#next), []);
    const expected = [...inherited, this.#next];
    const found = seqsFrom(winner, from);
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      this.#tally.break(`round ${round}: the log holds ${found}, not ${expected}`);
    }
    this.#next += 1;
    for (const loser of [owner, ...won.filter((one) => one !== winner)]) await loser.abandon();
    return winner;
  }

  async #mustFail(fenced: LogWriter, round: number): Promise<void> {
    const { acknowledged } = await write(fenced, this.#next, 1);
    if (acknowledged.length > 0) this.#tally.break(`round ${round}: an owner wrote after it was fenced`);
    else this.#tally.add('writes of fenced owners refused');
  }
}

interface Abandoned {
  abandon(): Promise<void>;
}

async function run(rounds: Rounds): Promise<Findings> {
  const tally = new Tally();
  const race = new Race(tally, new Random(rounds.seed));
  await inFastFolder(async (root) => {
    let owner: (LogWriter & Abandoned) | null = null;
    for (const round of rounds) {
      const dir = join(root, `folder-${Math.floor(round / racesPerFolder)}`);
      if (round % racesPerFolder === 0) {
        await owner?.close();
        owner = await claimFolder(dir, deadProcess());
      }
      owner = await race.run(dir, owner!, round);
      tally.add('races');
    }
    await owner?.close();
  });
  return tally.findings();
}

export const takeover: Fault = {
  name: 'takeover',
  summary: 'owners and starters race for one folder; a fenced owner must write nothing',
  rounds: 10_000,
  run,
};
