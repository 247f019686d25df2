/**
 * Computes score, confidence and verdict of one player as of a time (docs/SCORING.md, "What is read"). Takes O(peers
 * that reported the player) without witness groups, and allocates only the answer.
 */
import { limits } from '../../limits.js';
import { type AsOf, decayed, decayFactorFor, measureFactorFor } from '../evidence/decay.js';
import { cappedMass, saturate, strength } from '../evidence/evidence.js';
import { trustConstants as k } from '../evidence/trust-constants.js';
import type { GroupState } from '../state.js';
import type { EvidenceView, PeerColumns } from '../tables/evidence-view.js';
import { CARRIES } from '../tables/peer-weights.js';
import type { Verdict } from '../vocabulary.js';
import { ALL, LOWERS, PlayerVotes } from './player-votes.js';

/** A player's unrounded score as of a time. */
export interface TrustView extends Readonly<ReturnType<typeof trustOf>> {
  /** Present if the player is on the group's allow list: the figures are then neutral. */
  readonly allowed?: true;
}

/** Units of published scores and confidences, and the steps between them where few peers speak. */
export const SCORE_UNIT = 100;
export const CONFIDENCE_UNIT = 10_000;
const SCORE_STEP = 100;
const CONFIDENCE_STEP = 500;

/** Bounds of verdicts, in units. Each belongs to the values above it, and is a multiple of all steps. */
const scoreBounds = [k.untrustedBelow, k.suspiciousBelow, k.trustedFrom].map((bound) => bound * SCORE_UNIT);
const confidenceBounds = [k.trustedConfidenceMin * CONFIDENCE_UNIT];

/** The published score, in hundredths. Every answer, stream and export takes it from here. */
export function wholeScore({ score, isCoarse }: Pick<TrustView, 'score' | 'isCoarse'>): number {
  return roundedWithin(score, SCORE_UNIT, isCoarse ? SCORE_STEP : 1, scoreBounds);
}

/** The published confidence, in ten-thousandths. In steps, it is 0 only if it is 0 without them: 0 means no signal. */
export function wholeConfidence({ confidence, isCoarse }: Pick<TrustView, 'confidence' | 'isCoarse'>): number {
  const exact = roundedWithin(confidence, CONFIDENCE_UNIT, 1, confidenceBounds);
  if (!isCoarse || exact === 0) return exact;
  return Math.max(CONFIDENCE_STEP, roundedWithin(confidence, CONFIDENCE_UNIT, CONFIDENCE_STEP, confidenceBounds));
}

export function publishedFigures(view: TrustView): Pick<TrustView, 'score' | 'confidence'> {
  return { score: wholeScore(view) / SCORE_UNIT, confidence: wholeConfidence(view) / CONFIDENCE_UNIT };
}

/** Rounds to a multiple of `step` units, but to none that is on the other side of a verdict's bound. */
function roundedWithin(value: number, unit: number, step: number, bounds: readonly number[]): number {
  const nearest = Math.round((value * unit) / step) * step;
  // Only rounding up can cross a bound, and then ends on it.
  return value < nearest / unit && bounds.includes(nearest) ? nearest - step : nearest;
}

const playerVotes = new PlayerVotes();

export function trustOf(state: EvidenceView, row: number, asOf: AsOf) {
  const { witness } = state.peerWeights;
  const { summaryPeersMin: few } = limits;
  const { confidence, events } = readVotes(state, row, asOf);
  const score = scoreOf(state.peerWeights);
  // The number of witnesses matters only for a score this low.
  const witnesses = score < k.untrustedBelow ? playerVotes.witnesses(witness, LOWERS) : 0;
  return {
    /** 0 to 100; 50 is neutral. */
    score,
    /** 0 to 1. */
    confidence,
    verdict: verdictOf(score, confidence, witnesses),
    /** Number of events held for the player, from any peer. */
    eventCount: events,
    /** Time of the newest change of this player in ms since 1970, rounded down to the hour. */
    updatedAt: state.subjects.updatedAt(row),
    /** Fewer witnesses than `summaryPeersMin` speak: exact figures would name the peer that reported. */
    isCoarse: playerVotes.count < few || playerVotes.witnesses(witness, ALL, few) < few,
  };
}

