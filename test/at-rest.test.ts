/** A node at rest takes no memory for what it may never need. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode } from './support/node.js';

test('a node with an empty group starts a worker thread with the first task that needs one', async () => {
  let workers = 0;
  const count = () => {
    workers++;
  };
  process.on('worker', count);
  const node = await startTestNode();
  try {
    assert.is((await fetch(`${node.url}/api/v1/health`)).status, 200);
    assert.is(workers, 0);
    assert.ok((await node.group.verdictCounts()).ok);
    assert.is(workers, 1, 'the replica counts verdicts');
  } finally {
    await node.close();
    process.off('worker', count);
  }
});

test.run();
