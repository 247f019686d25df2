/** The keys of a group in etcd, which every release must find again, in the order of their numbers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { etcdKeys } from '../../../src/store/etcd/etcd-keys.js';

const keys = etcdKeys('/g/');

test('every key has its fixed text below the prefix of the group', () => {
  const texts = Object.fromEntries(
    Object.entries(keys).flatMap(([name, key]) => (Buffer.isBuffer(key) ? [[name, key.toString()]] : [])),
  );
  assert.equal(texts, {
    leader: '/g/leader',
    cluster: '/g/state/cluster',
    trimmed: '/g/state/trimmed',
    floor: '/g/state/floor',
    format: '/g/state/format',
    scrubbed: '/g/scrubbed',
    scrubDue: '/g/scrub-due',
    marker: '/g/marker',
    resigned: '/g/resigned',
    filler: '/g/filler',
    secret: '/g/state/secret',
    refused: '/g/refused/',
    refusedEnd: '/g/refused0',
    nodes: '/g/nodes/',
    nodesEnd: '/g/nodes0',
    logEnd: '/g/log0',
  });
  assert.equal([keys.slot(70), keys.part(70, 3), keys.node('a'), keys.refusedNode('12')].map(String), [
    '/g/log/000000000070',
    '/g/part/000000000070/003',
    '/g/nodes/a',
    '/g/refused/12',
  ]);
});

test('a key gives its number or its node back, and a number with too many digits is refused', () => {
  const newest = 999_999_999_999;
  assert.equal([keys.seqOf(keys.slot(70)), keys.seqOf(keys.slot(newest))], [70, newest]);
  assert.is(keys.nodeIdOf(keys.node('node-1')), 'node-1');
  assert.throws(() => keys.slot(newest + 1), /1000000000000 has more than 12 digits/);
  assert.throws(() => keys.part(1, 1_000), /1000 has more than 3 digits/);
});

test.run();
