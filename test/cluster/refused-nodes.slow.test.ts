/** Real nodes that must not join: one with another secret, and one with the id of a living node. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdMembers, noEtcd } from '../../bench/cluster/etcd-members.js';
import { awaitLeader, startGroup } from '../../bench/cluster/node-group.js';
import { temporaryFolder } from '../../bench/ending.js';
import { beginPtf } from '../support/ptf.js';
import { until } from '../support/until.js';
import { ClusterNode } from './nodes.js';

const missing = noEtcd();

interface Status {
  readonly nodes: readonly { readonly node_id: string; readonly url: string }[];
  readonly refused: readonly { readonly node_id: string; readonly url: string; readonly reason: string }[];
}

if (missing !== undefined) {
  process.stdout.write(`SKIPPED: ${missing}\n`);
} else {
  const folder = temporaryFolder('ptf-refused-');
  const nodes: ClusterNode[] = [];
  let etcd: EtcdMembers;

  const make = async (name: string, dir: string, env: Record<string, string> = {}) => {
    const path = join(folder.path, dir);
    const node = await ClusterNode.make({ name, dir: path, etcdPorts: etcd.clientPorts, env });
    nodes.push(node);
    return node;
  };
  const statusAt = async ({ dir }: ClusterNode) => {
    const { out } = await beginPtf(['cluster', 'status', '--json'], dir).ended;
    return JSON.parse(out) as Status;
  };
  /** Starts a node that must be refused. Returns the reason that it reports itself. */
  const refusalOf = async (node: ClusterNode, pattern: RegExp) => {
    node.start();
    let details: { role?: string; reason?: string } | undefined;
    await until(async () => {
      const answer = await node.ask('GET', '/health').catch(() => null);
      details = answer?.body.details as typeof details;
      return pattern.test(details?.reason ?? '');
    });
    assert.is(details?.role, 'joining');
    assert.is((await node.ask('GET', '/ready')).status, 503);
  };
  /** Resolves to the status once it lists a refused node, which is a little later than the node's own report. */
  const statusOfRefusal = async (node: ClusterNode) => {
    let status = await statusAt(node);
    await until(async () => {
      status = await statusAt(node);
      return status.refused.length > 0;
    });
    return status;
  };

  test.before(async () => {
    etcd = await EtcdMembers.start({ count: 1 });
    for (const name of ['n0', 'n1']) await make(name, name);
    await startGroup(nodes);
  });
  test.after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await etcd?.stop();
    folder.remove();
  });

  test('a node with another secret never leads, and its reason is in its health and in the status', async () => {
    const [first, second] = nodes as [ClusterNode, ClusterNode];
    const stranger = await make('n2', 'n2', { CLUSTER_SECRET: 'another secret with more than enough bytes' });
    const reason = /^CLUSTER_SECRET differs from the secret of the group/;
    await refusalOf(stranger, reason);
    const { nodes: places, refused } = await statusOfRefusal(first);
    assert.equal(places.map(({ node_id: id }) => id).sort(), ['n0', 'n1']);
    assert.equal([refused.length, refused[0]!.node_id, refused[0]!.url], [1, 'n2', stranger.url]);
    assert.match(refused[0]!.reason, reason);
    for (const node of [first, second]) await node.child.kill();
    await until(async () => (await stranger.ask('GET', '/health')).status === 503);
    first.start();
    second.start();
    assert.not.equal(await awaitLeader(nodes), stranger);
    await stranger.child.kill('SIGTERM');
    await until(async () => (await statusAt(first)).refused.length === 0);
  });

  test('a node with the id of a living node waits until that node ends', async () => {
    const [first, second] = nodes as [ClusterNode, ClusterNode];
    await Promise.all([first.ready(), second.ready()]);
    const twin = await make('n1', 'twin');
    await refusalOf(twin, /^NODE_ID n1 belongs to a living node: stop that node, or set another NODE_ID/);
    const status = await statusOfRefusal(first);
    assert.is(status.nodes.find(({ node_id: id }) => id === 'n1')?.url, second.url);
    assert.equal(
      status.refused.map(({ node_id: id, url }) => [id, url]),
      [['n1', twin.url]],
    );
    await second.child.kill('SIGTERM');
    await twin.ready();
    assert.is((await statusAt(first)).refused.length, 0);
  });

  test('a node that slept until another process had taken its id joins again and is refused', async () => {
    const [first, second, , twin] = nodes as [ClusterNode, ClusterNode, ClusterNode, ClusterNode];
    twin.child.pause();
    second.start();
    await second.ready();
    twin.child.resume();
    await until(async () => {
      const answer = await twin.ask('GET', '/health').catch(() => null);
      return /^NODE_ID n1/.test(String((answer?.body.details as { reason?: string } | undefined)?.reason));
    });
    await second.ready();
    assert.is((await statusOfRefusal(first)).refused[0]?.url, twin.url);
  });
}

test.run();
