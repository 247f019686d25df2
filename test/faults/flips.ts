/**
 * Bit flips, cuts and blocks of zeros in every file of a data folder. Each damage of the store is met by `ptf verify`
 * and by a start, each of another file by a whole node. It must be named, or passed over for an older snapshot, or
 * change nothing; never may another state or another log pass for the one written.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastSeqOf } from '../../src/group/recovery/recovery.js';
import { hashPassword, passwordFile } from '../../src/operator/dashboard/sessions/password.js';
import { openLogReader } from '../../src/store/log/lmdb-log.js';
import { reportOfDeath } from '../../src/workers/verify/verify-runner.js';
import type { Random } from '../support/random.js';
import { type Fault, inFastFolder, type Rounds } from './fault.js';
import { contentOf, knownPassword, leaveLife, lifeSalt, recovered, snapshotsOf } from './life.js';

const entry = fileURLToPath(new URL('./flip-process.js', import.meta.url));

/** The folder as it was left, and what stands in it. */
export interface Pristine {
  readonly dir: string;
  readonly files: readonly string[];
  /** Digest of the state that a start serves. */
  readonly digest: string;
  /** Digest of all batches of the log. */
  readonly content: string;
  readonly snapshots: readonly (readonly [seq: number, digest: string])[];
  readonly lastSeq: number;
}

export interface Damage {
  readonly file: string;
  readonly kind: 'flip' | 'zeros' | 'cut';
  readonly at: number;
  readonly bit: number;
  readonly length: number;
}

export interface Task {
  readonly damage: Damage;
  readonly by: 'verify' | 'start' | 'node';
}

export interface Outcome {
  readonly type: 'refused' | 'fell back' | 'harmless' | 'silent' | 'died';
  readonly said: string;
}

const sector = 512;
const logFile = 'log/data.mdb';
/**
 * Files that a node recreates if they are missing or ignores once their owner is dead, and files that it reads besides
 * its store.
 */
const otherFiles: readonly string[] = ['log/lock.mdb', 'heartbeat', 'group-salt', passwordFile];
/** One damage in so many is of those: each takes the start of a whole node. */
const otherEvery = 50;

/**
 * True if a text leads to the damaged file and to no other: to a record of the log, to the snapshot by its number, to
 * the file by its name.
 */
export function isNamed(said: string, file: string): boolean {
  if (file === logFile) return /log\/data\.mdb|record \d+|batch at \d+|owner/.test(said);
  const snapshot = /^snapshot-0*(\d+)\//.exec(file)?.[1];
  // If a reader died, it is unknown whether it read the log or a snapshot.
  if (snapshot !== undefined) return new RegExp(`snapshot[ -]0*${snapshot}\\b|or a snapshot`).test(said);
  return said.includes(file) || (file === 'group-salt' && said.includes('GROUP_SALT'));
}

function ruleBrokenBy({ type, said }: Outcome, { file }: Damage): string | null {
  if (type === 'silent' || type === 'died') return type;
  return type === 'harmless' || isNamed(said, file) ? null : 'not named';
}

/** A child that may die of what it reads, and is replaced then. */
class Reader {
  readonly #dir: string;
  readonly #args: readonly string[];
  #child: ChildProcess | null = null;

  constructor(dir: string, pristine: Pristine) {
    this.#dir = dir;
    this.#args = [dir, JSON.stringify(pristine)];
  }

  /**
   * A broken rule is checked again with a new child, since the previous one may have been harmed by earlier damage.
   * `onAnew` receives the rule that the first answer broke.
   */
  async ask(task: Task, onAnew: (rule: string) => void): Promise<Outcome> {
    const isNew = this.#child === null;
    const outcome = await this.#askOnce(task);
    const rule = ruleBrokenBy(outcome, task.damage);
    if (isNew || rule === null) return outcome;
    onAnew(rule);
    this.end();
    return this.#askOnce(task);
  }

