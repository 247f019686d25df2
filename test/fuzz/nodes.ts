/**
 * The nodes under fuzz: processes of their own, alike but for the fast path, with the same peers; started again where
 * they end.
 */

import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Address } from '../../src/node/operator-access.js';
import { ask } from '../http/exchange.js';
import { eventBody } from '../http/samples.js';
import { residentMiB } from '../support/memory.js';
import { type NodeProcess, startProcess, temporaryFolder } from '../support/process.js';
import { runPtf } from '../support/ptf.js';
import { until } from '../support/until.js';

const MIB = 2 ** 20;
/**
 * A heap that exceeds its live data would grow for hours, up to its bounds. The C library keeps a pool for each thread,
 * unless configured as in `deploy/`.
 */
const memory = {
  NODE_OPTIONS: `--max-semi-space-size=2 --import=${new URL('./collect.js', import.meta.url)}`,
  MALLOC_ARENA_MAX: '2',
};
/**
 * Permanent additions to the state of a node and of its replica, by "What is in memory" in docs/operating/scale.md: the
 * id of an accepted event, the time of a turn, a player with an entry.
 */
const stateBytes = { event: 2 * (24 + 6), turn: 2 * 16, player: 2 * (52 + 11 + 28) };

export interface Memory {
  readonly residentMiB: number;
  /** The share that permanent events, turns and players take by design. */
  readonly stateMiB: number;
}

const fuzzOrigin = 'fuzz-list';
export const groupSalt = 'the salt of a group under fuzz';

export class FuzzNode {
  readonly name: string;
  readonly #env: Readonly<Record<string, string>>;
  #process: NodeProcess | undefined;
  #dir = '';
  /** The begin of a line of its output whose end is still to come. */
  #lineBegun = '';
  #metricsUrl = '';
  #complaints: string[] = [];
  #peers: ReadonlyMap<string, string> = new Map();

  readonly #cookie: string;

  /** @param cookie of those who register, where the node asks for one. */
  constructor(name: string, env: Readonly<Record<string, string>>, cookie = '') {
    this.name = name;
    this.#env = env;
    this.#cookie = cookie;
  }

  get #publicKey(): { readonly public_key?: string } {
    return this.#env.REQUEST_SIGNING === 'required'
      ? { public_key: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' }
      : {};
  }

