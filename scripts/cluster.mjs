/**
 * `npm run cluster`: a group on one machine to try it: three members of etcd, three nodes and a proxy. Prints where
 * they are; Ctrl-C ends them all and removes their files. A node that is killed starts again after a few seconds.
 */
import './lib/require-node.mjs';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Balancer } from './lib/balancer.mjs';
import { compile, projects, root } from './lib/compile.mjs';

const count = 3;
const restartMs = 5_000;
const startedMs = 60_000;
const stopMs = 12_000;
/** Settings of etcd: few old files, so that a scrub is soon over. */
const [snapshotCount, maxWals] = ['10000', '2'];

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8080' },
    salt: { type: 'string', default: process.env.GROUP_SALT ?? 'a salt for trials alone' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log('npm run cluster -- [--port 8080] [--salt SALT]   (0 picks a free port)');
  process.exit(0);
}
if (spawnSync('etcd', ['--version']).status !== 0) {
  console.error('etcd is needed: apt-get install etcd-server, or put `etcd` 3.4 or later on the PATH');
  process.exit(1);
}
if (!compile(projects.main, { ifStale: true })) process.exit(1);

const dir = mkdtempSync(join(tmpdir(), 'ptf-local-'));
const children = new Map();
let isEnding = false;
let balancer;

async function freePorts(wanted) {
  const servers = await Promise.all(
    Array.from({ length: wanted }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

/** Starts a process that is started again whenever it ends, until the end of all. */
function keep(name, command, args, env) {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    // Ctrl-C is for this process, which ends the others in order.
    detached: true,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-2_000);
  });
  child.on('error', (error) => {
    said += error.message;
  });
  children.set(name, child);
  child.once('close', async (code, signal) => {
    if (isEnding) return;
    console.log(`${name} ended (${signal ?? code}); it starts again in ${restartMs / 1000} s`);
    if (code !== null && code !== 0) console.log(said.trimEnd());
    await delay(restartMs);
    if (!isEnding) console.log(`${name} is process ${keep(name, command, args, env).pid}`);
  });
  return child;
}

async function until(what, holds) {
  const end = performance.now() + startedMs;
  while (!(await holds().catch(() => false))) {
    if (isEnding) return;
    if (performance.now() > end) throw new Error(`${what} did not come up within ${startedMs / 1000} s`);
    await delay(100);
  }
}

async function end(code) {
  if (isEnding) return;
  isEnding = true;
  balancer?.close();
  const running = [...children.values()].filter((child) => child.exitCode === null && child.signalCode === null);
  // The nodes first, since they return their leases. Nothing of the members is kept.
  const [members, nodes] = [0, 1].map((kind) =>
    running.filter((child) => (child.spawnfile === 'etcd') === (kind === 0)),
  );
  for (const group of [nodes, members]) {
    const gone = Promise.all(
      group.map((child) => (child.exitCode ?? child.signalCode) === null && once(child, 'close')),
    );
    for (const child of group) child.kill(group === nodes ? 'SIGTERM' : 'SIGKILL');
    const late = setTimeout(() => {
      for (const child of group) child.kill('SIGKILL');
    }, stopMs);
    await gone;
    clearTimeout(late);
  }
  rmSync(dir, { recursive: true, force: true });
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(0));
process.once('exit', () => {
  for (const child of children.values()) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

try {
  const ports = await freePorts(3 * count);
  const url = (at) => `http://127.0.0.1:${ports[at]}`;
  const [clients, peers, nodes] = [0, 1, 2].map((kind) =>
    Array.from({ length: count }, (_, i) => url(kind * count + i)),
  );
  const cluster = peers.map((peer, i) => `etcd-${i + 1}=${peer}`).join(',');
  for (const [i, client] of clients.entries()) {
    keep(`etcd-${i + 1}`, 'etcd', [
      ...['--name', `etcd-${i + 1}`, '--data-dir', join(dir, `etcd-${i + 1}`), '--log-level', 'error'],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peers[i], '--initial-advertise-peer-urls', peers[i]],
      ...['--initial-cluster', cluster, '--initial-cluster-state', 'new'],
      ...['--snapshot-count', snapshotCount, '--max-wals', maxWals, '--max-snapshots', '2'],
    ]);
  }
  await until('etcd', async () => (await fetch(`${clients[0]}/health`)).status === 200);
  const secret = randomBytes(32).toString('hex');
  for (const [i, node] of nodes.entries()) {
    const dataDir = join(dir, `node-${i + 1}`);
    mkdirSync(dataDir);
    keep(`node-${i + 1}`, process.execPath, [join(root, 'dist', 'main.js')], {
      CLUSTER: 'etcd',
      ETCD_ENDPOINTS: clients.join(','),
      ETCD_SNAPSHOT_COUNT: snapshotCount,
      ETCD_MAX_WALS: maxWals,
      NODE_ID: `node-${i + 1}`,
      ADVERTISE_URL: node,
      CLUSTER_SECRET: secret,
      GROUP_ID: 'local',
      GROUP_SALT: values.salt,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: new URL(node).port,
      LOG_LEVEL: 'warn',
    });
  }
  balancer = new Balancer(nodes);
  const proxy = `http://127.0.0.1:${await balancer.listen(Number(values.port))}`;
  for (const node of nodes) await until(node, async () => (await fetch(`${node}/api/v1/ready`)).status === 200);
  if (!isEnding) {
    const rows = nodes.map((node, i) => `  node-${i + 1}  ${node}   process ${children.get(`node-${i + 1}`).pid}`);
    console.log(
      [
        `The group "local" runs; its salt is ${JSON.stringify(values.salt)}.`,
        `  proxy   ${proxy}`,
        ...rows,
        ...clients.map((client, i) => `  etcd-${i + 1}  ${client}   process ${children.get(`etcd-${i + 1}`).pid}`),
        'Try:',
        `  curl -s ${proxy}/api/v1/health`,
        `  curl -s ${proxy}/api/v1/peers/register -H 'Content-Type: application/json' -d '{"peer_name": "Arena", "game_ids": ["arena"]}'`,
        `  TRUST_URL=${nodes.join(',')} TRUST_GROUP_SALT=${JSON.stringify(values.salt)} TRUST_PEER_ID=… TRUST_API_KEY=… node examples/match-server.mjs`,
        `  DATA_DIR=${join(dir, 'node-1')} npx ptf cluster status`,
        '  kill -9 PROCESS      a node or a member; it starts again after 5 s',
        'Ctrl-C ends all of it and removes its files.',
      ].join('\n'),
    );
  }
} catch (error) {
  console.error(error.message);
  await end(1);
}