  async #askOnce(task: Task): Promise<Outcome> {
    // One that ended behind its last answer, harmed by what it had read, was asked for nothing.
    if (this.#child !== null && isOver(this.#child)) this.#child = null;
    this.#child ??= await this.#start();
    const child = this.#child;
    return new Promise((resolve) => {
      let verified = false;
      const died = (code: number | null, signal: string | null) => {
        this.#child = null;
        child.removeAllListeners();
        // Both verify in a process of its own, whose death is reported so; behind that it would be the node that dies,
        // or what was called whole.
        const said = `${task.by} died of ${signal ?? code} behind the verification`;
        const { faults } = reportOfDeath(this.#dir, signal ?? `exit code ${code}`);
        resolve(verified ? { type: 'died', said } : { type: 'refused', said: faults.join('; ') });
      };
      child.once('exit', died);
      child.on('message', (message: Outcome | 'verified') => {
        if (message === 'verified') {
          verified = true;
          return;
        }
        child.removeAllListeners();
        resolve(message);
      });
      // If the child has ended meanwhile, its exit reports it.
      child.send(task, () => undefined);
    });
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(entry, this.#args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    await once(child, 'message');
    return child;
  }
}

function isOver({ connected, exitCode, signalCode }: ChildProcess): boolean {
  return !connected || exitCode !== null || signalCode !== null;
}

function filesOf(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(^|\/)(data\.mdb|head\.json)$/.test(name),
  );
}

/** Any of the files as often as any other, so that the small ones are met too. */
function draw(random: Random, dir: string, files: readonly string[]): Damage {
  const file = random.pick(files);
  const { size } = statSync(join(dir, file));
  const kind = random.pick(['flip', 'flip', 'flip', 'flip', 'zeros', 'cut'] as const);
  return { file, kind, at: random.below(size), bit: random.below(8), length: sector };
}

async function run(rounds: Rounds): Promise<void> {
  const { tally, random } = rounds;
  await inFastFolder(async (root) => {
    const dir = join(root, 'left');
    await leaveLife(dir);
    writeFileSync(join(dir, 'group-salt'), `${lifeSalt}\n`);
    writeFileSync(join(dir, passwordFile), `${await hashPassword(knownPassword)}\n`);
    cpSync(dir, join(root, 'read'), { recursive: true });
    const log = openLogReader(join(root, 'read'));
    const { digest } = recovered(dir, log);
    const store = filesOf(dir);
    const pristine = {
      dir,
      files: [...store, ...otherFiles],
      digest,
      content: contentOf(log),
      snapshots: snapshotsOf(dir),
      lastSeq: lastSeqOf(log),
    };
    await log.close();
    const reader = new Reader(join(root, 'read'), pristine);
    try {
      for (const round of rounds) {
        const isOther = round % otherEvery === otherEvery - 1;
        const damage = draw(random, dir, isOther ? otherFiles : store);
        for (const by of isOther ? (['node'] as const) : (['verify', 'start'] as const)) {
          const outcome = await reader.ask({ damage, by }, (rule) =>
            tally.add(`asked anew, the first answer: ${rule}`),
          );
          tally.add(isOther ? `${damage.file}: ${outcome.type}` : `${by}: ${outcome.type}`);
          const broken = ruleBrokenBy(outcome, damage);
          if (broken === null) continue;
          tally.break(`${broken}: round ${round}, ${JSON.stringify(damage)}, ${by}: ${outcome.said}`);
        }
      }
    } finally {
      reader.end();
    }
  });
  const uncheckable = [`${passwordFile} (a damaged hash could be another password's)`, 'heartbeat', 'log/lock.mdb'];
  tally.note('read, and not checkable', uncheckable.join(', '));
}

export const flips: Fault = {
  name: 'flips',
  summary: 'bit flips, cuts and zeros in log, snapshots and head; none may pass in silence',
  rounds: 100_000,
  run,
};
