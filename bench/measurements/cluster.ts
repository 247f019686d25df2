/**
 * A group on three nodes and three members of etcd beside one node alone, all on this machine: durable events, the
 * latency of a write, what a read costs a follower, and how far followers are behind under full load.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { callNode } from '../../src/operator/cli/node-client.js';
import { ApiClient } from '../api-client.js';
import { EtcdMembers, noEtcd } from '../cluster/etcd-members.js';
import { appliedSeq, type GroupNode, nodeVariables, salt, settled, startGroup } from '../cluster/node-group.js';
import { besideAttack } from '../disturbed.js';
import { freePorts } from '../free-ports.js';
import { startAttack } from '../load/attack.js';
import { attackEvent } from '../load/attackers.js';
import { repeatCall } from '../load/latency.js';
import { type Credentials, eventKind, gameId, only, type Site, scoreKind } from '../load/requests.js';
import { onServerCore } from '../machine.js';
import { OwnNode } from '../own-node.js';
import { measured, type Run } from '../run.js';
import { median, ratios } from '../statistics.js';
import type { Target } from '../target.js';
import { cpuUsOf, type Series } from '../windows.js';

const nodes = 3;
const settings = {
  GROUP_SALT: salt,
  HALF_LIFE_DAYS: '3650',
  LOG_LEVEL: 'info',
  ERASURE_MODE: 'peer',
  ERASURE_QUOTA_PER_DAY: '10000',
};
const etcdQuotaBytes = 512 * 1024 * 1024;
/** Tells a node the quota of the members. */
export const etcdQuota = { ETCD_QUOTA_BACKEND_BYTES: String(etcdQuotaBytes) };
const etcdFlags = ['--max-wals', '2', '--max-snapshots', '2'];
const lagPollMs = 10;
/** Number of takeovers of each kind, calm and beside a flood; the third waits for a node that has stepped down. */
const takeovers = 3;
const slowCommands = 200;
/** Connections of a stranger to each node, reopened when they are closed. */
const strangers = 200;
/** Rate of all tunnels that a takeover must bear. A takeover beside fewer shows less. */
const tunnelsPerS = 10_000;
const victimRate = 100;

export const cluster = measured({
  name: 'cluster',
  summary: 'three nodes over three members of etcd, beside one node on its own disk',
  players: 10_000,
  async measure(run) {
    const to = run.report;
    const group = await groupOfThree(run);
    if (group === null) return;
    const { leader, follower, site: shared } = group;
    const alone = serverOf(run, 'one node', {}, 0);
    await alone.start();
    const site = await siteOf(alone, run);
    const connections = run.options.connections ?? 256;
    // The same group, with other events.
    const elsewhere = { ...shared, seed: shared.seed + 1 };
    const write = (count: number) => {
      const what = `events at ${count} connection${count === 1 ? '' : 's'}`;
      const load = { connections: count, rate: null };
      return run.alternate(what, [
        { ...load, name: `${what}, one node`, target: alone.target, workload: only(eventKind(site)) },
        { ...load, name: `${what}, three nodes`, target: leader.target, workload: only(eventKind(shared)) },
        { ...load, name: `${what}, by a follower`, target: follower.target, workload: only(eventKind(elsewhere)) },
      ]);
    };
    const lag = lagOf(leader, follower);
    const [one, three, forwarded] = await write(connections);
    const lagMs = await lag();
    const ratio = run.rateRatio('durable events, three nodes / one node', three, one);
    to.goal(`durable events of three nodes against one, ${connections} connections`, ratio, 'at least', 0.5, 'x');
    run.rateRatio('durable events, by a follower / by the leader', forwarded, three);
    const [slowOne, slowThree] = await write(1);
    const ratioOfP50 = slowThree.latencies.ms(50) / slowOne.latencies.ms(50);
    const slower = to.figure('p50 of a write, three nodes / one node', 'x', 'less', ratioOfP50);
    to.goal('p50 of a write against one node', slower, 'at most', 4, 'x');
    to.figure('lag of a follower, p99', 'ms', 'less', lagMs);
    to.goal('lag of a follower under full load, p99', lagMs, 'at most', 250, ' ms');
    const reads = (target: Target, of: Site): Series => ({
      name: `scores, ${target.name}`,
      target,
      // Not every player has events yet.
      workload: only({ ...scoreKind(of), expects: [200, 404] }),
      connections: 32,
      rate: null,
    });
    const [follow, own] = await run.alternate('scores', [reads(follower.target, shared), reads(alone.target, site)]);
    const cost = to.figure('CPU of a read, follower / one node', 'x', 'less', ratios(cpuUsOf(follow), cpuUsOf(own)));
    to.goal('CPU of a read on a follower against one node', cost, 'at most', 1.05, 'x');
    const [attacker, ...victims] = shared.peers;
    const victim = {
      name: 'victim',
      target: follower.target,
      workload: only(eventKind({ ...shared, peers: victims })),
      connections: 32,
      rate: victimRate,
    };
    const { port } = follower.target;
    await besideAttack(run, victim, { name: 'slow commands', port, attacker: attacker!, count: slowCommands });
    await besideAttack(run, victim, { name: 'tunnels', port, attacker: attacker!, count: strangers });
    const calmMs = to.figure('takeover', 'ms', 'less', await takeoverMs(group));
    const startedMs = performance.now();
    const tunnelsTo = ({ target }: Server) =>
      startAttack({ name: 'tunnels', port: target.port, attacker: attacker!, count: strangers });
    const attacks = await Promise.all(group.nodes.map(tunnelsTo));
    const floodedMs = to.figure('takeover beside tunnels', 'ms', 'less', await takeoverMs(group));
    const opened = await Promise.all(attacks.map((end) => end()));
    const rate = (1000 * opened.reduce((sum, count) => sum + count, 0)) / (performance.now() - startedMs);
    to.figure('tunnels asked for', '/s', 'more', rate);
    to.goal('tunnels asked for beside takeovers', rate, 'at least', tunnelsPerS, '/s');
    to.goal('takeover beside tunnels against calm', floodedMs / calmMs, 'at most', 1.5, 'x');
  },
});

