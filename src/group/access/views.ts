/** Converts what the state holds of peers, origins and disputes, and records, to the views that layers above see. */
import type { Peer } from '../../core/peers/peers.js';
import type { AuditPart } from '../../core/records/records.js';
import type { AllowEntry } from '../../core/registers/allow-list.js';
import type { Dispute } from '../../core/registers/disputes.js';
import type { Origin } from '../../core/registers/origins.js';
import { readingOf } from '../../core/rules/decide-dispute.js';
import type { GroupState } from '../../core/state.js';
import { WitnessLinks } from '../../core/trust/witnesses.js';
import { NO_KEY, type WitnessPair } from '../../core/vocabulary.js';
import { limits } from '../../limits.js';
import type { WeightsSignals } from '../ports/pool.js';

/** `keyDigest`: of the key that the caller has used. */
export function peerView(state: GroupState, peer: Peer, keyDigest = peer.keyDigest) {
  const { index, peerId, peerName, gameIds, status, registeredAt, publicKey = null, contactEmail, eventCount } = peer;
  const { tau, a, b, m, finds, published } = state.peerWeights;
  const preTrusted = state.preTrusted.includes(index);
  return {
    /** Ascending in order of registration. Callers see it only within an opaque cursor. */
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
    /** SHA-256 of the key that it used, otherwise of its present one, hex. Only for the link between nodes. */
    keyDigest,
    /** Words of the operator, for operators only; null if there are none. */
    note: peer.note ?? null,
    preTrusted,
    tau: tau[index]!,
    a: a[index]!,
    b: b[index]!,
    /** Log-odds of its bans, and the share of them that did not follow those of others. */
    m: m[index]!,
    finds: finds[index]!,
    weight: published[index]!,
  };
}

export interface PeerView extends Readonly<ReturnType<typeof peerView>> {}

function namedPeer({ peers }: GroupState, number: number) {
  const { peerId, peerName } = peers.at(number);
  return { peerId, peerName };
}

export function originView({ origins, peers, peerWeights }: GroupState, origin: Origin) {
  const { index, name, declaredAt, declared } = origin;
  return {
    name,
    declaredAt,
    /** False once the origin was removed. */
    isDeclared: declared,
    carriers: origins.carriersOf(index).map(({ peer }) => peers.at(peer).peerId),
    /** Published weight in [0,1] and its components; at most the weight of the best peer that carries it. */
    weight: peerWeights.published[index]!,
    tau: peerWeights.tau[index]!,
    a: peerWeights.a[index]!,
    b: peerWeights.b[index]!,
  };
}

export interface OriginView extends Readonly<ReturnType<typeof originView>> {}

export function disputeView(state: GroupState, dispute: Dispute) {
  const { id, openedAt, peer: disputant, subject, text, against, status, decidedAt, voids } = dispute;
  const { reporters, others } = readingOf(state, dispute);
  return {
    id,
    openedAt,
    by: disputant === NO_KEY ? null : namedPeer(state, disputant),
    subject,
    text,
    against: against === null ? null : namedPeer(state, against),
    /** Other peers that the text names, so that it may be read as against them. */
    alsoNamed: others.slice(0, limits.disputeNamedMax).map((number) => namedPeer(state, number)),
    status,
    decidedAt,
    /** Peers whose events about the player do not count. */
    voids: voids.map((number) => state.peers.at(number).peerId),
    /** The peers with lowering evidence about the player; `both`: with raising evidence, too. */
    reporters: reporters.map(({ peer, raises, events, head }) => ({
      ...namedPeer(state, peer),
      direction: raises ? ('both' as const) : ('lowering' as const),
      events,
      lastAt: state.times.receivedAt(head),
      weight: state.peerWeights.published[peer]!,
    })),
  };
}

export interface DisputeView extends Readonly<ReturnType<typeof disputeView>> {}

/** Undefined if the entry was removed, or ended before `at` (ms since 1970). */
export function allowedView(subject: string, entry: AllowEntry | null, at: number) {
  if (entry === null || entry.until < at) return undefined;
  return { subject, entryId: entry.id, until: entry.until, note: entry.note };
}

export interface AllowedPlayer extends Readonly<NonNullable<ReturnType<typeof allowedView>>> {}

export function auditEntry(seq: number, at: number, { prev_hash: prevHash, ...entry }: AuditPart) {
  return { seq, at, ...entry, prevHash };
}

export interface AuditEntry extends Readonly<ReturnType<typeof auditEntry>> {}

/** Looks up what the newest computation of weights found about a peer. */
export class SignalViews {
  #newest: { readonly pairs: readonly WitnessPair[]; readonly links: WitnessLinks } | null = null;

  of(state: GroupState, signals: WeightsSignals | null, { index }: PeerView) {
    if (signals === null || index >= signals.reported.length) return undefined;
    const discountedWith = signals.pairs
      .filter(({ first, second }) => first === index || second === index)
      .map(({ first, second, shared, agreement }) => {
        return { peerId: state.peers.at(first === index ? second : first).peerId, sharedPlayers: shared, agreement };
      });
    return {
      /** Number of players that the peer reported, and of those that another peer reported, too. */
      players: signals.reported[index]!,
      sharedPlayers: signals.shared[index]!,
      /** Peers with which it agrees although the group trusts neither fully: agreement, in (0, 1], is discounted. */
      discountedWith,
      /** At most `limits.witnessesListedMax`. */
      oneWitnessWith: this.#linksOf(signals.witnessPairs)
        .of(index, limits.witnessesListedMax)
        .map(({ peer, reason }) => ({ peerId: witnessName(state, peer), reason })),
    };
  }

  #linksOf(pairs: readonly WitnessPair[]): WitnessLinks {
    if (this.#newest?.pairs !== pairs) this.#newest = { pairs, links: new WitnessLinks(pairs) };
    return this.#newest.links;
  }
}

export interface PeerSignals extends Readonly<NonNullable<ReturnType<SignalViews['of']>>> {}

function witnessName({ peers, origins }: GroupState, number: number): string {
  const origin = origins.at(number);
  return origin === undefined ? peers.at(number).peerId : `origin ${origin.name}`;
}
