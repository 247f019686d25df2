/**
 * A node whose disk becomes full leaves its group, also if a commit fails, and returns by itself once there is room.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { noEtcd } from '../../bench/cluster/etcd-members.js';
import { SmallDisk } from '../faults/small-disk.js';
import { Group } from './group.js';
import { History } from './history.js';
import { Load } from './load.js';

const probe = SmallDisk.mount(4);
const missing = noEtcd() ?? (probe === null ? 'no file system can be mounted' : undefined);
probe?.unmount();
const rounds = 4;
/** Longer than the interval of the check of the disk. */
const fullMs = 6_000;

if (missing === undefined) {
  test('a follower with a full disk serves again after its disk is cleared, whatever failed meanwhile', async () => {
    const group = await Group.start({ smallDisks: true, env: { DISK_FREE_MIN_MB: '16' } });
    const load = new Load(group.nodes, new History(), 1);
    const reasons: string[] = [];
    try {
      await load.start();
      for (let round = 0; round < rounds; round++) {
        const place = round % group.nodes.length;
        await group.disks[place]!.fillBeside();
        await delay(fullMs);
        const { body } = await group.nodes[place]!.ask('GET', '/health');
        reasons.push(JSON.stringify(body));
        group.disks[place]!.clear();
        await group.heal();
      }
      assert.ok(
        reasons.some((text) => text.includes('"role":"left"')),
        reasons.join('\n'),
      );
    } finally {
      await load.close();
      await group.close();
    }
  });
} else {
  process.stdout.write(`SKIPPED: ${missing}\n`);
}

test.run();
