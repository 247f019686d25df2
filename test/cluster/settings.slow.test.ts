/** Settings of a group on real nodes: the variables form it, and a node that differs ends with the reason. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdMembers, noEtcd } from '../../bench/cluster/etcd-members.js';
import { settled, startGroup } from '../../bench/cluster/node-group.js';
import { temporaryFolder } from '../../bench/ending.js';
import { until } from '../support/until.js';
import { ClusterNode } from './nodes.js';

const missing = noEtcd();

if (missing !== undefined) {
  process.stdout.write(`SKIPPED: ${missing}\n`);
} else {
  test('a node whose variables differ from the settings of the group is refused in a sentence', async () => {
    const folder = temporaryFolder('ptf-settings-');
    const nodes: ClusterNode[] = [];
    const etcd = await EtcdMembers.start({ count: 1 });
    const make = async (name: string, env: Record<string, string>) => {
      const node = await ClusterNode.make({ name, dir: join(folder.path, name), etcdPorts: etcd.clientPorts, env });
      nodes.push(node);
      return node;
    };
    try {
      await startGroup([await make('n0', { PEERS_MAX: '2', HALF_LIFE_DAYS: '30' })]);
      (await make('n1', {})).start();
      await settled(nodes);
      const other = await make('n2', { PEERS_MAX: '3', HALF_LIFE_DAYS: '60', RETENTION_DAYS: '0' });
      other.start();
      await until(() => other.ends.length > 0);
      const output = other.ends[0]!;
      assert.match(
        output,
        /PEERS_MAX is 3, and the group has 2: set that or leave PEERS_MAX unset, or change the group/,
      );
      assert.match(output, /HALF_LIFE_DAYS is 60, and the group has 30: .* ptf group set HALF_LIFE_DAYS 60/);
      assert.not.match(output, /RETENTION_DAYS is/);
    } finally {
      await Promise.all(nodes.map((node) => node.close()));
      await etcd.stop();
      folder.remove();
    }
  });
}

test.run();
