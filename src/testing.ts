/**
 * The package `peer-trust-federation/testing`: a real node in a temporary folder on a free port, as a process of its
 * own, so that a game server's tests run against the service itself, and can take it away.
 * @packageDocumentation
 */
import './client/require-node.js';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { TrustClientOptions } from './client/client-options.js';
import { TrustClient } from './client/trust-client.js';

/**
 * How a test node runs.
 * @public
 */
export interface TestNodeOptions {
  /**
   * Variables of the node's configuration over its defaults, such as `HALF_LIFE_DAYS`; see the README's table. A
   * `LOG_LEVEL` that is quieter than `info` is taken for `info`: a start is read off the log.
   */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** The group's salt; a fixed one where it is left out. */
  readonly groupSalt?: string | undefined;
  /** A data folder that stays, made where it is missing; a temporary one where it is left out. */
  readonly folder?: string | undefined;
}

/**
 * A peer of a test node.
 * @public
 */
export interface TestPeer {
  /** The peer's id. */
  readonly peerId: string;
  /** The peer's key. */
  readonly apiKey: string;
  /** The games that it may submit events for. */
  readonly gameIds: readonly string[];
}

/**
 * Players to be made known, by what all of the seeding peers say about them. The peers also judge some players of their
 * own, `seeded bad player 1` and so on, so that the group knows them as peers that report and praise.
 * @public
 */
export interface Seed {
  /** Reported and banned: these become `untrusted`. */
  readonly bad?: readonly string[] | undefined;
  /** Commended: these become `trusted`. */
  readonly good?: readonly string[] | undefined;
  /** How many peers say so; 6 where it is left out. Fewer than 4 need not make anybody `untrusted` or `trusted`. */
  readonly peers?: number | undefined;
}

const entry = fileURLToPath(new URL('./test-node.js', import.meta.url));
/** Levels that hide the line by which a start is known. */
const quietLevels = ['warn', 'error', 'fatal', 'silent'];
const startTimeoutMs = 60_000;
const portTimeoutMs = 10_000;
const settleTimeoutMs = 120_000;
/** For the calls that prepare a test: whoever waits this long has a node that hangs, on a machine however busy. */
const patient = { attemptMs: 60_000, deadlineMs: 60_000 };
const settlePauseMs = 20;
const eventsPerPlayer = 3;
/** Players of either kind that seeding peers judge besides: enough for peers to count as two-sided. */
const otherPlayers = 12;
const outputMax = 64 * 1024;

/** What a seeding peer says of a player; `differs`: once the opposite. */
function seedEvents({ playerId, isBad }: { readonly playerId: string; readonly isBad: boolean }, differs: boolean) {
  const now = Date.now();
  return Array.from({ length: eventsPerPlayer }, (_, i) => ({
    eventType: isBad === (i === 0 && differs) ? ('commendation' as const) : ('ban_applied' as const),
    playerId,
    gameId: 'arena',
    severity: 1,
    // Two events of the same moment would be one piece of evidence.
    at: now - i,
  }));
}

/**
 * Whether a peer differs in one event from the rest, for about half of the players: peers that say the same of
 * everybody are one witness.
 */
function differs(peer: number, player: number): boolean {
  return ((Math.imul(peer * 31 + player + 1, 0x9e37_79b1) >>> 16) & 1) === 1;
}

/**
 * Starts a node and resolves once it answers. Close it at the end of the test; a test that dies takes its node with it.
 * @public
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

/**
 * A node for tests; made by {@link startTestNode}.
 * @public
 */
export class TestNode {
  /** The data folder. */
  readonly folder: string;
  /** The group's salt. */
  readonly groupSalt: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #isOwnFolder: boolean;
  readonly #clients = new Set<TrustClient>();
  #port = 0;
  #child: ChildProcess | null = null;
  #output = '';

  /** @internal */
  constructor({ variables = {}, groupSalt = 'salt of the test node', folder }: TestNodeOptions) {
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'ptf-testing-'));
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

  /** Whether the process runs. */
  get isRunning(): boolean {
    return this.#child !== null;
  }

  /** What the node has logged lately. */
  get output(): string {
    return this.#output;
  }

  /** Starts the node again after `stop` or `kill`, on the same folder and port. Resolves once it answers. */
  async start(): Promise<void> {
    if (this.#child !== null) throw new Error('the test node runs already');
    const endsAt = performance.now() + portTimeoutMs;
    for (;;) {
      try {
        await this.#spawn();
        return;
      } catch (error) {
        // While the node was away, the system may have lent its port to another process.
        if (!this.#output.includes('in use by another process') || performance.now() > endsAt) throw error;
        await delay(settlePauseMs);
      }
    }
  }

  async #spawn(): Promise<void> {
    const child = fork(entry, [], {
      cwd: this.folder,
      // Nothing of the test's own environment, so that it runs everywhere the same.
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
    // What could not be started never exits.
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

  /** Ends the node as a crash does (SIGKILL); resolves once it has ended. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Stops the node and starts it again. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Stops the node, closes the clients that were made here, and removes the temporary folder. */
  async close(): Promise<void> {
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

  /** A client of this node, of a peer or of nobody, that ends with it. */
  client(peer?: TestPeer, options: Partial<TrustClientOptions> = {}): TrustClient {
    const who = peer === undefined ? {} : { peerId: peer.peerId, apiKey: peer.apiKey };
    const client = new TrustClient({ url: this.url, groupSalt: this.groupSalt, ...who, ...options });
    this.#clients.add(client);
    return client;
  }

  /** Registers peers, lets each of them report the players, and resolves once the scores say so. Returns the peers. */
  async seed({ bad = [], good = [], peers: count = 6 }: Seed): Promise<TestPeer[]> {
    const peers: TestPeer[] = [];
    for (let index = 0; index < count; index++) peers.push(await this.register(`seeding peer ${index + 1}`));
    const others = (kind: string) => Array.from({ length: otherPlayers }, (_, i) => `seeded ${kind} player ${i + 1}`);
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

  /** Resolves once the peers' weights take account of everything that the node has accepted. */
  async settled(): Promise<void> {
    const endsAt = performance.now() + settleTimeoutMs;
    for (;;) {
      const { last_seq, weights } = await this.#health();
      if (weights.based_on_seq >= last_seq) return;
      if (performance.now() > endsAt) throw new Error('the weights of the test node did not settle');
      await delay(settlePauseMs);
    }
  }

  async #health(): Promise<{ last_seq: number; weights: { based_on_seq: number } }> {
    const answer = await fetch(`${this.url}/api/v1/health`);
    return (await answer.json()) as { last_seq: number; weights: { based_on_seq: number } };
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Resolves with the port once the log says that the node listens. */
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
        // Not `exit`, which may come before the last of what it said.
        child.once('close', (code, signal) => fail(`the test node ended with ${code ?? signal}`));
        child.once('error', reject);
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Nodes that must not outlive the process that started them. Where a signal ends it, they see their channel closed. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
