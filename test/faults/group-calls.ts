/** Peers and events of a drill that calls the group of a node in its own process. */
import type { EventSubmission, PeerView } from '../../src/group/api.js';
import { subjectKeyOf } from '../support/given.js';
import type { TestNode } from '../support/node.js';

export async function registerPeer({ group }: TestNode, peerName: string): Promise<PeerView> {
  const issued = await group.register({ peerName, gameIds: ['g'] }, 'test');
  if (!issued.ok) throw new Error(issued.code);
  return issued.value.peer;
}

export function submissionOf(
  { peerId }: PeerView,
  eventId: string,
  player: string,
  more: Partial<EventSubmission> = {},
): EventSubmission {
  const fixed = { schemaVersion: '1.0.0', eventType: 'report_cheating', gameId: 'g', severity: 0.5 } as const;
  const at = { timestamp: Date.UTC(2026, 0, 1), subject: subjectKeyOf(player) };
  return { ...fixed, ...at, eventId, peerId, ...more };
}

/** Submits events of a peer, of which none may be refused. */
export async function submit({ group }: TestNode, peer: PeerView, events: readonly EventSubmission[]): Promise<void> {
  for (const outcome of await group.submit(peer, events)) if (!outcome.ok) throw new Error(outcome.code);
}
