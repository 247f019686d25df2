/**
 * Computes the score read: score, confidence and verdict of one player as of a time, from its evidence and the
 * published peer weights (docs/SCORING.md, "What is read"). Takes O(peers that reported the player), unless several of
 * them belong to witness groups, and allocates only the answer.
 */
import { type AsOf, decayed, decayFactorFor, measureFactorFor } from '../evidence/decay.js';
import {
  cappedMass,
  FOLLOWS,
  loweringShare,
  measureStrength,
  roundForComparison,
  saturate,
  strength,
} from '../evidence/evidence.js';
import { trustConstants as k } from '../evidence/trust-constants.js';
import type { GroupState } from '../state.js';
import type { EvidenceView, PeerColumns } from '../tables/evidence-view.js';
import { CARRIES } from '../tables/peer-weights.js';
import type { Verdict } from '../vocabulary.js';

/** A player's unrounded score as of a time. */
export interface TrustView {
  /** 0 to 100; 50 is neutral. */
  readonly score: number;
  /** 0 to 1. */
  readonly confidence: number;
  readonly verdict: Verdict;
  /** Number of events held for the player, from any peer. */
  readonly eventCount: number;
  /** Time of the newest change of this player in ms since 1970, rounded down to the hour. */
  readonly updatedAt: number;
  /** Present if the player is on the group's allow list: the figures are then neutral. */
  readonly allowed?: true;
}

/** Number of integer steps per unit with which reads and the verdict stream publish scores and confidences. */
export const SCORE_UNIT = 100;
export const CONFIDENCE_UNIT = 10_000;

/** The published score, in hundredths. */
export function wholeScore({ score }: Pick<TrustView, 'score'>): number {
  return Math.round(score * SCORE_UNIT);
}

/** The published confidence, in ten-thousandths. */
export function wholeConfidence({ confidence }: Pick<TrustView, 'confidence'>): number {
  return Math.round(confidence * CONFIDENCE_UNIT);
}

/** The facts behind a player's score. */
export interface TrustExplanation {
  /** Decayed evidence that lowers (bans included) and raises trust, summed over peers that are not revoked. */
  readonly lowering: number;
  readonly raising: number;
  /** Number of peers with evidence. */
  readonly peers: number;
  /** True if pre-trusted peers are among them. */
  readonly preTrusted: boolean;
  /** Number of witnesses among them with more than a negligible weight, and number of those that lower. */
  readonly witnesses: number;
  readonly loweringWitnesses: number;
  /** Peers with a standing ban, those of them that banned after others had, and how many independent bans they are. */
  readonly banned: number;
  readonly bannedAfterOthers: number;
  readonly bans: number;
  /** Share of the evidence that does not come from two-sided peers, in [0, 1]. */
  readonly oneSided: number;
  /** Log-odds of a bad player before the prior, and the log-odds at which the score falls below 40. */
  readonly logOdds: number;
  readonly suspicious: number;
  readonly halfLifeDays: number;
  readonly banHalfLifeDays: number;
  readonly weightsBasedOnSeq: number;
  /** Present if the player is on the group's allow list. */
  readonly allowed?: true;
}

const NO_PEERS = -1;

/**
 * The votes of one player's peers, one entry each; the object is reused from read to read and grows to the largest
 * number of peers of any player.
 */
class Voices {
  count = 0;
  peer = new Uint16Array(ENTRIES_AT_FIRST);
  /** Share of the claims, and of all evidence, that lowers, in [0, 1]. */
  x = new Float64Array(ENTRIES_AT_FIRST);
  share = new Float64Array(ENTRIES_AT_FIRST);
  /**
   * `tau n1 v`, `tau n`, `tau own`, and `tau a'` of a measure; 0 if the vote of another peer represents the witness.
   */
  voice = new Float64Array(ENTRIES_AT_FIRST);
  pull = new Float64Array(ENTRIES_AT_FIRST);
  mass = new Float64Array(ENTRIES_AT_FIRST);
  measured = new Float64Array(ENTRIES_AT_FIRST);
  /** `a'`, the strength of a measure; 0 if there is none. */
  measure = new Float64Array(ENTRIES_AT_FIRST);
  /** The larger of `w n` and `1.5 wm a'`, from which confidence is computed. */
  effective = new Float64Array(ENTRIES_AT_FIRST);
  /** The weight by which the vote counts as a witness. */
  weight = new Float64Array(ENTRIES_AT_FIRST);
  /** 1 if the vote of another peer represents the witness. */
  silent = new Uint8Array(ENTRIES_AT_FIRST);
  /** True if some votes hold measures. */
  hasMeasures = false;
  /**
   * The result: log-odds of a bad player before the prior, the log-odds at which the player is suspicious, and the
   * share of one-sided votes.
   */
  logOdds = 0;
  suspicious = 0;
  oneSided = 0;
  /** True if some of the votes carry an origin. */
  isCarried = false;
  #speakers = new Int32Array(0);
  #senders = new Int32Array(0);