/** The median time from the end of a leader's rule until every node has had an event stored. */
async function takeoverMs({ nodes, site }: GroupOfThree): Promise<number> {
  const times: number[] = [];
  while (times.length < takeovers) {
    const leader = await settled(nodes);
    const startedMs = performance.now();
    await callNode(leader.dir, 'cluster-step-down', {});
    await Promise.all(nodes.map(({ directUrl }) => storeOne(directUrl, site.peers[0]!)));
    times.push(performance.now() - startedMs);
  }
  return median(times);
}

/** The client repeats the call until a leader answers. */
async function storeOne(url: string, { peerId, apiKey }: Credentials): Promise<void> {
  const client = new ApiClient(url, 1);
  const event = JSON.parse(attackEvent({ peerId }, randomUUID()));
  await client.submit([event], apiKey);
  await client.close();
}

interface Server extends GroupNode {
  readonly target: Target;
  start(): Promise<void>;
}

export interface GroupOfThree {
  readonly etcd: EtcdMembers;
  readonly nodes: readonly Server[];
  readonly leader: Server;
  readonly follower: Server;
  readonly site: Site;
}

/** Starts three members of etcd. Without etcd, reports that as a fault and returns null. */
export async function startEtcd(run: Run): Promise<EtcdMembers | null> {
  const missing = noEtcd();
  if (missing !== undefined) {
    run.report.fault(missing);
    return null;
  }
  const options = { quotaBytes: etcdQuotaBytes, flags: etcdFlags, commandOf: onServerCore };
  return run.use(await EtcdMembers.start(options));
}

/** Starts a group of three nodes on three members of etcd; returns null without etcd. */
export async function groupOfThree(run: Run): Promise<GroupOfThree | null> {
  const etcd = await startEtcd(run);
  if (etcd === null) return null;
  const members = (await freePorts(nodes)).map((port, i) => {
    const url = `http://127.0.0.1:${port}`;
    const variables = nodeVariables({ nodeId: `n${i}`, url, endpoints: etcd.endpoints });
    return serverOf(run, `node ${i + 1} of three`, { ...variables, ...etcdQuota }, port);
  });
  const leader = await startGroup(members);
  const follower = members.find((member) => member !== leader)!;
  return { etcd, nodes: members, leader, follower, site: await siteOf(leader, run) };
}

/** Returns a node that is not started yet. `port`: 0 for a free one. */
function serverOf(run: Run, name: string, environment: Readonly<Record<string, string>>, port: number): Server {
  const node = new OwnNode({ ...settings, ...environment }, { port });
  const target = node.target(name);
  run.use(target);
  return {
    name,
    target,
    get directUrl() {
      return node.url;
    },
    dir: node.dataDir,
    start: () => node.start(),
  };
}

/** A group of its own with the peers of the options. */
async function siteOf({ directUrl }: Server, { options }: Run): Promise<Site> {
  const client = new ApiClient(directUrl, 4);
  const peers = [];
  for (let i = 0; i < options.peers; i++) {
    const { peer_id: peerId, api_key: apiKey } = await client.register(`peer ${i}`, gameId);
    peers.push({ peerId, apiKey });
  }
  await client.close();
  return { seed: options.seed, players: options.players, peers };
}

/** Samples how long after the leader a follower has applied a record. */
function lagOf(leader: Server, follower: Server): () => Promise<number> {
  return repeatCall(async () => {
    const wanted = await appliedSeq(leader);
    const startedMs = performance.now();
    while ((await appliedSeq(follower)) < wanted) await delay(lagPollMs);
    return performance.now() - startedMs;
  }, lagPollMs);
}
