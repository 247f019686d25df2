/**
 * The package `peer-trust-federation/testing`: starts a real node in a temporary folder on a free port, as a process of
 * its own, so that a game server's tests run against the service itself and can stop it.
 * @packageDocumentation
 */
import '../client/require-node.js';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { subjectHash, TrustClient, type TrustClientOptions } from '../client/entry.js';

/** The options of a test node. @public */
export interface TestNodeOptions {
  /**
   * Variables of the node's configuration over its defaults, such as `HALF_LIFE_DAYS`; see docs/CONFIGURATION.md. A
   * `LOG_LEVEL` above `info` is replaced by `info`, because the start is recognised by a log line.
   */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** The group's salt. Default: a fixed one. */
  readonly groupSalt?: string | undefined;
  /** A data folder that is kept, created if missing. Default: a temporary one. */
  readonly folder?: string | undefined;
}

/** A peer of a test node. @public */
export interface TestPeer {
  /** The peer's id. */
  readonly peerId: string;
  /** The peer's key. */
  readonly apiKey: string;
  /** The games for which the peer may submit events. */
  readonly gameIds: readonly string[];
}

/**
 * Players that all seeding peers judge. The peers also judge some other players, `seeded bad player 1` and so on, so
 * that the group knows them as peers that both report and praise. @public
 */
export interface Seed {
  /** Reported and banned players, which become `untrusted`. */
  readonly bad?: readonly string[] | undefined;
  /** Commended players, which become `trusted`. */
  readonly good?: readonly string[] | undefined;
  /** Number of seeding peers. Fewer than 4 may not be enough for `trusted`. Default: 6. */
  readonly peers?: number | undefined;
}

const entry = fileURLToPath(new URL('./test-node-process.js', import.meta.url));
/** Log levels at which a node does not write the line that reports its start. */
const quietLevels = ['warn', 'error', 'fatal', 'silent'];
const startTimeoutMs = 60_000;
const portTimeoutMs = 10_000;
const settleTimeoutMs = 120_000;
/** Time limits of the calls that prepare a test: even on a busy machine, a node that takes longer hangs. */
const patient = { attemptMs: 60_000, deadlineMs: 60_000 };
const settlePauseMs = 20;
/** Number of other players of either kind that the seeding peers judge, so that the peers count as two-sided. */
const otherPlayers = 12;
const outputMax = 64 * 1024;

/** A seeding peer's events about a player of either kind, and the opposite event that may replace the first. */
const seeded = {
  bad: { types: ['report_cheating', 'report_cheating', 'ban_applied'], opposite: 'commendation' },
  good: { types: ['commendation', 'commendation', 'commendation'], opposite: 'report_cheating' },
} as const;

function seedEvents({ playerId, isBad }: { readonly playerId: string; readonly isBad: boolean }, differs: boolean) {
  const now = Date.now();
  const { types, opposite } = isBad ? seeded.bad : seeded.good;
  return types.map((type, i) => ({
    eventType: i === 0 && differs ? opposite : type,
    playerId,
    gameId: 'arena',
    severity: 1,
    // Two events with the same time would count as one piece of evidence.
    at: now - i,
  }));
}

/** True if a peer differs in one event about a player: peers with equal events would count as one witness. */
function differs(peer: number, player: number): boolean {
  return ((Math.imul(peer * 31 + player + 1, 0x9e37_79b1) >>> 16) & 1) === 1;
}

/**
 * Starts a node and resolves once it answers. Close it at the end of the test; the node also ends with the test's
 * process. @public
 */
export async function startTestNode(options: TestNodeOptions = {}): Promise<TestNode> {
  const node = new TestNode(options);
  try {
    await node.start();
  } catch (error) {
    await node.close();
    throw error;
  }
  return node;
}

/** A node for tests; made by {@link startTestNode}. @public */
export class TestNode {
  /** The data folder. */
  readonly folder: string;
  /** The group's salt. */
  readonly groupSalt: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #isOwnFolder: boolean;
  readonly #clients = new Set<TrustClient>();
  readonly #closing = new AbortController();
  #port = 0;
  #child: ChildProcess | null = null;
  #output = '';

  /** @internal */
  constructor({ variables = {}, groupSalt = 'salt of the test node', folder }: TestNodeOptions) {
    this.folder = resolve(folder ?? mkdtempSync(join(tmpdir(), 'ptf-testing-')));
    mkdirSync(this.folder, { recursive: true });
    this.#isOwnFolder = folder === undefined;
    this.groupSalt = groupSalt;
    const isQuiet = quietLevels.includes(variables.LOG_LEVEL ?? '');
    this.#variables = isQuiet ? { ...variables, LOG_LEVEL: 'info' } : variables;
  }

  /** The node's address; the same after a restart. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** True if the process runs. */
  get isRunning(): boolean {
    return this.#child !== null;
  }

  /** The node's recent log output. */
  get output(): string {
    return this.#output;
  }

