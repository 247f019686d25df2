/**
 * Converts a dispute to the view that the operator sees: peer numbers become ids, and the peers that reported the
 * player are added.
 */

import type { Dispute } from '../../core/registers/disputes.js';
import { reportersOf } from '../../core/rules/decide-dispute.js';
import type { GroupState } from '../../core/state.js';
import { NO_KEY } from '../../core/vocabulary.js';
import type { DisputeView } from '../api.js';

export function disputeView(state: GroupState, dispute: Dispute): DisputeView {
  const { id, openedAt, peer, subject, text, against, status, decidedAt, voids } = dispute;
  const idOf = (number: number) => state.peers.at(number).peerId;
  return {
    id,
    openedAt,
    peerId: peer === NO_KEY ? null : idOf(peer),
    subject,
    text,
    against: against === null ? null : idOf(against),
    status,
    decidedAt,
    voids: voids.map(idOf),
    reporters: reportersOf(state, subject).map(idOf),
  };
}
