/**
 * Entry of a process that lives a short life on the folder in its arguments, and is killed: two snapshots, an erasure
 * and a withdrawal whose bytes are gone, and a tail of the log behind the newest snapshot. For faults to damage.
 */

import { pseudonymise } from '../../src/core/hashing/pseudonym.js';
import { keyOf } from '../../src/core/tables/event-columns.js';
import type { PeerView } from '../../src/group/api.js';
import { subjectKeyOf, subjectOf } from '../support/given.js';
import { startTestNode, type TestNode } from '../support/node.js';
import { knownPlayer, lifeSalt } from './life.js';

const [dir, events] = [process.argv[2]!, Number(process.argv[3])];
const env = { DATA_DIR: dir, GROUP_SALT: lifeSalt, SNAPSHOT_EVERY: '1000000' };
const batchEvents = 20;

/** Registers a peer. */
async function peerOf(node: TestNode, peerName: string): Promise<PeerView> {
  const issued = await node.group.register({ peerName, gameIds: ['g'] }, 'test');
  if (!issued.ok) throw new Error(issued.code);
  return issued.value.peer;
}

/** The event about the player that a node is asked for by its raw id. */
async function submitKnown(node: TestNode, peer: PeerView): Promise<void> {
  const fixed = { schemaVersion: '1.0.0', eventType: 'report_cheating', gameId: 'g', severity: 1 } as const;
  const subject = pseudonymise(knownPlayer, lifeSalt, 'privacy-first')!;
  const event = {
    ...fixed,
    eventId: 'known',
    peerId: peer.peerId,
    subject: keyOf(subject),
    timestamp: Date.UTC(2026, 0, 1),
  };
  const [outcome] = await node.group.submit(peer, [event]);
  if (!outcome!.ok) throw new Error(outcome!.code);
}

/** Events of `peer` about a tenth as many players, in batches. */
async function submitMany(node: TestNode, peer: PeerView, place: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += batchEvents) {
    const batch = Array.from({ length: Math.min(batchEvents, count - from) }, (_, i) => ({
      schemaVersion: '1.0.0',
      eventId: `${place}-${from + i}`,
      eventType: i % 3 === 0 ? ('commendation' as const) : ('report_cheating' as const),
      peerId: peer.peerId,
      subject: subjectKeyOf(`player ${(from + i) % Math.ceil(count / 10)}`),
      gameId: 'g',
      severity: 0.5,
      timestamp: Date.UTC(2026, 0, 1),
    }));
    const outcomes = await node.group.submit(peer, batch);
    if (!outcomes.every(({ ok }) => ok)) throw new Error(`an event of ${place} was refused`);
  }
}

const first = await startTestNode(env);
const one = await peerOf(first, 'one');
const two = await peerOf(first, 'two');
await submitMany(first, one, 'a', events);
await submitMany(first, two, 'b', events);
await submitKnown(first, one);
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
