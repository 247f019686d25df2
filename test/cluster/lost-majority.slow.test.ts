/** Loss of two machines of three: the group goes on from the member of etcd and the node that are left. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { noEtcd } from '../../bench/cluster/etcd-members.js';
import { salt } from '../../bench/cluster/node-group.js';
import { check } from './checker.js';
import { rebuildFrom } from './etcd-faults.js';
import { finalNode, withdrawnGone } from './final-log.js';
import { Group } from './group.js';
import { History } from './history.js';
import { Load } from './load.js';
import { quietSeq } from './same-records.js';

const missing = noEtcd();
const writesMin = 100;

if (missing === undefined) {
  test('a member with --force-new-cluster and a node restore the group, and every acknowledged event is on all nodes', async () => {
    const group = await Group.start();
    const history = new History();
    const before = new Load(group.nodes, history, 1, 'before');
    const after = new Load(group.nodes, history, 2, 'after');
    const [left, ...lost] = group.nodes;
    try {
      await before.start();
      await before.written(writesMin);
      await before.stopWriting();
      await quietSeq(group.nodes);
      await before.close();

      for (const node of lost) await node.child.kill();
      for (const index of [1, 2]) await group.etcd.member(index).kill();
      const refused = await left!.ask('POST', '/peers/register', { peer_name: 'late', game_ids: ['g'] });
      assert.equal([refused.status, refused.body.code], [503, 'dependency_unavailable']);

      await rebuildFrom(group.etcd, 0);
      for (const node of lost) {
        node.wipe();
        node.start();
      }
      await group.heal();
      await after.start();
      await after.written(writesMin);
      await after.stopWriting();
      await withdrawnGone(group.nodes, history);
      await quietSeq(group.nodes);
      await after.close();
      for (const node of group.nodes) assert.is(await node.child.kill('SIGTERM'), 0);
      const finals = await Promise.all(group.nodes.map(({ name, dir }) => finalNode(name, dir, salt)));
      assert.equal(check(history, finals), []);
    } finally {
      await before.close();
      await after.close();
      await group.close();
    }
  });
} else {
  process.stdout.write(`SKIPPED: ${missing}\n`);
}

test.run();
