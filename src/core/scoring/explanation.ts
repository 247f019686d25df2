/** Collects the facts behind a player's score, for explanations. */
import { type AsOf, decayed, decayFactorFor, measureFactorFor } from '../evidence/decay.js';
import { FOLLOWS, roundForComparison } from '../evidence/evidence.js';
import type { GroupState } from '../state.js';
import { ALL } from './player-votes.js';
import { votesOf } from './score.js';

export interface TrustExplanation extends Readonly<ReturnType<typeof explanationOf>> {
  /** Present if the player is on the group's allow list. */
  readonly allowed?: true;
}

export function explanationOf(state: GroupState, row: number, asOf: AsOf) {
  const { subjects, peerWeights } = state;
  const { preTrusted, excluded, witness } = peerWeights;
  const evidenceAt = subjects.evidenceAt(row);
  const decayFactor = decayFactorFor(state, evidenceAt, asOf);
  const measureFactor = measureFactorFor(state, evidenceAt, asOf);
  const sums = {
    /** Decayed evidence that lowers (bans included) and raises trust, summed over peers that are not revoked. */
    lowering: 0,
    raising: 0,
    /** True if pre-trusted peers are among them. */
    preTrusted: false,
  };
  const peers = new Set<number>();
  const banned = new Set<number>();
  const bannedAfterOthers = new Set<number>();
  /** Per origin: the heaviest evidence of its carriers. */
  const carried = new Map<number, { readonly b: number; readonly g: number }>();
  for (const entry of subjects.entriesOf(row)) {
    const a = decayed(subjects.entries.measure(entry), measureFactor);
    const b = decayed(subjects.entries.lowering(entry), decayFactor) + a;
    const g = decayed(subjects.entries.raising(entry), decayFactor);
    const peer = subjects.entries.peer(entry);
    if (!(b + g > 0) || excluded[peer] === 1 || subjects.entries.isVoid(entry)) continue;
    const sender = state.origins.peerOf(peer);
    peers.add(sender);
    if (a > 0) banned.add(sender);
    if (a > 0 && (subjects.entries.follows(entry) & FOLLOWS) !== 0) bannedAfterOthers.add(sender);
    if (preTrusted[peer] === 1) sums.preTrusted = true;
    const origin = state.origins.carrierAt(peer)?.origin;
    if (origin === undefined) {
      sums.lowering += b;
      sums.raising += g;
      continue;
    }
    const heaviest = carried.get(origin);
    if (heaviest === undefined || roundForComparison(b + g) > roundForComparison(heaviest.b + heaviest.g))
      carried.set(origin, { b, g });
  }
  for (const { b, g } of carried.values()) {
    sums.lowering += b;
    sums.raising += g;
  }
  const playerVotes = votesOf(state, row, asOf);
  return {
    ...sums,
    peers: peers.size,
    /** Number of witnesses among them with more than a negligible weight. */
    witnesses: playerVotes.witnesses(witness, ALL),
    /** Peers with a standing ban, those that banned after others had, and how many independent bans they are. */
    banned: banned.size,
    bannedAfterOthers: bannedAfterOthers.size,
    bans: playerVotes.independentBans(peerWeights.m),
    /** Share of the evidence that does not come from two-sided peers, in [0, 1]. */
    oneSided: playerVotes.oneSided,
    /** Log-odds of a bad player before the prior, and the log-odds at which the score falls below 40. */
    logOdds: playerVotes.logOdds,
    suspicious: playerVotes.suspicious,
    halfLifeDays: state.halfLifeDays,
    banHalfLifeDays: state.measureScale.halfLifeDays,
    weightsBasedOnSeq: state.weights.basedOnSeq,
  };
}
