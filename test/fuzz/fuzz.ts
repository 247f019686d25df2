/**
 * Fuzzes two nodes that differ by their lane only: every answer must be in the contract and the same from both, nothing
 * may be logged as a fault, and memory must stay. The first failure is shrunk, and tells the seed that repeats it.
 */
import fc, { type RunDetails } from 'fast-check';
import { type Conversation, isAligned, writesOf } from './conversation.js';
import { areAlike, comparable, judge } from './judge.js';
import { FuzzNode, type Memory } from './nodes.js';
import { conversations, readsOfPlayers } from './requests.js';
import { converse, type RawAnswer } from './wire.js';

export interface FuzzOptions {
  readonly seed: number;
  /** About how many requests are sent to each node. */
  readonly requests: number;
  /** Path of fast-check from a failure's report: leads to the shrunk failure at once. */
  readonly path?: string;
  /** The variables of both nodes. */
  readonly env: Readonly<Record<string, string>>;
  readonly onProgress?: (sent: number, memory: readonly (Memory | undefined)[]) => void;
}

export interface Fuzzed {
  /** To each node. */
  readonly requests: number;
  readonly answers: ReadonlyMap<number, number>;
  /**
   * Conversations that were answered differently while others ran, and alike when they were repeated alone. More than a
   * few are a failure.
   */
  readonly races: number;
  /** Per node, from the end of the warm-up to the end of the run; undefined where unknown. */
  readonly growth: readonly (Growth | undefined)[];
  /** The failure, with the way to reproduce it; null if there is none. */
  readonly failure: string | null;
}

/** Growth of the memory of a node. */
export interface Growth {
  readonly fromMiB: number;
  readonly toMiB: number;
  /** The share of the growth that the state takes by design. */
  readonly stateMiB: number;
  /** The rest of the difference, against `fromMiB`. */
  readonly share: number;
}

/**
 * Number of requests that warm a node up: until then heaps and the allocator's arenas grow, whatever is sent. A shorter
 * run warms up with two thirds of its requests.
 */
const warmUpRequests = 200_000;
const atOnce = 16;
/**
 * So many conversations have players of their own; later ones are about the same again, so that the tables come to
 * rest.
 */
const playerSets = 64;
/** How often what differed is repeated until it is no race. */
const repeats = 3;
/** As many as one round that a busy machine spoils. A million requests made none. */
const racesMax = atOnce;
/** A look at memory asks the node as well: each this many rounds. */
const roundsPerLook = 8;
const requestsMax = 12;
/** A failure is shrunk for so long: where connections hang, each try takes as long as they are waited for. */
const shrinkMs = 240_000;
/** A round seldom holds fewer; what is drawn beyond the end is not sent. */
const requestsPerRound = 25;

type RunDetailsFailed = RunDetails<[Conversation[]]>;

/** A conversation about one set of players, and how each node answered it, as comparable texts. */
interface Received {
  readonly conversation: Conversation;
  readonly set: number;
  readonly here: readonly string[];
  readonly there: readonly string[];
  readonly isAlike: boolean;
}

class Fuzz {
  readonly nodes: readonly FuzzNode[];
  readonly answers = new Map<number, number>();
  readonly memory: (Memory | undefined)[][] = [];
  #rounds = 0;
  sent = 0;
  races = 0;
  firstRace = '';
  #runs = 0;
  #sets = 0;
  /** Sets of players that others took the place of, and how often. */
  readonly #replaced = new Map<number, number>();
  #failedAt: number | undefined;
  /** As it was found, before others took its place. */
  firstFailure = '';

  constructor(private readonly options: FuzzOptions) {
    this.nodes = ['true', 'false'].map(
      (lane) => new FuzzNode(`FAST_PATH=${lane}`, { ...options.env, FAST_PATH: lane }),
    );
  }

