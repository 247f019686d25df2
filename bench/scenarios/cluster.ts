/**
 * A group on three nodes and three members of etcd beside one node alone, all on this machine: durable events, the
 * latency of a write, what a read costs a follower, and how far followers are behind under full load.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '../api-client.js';
import { freePorts } from '../free-ports.js';
import { at } from '../load/latency.js';
import { eventKind, gameId, only, type Site, scoreKind } from '../load/requests.js';
import { OwnNode } from '../own-node.js';
import { startEtcd } from '../peers/etcd-service.js';
import { measured, type Run } from '../run.js';
import { ratios } from '../statistics.js';
import type { Target } from '../target.js';
import type { Measured, Series } from '../windows.js';

const nodes = 3;
const salt = 'a salt of the bench';
const settings = { GROUP_SALT: salt, HALF_LIFE_DAYS: '3650', LOG_LEVEL: 'info' };
const readyMs = 60_000;
const lagPollMs = 10;

export const cluster = measured({
  name: 'cluster',
  summary: 'three nodes over three members of etcd, beside one node on its own disk',
  players: 10_000,
  async measure(run) {
    const to = run.report;
    const etcd = await startEtcd();
    if (etcd === null) {
      to.fault('etcd is not at hand (apt-get install etcd-server)');
      return;
    }
    run.use(etcd);
    const alone = await startOne(run, 'one node', {}, 0);
    const members: OwnNode[] = [];
    const targets: Target[] = [];
    for (const [i, port] of (await freePorts(nodes)).entries()) {
      const environment = {
        CLUSTER: 'etcd',
        ETCD_ENDPOINTS: etcd.endpoints.join(','),
        NODE_ID: `n${i}`,
        ADVERTISE_URL: `http://127.0.0.1:${port}`,
        CLUSTER_SECRET: 'a secret of the bench with enough bytes',
        GROUP_ID: 'bench',
      };
      const { node, target } = await startOne(run, `node ${i + 1} of three`, environment, port);
      members.push(node);
      targets.push(target);
    }
    const leading = await leaderOf(members);
    const leader = targets[leading]!;
    const follower = targets[(leading + 1) % nodes]!;
    const site = await siteOf(alone.node, run);
    const shared = await siteOf(members[leading]!, run);
    const connections = run.options.connections ?? 256;
    const write = async (count: number) => {
      const what = `events at ${count} connection${count === 1 ? '' : 's'}`;
      const series = [
        {
          name: `${what}, one node`,
          target: alone.target,
          workload: only(eventKind(site)),
          connections: count,
          rate: null,
        },
        {
          name: `${what}, three nodes`,
          target: leader,
          workload: only(eventKind(shared)),
          connections: count,
          rate: null,
        },
      ];
      return (await run.alternate(what, series)) as [Measured, Measured];
    };
    const lag = new Lag(members, leading);
    const [one, three] = await write(connections);
    const lagMs = await lag.end();
    const ratio = run.rateRatio('durable events, three nodes / one node', three, one);
    to.goal(`durable events of three nodes against one, ${connections} connections`, ratio, 'at least', 0.5, 'x');
    const [slowOne, slowThree] = await write(1);
    const p50 = (of: Measured) => at(of.latencies.summary(), 50) / 1000;
    const slower = to.figure('p50 of a write, three nodes / one node', 'x', 'less', p50(slowThree) / p50(slowOne));
    to.goal('p50 of a write against one node', slower, 'at most', 4, 'x');
    to.goal(
      'lag of a follower under full load, p99',
      to.figure('lag of a follower, p99', 'ms', 'less', lagMs),
      'at most',
      250,
      ' ms',
    );
    const reads = (target: Target, of: Site): Series => ({
      name: `scores, ${target.name}`,
      target,
      // Not every player has events yet.
      workload: only({ ...scoreKind(of), expects: [200, 404] }),
      connections: 32,
      rate: null,
    });
    const [follow, own] = await run.alternate('scores', [reads(follower, shared), reads(alone.target, site)]);
    const cpuUs = (of: Measured | undefined) => of!.windows.map((window) => window.cpuUs);
    const cost = ratios(cpuUs(follow), cpuUs(own));
    to.goal(
      'CPU of a read on a follower against one node',
      to.figure('CPU of a read, follower / one node', 'x', 'less', cost),
      'at most',
      1.05,
      'x',
    );
  },
});

async function startOne(run: Run, name: string, environment: Readonly<Record<string, string>>, port: number) {
  const node = new OwnNode({ ...settings, ...environment }, undefined, port);
  const target: Target = {
    name,
    host: '127.0.0.1',
    get port() {
      return node.port;
    },
    get pids() {
      return [node.pid!];
    },
    get loopSamples() {
      return node.loopSamples;
    },
    stop: () => node.stop(),
  };
  run.use(target);
  await node.start();
  return { node, target };
}

/** Place of the node that leads. */
async function leaderOf(members: readonly OwnNode[]): Promise<number> {
  const until = performance.now() + readyMs;
  for (;;) {
    const roles = await Promise.all(
      members.map(async ({ url }) => {
        const body = (await (await fetch(`${url}/api/v1/health`)).json()) as { cluster?: { role: string } };
        return body.cluster?.role;
      }),
    );
    const found = roles.indexOf('leader');
    if (found >= 0) return found;
    if (performance.now() > until) throw new Error(`no node leads: ${roles}`);
    await delay(100);
  }
}

/** A group of its own with the peers of the options. */
async function siteOf({ url }: OwnNode, { options }: Run): Promise<Site> {
  const client = new ApiClient(url, 4);
  const peers = [];
  for (let i = 0; i < options.peers; i++) {
    const { peer_id: peerId, api_key: apiKey } = await client.register(`peer ${i}`, gameId);
    peers.push({ peerId, apiKey });
  }
  await client.close();
  return { seed: options.seed, players: options.players, peers };
}

/** How long after the leader each follower has applied a record, sampled until `end`. */
class Lag {
  readonly #samples: number[] = [];
  readonly #running: Promise<void>;
  #isOver = false;

  constructor(members: readonly OwnNode[], leading: number) {
    this.#running = this.#sample(members, leading);
  }

  /** The 99th percentile, ms. */
  async end(): Promise<number> {
    this.#isOver = true;
    await this.#running;
    const sorted = this.#samples.sort((one, two) => one - two);
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  }

  async #sample(members: readonly OwnNode[], leading: number): Promise<void> {
    const follower = members[(leading + 1) % members.length]!;
    while (!this.#isOver) {
      const wanted = await appliedBy(members[leading]!);
      const startedMs = performance.now();
      while ((await appliedBy(follower)) < wanted) await delay(lagPollMs);
      this.#samples.push(performance.now() - startedMs);
      await delay(lagPollMs);
    }
  }
}

async function appliedBy({ url }: OwnNode): Promise<number> {
  const response = await fetch(`${url}/api/v1/peers?limit=1`);
  await response.arrayBuffer();
  return Number(response.headers.get('x-applied-seq'));
}
