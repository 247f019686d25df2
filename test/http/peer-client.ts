/** Registered peers on a real node, as tests need them. */
import type { EventBody } from '../../src/contract/request-bodies.js';
import type { TestNode } from '../support/node.js';
import { type Answer, ask } from './exchange.js';
import { eventBody } from './samples.js';

export interface PeerClient {
  /** Address of the node. */
  readonly url: string;
  readonly peerId: string;
  readonly key: string;
  /** A valid event of this peer, now. */
  event(more?: Partial<EventBody>): EventBody;
  submit(more?: Partial<EventBody>): Promise<Answer>;
}

/** Registers a peer for the game `arena` (and `more`). */
export async function registerPeer(url: string, peerName = 'Peer', more: readonly string[] = []): Promise<PeerClient> {
  const { status, body } = await ask(url, '/api/v1/peers/register', {
    json: { peer_name: peerName, game_ids: ['arena', ...more] },
  });
  if (status !== 201) throw new Error(`registration answered ${status}`);
  const peerId: string = body.peer_id;
  const key: string = body.api_key;
  const event = (fields: Partial<EventBody> = {}): EventBody =>
    eventBody({ peer_id: peerId, timestamp: nextTimestamp(), ...fields });
  return { url, peerId, key, event, submit: (fields) => ask(url, '/api/v1/events', { key, json: event(fields) }) };
}

let newestMs = 0;

/** Now, or a moment later: no two events have the same, as one that says what another says is no evidence. */
function nextTimestamp(): string {
  newestMs = Math.max(Date.now(), newestMs + 1);
  return new Date(newestMs).toISOString();
}

/** Moves a peer to a state, as the operator would. */
export async function setStatus(
  node: TestNode,
  peerId: string,
  status: 'active' | 'suspended' | 'revoked',
): Promise<void> {
  const outcome = await node.group.changePeer('peer_status', peerId, { status }, 'test');
  if (!outcome.ok) throw new Error(outcome.code);
}

let players = 0;

/** A player nobody has reported yet. */
export function newPlayer(): string {
  players += 1;
  return `player-${process.pid}-${players}`;
}