  begin(most: number): void {
    this.count = 0;
    this.isCarried = false;
    this.hasMeasures = false;
    if (most <= this.peer.length) return;
    this.peer = new Uint16Array(2 * most);
    this.silent = new Uint8Array(2 * most);
    const names = ['x', 'share', 'voice', 'pull', 'mass', 'measured', 'measure', 'effective', 'weight'] as const;
    for (const name of names) this[name] = new Float64Array(2 * most);
  }

  /** Keeps the heaviest vote of each witness; among equal ones, that of the peer that registered first. */
  oneVoiceEach(witness: Uint16Array): void {
    const { count, peer, voice } = this;
    const speakers = this.#speakersOf(witness);
    for (let e = 0; e < count; e++) {
      const named = witness[peer[e]!]!;
      const f = speakers[named]!;
      const isHeard = f === NO_PEERS || roundForComparison(voice[e]!) > roundForComparison(voice[f]!);
      if (isHeard) speakers[named] = e;
      const silent = isHeard ? f : e;
      if (silent !== NO_PEERS) this.#silence(silent);
    }
    this.#forget(witness);
  }

  /**
   * Like `oneVoiceEach`, for votes some of which carry an origin: keeps one vote of each witness and one vote of each
   * peer, whether its own or a carried one, the heaviest first. A peer therefore gains no second vote by naming an
   * origin. Returns the amount that origins add to the sum of `w n`, in which every own vote of a peer counts: the
   * excess of a carried vote over the peer's own, if the carried one was kept.
   */
  oneVoicePerSender({ witness, sender, isGrouped }: PeerColumns): number {
    const { count, peer, voice, effective } = this;
    const speakers = this.#speakersOf(witness);
    if (this.#senders.length < sender.length) this.#senders = new Int32Array(sender.length).fill(NO_PEERS);
    const senders = this.#senders;
    const heaviestFirst = Array.from({ length: count }, (_, e) => e).sort(
      (e, f) => roundForComparison(voice[f]!) - roundForComparison(voice[e]!) || e - f,
    );
    for (const e of heaviestFirst) {
      const w = witness[peer[e]!]!;
      const s = sender[peer[e]!]!;
      if (speakers[w] === NO_PEERS && senders[s] === NO_PEERS) {
        speakers[w] = e;
        senders[s] = e;
      } else this.#silence(e);
    }
    let added = 0;
    for (let e = 0; e < count; e++) {
      const speaks = senders[sender[peer[e]!]!]!;
      if (isGrouped[peer[e]!] === CARRIES) {
        if (speaks === e) added += effective[e]!;
      } else if (speaks !== NO_PEERS && speaks !== e) added -= Math.min(effective[e]!, effective[speaks]!);
    }
    for (let e = 0; e < count; e++) senders[sender[peer[e]!]!] = NO_PEERS;
    this.#forget(witness);
    return added;
  }

  #silence(e: number): void {
    this.voice[e] = 0;
    this.pull[e] = 0;
    this.mass[e] = 0;
    this.measured[e] = 0;
    this.silent[e] = 1;
  }

  /** Fills in the vote at `at` of a pair with claims `c` and the decayed measure `a`. */
  addMeasure(at: number, c: number, a: number, peers: PeerColumns): void {
    const j = this.peer[at]!;
    const t = peers.tau[j]!;
    const strengthOf = measureStrength(a);
    this.hasMeasures = true;
    this.share[at] = loweringShare(c, this.x[at]!, a);
    this.voice[at] = t * cappedMass(c + a) * peers.finds[j]!;
    this.measure[at] = strengthOf;
    this.measured[at] = t * strengthOf;
    const own = Math.min(c + a, k.massOfPeerMax) * measureShare(peers.m[j]!);
    this.mass[at] = t * Math.max(own, Math.min(c, k.massOfPeerMax));
    const effective = k.saturationMax * strengthOf * peers.measureWeight[j]!;
    this.effective[at] = Math.max(this.effective[at]!, effective);
    this.weight[at] = Math.max(peers.weight[j]!, peers.measureWeight[j]!);
  }

