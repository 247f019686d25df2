/** What an operator should look into about a peer, in words, and how its status looks. No document needed. */
import type { ListedPeerValue } from '../../protocol/value-types.js';
import { plural } from './format.js';

export interface Remark {
  readonly text: string;
  /** What most likely lies behind it; null where the text says so itself. */
  readonly hint: string | null;
}

/** What the whole group says about how to read a peer's figures. */
export interface GroupFacts {
  /** At most one peer has reported a player. */
  readonly hasOneReporter: boolean;
  readonly hasPreTrusted: boolean;
}

/** The greatest weight that is shown as `0.000`. */
const displayedAsZero = 0.0005;

export function groupFactsOf(peers: readonly ListedPeerValue[]): GroupFacts {
  return {
    hasOneReporter: peers.filter(({ signals }) => (signals?.players ?? 0) > 0).length < 2,
    hasPreTrusted: peers.some(({ pre_trusted }) => pre_trusted),
  };
}

export const witnessHints = {
  declared: 'declared the same by the operator',
  clones: 'they say the same of the same players',
  copied_list: 'they share a list with its mistakes',
} as const;

/** The weight first, then with whom the peer is one witness, and with whom it is discounted. */
export function remarksOf(peer: ListedPeerValue, group: GroupFacts): Remark[] {
  const { signals } = peer;
  const remarks: Remark[] = [];
  if (isWeightless(peer)) {
    remarks.push({ text: `weight 0: ${whyWeightless(peer, group)}`, hint: null });
  } else if (agreesWithNobody(peer, group)) {
    remarks.push({ text: 'shares no player with other peers', hint: 'most likely it hashes with another salt' });
  }
  const witnesses = signals?.one_witness_with ?? [];
  if (witnesses.length > 0) {
    remarks.push({
      text: `one witness with ${plural(witnesses.length, 'peer')}`,
      hint: witnessHints[witnesses[0]!.reason],
    });
  }
  const erasures = peer.shared_erasures;
  if (erasures > 0) {
    remarks.push({
      text: `${plural(erasures, 'erasure')} of players whom others reported`,
      hint: 'see when ERASURE_MODE=operator is the better choice',
    });
  }
  const discounted = group.hasOneReporter ? 0 : (signals?.discounted_with.length ?? 0);
  if (discounted > 0) {
    remarks.push({ text: `discounted with ${plural(discounted, 'peer')}`, hint: 'perhaps they collude' });
  }
  return remarks;
}

/** The class of the badge of a peer's status: nothing is green about a peer that counts for nothing. */
export function statusLookOf(peer: ListedPeerValue): string {
  return peer.status === 'active' && isWeightless(peer) ? 'warn' : peer.status;
}

function isWeightless({ weight }: ListedPeerValue): boolean {
  return weight < displayedAsZero;
}

function agreesWithNobody({ signals }: ListedPeerValue, { hasOneReporter }: GroupFacts): boolean {
  return !hasOneReporter && signals !== null && signals.players > 0 && signals.shared_players === 0;
}

function whyWeightless({ status, signals, tau, a, b }: ListedPeerValue, group: GroupFacts): string {
  if (status === 'revoked') return 'revoked';
  if (signals === null) return 'not computed yet';
  if (signals.players === 0) return 'has reported no player';
  if (group.hasOneReporter) return 'no other peer has reported a player';
  if (signals.shared_players === 0) return 'shares no player with other peers; check its salt and ids';
  const shared = plural(signals.shared_players, 'shared player');
  // The weight is the product of the two: the smaller one is what took it away.
  if (a + b < tau) return `right no more often than chance on ${shared}`;
  // With pre-trusted peers a gate opens by agreement with them alone: to share no player with them is no disagreement.
  return group.hasPreTrusted ? `agrees with no trusted peer on ${shared}` : `disagrees with the others on ${shared}`;
}
