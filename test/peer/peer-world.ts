/**
 * A game server's side for tests of `ptf-peer`: a folder of its own, a configuration, the command in this process or as
 * one of its own, and a proxy that records every byte that leaves for the node.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as forward, type Server } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runPeerCommand } from '../../src/peer/cli/peer-command.js';
import { type Ran, type Running, watched } from '../support/child-process.js';
import { temporaryFolder } from '../support/process.js';

export const peerEntry = fileURLToPath(new URL('../../src/ptf-peer.js', import.meta.url));

export interface ConfigMembers {
  readonly url: string;
  readonly peerId: string;
  readonly apiKey: string;
  readonly groupSalt: string;
  readonly gameIds?: readonly string[];
}

const never = new AbortController().signal;
const children = new Set<ChildProcess>();

export class PeerWorld {
  readonly folder = temporaryFolder();
  readonly configPath = join(this.folder, 'config', 'config.json');
  readonly stateDir = join(this.folder, 'state');

  writeConfig({ url, peerId, apiKey, groupSalt, gameIds = ['arena'] }: ConfigMembers): void {
    const file = {
      url,
      peer_id: peerId,
      api_key: apiKey,
      group_salt: groupSalt,
      game_ids: gameIds,
      state_dir: this.stateDir,
    };
    mkdirSync(join(this.folder, 'config'), { recursive: true });
    writeFileSync(this.configPath, JSON.stringify(file), { mode: 0o600 });
  }

  /** Runs a command in this process, until `ending` is aborted if it does not end by itself. */
  async run(
    args: readonly string[],
    env: Record<string, string> = {},
    ending = never,
    onErr: (text: string) => void = () => undefined,
  ): Promise<Ran> {
    let out = '';
    let err = '';
    const code = await runPeerCommand(['--config', this.configPath, ...args], {
      env,
      home: this.folder,
      version: '0.0.0',
      memory: () => ({ rss: 0, heapUsed: 0 }),
      ending,
      terminal: {
        out: (text) => {
          out += text;
        },
        err: (text) => {
          err += text;
          onErr(text);
        },
        width: Number.POSITIVE_INFINITY,
        progress: () => ({ to: () => {}, end: () => {} }),
        askSecret: null,
      },
      input: Readable.from([]),
    });
    return { code, out, err };
  }

  /** Starts the command as a process of its own. */
  start(args: readonly string[], env: Record<string, string> = {}): Running {
    const child = spawn(process.execPath, [peerEntry, '--config', this.configPath, ...args], {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: this.folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    child.once('close', () => children.delete(child));
    return watched(child);
  }

  /** The text of every file below the state folder. */
  stateText(): string {
    return readdirSync(this.stateDir, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'))
      .join('\n');
  }
}

/** Kills what a failed test left behind: call it after the last test. */
export function endChildren(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** A sidecar as a process, with calls of its API. */
export class SidecarProcess {
  readonly running: Running;
  #world: PeerWorld;
  url = '';

  constructor(world: PeerWorld, args: readonly string[] = []) {
    this.#world = world;
    this.running = world.start(['--json', 'sidecar', '--port', '0', ...args]);
  }

  async listening(): Promise<this> {
    const { child, ended } = this.running;
    await new Promise<void>((resolve, reject) => {
      child.stdout!.on('data', () => {
        if (this.running.out().includes('\n')) resolve();
      });
      void ended.then(({ err }) => reject(new Error(`the sidecar ended: ${err}`)));
    });
    this.url = (JSON.parse(this.running.out()) as { url: string }).url;
    return this;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look at members that the types of the answer would only repeat
  async call(path: string, method = 'GET', body?: unknown): Promise<{ status: number; body: any }> {
    const token = readFileSync(join(this.#world.stateDir, 'sidecar', 'token'), 'utf8').trim();
    const answer = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  async kill(signal: NodeJS.Signals): Promise<Ran> {
    this.running.child.kill(signal);
    return this.running.ended;
  }
}

/** Hands every request on to a node and keeps what was sent. */
export class RecordingProxy {
  readonly sent: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(target: () => string): Promise<RecordingProxy> {
    const server = createServer((request, response) => {
      const head = `${request.method} ${request.url}\n${JSON.stringify(request.headers)}`;
      const chunks: Buffer[] = [];
      const onward = forward(target() + request.url, { method: request.method, headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.on('error', () => response.destroy());
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => proxy.sent.push(`${head}\n${Buffer.concat(chunks).toString('utf8')}`));
      request.pipe(onward);
    });
    const proxy = new RecordingProxy(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  /** How many of the requests so far were for this path. */
  count(path: string): number {
    return this.sent.filter((one) => one.split(' ')[1]!.startsWith(path)).length;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
