/** Settings of a group on real nodes: the variables form it, differences are refused, changes hold on every node. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdMembers, noEtcd } from '../../bench/cluster/etcd-members.js';
import { awaitLeader, settled, startGroup } from '../../bench/cluster/node-group.js';
import { temporaryFolder } from '../../bench/ending.js';
import { beginPtf } from '../support/ptf.js';
import { until } from '../support/until.js';
import { ClusterNode } from './nodes.js';
import { sameSeq } from './same-records.js';

const missing = noEtcd();

if (missing !== undefined) {
  process.stdout.write(`SKIPPED: ${missing}\n`);
} else {
  const folder = temporaryFolder('ptf-settings-');
  const nodes: ClusterNode[] = [];
  let etcd: EtcdMembers;

  const make = async (name: string, env: Record<string, string>, dir = name) => {
    const path = join(folder.path, dir);
    const node = await ClusterNode.make({ name, dir: path, etcdPorts: etcd.clientPorts, env });
    nodes.push(node);
    return node;
  };
  const ptf = async ({ dir }: ClusterNode, ...args: string[]) => {
    const { code, out, err } = await beginPtf(args, dir).ended;
    return { code, text: `${out}${err}` };
  };
  const register = (node: ClusterNode, name: string) =>
    node.ask('POST', '/peers/register', { peer_name: name, game_ids: ['g'] });

  test.before(async () => {
    etcd = await EtcdMembers.start({ count: 1 });
    await startGroup([await make('n0', { PEERS_MAX: '2', HALF_LIFE_DAYS: '30' })]);
    (await make('n1', {})).start();
    await settled(nodes);
  });
  test.after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await etcd?.stop();
    folder.remove();
  });

  test('a node whose variables differ from the settings of the group is refused in a sentence', async () => {
    const other = await make('n2', { PEERS_MAX: '3', HALF_LIFE_DAYS: '60', RETENTION_DAYS: '0' });
    other.start();
    await until(() => other.ends.length > 0);
    const output = other.ends[0]!;
    assert.match(output, /PEERS_MAX is 3, and the group has 2: set that or leave PEERS_MAX unset, or change the group/);
    assert.match(output, /HALF_LIFE_DAYS is 60, and the group has 30: .* ptf group set HALF_LIFE_DAYS 60/);
    assert.not.match(output, /RETENTION_DAYS is/);
    await other.close();
    nodes.pop();
  });

  test('a takeover changes no setting, and a change of the operator holds on every node', async () => {
    const [first, second] = nodes as [ClusterNode, ClusterNode];
    const [a, b, c] = [await register(first, 'a'), await register(second, 'b'), await register(second, 'c')];
    assert.equal([a.status, b.status, c.status], [201, 201, 503]);
    const before = await awaitLeader(nodes);
    assert.is((await ptf(first, 'cluster', 'step-down')).code, 0);
    await until(async () => (await awaitLeader(nodes)) !== before);
    const health = await sameSeq(nodes);
    assert.is((await register(second, 'd')).status, 503, 'the variable of another node is not in force');
    assert.is(await sameSeq(nodes), health, 'a takeover writes no setting');
    const follower = nodes.find((node) => node === before)!;
    const wrong = await ptf(follower, 'group', 'set', 'PEERS_MAX', 'many');
    assert.match(wrong.text, /PEERS_MAX must be a whole number from 1 to/);
    const { code, text } = await ptf(follower, 'group', 'set', 'PEERS_MAX', '3', '--by', 'alice');
    assert.is(code, 0, text);
    assert.is((await register(follower, 'e')).status, 201);
    const { text: audit } = await ptf(follower, 'audit', 'tail', '--json');
    assert.match(audit, /"group_setting_changed".*operator:alice.*PEERS_MAX 3/s);
    for (const node of [first, second]) {
      const found = JSON.parse((await ptf(node, 'group', 'show', '--json')).text);
      assert.equal([found.PEERS_MAX, found.HALF_LIFE_DAYS, found.PRE_TRUSTED_PEERS], [3, 30, '']);
    }
  });

  test('a node whose PRE_TRUSTED_PEERS differs is refused, and a takeover keeps the set of the group', async () => {
    const [first, second] = nodes as [ClusterNode, ClusterNode];
    const preTrusted = async () => (await ptf(second, 'pretrust', 'list', '--json')).text;
    const listed = JSON.parse((await ptf(first, 'peers', 'list', '--json')).text) as { data: { peer_id: string }[] };
    const [one, other] = listed.data.map(({ peer_id }) => peer_id) as [string, string];
    assert.match((await ptf(first, 'group', 'set', 'PRE_TRUSTED_PEERS', 'nobody')).text, /no peer of this group/);
    assert.is((await ptf(first, 'group', 'set', 'PRE_TRUSTED_PEERS', one)).code, 0);
    const differing = await make('n2', { PRE_TRUSTED_PEERS: other }, 'n2-peers');
    differing.start();
    await until(() => differing.ends.length > 0);
    assert.match(differing.ends[0]!, new RegExp(`PRE_TRUSTED_PEERS is ${other}, and the group has ${one}`));
    await differing.close();
    nodes.pop();
    const before = await awaitLeader(nodes);
    assert.is((await ptf(first, 'cluster', 'step-down')).code, 0);
    await until(async () => (await awaitLeader(nodes)) !== before);
    await sameSeq(nodes);
    assert.match(await preTrusted(), one);
    assert.not.match(await preTrusted(), other);
  });

  test('nodes that differ and start together form a group of which the other is refused', async () => {
    const members = await EtcdMembers.start({ count: 1 });
    const pair = await Promise.all(
      ['2', '3'].map((peersMax) => {
        const path = join(folder.path, `together-${peersMax}`);
        const env = { PEERS_MAX: peersMax };
        return ClusterNode.make({ name: `t${peersMax}`, dir: path, etcdPorts: members.clientPorts, env });
      }),
    );
    for (const node of pair) node.start();
    await until(() => pair.some(({ ends }) => ends.length > 0));
    assert.match(pair.flatMap(({ ends }) => ends).join(), /PEERS_MAX is [23], and the group has [23]/);
    await Promise.all(pair.map((node) => node.close()));
    await members.stop();
  });

  test('a node joins again only with the setting that the group has now', async () => {
    const [first] = nodes as [ClusterNode];
    await first.child.kill('SIGTERM');
    first.start();
    await until(() => first.ends.length > 0);
    assert.match(first.ends[0]!, /PEERS_MAX is 2, and the group has 3/);
    await first.close();
    const again = await make('n0', { PEERS_MAX: '3' });
    again.start();
    await again.ready();
  });
}

test.run();
