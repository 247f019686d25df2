/**
 * `npm run cluster`: a group on one machine to try it: three members of etcd, three nodes and a proxy. Prints their
 * addresses. Ctrl-C ends them all and removes their files. A process that is killed starts again after a few seconds.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { messageOf } from '../../src/errors.js';
import { Child } from '../child.js';
import { temporaryFolder } from '../ending.js';
import { freePorts } from '../free-ports.js';
import { Balancer } from './balancer.js';
import { EtcdMembers, noEtcd } from './etcd-members.js';
import { type GroupNode, settled } from './node-group.js';

/** Ctrl-C in a terminal reaches only this process, which ends the others in order. */
const detached = process.stdin.isTTY === true;

const count = 3;
const restartMs = 5_000;
const stopMs = 12_000;
const outputChars = 2_000;
const groupId = 'local';
/** Settings of etcd: few old files, so that a scrub is soon over. */
const [snapshotCount, maxWals] = ['10000', '2'];
const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

interface Options {
  readonly port: string;
  readonly salt: string;
}

let isEnding = false;

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

interface LocalNode extends GroupNode {
  /** Its running process. */
  process(): Child;
}

/** Watches a process, and starts it again whenever it ends. Returns a function that gives the running one. */
function keepRunning(name: string, start: () => Child, running = start()): () => Child {
  let child = running;
  void (async () => {
    while (!isEnding) {
      const exit = await child.ended;
      if (isEnding) return;
      console.log(`${name} ended (${exit}); it starts again in ${restartMs / 1000} s`);
      if (typeof exit === 'number' && exit !== 0) console.log(child.output.slice(-outputChars).trimEnd());
      await delay(restartMs);
      if (isEnding) return;
      child = start();
      console.log(`${name} is process ${child.child.pid}`);
    }
  })();
  return () => child;
}

function startNode(name: string, port: number, dir: string, env: NodeJS.ProcessEnv): LocalNode {
  const directUrl = urlOf(port);
  const own = { NODE_ID: name, ADVERTISE_URL: directUrl, DATA_DIR: dir, HOST: '127.0.0.1', PORT: String(port) };
  mkdirSync(dir, { recursive: true });
  const options = { cwd: dir, env: { ...env, ...own }, detached };
  const running = keepRunning(name, () => new Child(process.execPath, [main], options));
  return {
    name,
    directUrl,
    dir,
    process: running,
    get lastOutput() {
      return running().output.slice(-outputChars);
    },
  };
}

/** Returns what the caller can do with the group. */
function description(proxy: string, nodes: readonly LocalNode[], etcd: EtcdMembers, salt: string): string {
  return [
    `The group "${groupId}" runs; its salt is ${JSON.stringify(salt)}.`,
    `  proxy   ${proxy}`,
    ...nodes.map(({ name, directUrl, process }) => `  ${name}  ${directUrl}   process ${process().child.pid}`),
    ...etcd.endpoints.map((url, i) => `  ${etcd.names[i]}      ${url}   process ${etcd.member(i).child.pid}`),
    'Try:',
    `  curl -s ${proxy}/api/v1/health`,
    `  curl -s ${proxy}/api/v1/peers/register -H 'Content-Type: application/json' -d '{"peer_name": "Arena", "game_ids": ["arena"]}'`,
    `  TRUST_URL=${nodes.map(({ directUrl }) => directUrl).join(',')} TRUST_GROUP_SALT=${JSON.stringify(salt)} TRUST_PEER_ID=… TRUST_API_KEY=… node examples/match-server.mjs`,
    `  DATA_DIR=${nodes[0]!.dir} npx ptf cluster status`,
    `  kill -9 PROCESS      a node or a member; it starts again after ${restartMs / 1000} s`,
    'Ctrl-C ends all of it and removes its files.',
  ].join('\n');
}

/** Ends the nodes, which return their leases to etcd, and then the members. */
async function end(nodes: readonly LocalNode[], etcd: EtcdMembers): Promise<void> {
  await Promise.all(
    nodes.map(async ({ process: running }) => {
      const child = running();
      const late = setTimeout(() => void child.kill('SIGKILL'), stopMs);
      await child.kill('SIGTERM');
      clearTimeout(late);
    }),
  );
  await etcd.stop();
}

const { port, salt } = new Command('cluster')
  .description('Runs a group on this machine: three members of etcd, three nodes and a proxy.')
  .option('--port <n>', 'port of the proxy; 0 picks a free one', '8080')
  .option('--salt <text>', 'salt of the group', process.env.GROUP_SALT ?? 'a salt for trials alone')
  .parse()
  .opts<Options>();

const missing = noEtcd();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
/** Ends this process. What was started until now is ended with it. */
let stop = async (code: number): Promise<void> => process.exit(code);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
const folder = temporaryFolder('ptf-local-');
const ports = await freePorts(count);
const balancer = new Balancer(ports.map(urlOf));
// Before anything is started, since the port may be taken.
const proxyPort = await balancer.listen(Number(port)).catch((error: unknown) => {
  console.error(messageOf(error));
  process.exit(1);
});
const flags = ['--snapshot-count', snapshotCount, '--max-wals', maxWals, '--max-snapshots', '2'];
const etcd = await EtcdMembers.start({ flags, detached }).catch((error: unknown) => {
  console.error(messageOf(error));
  process.exit(1);
});
const env = {
  PATH: process.env.PATH,
  CLUSTER: 'etcd',
  ETCD_ENDPOINTS: etcd.endpoints.join(','),
  ETCD_SNAPSHOT_COUNT: snapshotCount,
  ETCD_MAX_WALS: maxWals,
  CLUSTER_SECRET: randomBytes(32).toString('hex'),
  GROUP_ID: groupId,
  GROUP_SALT: salt,
  LOG_LEVEL: 'warn',
};
const nodes: LocalNode[] = [];
stop = async (code) => {
  if (isEnding) return;
  isEnding = true;
  balancer.close();
  await end(nodes, etcd);
  folder.remove();
  process.exit(code);
};
for (const [i, name] of etcd.names.entries()) {
  const again = (): Child => {
    etcd.startMember(i);
    return etcd.member(i);
  };
  keepRunning(name, again, etcd.member(i));
}
try {
  for (const [i, at] of ports.entries()) {
    const name = `node-${i + 1}`;
    nodes.push(startNode(name, at, join(folder.path, name), env));
  }
  await settled(nodes);
  if (!isEnding) console.log(description(urlOf(proxyPort), nodes, etcd, salt));
} catch (error) {
  if (!isEnding) console.error(messageOf(error));
  await stop(1);
}
