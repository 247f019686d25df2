/** Converts a peer to the view that the layers above see. */
import type { Peer } from '../../core/peers/peers.js';
import type { GroupState } from '../../core/state.js';

export function peerView(state: GroupState, peer: Peer) {
  const { index, peerId, peerName, gameIds, status, registeredAt, publicKey = null, contactEmail, eventCount } = peer;
  const { tau, a, b, m, finds, published } = state.peerWeights;
  const preTrusted = state.preTrusted.includes(index);
  return {
    /**
     * The peer's number in this group, ascending in order of registration; origins and carriers take numbers, too.
     * Callers see it only within an opaque cursor.
     */
    index,
    peerId,
    peerName,
    gameIds,
    status,
    registeredAt,
    /** The Ed25519 key with which the peer signs its writes: 32 bytes, base64url; null if it does not sign. */
    publicKey,
    eventCount,
    /** When its newest event was received, in ms since 1970, cut to the hour; null if none is known. */
    lastEventAt: state.hourlyCounts.lastHourOf(index),
    /** Null if the registration gave none. Never public. */
    contactEmail,
    /** Words of the operator, for operators only; null if there are none. */
    note: peer.note ?? null,
    preTrusted,
    /** Components of the published weight. */
    tau: tau[index]!,
    a: a[index]!,
    b: b[index]!,
    /** Log-odds of its bans, and the share of them that did not follow those of others. */
    m: m[index]!,
    finds: finds[index]!,
    /** Published weight in [0,1]. */
    weight: published[index]!,
  };
}

export interface PeerView extends Readonly<ReturnType<typeof peerView>> {}