  /** Mass that the measures after the first one add: each of them counts twice. */
  furtherMeasures(m: Float64Array): number {
    let sum = 0;
    let first = 0;
    for (let e = 0; e < this.count; e++) {
      const counted = this.measured[e]! * measureShare(m[this.peer[e]!]!);
      sum += counted;
      first = Math.max(first, counted);
    }
    return sum - first;
  }

  /** Number of measures that count for at least half of an independent server's ban of severity 1. */
  independentBans(m: Float64Array): number {
    let found = 0;
    for (let e = 0; e < this.count; e++) found += this.measured[e]! * measureShare(m[this.peer[e]!]!) >= 0.5 ? 1 : 0;
    return found;
  }

  /**
   * Counts the witnesses with more than a negligible weight whose share of lowering evidence is above `above`, in [0,
   * 1]; -1 counts all votes.
   */
  witnesses(witness: Uint16Array, above: number): number {
    const { count, peer, share, weight } = this;
    const speakers = this.#speakersOf(witness);
    let found = 0;
    for (let e = 0; e < count; e++) {
      const j = peer[e]!;
      if (this.isCarried && this.silent[e] === 1) continue;
      if (!(share[e]! > above && weight[e]! > k.witnessWeightMin) || speakers[witness[j]!] !== NO_PEERS) continue;
      speakers[witness[j]!] = e;
      found++;
    }
    this.#forget(witness);
    return found;
  }

  /**
   * Returns, per witness, the entry that represents it, initially none. The array is reused, so that a player that
   * thousands of peers reported costs no more per peer than any other.
   */
  #speakersOf(witness: Uint16Array): Int32Array {
    if (this.#speakers.length < witness.length) this.#speakers = new Int32Array(witness.length).fill(NO_PEERS);
    return this.#speakers;
  }

  #forget(witness: Uint16Array): void {
    for (let e = 0; e < this.count; e++) this.#speakers[witness[this.peer[e]!]!] = NO_PEERS;
  }
}

/** Share of a measure's full mass by its log-odds `m`, in [0, 1]. */
function measureShare(m: number): number {
  return Math.min(1, m / k.measureOdds);
}

/** A vote counts as lowering if its share of lowering evidence is above this. */
const LOWERS = 0.5;

const ENTRIES_AT_FIRST = 64;
const voices = new Voices();

/** Computes score, confidence and verdict of a subject's row. */
export function trustOf(state: EvidenceView, row: number, asOf: AsOf): TrustView {
  const { witness } = state.peerWeights;
  const { confidence, events } = hear(state, row, asOf);
  const score = scoreOf(state.peerWeights);
  // The number of witnesses matters only for a score this low.
  const witnesses = score < k.untrustedBelow ? voices.witnesses(witness, LOWERS) : 0;
  return {
    score,
    confidence,
    verdict: verdictOf(score, confidence, witnesses),
    eventCount: events,
    updatedAt: state.subjects.updatedAt(row),
  };
}

/** Reads the evidence of a row's peers into `voices`. */
function hear(state: EvidenceView, row: number, asOf: AsOf): { readonly confidence: number; readonly events: number } {
  const { subjects, peerWeights } = state;
  const { entries } = subjects;
  const { tau, z, findsClaim, weight, witness, isGrouped, excluded } = peerWeights;
  const evidenceAt = subjects.evidenceAt(row);
  const decayFactor = decayFactorFor(state, evidenceAt, asOf);
  const first = subjects.firstEntry(row);
  const peerCount = subjects.peerCount(row);
  const end = first + peerCount;
  voices.begin(peerCount);
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
    voices.peer[at] = peer;
    voices.x[at] = x;
    voices.pull[at] = t * n;
    voices.silent[at] = 0;
    voices.measure[at] = 0;
    voices.measured[at] = 0;
    voices.effective[at] = weight[peer]! * n;
    if (sum > 0) voices.addMeasure(at, claims, decayed(sum, measureFactorFor(state, evidenceAt, asOf)), peerWeights);
    else {
      const said = x * findsClaim[peer]! + 1 - x;
      voices.share[at] = x;
      voices.voice[at] = t * cappedMass(claims) * said;
      voices.mass[at] = t * Math.min(claims, k.massOfPeerMax) * said;
      voices.weight[at] = weight[peer]!;
    }
    const group = isGrouped[peer]!;
    if (group === CARRIES) carried++;
    else effective += voices.effective[at]!;
    grouped += group;
    at++;
  }
  voices.count = at;
  voices.isCarried = carried > 0;
  if (carried > 0) effective += voices.oneVoicePerSender(peerWeights);
  else if (grouped > 1) voices.oneVoiceEach(witness);
  return { confidence: effective / (effective + k.confidenceHalf), events };
}

