/**
 * Bit flips, cuts and blocks of zeros in every file of a store. Each damage is met by `ptf verify` and by a start. It must be
 * named, or passed over for an older snapshot, or change nothing; never may another state or another log pass for the one written.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openLogReader } from '../../src/store/lmdb-log.js';
import { Random } from '../support/random.js';
import { type Fault, type Findings, inFastFolder, type Rounds, Tally } from './fault.js';
import { contentOf, leaveLife, recovered } from './life.js';

const entry = fileURLToPath(new URL('./flip-process.js', import.meta.url));

/** The folder as it was left, and what stands in it. */
export interface Pristine {
  readonly dir: string;
  readonly files: readonly string[];
  /** Of the state that a start serves. */
  readonly digest: string;
  /** Of all batches of the log. */
  readonly content: string;
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
  readonly by: 'verify' | 'start';
}

export interface Outcome {
  readonly type: 'refused' | 'fell back' | 'harmless' | 'silent' | 'died';
  readonly said: string;
}

/** A place that a person can look at: a record, a snapshot, a file. */
const named = /record \d+|batch at \d+|snapshot[ -]\d+|head\.json|data\.mdb|owner/;
const sector = 512;

function ruleBrokenBy({ type, said }: Outcome): string | null {
  if (type === 'silent' || type === 'died') return type;
  return type === 'harmless' || named.test(said) ? null : 'not named';
}

/** A child that may die of what it reads, and is replaced then. */
class Reader {
  readonly #args: readonly string[];
  #child: ChildProcess | null = null;

  constructor(dir: string, pristine: Pristine) {
    this.#args = [dir, JSON.stringify(pristine)];
  }

  /** What breaks a rule is asked of a new child once more: the one before may have been harmed by an earlier damage. */
  async ask(task: Task): Promise<Outcome> {
    const isNew = this.#child === null;
    const outcome = await this.#askOnce(task);
    if (isNew || ruleBrokenBy(outcome) === null) return outcome;
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
        // A start verifies in a process of its own, whose death it reports; behind that it would be the node that dies.
        const said = `${task.by} ${verified ? 'of the node itself ' : ''}died of ${signal ?? code}`;
        resolve({
          type: verified ? 'died' : 'refused',
          said: verified ? said : `data.mdb: its reader died (${signal})`,
        });
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
      // Where it has ended meanwhile, its exit says so.
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

/** Any file as often as any other, so that the small ones are met too. */
function draw(random: Random, dir: string, files: readonly string[]): Damage {
  const file = random.pick(files);
  const { size } = statSync(join(dir, file));
  const kind = random.pick(['flip', 'flip', 'flip', 'flip', 'zeros', 'cut'] as const);
  return { file, kind, at: random.below(size), bit: random.below(8), length: sector };
}

async function run(rounds: Rounds): Promise<Findings> {
  const tally = new Tally();
  const random = new Random(rounds.seed);
  await inFastFolder(async (root) => {
    const dir = join(root, 'left');
    await leaveLife(dir);
    cpSync(dir, join(root, 'read'), { recursive: true });
    const log = openLogReader(join(root, 'read'));
    const { digest } = recovered(dir, log);
    const pristine = { dir, files: filesOf(dir), digest, content: contentOf(log) };
    await log.close();
    const reader = new Reader(join(root, 'read'), pristine);
    try {
      for (const round of rounds) {
        const damage = draw(random, dir, pristine.files);
        for (const by of ['verify', 'start'] as const) {
          const outcome = await reader.ask({ damage, by });
          tally.add(`${by}: ${outcome.type}`);
          const broken = ruleBrokenBy(outcome);
          if (broken === null) continue;
          tally.break(`${broken}: round ${round}, ${JSON.stringify(damage)}, ${by}: ${outcome.said}`);
        }
      }
    } finally {
      reader.end();
    }
  });
  return tally.findings();
}

export const flips: Fault = {
  name: 'flips',
  summary: 'bit flips, cuts and zeros in log, snapshots and head; none may pass in silence',
  rounds: 100_000,
  run,
};