function readVotes(
  state: EvidenceView,
  row: number,
  asOf: AsOf,
): { readonly confidence: number; readonly events: number } {
  const { subjects, peerWeights } = state;
  const { entries } = subjects;
  const { tau, z, findsClaim, weight, witness, isGrouped, excluded } = peerWeights;
  const evidenceAt = subjects.evidenceAt(row);
  const decayFactor = decayFactorFor(state, evidenceAt, asOf);
  const first = subjects.firstEntry(row);
  const peerCount = subjects.peerCount(row);
  const end = first + peerCount;
  playerVotes.begin(peerCount);
  let at = 0;
  let effective = 0;
  let grouped = 0;
  let carried = 0;
  let events = 0;
  for (let entry = first; entry < end; entry++) {
    events += entries.count(entry);
    const peer = entries.peer(entry);
    const lowering = decayed(entries.lowering(entry), decayFactor);
    const claims = lowering + decayed(entries.raising(entry), decayFactor);
    const sum = entries.measure(entry);
    if (!(claims + sum > 0) || excluded[peer] === 1 || entries.isVoid(entry)) continue;
    const x = claims > 0 ? lowering / claims : 0;
    const n = strength(saturate(claims), z[peer]!);
    const t = tau[peer]!;
    playerVotes.peer[at] = peer;
    playerVotes.x[at] = x;
    playerVotes.pull[at] = t * n;
    playerVotes.silent[at] = 0;
    playerVotes.measure[at] = 0;
    playerVotes.measured[at] = 0;
    playerVotes.effective[at] = weight[peer]! * n;
    if (sum > 0)
      playerVotes.addMeasure(at, claims, decayed(sum, measureFactorFor(state, evidenceAt, asOf)), peerWeights);
    else {
      const said = x * findsClaim[peer]! + 1 - x;
      playerVotes.share[at] = x;
      playerVotes.voice[at] = t * cappedMass(claims) * said;
      playerVotes.mass[at] = t * Math.min(claims, k.massOfPeerMax) * said;
      playerVotes.weight[at] = weight[peer]!;
    }
    const group = isGrouped[peer]!;
    if (group === CARRIES) carried++;
    else effective += playerVotes.effective[at]!;
    grouped += group;
    at++;
  }
  playerVotes.count = at;
  playerVotes.isCarried = carried > 0;
  if (carried > 0) effective += playerVotes.keepOnePerSender(peerWeights);
  else if (grouped > 1) playerVotes.keepOnePerWitness(witness);
  return { confidence: effective / (effective + k.confidenceHalf), events };
}

function scoreOf({ a, b, m, z, preTrusted, distance }: PeerColumns): number {
  const { count, peer, x, voice, pull, mass, measure, measured, hasMeasures } = playerVotes;
  let heard = 0;
  let twoSided = 0;
  let events = hasMeasures ? playerVotes.furtherMeasures(m) : 0;
  for (let e = 0; e < count; e++) {
    heard += voice[e]!;
    // A measure was decided by somebody who looked: it counts as two-sided.
    twoSided += voice[e]! * Math.max(z[peer[e]!]!, measure[e]!);
    events += mass[e]!;
  }
  const oneSided = 1 - twoSided / Math.max(heard, k.massMin);
  const damping = dampingOf(heard, oneSided);
  const suspicious = distance + k.oneSidedDistance * oneSided;
  let fromPreTrusted = 0;
  let fromOthers = 0;
  for (let e = 0; e < count; e++) {
    const j = peer[e]!;
    const claims = pull[e]! * (x[e]! * a[j]! - (1 - x[e]!) * b[j]!);
    const logOdds = measure[e] === 0 ? claims : Math.max(claims, measured[e]! * m[j]!);
    if (preTrusted[j] === 1) fromPreTrusted += Math.min(logOdds, k.onePreTrusted * suspicious * damping);
    else fromOthers += Math.min(logOdds, k.onePeer * suspicious * damping);
  }
  const bound = k.preTrustClip * Math.abs(fromPreTrusted);
  const bounded = fromPreTrusted === 0 ? fromOthers : Math.min(bound, Math.max(-bound, fromOthers));
  const logOdds = (fromPreTrusted + bounded) / damping;
  playerVotes.logOdds = logOdds;
  playerVotes.suspicious = suspicious;
  playerVotes.oneSided = oneSided;
  return NEUTRAL - boundedShift(shiftOf(logOdds, suspicious), events);
}

