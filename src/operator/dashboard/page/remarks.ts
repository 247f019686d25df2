/**
 * Describes what an operator should check about a peer, and its status, for the dashboard and for `ptf`. A browser can
 * load the modules of this folder alone.
 */
import type { WitnessReason } from '../../../core/vocabulary.js';
import type { ListedPeerValue } from '../../../operations/peer-operations.js';
import { count, plural } from './format.js';

export interface Remark {
  readonly text: string;
  readonly hint: string | null;
}

/** Facts about the whole group that affect the reading of a peer's figures. */
export interface GroupFacts {
  readonly hasOneReporter: boolean;
  /** True if at least two peers have reported so many players that they should share some. */
  readonly isComparable: boolean;
  readonly hasPreTrusted: boolean;
}

/** A peer whose log-odds of a ban, of 3.4 usually, are below this hardly counts by its bans. */
const repeatsBelow = 0.5;
/** Two peers of one group that have reported so many players each should share one. */
const playersToCompare = 30;
/** Weights below this are displayed as `0.000`. */
const displayedAsZero = 0.0005;

export function groupFactsOf(peers: readonly ListedPeerValue[]): GroupFacts {
  const reporters = (players: number) => peers.filter(({ signals }) => (signals?.players ?? 0) >= players).length;
  return {
    hasOneReporter: reporters(1) < 2,
    isComparable: reporters(playersToCompare) >= 2,
    hasPreTrusted: peers.some(({ pre_trusted }) => pre_trusted),
  };
}

export const witnessHints: Readonly<Record<WitnessReason, string>> = {
  declared: 'declared the same by the operator',
  clones: 'they report the same about the same players',
  allied: 'they ban the same players far more often than others do',
  copied_list: 'they share a list with its mistakes',
};

/** Returns the operator's note first, then what should be checked: the weight, one-witness peers, discounts. */
export function remarksOf(peer: ListedPeerValue, group: GroupFacts): Remark[] {
  const { signals, status, note, too_old, finds, m, shared_erasures: erasures } = peer;
  const repeats = m < repeatsBelow && signals !== null && signals.players > 0 && status !== 'revoked';
  const how =
    finds < repeatsBelow ? 'bans after others had, or nearly everybody' : 'bans players whom the others speak well of';
  const [witness, ...others] = signals?.one_witness_with ?? [];
  const discounted = group.hasOneReporter ? 0 : (signals?.discounted_with.length ?? 0);
  const remarks: readonly (Remark | false)[] = [
    note !== null && { text: `note: ${note}`, hint: null },
    isWeightless(peer)
      ? { text: `weight 0: ${whyWeightless(peer, group)}`, hint: null }
      : agreesWithNobody(peer, group) && {
          text: 'shares no player with other peers',
          hint: 'most likely it uses another salt',
        },
    too_old !== null && { text: tooOldText(too_old), hint: 'seconds taken for milliseconds?' },
    repeats && { text: `${how}: its bans hardly count`, hint: null },
    witness !== undefined && {
      text: `one witness with ${witness.peer_id}${others.length > 0 ? ` and ${others.length} more` : ''}`,
      hint: witnessHints[witness.reason],
    },
    erasures > 0 && {
      text: `${plural(erasures, 'erasure')} of players that others reported`,
      hint: 'check whether ERASURE_MODE=operator is the better choice',
    },
    discounted > 0 && { text: `discounted with ${plural(discounted, 'peer')}`, hint: 'perhaps they collude' },
  ];
  return remarks.filter((one) => one !== false);
}

function tooOldText({ events, newest }: NonNullable<ListedPeerValue['too_old']>): string {
  const [what, are] = events === 1 ? ['event', 'is'] : [`${count(events)} events`, 'are'];
  return `its last ${what} ${are} too old to count, the newest dated ${newest.slice(0, 10)}`;
}

/** Why an active peer that reports has no weight; undefined if it has weight. */
export function weightlessReason(peer: ListedPeerValue, group: GroupFacts): string | undefined {
  const reports = peer.status === 'active' && peer.event_count > 0;
  return reports && isWeightless(peer) ? whyWeightless(peer, group) : undefined;
}

/** Class of the badge of a peer's status: a peer without influence never has a green badge. */
export function statusLookOf(peer: ListedPeerValue): string {
  return peer.status === 'active' && isWeightless(peer) ? 'warn' : peer.status;
}

function isWeightless({ weight }: ListedPeerValue): boolean {
  return weight < displayedAsZero;
}

function agreesWithNobody({ signals }: ListedPeerValue, { isComparable }: GroupFacts): boolean {
  return isComparable && signals !== null && signals.players > 0 && signals.shared_players === 0;
}

function whyWeightless(peer: ListedPeerValue, group: GroupFacts): string {
  const { status, signals, tau, a, b } = peer;
  if (status === 'revoked') return 'revoked';
  if (signals === null) return 'not computed yet';
  if (signals.players === 0) return 'has reported no player';
  if (group.hasOneReporter) return 'no other peer has reported a player';
  if (agreesWithNobody(peer, group)) return 'shares no player with other peers; check its salt and ids';
  if (signals.shared_players === 0) return `too few players yet: no two peers have reported ${playersToCompare} each`;
  const shared = plural(signals.shared_players, 'shared player');
  // The weight is the product of both values: the smaller one is the cause of a low weight.
  if (a + b < tau) return `right no more often than chance on ${shared}`;
  // With pre-trusted peers, only agreement with them opens a gate; sharing no player is no disagreement.
  return group.hasPreTrusted ? `agrees with no trusted peer on ${shared}` : `disagrees with the others on ${shared}`;
}