  /** One conversation with each node. No other may be about the same set of players at that time. */
  async #send(
    conversation: Conversation,
    set: number,
    take = (_answers: readonly RawAnswer[]) => {},
  ): Promise<Received> {
    this.#runs += 1;
    const run = String(this.#runs).padStart(9, '0');
    const players = `${String(set).padStart(9, '0')}-${this.#replaced.get(set) ?? 0}`;
    const [here = [], there = []] = await Promise.all(
      this.nodes.map(async (node, place) => {
        const names = node.names(run, players);
        const answers = judge(conversation, names, await converse(node.port, writesOf(conversation, names)));
        if (place === 0) take(answers);
        return answers.map(comparable);
      }),
    );
    return { conversation, set, here, there, isAlike: areAlike(conversation, here, there) };
  }

  /** For the first time, while others run. */
  #sendFirst(conversation: Conversation): Promise<Received> {
    this.sent += conversation.requests.length + (conversation.raw === '' ? 0 : 1);
    this.#sets += 1;
    return this.#send(conversation, this.#sets % playerSets, (answers) => {
      for (const { status } of answers) this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
    });
  }

  /**
   * If a request broke off, one node may have stored it and the other not, which would show in later answers about the
   * same players: if the nodes differ, others replace those players.
   */
  async #replaceWhereApart(set: number): Promise<void> {
    const { isAlike } = await this.#send(readsOfPlayers, set);
    if (!isAlike) this.#replaced.set(set, (this.#replaced.get(set) ?? 0) + 1);
  }

  /** Others may have got in between on one of them: what is no race comes back when it runs alone, every time. */
  async #repeat(first: Received): Promise<void> {
    let last = first;
    for (let again = 0; again < repeats; again++) {
      last = await this.#send(first.conversation, first.set);
      await this.#replaceWhereApart(first.set);
      if (!last.isAlike) continue;
      this.races += 1;
      if (this.races === 1) this.firstRace = this.#difference(first);
      return;
    }
    throw new Error(this.#difference(last));
  }

  #difference({ here, there }: Received): string {
    const [one, other] = this.nodes.map(({ name }) => name);
    return `${one} answers\n${here.join('\n')}\nand ${other} answers\n${there.join('\n')}`;
  }

  async round(all: readonly Conversation[]): Promise<void> {
    if (
      this.#failedAt === undefined ? this.sent >= this.options.requests : performance.now() > this.#failedAt + shrinkMs
    )
      return;
    const fates = await Promise.allSettled(all.map((one) => this.#sendFirst(one)));
    try {
      await this.#lookAfter();
      const judged = fates.map((fate) => {
        if (fate.status === 'fulfilled') return fate.value;
        throw fate.reason;
      });
      const odd = judged.filter(({ conversation, isAlike }) => !isAlike || !isAligned(conversation));
      await Promise.all(odd.map(({ set }) => this.#replaceWhereApart(set)));
      for (const one of odd) if (!one.isAlike) await this.#repeat(one);
    } catch (error) {
      this.#failedAt ??= performance.now();
      this.firstFailure ||= `${error}`;
      throw error;
    }
    if (this.#rounds++ % roundsPerLook !== 0) return;
    this.memory.push(await Promise.all(this.nodes.map((node) => node.memory())));
    this.options.onProgress?.(this.sent, this.memory.at(-1)!);
  }

  /** A node that ended, or complained, is a failure; another takes its place, so that the failure can be shrunk. */
  async #lookAfter(): Promise<void> {
    for (const node of this.nodes) {
      const { alive, complaints } = node;
      if (alive && complaints.length === 0) continue;
      await node.stop().catch(() => {});
      await node.start();
      throw new Error(`${node.name} ${alive ? 'complained' : 'ended'}: ${complaints.slice(-5).join('\n')}`);
    }
  }

  /** From a tenth of the looks after the warm-up to the last tenth. */
  growth(): (Growth | undefined)[] {
    const { memory } = this;
    const tenth = Math.max(1, Math.floor(memory.length / 10));
    const warmedUp = Math.min(2 / 3, warmUpRequests / this.sent);
    const early = memory.slice(Math.floor(memory.length * warmedUp)).slice(0, tenth);
    const late = memory.slice(-tenth);
    return this.nodes.map((_, place) => {
      const [from, to] = [early, late].map((looks) => collected(looks.map((look) => look[place])));
      if (from === undefined || to === undefined) return undefined;
      const stateMiB = to.stateMiB - from.stateMiB;
      const share = (to.residentMiB - from.residentMiB - stateMiB) / from.residentMiB;
      return { fromMiB: from.residentMiB, toMiB: to.residentMiB, stateMiB, share };
    });
  }
}

/**
 * The resident memory after a collection: a low one of these samples, most of which fall between two collections, at
 * times and with garbage that depend on the speed of the machine. Undefined if one of them is.
 */
function collected(looks: readonly (Memory | undefined)[]): Memory | undefined {
  const known = looks.filter((look) => look !== undefined);
  if (known.length < looks.length) return undefined;
  return known.sort((a, b) => a.residentMiB - b.residentMiB)[Math.floor(known.length / 10)];
}

/** Starts the nodes, sends so many requests to each, and ends them. Rejects only where the fuzz itself cannot run. */
export async function fuzz(options: FuzzOptions): Promise<Fuzzed> {
  const run = new Fuzz(options);
  await Promise.all(run.nodes.map((node) => node.start()));
  const rounds = fc.array(conversations(requestsMax), { minLength: 1, maxLength: atOnce, size: 'max' });
  const numRuns = Math.ceil(options.requests / requestsPerRound);
  const { seed, path } = options;
  const result = await fc.check(
    fc.asyncProperty(rounds, (all) => run.round(all)),
    { seed, numRuns, ...(path === undefined ? {} : { path }) },
  );
  const ends = await Promise.allSettled(run.nodes.map((node) => node.stop()));
  const unclean = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
  const raced = `${run.races} conversations differed while others ran, the first so: ${run.firstRace}`;
  const failure = result.failed
    ? failureOf(result, run.firstFailure)
    : (unclean[0] ?? (run.races > racesMax ? raced : null));
  return { requests: run.sent, answers: run.answers, races: run.races, growth: run.growth(), failure };
}

/**
 * A failure for people: how to repeat it, and the bytes of the shrunk conversations with names in place of keys and
 * ids.
 */
function failureOf(details: RunDetailsFailed, first: string): string {
  const { seed, counterexample, counterexamplePath, errorInstance } = details;
  const writes = (counterexample?.[0] ?? []).map((one) =>
    writesOf(one, new Map()).map((bytes) => JSON.stringify(bytes.toString('latin1').slice(0, 4_000))),
  );
  const lines = writes.flatMap((one) => ['on one connection:', ...one.map((text) => `  ${text}`)]);
  return [
    `${String(errorInstance)}`,
    `found as ${first}`,
    `--seed ${seed} --path ${counterexamplePath}`,
    ...lines,
  ].join('\n');
}
