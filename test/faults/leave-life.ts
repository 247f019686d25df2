/**
 * Entry of a process that lives a short life on the folder in its arguments, and is killed: two snapshots, an erasure
 * and a withdrawal whose bytes are gone, and a tail of the log behind the newest snapshot. For faults to damage.
 */

import { pseudonymise } from '../../src/core/hashing/pseudonym.js';
import { keyOf } from '../../src/core/tables/event-columns.js';
import type { PeerView } from '../../src/group/api.js';
import { subjectOf } from '../support/given.js';
import { startTestNode, type TestNode } from '../support/node.js';
import { registerPeer, submissionOf, submit } from './group-calls.js';
import { knownPlayer, lifeSalt } from './life.js';

const [dir, events] = [process.argv[2]!, Number(process.argv[3])];
const env = { DATA_DIR: dir, GROUP_SALT: lifeSalt, SNAPSHOT_EVERY: '1000000' };
const batchEvents = 20;

/** Events of `peer` about a tenth as many players, in batches. */
async function submitMany(node: TestNode, peer: PeerView, place: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += batchEvents) {
    const batch = Array.from({ length: Math.min(batchEvents, count - from) }, (_, i) => {
      const eventType = i % 3 === 0 ? 'commendation' : 'report_cheating';
      return submissionOf(peer, `${place}-${from + i}`, `player ${(from + i) % Math.ceil(count / 10)}`, { eventType });
    });
    await submit(node, peer, batch);
  }
}

const first = await startTestNode(env);
const one = await registerPeer(first, 'one');
const two = await registerPeer(first, 'two');
await submitMany(first, one, 'a', events);
await submitMany(first, two, 'b', events);
// The event about the player that a node is asked for by its raw id.
const subject = keyOf(pseudonymise(knownPlayer, lifeSalt, 'privacy-first')!);
await submit(first, one, [submissionOf(one, 'known', knownPlayer, { subject })]);
await first.group.changePeer('peer_status', two.peerId, { status: 'suspended' }, 'test');
await first.group.erase(one, subjectOf('player 3'));
await first.close();
const second = await startTestNode(env);
await submitMany(second, one, 'c', events);
await second.group.withdraw(one, 'c-5');
await second.close();
const third = await startTestNode(env);
await submitMany(third, one, 'd', events / 4);
process.kill(process.pid, 'SIGKILL');
