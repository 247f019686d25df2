import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createGroup, type GroupDeps } from '../../src/group/group.js';

test('a group is drained once its loop is: it reports a loop that could not store what was under way', async () => {
  const loop = { drain: () => Promise.reject(new Error('no space left')) };
  const group = createGroup({ current: { loop } } as unknown as GroupDeps);
  const failure = await group.drain().catch((error: Error) => error.message);
  assert.is(failure, 'no space left');
});

test.run();
