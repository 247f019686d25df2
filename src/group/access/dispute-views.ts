/**
 * Converts a dispute to the view that the operator sees: peer numbers become ids and names, and the peers with lowering
 * evidence about the player are added.
 */

import type { Dispute } from '../../core/registers/disputes.js';
import { reportersOf } from '../../core/rules/decide-dispute.js';
import type { GroupState } from '../../core/state.js';
import { NO_KEY } from '../../core/vocabulary.js';
import { limits } from '../../limits.js';
import type { DisputeView, NamedPeer } from '../api.js';

export function disputeView(state: GroupState, dispute: Dispute): DisputeView {
  const { id, openedAt, peer: disputant, subject, text, against, status, decidedAt, voids } = dispute;
  const named = (number: number): NamedPeer => {
    const { peerId, peerName } = state.peers.at(number);
    return { peerId, peerName };
  };
  return {
    id,
    openedAt,
    by: disputant === NO_KEY ? null : named(disputant),
    subject,
    text,
    against: against === null ? null : named(against),
    alsoNamed: state.peerNames
      .in(text)
      .filter((number) => number !== against)
      .slice(0, limits.disputeNamedMax)
      .map(named),
    status,
    decidedAt,
    voids: voids.map((number) => named(number).peerId),
    reporters: reportersOf(state, subject).map(({ peer, raises, events, head }) => ({
      ...named(peer),
      direction: raises ? 'both' : 'lowering',
      events,
      lastAt: state.times.receivedAt(head),
      weight: state.peerWeights.published[peer]!,
    })),
  };
}
