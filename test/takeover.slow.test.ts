/**
 * A node whose folder another one took, as while it was paused: it must not go on for want of a write that would tell
 * it.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OwnerLostError } from '../src/group/ports/storage.js';
import { LmdbSnapshotStore } from '../src/store/snapshots/lmdb-snapshots.js';
import { PiscinaPool } from '../src/workers/pool/piscina-pool.js';
import { rejection } from './store/log-contract.js';
import { startTestNode } from './support/node.js';
import { takeOver } from './support/take-over.js';
import { until } from './support/until.js';

test('a node that only reads ends once another one owns its folder, and publishes no snapshot', async () => {
  const failures: unknown[] = [];
  const env = { GROUP_SALT: 'a salt of this test', WEIGHTS_INTERVAL_MS: '3600000' };
  const node = await startTestNode(env, { onFatal: (error) => failures.push(error) });
  const { ownerEpoch, lastSeq } = node.group.status();
  const snapshots = new LmdbSnapshotStore(node.dir);
  const pool = new PiscinaPool({ dir: node.dir, salt: Buffer.from(env.GROUP_SALT) });
  try {
    await pool.snapshot(lastSeq, ownerEpoch);
    assert.equal(snapshots.list(), [lastSeq]);
    await snapshots.remove(lastSeq);

    const taken = await takeOver(node.dir);
    assert.match(String(await rejection(pool.snapshot(lastSeq, ownerEpoch))), 'the snapshot was aborted');
    assert.equal(snapshots.list(), []);

    await until(() => failures.length > 0);
    assert.ok(failures[0] instanceof OwnerLostError);
    await taken.close();
  } finally {
    await pool.close();
    await node.close();
  }
});

test.run();
