/** Floods of the link of real nodes: by strangers, during a takeover, and by a peer whose commands take long. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdMembers, noEtcd } from '../../bench/cluster/etcd-members.js';
import { awaitLeader, salt, startGroup } from '../../bench/cluster/node-group.js';
import { temporaryFolder } from '../../bench/ending.js';
import { beginPtf } from '../support/ptf.js';
import { until } from '../support/until.js';
import { ClusterNode } from './nodes.js';

const missing = noEtcd();
/** The attacker's address on the loopback network, which is none of the nodes'. */
const attacker = '127.0.0.9';
/** More than the connections that a node ever had for other nodes. */
const attempts = 1_030;
const head = 'CONNECT ptf-cluster:1 HTTP/1.1\r\nHost: ptf-cluster:1\r\n\r\n';

const portOf = (node: ClusterNode): number => Number(new URL(node.directUrl).port);

function ask(node: ClusterNode): Socket {
  const socket = connect({ port: portOf(node), host: '127.0.0.1', localAddress: attacker });
  socket.on('error', () => undefined);
  socket.write(head);
  return socket.resume();
}

/** Connections of a node that the other end has closed and the node has not. */
function closeWaits(node: ClusterNode): number {
  const port = portOf(node).toString(16).toUpperCase().padStart(4, '0');
  const rows = readFileSync('/proc/net/tcp', 'latin1').split('\n');
  return rows.filter((row) => new RegExp(`^ *\\d+: \\w+:${port} \\w+:\\w+ 08 `).test(row)).length;
}

if (missing !== undefined || process.platform !== 'linux') {
  process.stdout.write(`SKIPPED: ${missing ?? 'only Linux shows the connections of a process'}\n`);
} else {
  const folder = temporaryFolder('ptf-flood-');
  const nodes: ClusterNode[] = [];
  const env = { ERASURE_MODE: 'peer', ERASURE_QUOTA_PER_DAY: '1000' };
  let etcd: EtcdMembers;
  let victim: { readonly id: string; readonly key: string };
  let events = 0;

  async function register(name: string) {
    const { body } = await nodes[0]!.ask('POST', '/peers/register', { peer_name: name, game_ids: ['g'] });
    return { id: String(body.peer_id), key: String(body.api_key) };
  }

  async function report(node: ClusterNode, { id, key }: typeof victim, player = 'player'): Promise<number> {
    const timestamp = new Date().toISOString();
    const common = { schema_version: '1.0.0', event_type: 'report_cheating', game_id: 'g', severity: 0.5, timestamp };
    const event = { ...common, event_id: `e-${events++}`, peer_id: id, player_id: player };
    return (await node.ask('POST', '/events', event, key)).status;
  }

  /** Reports until the node takes it: one of a busy machine may lose its leader for a moment. */
  const reported = (...args: Parameters<typeof report>) => until(async () => (await report(...args)) === 201);

  test.before(async () => {
    etcd = await EtcdMembers.start({ count: 1 });
    for (const name of ['n0', 'n1', 'n2']) {
      nodes.push(await ClusterNode.make({ name, dir: join(folder.path, name), etcdPorts: etcd.clientPorts, env }));
    }
    await startGroup(nodes);
    victim = await register('victim');
  });
  test.after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await etcd?.stop();
    folder.remove();
  });

  /** Makes another node lead. Resolves once every node has taken an event. */
  async function takeOver(): Promise<void> {
    const leader = await awaitLeader(nodes);
    assert.is((await beginPtf(['cluster', 'step-down'], leader.dir).ended).code, 0);
    // A node refuses an event that has waited for a leader for long, which a busy machine may take.
    const since = performance.now();
    await Promise.all(nodes.map((node) => reported(node, victim)));
    assert.ok(performance.now() - since < 60_000, 'a node refused writes for a minute');
  }

  test('tunnels that are asked for without the secret and closed at once leave no connection', async () => {
    for (const node of nodes) {
      for (let left = attempts; left > 0; left -= 103) {
        const sockets = Array.from({ length: 103 }, () => ask(node));
        await Promise.all(sockets.map((socket) => once(socket, 'connect')));
        for (const socket of sockets) socket.end();
        // A node resets strangers that ask often.
        await Promise.all(sockets.map((socket) => new Promise((closed) => socket.once('close', closed))));
      }
      await until(() => closeWaits(node) === 0);
    }
    await takeOver();
  });

  test('every node takes writes after a takeover while a stranger holds and repeats tunnels', async () => {
    let isEnding = false;
    let count = 0;
    const held = new Set<Socket>();
    const repeat = (node: ClusterNode): void => {
      if (isEnding) return;
      count += 1;
      const socket = ask(node);
      held.add(socket);
      socket.once('close', () => {
        held.delete(socket);
        repeat(node);
      });
    };
    for (const node of nodes) for (let i = 0; i < 200; i++) repeat(node);
    try {
      await until(() => count > 10_000);
      await takeOver();
    } finally {
      isEnding = true;
      for (const socket of held) socket.destroy();
    }
    await takeOver();
  });

  test('slow commands of one peer at a follower leave room on the link for the events of another', async () => {
    const leader = await awaitLeader(nodes);
    const follower = nodes.find((node) => node !== leader)!;
    const flood = await register('flood');
    const players = Array.from({ length: 200 }, (_, i) => `player-${i}`);
    for (const player of players) await reported(leader, flood, player);
    let erased = 0;
    const erasures = players.map(async (player) => {
      const hash = createHash('sha256').update(`${player}${salt}`).digest('hex');
      const { status } = await follower.ask('DELETE', `/subjects/${hash}`, undefined, flood.key);
      if (status === 200) erased += 1;
      return status;
    });
    await until(() => erased > 0);
    await reported(follower, victim);
    assert.ok(erased < 100, `the event waited for ${erased} erasures`);
    // On a slow machine the last ones wait for longer than a change may.
    for (const status of await Promise.all(erasures)) assert.ok(status === 200 || status === 503, `${status}`);
  });
}

test.run();
