/** The count of verdicts on a running node, from the group to its replica and back. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesOf, keyOf } from '../src/core/tables/event-columns.js';
import { startTestNode, weightsSettled } from './support/node.js';

test('the replica counts the verdicts of reads, up to the newest durable record', async () => {
  await using node = await startTestNode();
  const { group } = node;
  const registered = await group.register({ peerName: 'a', gameIds: ['g'] }, 'test');
  if (!registered.ok) throw new Error(registered.code);
  const { peer } = registered.value;
  const events = Array.from({ length: 30 }, (_, i) => ({
    schemaVersion: '1.0.0',
    eventId: `e${i}`,
    eventType: 'report_cheating' as const,
    peerId: peer.peerId,
    // Ten players with three events each: suspicious, by one peer alone never untrusted.
    subject: keyOf(Buffer.alloc(32, 1 + (i % 10))),
    gameId: 'g',
    severity: 1,
    timestamp: Date.now(),
  }));
  await group.submit(peer, events);
  // The replica and the reads below are asked one after the other.
  await weightsSettled(node);
  const counted = await group.verdictCounts();
  if (!counted.ok) throw new Error(counted.code);
  const { counts, sampled, players, seq } = counted.value;
  assert.equal([sampled, players], [10, 10]);
  const verdicts = events.map(({ subject }) => group.trust(bytesOf(subject))?.verdict);
  assert.is(counts[verdicts[0] ?? 'trusted'], 10);
  assert.ok(seq >= 32);
});

test.run();
