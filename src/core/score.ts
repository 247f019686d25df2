/**
 * The read: score, confidence and verdict of one player at one moment, from its evidence and the published peer weights
 * (scoring page, "State and reads"). O(peers that reported the player), no allocation but the answer.
 */
import { worthAt, worthOf } from './decay.js';
import { damping, saturate, unit } from './evidence.js';
import type { EvidenceView } from './evidence-view.js';
import { sigmoid } from './sigmoid.js';
import type { GroupState } from './state.js';
import { trustConstants as k } from './trust-constants.js';
import type { Verdict } from './vocabulary.js';

/** A player's score at a moment. Unrounded. */
export interface TrustView {
  /** 0 to 100, 50 neutral. */
  readonly score: number;
  /** 0 to 1. */
  readonly confidence: number;
  readonly verdict: Verdict;
  /** Events held for the player, of any peer. */
  readonly eventCount: number;
  /** ms since 1970 of the newest change of this player, cut to the hour. */
  readonly updatedAt: number;
}

/** Scores and confidences are shown as whole numbers of so many to one, by reads and by the verdict stream alike. */
export const SCORE_UNIT = 100;
export const CONFIDENCE_UNIT = 10_000;

/** What is shown of a score, in hundredths. */
export function wholeScore({ score }: Pick<TrustView, 'score'>): number {
  return Math.round(score * SCORE_UNIT);
}

/** What is shown of a confidence, in ten-thousandths. */
export function wholeConfidence({ confidence }: Pick<TrustView, 'confidence'>): number {
  return Math.round(confidence * CONFIDENCE_UNIT);
}

export interface TrustExplanation {
  /** Decayed evidence that lowers and raises trust, summed over peers that are not revoked. */
  readonly lowering: number;
  readonly raising: number;
  /** Peers with evidence. */
  readonly peers: number;
  /** Whether pre-trusted peers are among them. */
  readonly preTrusted: boolean;
  readonly halfLifeDays: number;
  readonly weightsBasedOnSeq: number;
}

/** The moment of a read, with the factor that brings sums to their worth at it. */
export interface Moment {
  readonly at: number;
  readonly worth: number;
}

export function momentOf(state: Pick<EvidenceView, 'epoch' | 'halfLifeDays'>, at: number): Moment {
  return { at, worth: worthAt(at, state.epoch, state.halfLifeDays) };
}

/**
 * The worth of a subject's evidence, the newest of which is of `evidenceAt`. A clock that was set back inflates nothing: a read is never
 * before the newest evidence.
 */
export function worthFor(
  state: Pick<EvidenceView, 'epoch' | 'halfLifeDays'>,
  evidenceAt: number,
  moment: Moment,
): number {
  return evidenceAt > moment.at ? worthAt(evidenceAt, state.epoch, state.halfLifeDays) : moment.worth;
}

/** Score, confidence and verdict of a subject's row. */
export function trustOf(state: EvidenceView, row: number, moment: Moment): TrustView {
  const { subjects } = state;
  const { entries } = subjects;
  const { tau, a, b, weight, preTrusted, excluded } = state.peerWeights;
  const worth = worthFor(state, subjects.evidenceAt(row), moment);
  const first = subjects.firstEntry(row);
  const end = first + subjects.peerCount(row);
  let mass = 0;
  let effective = 0;
  let trusted = 0;
  let others = 0;
  let peers = 0;
  let events = 0;
  for (let entry = first; entry < end; entry++) {
    events += entries.count(entry);
    const peer = entries.peer(entry);
    const lowering = worthOf(entries.lowering(entry), worth);
    const m = lowering + worthOf(entries.raising(entry), worth);
    if (!(m > 0) || excluded[peer] === 1) continue;
    const x = lowering / m;
    const n = saturate(m);
    const logOdds = tau[peer]! * n * (x * a[peer]! - (1 - x) * b[peer]!);
    mass += tau[peer]! * unit(m);
    effective += weight[peer]! * n;
    if (preTrusted[peer] === 1) trusted += logOdds;
    else others += logOdds;
    peers++;
  }
  const bound = k.preTrustClip * Math.abs(trusted);
  const bounded = trusted === 0 ? others : Math.min(bound, Math.max(-bound, others));
  const confidence = effective / (effective + k.confidenceHalf);
  const score = 100 * sigmoid((-confidence * (trusted + bounded)) / damping(mass));
  return {
    score,
    confidence,
    verdict: verdictOf(score, confidence, peers),
    eventCount: events,
    updatedAt: subjects.updatedAt(row),
  };
}

/** The band of a score (0 to 100). One peer alone never makes a player untrusted. */
export function verdictOf(score: number, confidence: number, peers: number): Verdict {
  if (score < k.untrustedBelow && peers >= k.untrustedPeersMin) return 'untrusted';
  if (score < k.suspiciousBelow) return 'suspicious';
  if (score >= k.trustedFrom && confidence >= k.trustedConfidenceMin) return 'trusted';
  return 'neutral';
}

/** What a subject's score is made of. */
export function explanationOf(state: GroupState, row: number, moment: Moment): TrustExplanation {
  const { subjects } = state;
  const { preTrusted, excluded } = state.peerWeights;
  const worth = worthFor(state, subjects.evidenceAt(row), moment);
  const first = subjects.firstEntry(row);
  const explanation = { lowering: 0, raising: 0, peers: 0, preTrusted: false };
  for (let entry = first; entry < first + subjects.peerCount(row); entry++) {
    const b = worthOf(subjects.entries.lowering(entry), worth);
    const g = worthOf(subjects.entries.raising(entry), worth);
    const peer = subjects.entries.peer(entry);
    if (!(b + g > 0) || excluded[peer] === 1) continue;
    explanation.lowering += b;
    explanation.raising += g;
    explanation.peers++;
    if (preTrusted[peer] === 1) explanation.preTrusted = true;
  }
  return { ...explanation, halfLifeDays: state.halfLifeDays, weightsBasedOnSeq: state.weights.basedOnSeq };
}