/** Computes the score from `voices`, 0 to 100. */
function scoreOf({ a, b, m, z, preTrusted, distance }: PeerColumns): number {
  const { count, peer, x, voice, pull, mass, measure, measured, hasMeasures } = voices;
  let heard = 0;
  let twoSided = 0;
  let events = hasMeasures ? voices.furtherMeasures(m) : 0;
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
  voices.logOdds = logOdds;
  voices.suspicious = suspicious;
  voices.oneSided = oneSided;
  return NEUTRAL - boundedShift(shiftOf(logOdds, suspicious), events);
}

const NEUTRAL = 50;

/** `max(M, 1)^(.1 + .2 one)`, at least 1: the divisor for witnesses that repeat one another. */
function dampingOf(heard: number, oneSided: number): number {
  if (heard <= 1) return 1;
  return Math.exp((k.correlation + (k.correlationOneSided - k.correlation) * oneSided) * Math.log(heard));
}

/**
 * Number of points by which log-odds lower a score (negative: raise it), in (-50, 50). `suspicious`: the log-odds that
 * lower the score by 10.
 */
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

/**
 * Verdict for a score (0 to 100). `witnesses`: number of lowering witnesses with more than a negligible weight. One
 * witness alone never makes a player untrusted.
 */
export function verdictOf(score: number, confidence: number, witnesses: number): Verdict {
  if (score < k.untrustedBelow && witnesses >= k.untrustedWitnessesMin) return 'untrusted';
  if (score < k.suspiciousBelow) return 'suspicious';
  if (score >= k.trustedFrom && confidence >= k.trustedConfidenceMin) return 'trusted';
  return 'neutral';
}

/** Log-odds of a bad player behind the score of a subject's row, before the prior. */
export function logOddsOf(state: EvidenceView, row: number, asOf: AsOf): number {
  hear(state, row, asOf);
  scoreOf(state.peerWeights);
  return voices.logOdds;
}

/** Collects the facts behind a subject's score. */
export function explanationOf(state: GroupState, row: number, asOf: AsOf): TrustExplanation {
  const { subjects, peerWeights } = state;
  const { preTrusted, excluded, witness } = peerWeights;
  const evidenceAt = subjects.evidenceAt(row);
  const decayFactor = decayFactorFor(state, evidenceAt, asOf);
  const measureFactor = measureFactorFor(state, evidenceAt, asOf);
  const first = subjects.firstEntry(row);
  const sums = { lowering: 0, raising: 0, preTrusted: false };
  const peers = new Set<number>();
  const banned = new Set<number>();
  const bannedAfterOthers = new Set<number>();
  /** Per origin: the heaviest evidence of its carriers. */
  const carried = new Map<number, { readonly b: number; readonly g: number }>();
  for (let entry = first; entry < first + subjects.peerCount(row); entry++) {
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
  const logOdds = logOddsOf(state, row, asOf);
  return {
    ...sums,
    peers: peers.size,
    witnesses: voices.witnesses(witness, -1),
    loweringWitnesses: voices.witnesses(witness, LOWERS),
    banned: banned.size,
    bannedAfterOthers: bannedAfterOthers.size,
    bans: voices.independentBans(peerWeights.m),
    oneSided: voices.oneSided,
    logOdds,
    suspicious: voices.suspicious,
    halfLifeDays: state.halfLifeDays,
    banHalfLifeDays: state.measureScale.halfLifeDays,
    weightsBasedOnSeq: state.weights.basedOnSeq,
  };
}