  /** Starts the node again after `stop` or `kill`, on the same folder and port. Resolves once it answers. */
  async start(): Promise<void> {
    if (this.#child !== null) throw new Error('the test node is already running');
    const endsAt = performance.now() + portTimeoutMs;
    for (;;) {
      try {
        await this.#spawn();
        return;
      } catch (error) {
        // While the node was stopped, the system may have given its port to another process.
        if (!this.#output.includes('in use by another process') || performance.now() > endsAt) throw error;
        await delay(settlePauseMs, undefined, { signal: this.#closing.signal });
      }
    }
  }

  async #spawn(): Promise<void> {
    const child = fork(entry, [], {
      cwd: this.folder,
      // Nothing of the test's own environment is passed on, so that the node behaves the same everywhere.
      env: {
        DATA_DIR: join(this.folder, 'data'),
        PORT: String(this.#port),
        GROUP_SALT: this.groupSalt,
        WEIGHTS_INTERVAL_MS: '50',
        ...this.#variables,
      },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    running.add(child);
    const ended = () => {
      running.delete(child);
      if (this.#child === child) this.#child = null;
    };
    child.once('exit', ended);
    // A process that could not be started emits no exit event.
    child.once('error', () => {
      if (child.pid === undefined) ended();
    });
    try {
      this.#port = await this.#listening(child);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  /** Stops the node as an operator does (SIGTERM); resolves once it has ended. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Kills the node like a crash (SIGKILL); resolves once it has ended. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Stops the node and starts it again. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Stops the node, closes the clients that it created, and removes the temporary folder. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the test node is closed'));
    await Promise.all([...this.#clients].map((client) => client.close()));
    this.#clients.clear();
    await this.stop();
    if (this.#isOwnFolder) rmSync(this.folder, { recursive: true, force: true });
  }

  /** Registers a peer for these games. */
  async register(peerName = 'test peer', gameIds: readonly string[] = ['arena']): Promise<TestPeer> {
    const { peerId, apiKey } = await this.client(undefined, patient).register({ peerName, gameIds });
    return { peerId, apiKey, gameIds };
  }

  /** Creates a client of this node, with a peer's credentials or without any, which is closed with the node. */
  client(peer?: TestPeer, options: Partial<TrustClientOptions> = {}): TrustClient {
    const who = peer === undefined ? {} : { peerId: peer.peerId, apiKey: peer.apiKey };
    const client = new TrustClient({ url: this.url, groupSalt: this.groupSalt, ...who, ...options });
    this.#clients.add(client);
    return client;
  }

  /**
   * Registers peers, lets each of them judge the players, and resolves once the scores reflect that. Returns the peers.
   */
  async seed({ bad = [], good = [], peers: count = 6 }: Seed): Promise<TestPeer[]> {
    const peers: TestPeer[] = [];
    for (let index = 0; index < count; index++) peers.push(await this.register(`seeding peer ${index + 1}`));
    // As hashes, because the group may accept ids of certain kinds only.
    const other = (kind: string, i: number) => subjectHash(`seeded ${kind} player ${i + 1}`, this.groupSalt);
    const others = (kind: string) => Array.from({ length: otherPlayers }, (_, i) => other(kind, i));
    const players = [
      ...[...others('bad'), ...bad].map((playerId) => ({ playerId, isBad: true })),
      ...[...others('good'), ...good].map((playerId) => ({ playerId, isBad: false })),
    ];
    for (const [index, peer] of peers.entries()) {
      const events = players.flatMap((player, i) => seedEvents(player, differs(index, i)));
      const { rejected } = await this.client(peer, patient).submitMany(events);
      if (rejected > 0) throw new Error(`the test node rejected ${rejected} events of the seed`);
    }
    await this.settled();
    return peers;
  }

  /** Resolves once the peers' weights include everything that the node has accepted. */
  async settled(): Promise<void> {
    const endsAt = performance.now() + settleTimeoutMs;
    for (;;) {
      const answer = await fetch(`${this.url}/api/v1/health`);
      const health = (await answer.json()) as { last_seq: number; weights: { based_on_seq: number } };
      if (health.weights.based_on_seq >= health.last_seq) return;
      if (performance.now() > endsAt) throw new Error('the weights of the test node did not settle');
      await delay(settlePauseMs);
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async #listening(child: ChildProcess): Promise<number> {
    this.#output = '';
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        const fail = (what: string) => reject(new Error(`${what}:\n${this.#output}`));
        timer = setTimeout(() => fail('the test node did not start in time'), startTimeoutMs);
        const append = (text: string) => {
          this.#output = (this.#output + text).slice(-outputMax);
          const line = this.#output.split('\n').find((candidate) => candidate.includes('"msg":"listening"'));
          const port = /"port":(\d+)/.exec(line ?? '')?.[1];
          if (port !== undefined) resolve(Number(port));
        };
        child.stdout?.setEncoding('utf8').on('data', append);
        child.stderr?.setEncoding('utf8').on('data', append);
        // Not `exit`, which may come before the last output.
        child.once('close', (code, signal) => fail(`the test node ended with ${code ?? signal}`));
        child.once('error', reject);
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Nodes that must not outlive this process. If a signal ends it, they notice that their channel is closed. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
