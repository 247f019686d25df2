/**
 * Starts the servers that this service is compared with, on loopback in a temporary folder, on the server's core. A
 * server that is not installed is reported as absent.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Account } from '../child.js';
import { freePort } from '../free-ports.js';
import type { Credentials } from '../load/requests.js';
import { ServerProcess } from '../server-process.js';
import type { Target } from '../target.js';
import { areInstalled, Daemon, type EndSignals, runTool } from './daemon.js';

/**
 * Returns null, with a note that gives the reason, if a server is not installed or does not start. The other servers
 * are measured anyway.
 */
export async function startOrNote<T extends Target>(
  name: string,
  start: () => Promise<T | null>,
  note: (text: string) => void,
): Promise<T | null> {
  try {
    const target = await start();
    if (target === null) note(`${name}: absent on this machine`);
    return target;
  } catch (error) {
    note(`${name}: could not be started: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

export async function startBareHttp(): Promise<Target> {
  const server = new ServerProcess({ script: scriptOf('bare-http'), cwd: '/', env: {} });
  const port = await server.start();
  return targetOf('bare node:http', port, server);
}

/** Returns null if Redis is not installed. Every write is synced before its answer, as this service does. */
export async function startRedis(peers: readonly Credentials[]): Promise<Target | null> {
  if (!areInstalled('redis-server')) return null;
  return Daemon.use(async (daemon) => {
    const redisPort = await freePort();
    const place = { port: redisPort, bind: '127.0.0.1', dir: daemon.dir, logfile: '' };
    const options = { ...place, appendonly: 'yes', appendfsync: 'always', save: '' };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    await daemon.start('redis-server', args, () => existsSync(join(daemon.dir, 'appendonlydir')));
    return service('fastify+redis', 'redis-service', [String(redisPort)], daemon, peers);
  });
}

/**
 * "Fast" and "immediate" shutdown in its manual. SIGTERM would wait for every connection to end. SIGKILL would leave
 * its shared memory allocated until the next boot.
 */
const postgresSignals: EndSignals = { calmly: 'SIGINT', atOnce: 'SIGQUIT' };

/** Returns null if PostgreSQL is not installed, or if this process is root and PostgreSQL has no account. */
export async function startPostgres(peers: readonly Credentials[]): Promise<Target | null> {
  const versions = '/usr/lib/postgresql';
  const newest = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0] : undefined;
  const account = postgresAccount();
  if (newest === undefined || account === null) return null;
  const bin = join(versions, newest, 'bin');
  return Daemon.use(async (daemon) => {
    if (account !== undefined) daemon.give(account);
    const data = join(daemon.dir, 'data');
    const user = 'postgres';
    const tool = ['-D', data, '-U', user, '--auth=trust', '--encoding=UTF8', '--locale=C'];
    runTool(join(bin, 'initdb'), tool, account);
    const place = { listen_addresses: '', unix_socket_directories: daemon.dir };
    const settings = { ...place, synchronous_commit: 'on', fsync: 'on' };
    const args = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const isReady = () => {
      const file = join(data, 'postmaster.pid');
      return existsSync(file) && /^ready/m.test(readFileSync(file, 'utf8').split('\n')[7] ?? '');
    };
    await daemon.start(join(bin, 'postgres'), args, isReady, account);
    return service('fastify+postgres', 'postgres-service', [daemon.dir, user], daemon, peers);
  }, postgresSignals);
}

/** Credentials that only CrowdSec's requests need. */
export interface CrowdsecTarget extends Target {
  /** Key of a bouncer, for reads. */
  readonly apiKey: string;
  /** Token of a machine, for writes. */
  readonly token: string;
}

/** Starts the local API of CrowdSec on its default database, SQLite. Returns null if it is not installed. */
export async function startCrowdsec(): Promise<CrowdsecTarget | null> {
  if (!areInstalled('crowdsec', 'cscli')) return null;
  return Daemon.use(async (daemon) => {
    const port = await freePort();
    const config = join(daemon.dir, 'config.yaml');
    for (const [name, text] of Object.entries(crowdsecFiles(daemon.dir, port)))
      writeFileSync(join(daemon.dir, name), text);
    const apiKey = '0123456789abcdef0123456789abcdef';
    const password = 'a-password-of-the-bench';
    const add = (what: string, ...args: string[]) => runTool('cscli', ['-c', config, what, 'add', 'bench', ...args]);
    add('machines', '--password', password, '-f', join(daemon.dir, 'login.yaml'), '--force');
    add('bouncers', '--key', apiKey);
    const base = `http://127.0.0.1:${port}`;
    const logIn = async (): Promise<string | undefined> => {
      const response = await fetch(`${base}/v1/watchers/login`, {
        method: 'POST',
        // CrowdSec refuses user agents without a version.
        headers: { 'content-type': 'application/json', 'user-agent': 'bench/1' },
        body: JSON.stringify({ machine_id: 'bench', password }),
      }).catch(() => undefined);
      return response?.ok ? ((await response.json()) as { token: string }).token : undefined;
    };
    let token: string | undefined;
    const isReady = async () => {
      token = await logIn();
      return token !== undefined;
    };
    await daemon.start('crowdsec', ['-c', config, '-no-cs'], isReady);
    return {
      name: 'CrowdSec LAPI',
      host: '127.0.0.1',
      port,
      pids: [daemon.pid],
      loopSamples: [],
      apiKey,
      token: token!,
      stop: () => daemon.stop(),
    };
  });
}

function crowdsecFiles(dir: string, port: number): Record<string, string> {
  return {
    'config.yaml': `common: {daemonize: false, log_media: stdout, log_level: error}
config_paths:
  config_dir: ${dir}
  data_dir: ${dir}
  simulation_path: ${dir}/simulation.yaml
  hub_dir: ${dir}
  index_path: ${dir}/index.json
  notification_dir: ${dir}
  plugin_dir: ${dir}
db_config: {type: sqlite, db_path: ${dir}/crowdsec.db, use_wal: true}
api:
  client: {credentials_path: ${dir}/login.yaml}
  server: {log_level: error, listen_uri: 127.0.0.1:${port}, profiles_path: ${dir}/profiles.yaml}
prometheus: {enabled: false}
`,
    'simulation.yaml': 'simulation: false\n',
    'index.json': '{}\n',
    'profiles.yaml': 'name: none\nfilters:\n - "false"\ndecisions:\n - {type: ban, duration: 4h}\non_success: break\n',
  };
}

async function service(
  name: string,
  script: string,
  args: readonly string[],
  daemon: Daemon,
  peers: readonly Credentials[],
): Promise<Target> {
  const keys = peers.map(({ apiKey }) => apiKey);
  const server = new ServerProcess({ script: scriptOf(script), args: [...args, ...keys], cwd: '/', env: {} });
  const port = await server.start();
  return targetOf(name, port, server, [daemon.pid], () => daemon.stop());
}

export function targetOf(
  name: string,
  port: number,
  server: ServerProcess,
  otherPids: readonly number[] = [],
  stopOthers: () => Promise<void> = async () => undefined,
): Target {
  return {
    name,
    host: '127.0.0.1',
    port,
    pids: [server.pid!, ...otherPids],
    loopSamples: server.loopSamples,
    async stop() {
      await server.end('SIGTERM');
      await stopOthers();
    },
  };
}

function scriptOf(name: string): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}

/**
 * Returns the account for PostgreSQL, which refuses root: the account of its package under root, else undefined for
 * this process's own.
 */
function postgresAccount(): Account | null | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('postgres:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}