const NEUTRAL = 50;

/** `max(M, 1)^(.1 + .2 one)`, at least 1: the divisor for witnesses that repeat one another. */
function dampingOf(heard: number, oneSided: number): number {
  if (heard <= 1) return 1;
  return Math.exp((k.correlation + (k.correlationOneSided - k.correlation) * oneSided) * Math.log(heard));
}

/** Points, in (-50, 50), by which log-odds lower a score. `suspicious`: the log-odds that lower it by 10. */
function shiftOf(logOdds: number, suspicious: number): number {
  if (logOdds <= 0) {
    const good = -logOdds;
    return good <= k.trustedDistance
      ? (-20 * good) / k.trustedDistance
      : 30 * Math.exp((k.trustedDistance - good) / k.tail) - 50;
  }
  if (logOdds <= suspicious) return (10 * logOdds) / suspicious;
  const beyond = logOdds - suspicious;
  return beyond <= k.untrustedDistance
    ? 10 + (20 * beyond) / k.untrustedDistance
    : 50 - 20 * Math.exp((k.untrustedDistance - beyond) / k.tail);
}

/** Bounds the shift by the gated mass of events: little mass moves a score little, whichever peers sent it. */
function boundedShift(shift: number, mass: number): number {
  const root = Math.sqrt(mass);
  // Square roots are rounded correctly on every platform; a power is not.
  const part = Math.min(1, k.massPart * root * Math.sqrt(root));
  const most = k.massShift * mass * root;
  return Math.min(most, Math.max(-most, shift * part));
}

/** `witnesses`: lowering ones with more than a negligible weight. One alone never makes a player untrusted. */
export function verdictOf(score: number, confidence: number, witnesses: number): Verdict {
  if (score < k.untrustedBelow && witnesses >= k.untrustedWitnessesMin) return 'untrusted';
  if (score < k.suspiciousBelow) return 'suspicious';
  if (score >= k.trustedFrom && confidence >= k.trustedConfidenceMin) return 'trusted';
  return 'neutral';
}

/** Returns the votes behind the score of a subject's row, with their log-odds; valid until the next read. */
export function votesOf(state: EvidenceView, row: number, asOf: AsOf): PlayerVotes {
  readVotes(state, row, asOf);
  scoreOf(state.peerWeights);
  return playerVotes;
}

/** Neutral values: score 50 and confidence 0 reveal nothing about a player on the list. */
const neutral = { score: 50, confidence: 0, verdict: 'neutral', allowed: true } as const;

export function readTrust(state: GroupState, row: number, asOf: AsOf): TrustView {
  const view = trustOf(state, row, asOf);
  return isAllowed(state, row, asOf) ? { ...view, ...neutral } : view;
}

export function isAllowed({ allowed, subjects }: GroupState, row: number, { at }: AsOf): boolean {
  return allowed.size > 0 && allowed.allows(subjects.keyOf(row), at);
}

export interface VerdictCounts extends Readonly<ReturnType<typeof countVerdicts>> {}

/** Examines at most `rowsMax` rows, evenly spread over the players in their order of first report. */
export function countVerdicts(state: GroupState, asOf: AsOf, rowsMax: number) {
  const { subjects } = state;
  const counts: Record<Verdict, number> = { trusted: 0, neutral: 0, suspicious: 0, untrusted: 0 };
  const step = Math.max(1, Math.ceil(subjects.rows / rowsMax));
  // Fewer than all players if only a sample is examined.
  let sampled = 0;
  for (let row = 0; row < subjects.rows; row += step) {
    if (!subjects.has(row)) continue;
    counts[readTrust(state, row, asOf).verdict]++;
    sampled++;
  }
  return { counts, sampled, players: subjects.size, seq: state.lastSeq };
}
