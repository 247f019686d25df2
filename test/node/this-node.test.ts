/** A node before and after its group is recovered. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupApi } from '../../src/group/api.js';
import { ThisNode } from '../../src/node/this-node.js';
import { groupDouble } from '../http/group-double.js';

const identity = { groupId: 'local', identityMode: 'privacy-first', environment: 'dev' } as const;

test('a node whose group is not recovered is not ready, says so, and lets nobody ask the group', () => {
  const node = new ThisNode(identity, null);
  assert.is(node.isReady, false);
  const { ready, writable, reason, lastSeq } = node.health();
  assert.equal(
    { ready, writable, reason, lastSeq },
    { ready: false, writable: false, reason: 'recovering', lastSeq: 0 },
  );
  assert.throws(() => node.group, /before it is recovered/);
});

test('a node with a recovered group is as ready and as healthy as the group is', () => {
  const node = new ThisNode(identity, null);
  let isReady = false;
  const group = Object.defineProperty(groupDouble() as GroupApi, 'isReady', { get: () => isReady });
  node.recovered(group);
  assert.is(node.group, group);
  assert.is(node.isReady, false);
  assert.equal(node.health(), group.health());
  isReady = true;
  assert.is(node.isReady, true);
});

test.run();