  /** With two active peers, one suspended and one revoked. */
  async start(): Promise<void> {
    this.#dir = temporaryFolder();
    this.#lineBegun = '';
    this.#complaints = [];
    this.#process = await startProcess({
      DATA_DIR: this.#dir,
      GROUP_SALT: groupSalt,
      REGISTRATION_MODE: 'open',
      HALF_LIFE_DAYS: '0',
      PEERS_MAX: '200',
      ERASURE_QUOTA_PER_DAY: '1000000',
      // Weights would come at another moment on each node.
      WEIGHTS_INTERVAL_MS: '3600000',
      LOG_LEVEL: 'info',
      METRICS_PORT: '0',
      ...memory,
      ...this.#env,
    });
    const { metrics } = JSON.parse(/^.*"msg":"listening".*$/m.exec(this.output)![0]) as { metrics: Address };
    this.#metricsUrl = `http://${metrics.host}:${metrics.port}/metrics`;
    const names = new Map<string, string>();
    for (const [place, peer_name] of ['first', 'second', 'suspended', 'revoked'].entries()) {
      const { body } = await ask(this.url, '/api/v1/peers/register', {
        json: { peer_name, game_ids: ['arena'], contact_email: 'ops@example.com', ...this.#publicKey },
        headers: { Cookie: this.#cookie },
      });
      names.set(`peer${place}`, body.peer_id).set(`key${place}`, body.api_key);
    }
    this.#peers = names;
    await runPtf(['origins', 'add', fuzzOrigin], this.#dir);
    await this.#operate('suspend', names.get('peer2') ?? '');
    await until(async () => (await ask(this.url, '/api/v1/health')).body.weights.computed_at !== null);
    await this.#operate('revoke', names.get('peer3') ?? '', '--yes');
    if (this.#env.REQUEST_SIGNING === 'required') return;
    for (const place of [0, 1]) {
      await this.#weigh(place, {});
      await this.#weigh(place, { origin: fuzzOrigin });
    }
  }

  /**
   * The first evidence of a peer, and the first of each peer under an origin, starts a computation of weights out of
   * turn, which would come at another moment on each node, and answers would differ: it has passed before anything is
   * compared.
   */
  async #weigh(place: number, under: { readonly origin?: string }): Promise<void> {
    const [peer_id, key] = [this.#peers.get(`peer${place}`)!, this.#peers.get(`key${place}`)!];
    const player_id = hash('sha256', `first player of ${place} under ${under.origin}`, 'hex');
    const sent = await ask(this.url, '/api/v1/events', {
      key,
      json: eventBody({ schema_version: '1.1.0', peer_id, player_id, ...under }),
    });
    if (sent.status !== 201) throw new Error(`the first event of a peer was refused: ${sent.text}`);
    await until(
      async () => (await ask(this.url, `/api/v1/players/${player_id}/trust-score`, { key })).body.confidence > 0,
    );
  }

  get url(): string {
    return this.#process?.url ?? '';
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get dir(): string {
    return this.#dir;
  }

  /** All that it wrote to its standard output and error. */
  get output(): string {
    return this.#process?.output() ?? '';
  }

  /**
   * Resident memory of its own less what its state takes by design; undefined where the machine does not tell, or it
   * ended.
   */
  async memory(): Promise<Memory | undefined> {
    const resident = residentMiB(this.#process?.child.pid);
    const text = await this.#metrics().catch(() => undefined);
    if (resident === undefined || text === undefined) return undefined;
    const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    const events = figure('ptf_events') * stateBytes.event;
    const turns = figure('ptf_commit_duration_seconds_count') * stateBytes.turn;
    const players = figure('ptf_players') * stateBytes.player;
    return { residentMiB: resident, stateMiB: (events + turns + players) / MIB };
  }

  async #metrics(): Promise<string> {
    return (await fetch(this.#metricsUrl)).text();
  }

  /** Errors that it logged, and what is no line of a log: nothing, if all is well. */
  get complaints(): readonly string[] {
    const lines = `${this.#lineBegun}${this.#process?.takeUnread() ?? ''}`.split('\n');
    this.#lineBegun = lines.pop()!;
    for (const line of lines)
      if (line !== '' && !/"level":"(?:warn|info|debug|trace)"/.test(line)) this.#complaints.push(line);
    return this.#complaints;
  }

  /** True if its process still runs. */
  get alive(): boolean {
    const child = this.#process?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /**
   * The names of one conversation: `run` is its own, and its players are those of `players`, which is none but its own
   * where absent.
   */
  names(run: string, players = run): ReadonlyMap<string, string> {
    const names = new Map(this.#peers);
    for (let i = 0; i < 6; i++) {
      const player = `player-${players}-${i}`;
      names.set(`event${i}`, `event-${run}-${i}`).set(`player${i}`, player);
      names.set(`hash${i}`, hash('sha256', player + groupSalt, 'hex'));
    }
    return names;
  }

  /** Ends the node and removes its folder; rejects where that is no clean end. */
  async stop(): Promise<void> {
    await this.end().finally(() => rmSync(this.#dir, { recursive: true, force: true }));
  }

  /** Ends the node as an operator would; the folder stays. */
  async end(): Promise<void> {
    const { alive } = this;
    const exit = alive ? await this.#process?.kill('SIGTERM') : await this.#process?.ended;
    if (exit !== 0)
      throw new Error(`the node ${this.name} ended with ${exit}: ${this.complaints.slice(-5).join('\n')}`);
  }

  async #operate(...args: readonly string[]): Promise<void> {
    const run = await runPtf(['peers', ...args], this.#dir);
    if (run.code !== 0) throw new Error(`ptf peers ${args.join(' ')}: ${run.err}`);
  }
}
