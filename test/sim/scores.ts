/**
 * The expected reads, from the oracle's list. Formulas and numbers are those of the scoring page, stated here a second
 * time.
 */
import type { Verdict } from '../../src/core/vocabulary.js';
import { asOfTime, type Evidence, evidenceOf, followsOf, isAtEdge, vague } from './evidence.js';
import { numbers as k } from './fit-numbers.js';
import { heaviness, massOf, saturated, strengthOf } from './fit-votes.js';
import type { Oracle, PeerWeights } from './oracle.js';

const hourMs = 3_600_000;

export interface ExpectedTrust {
  readonly score: number;
  readonly confidence: number;
  readonly verdict: Verdict;
  readonly eventCount: number;
  readonly updatedAt: number;
  readonly lowering: number;
  readonly raising: number;
  readonly peers: number;
  readonly preTrusted: boolean;
  /** Peers with a standing ban, and those of them that banned after others. */
  readonly banned: number;
  readonly bannedAfterOthers: number;
  /** The part of an independent server's ban that each ban counts for; from a half on it is an independent one. */
  readonly banShares: readonly number[];
  /** How far an honest answer may be off, in evidence; null: so far that it tells nothing. */
  readonly error: number | null;
  /** Some peer's evidence is too near to nothing to say whether it counts. */
  readonly isEdge: boolean;
}

export function trustOf(oracle: Oracle, subject: string, now: number): ExpectedTrust {
  const { preTrusted } = oracle;
  const voided = oracle.voidedOf(subject);
  const seen = { lowering: 0, raising: 0, preTrusted: false };
  const senders = new Set<number>();
  const banned = new Set<number>();
  const bannedAfterOthers = new Set<number>();
  /** By origin what the heaviest of its carriers holds. */
  const carried = new Map<number, Evidence>();
  const words: Word[] = [];
  let error = 0;
  let isEdge = false;
  for (const evidence of evidenceOf(oracle, subject, asOfTime(oracle, subject, now))) {
    const { peer, sender, lowering, raising, measure } = evidence;
    if (oracle.statusOf(sender) === 'revoked' || voided.has(sender)) continue;
    error += evidence.error;
    const mass = lowering + raising + measure;
    const isPreTrusted = preTrusted.includes(peer);
    if (isAtEdge(evidence)) {
      isEdge = true;
      // Any evidence of a pre-trusted peer, however small, bounds all others; any measure makes other words of claims.
      if (isPreTrusted || evidence.stands.measure === null) error = Number.POSITIVE_INFINITY;
    }
    if (!(mass > 0)) continue;
    const origin = oracle.carrier(peer)?.origin ?? null;
    const sums = { lowering, raising, measure };
    words.push({ ...oracle.weightsOf(peer), ...sums, peer, sender, isCarried: origin !== null, isPreTrusted });
    senders.add(sender);
    if (measure > 0) banned.add(sender);
    if (measure > 0 && followsOf(oracle, subject, peer).follows) bannedAfterOthers.add(sender);
    seen.preTrusted ||= isPreTrusted;
    if (origin === null) {
      seen.lowering += lowering + measure;
      seen.raising += raising;
      continue;
    }
    const heaviest = carried.get(origin);
    if (heaviest === undefined || heaviness(mass) > heaviness(massOf({ player: 0, ...heaviest })))
      carried.set(origin, evidence);
  }
  // Evidence that is nothing or nearly so may speak for a witness group in place of a pre-trusted peer whose own is 0
  // in single precision; and any evidence of that peer would bound all others.
  if (isEdge && words.some((word) => word.isPreTrusted && heaviness(massOf({ player: 0, ...word })) === 0))
    error = Number.POSITIVE_INFINITY;
  for (const { lowering, measure, raising } of carried.values()) {
    seen.lowering += lowering + measure;
    seen.raising += raising;
  }
  return {
    ...judged(words, oracle.prevalence),
    eventCount: oracle.liveOf(subject).length,
    updatedAt: updatedAt(oracle, subject),
    ...seen,
    peers: senders.size,
    banned: banned.size,
    bannedAfterOthers: bannedAfterOthers.size,
    error: error < vague ? error : null,
    isEdge,
  };
}

/** One peer's evidence about the player, and its influence. */
export interface Word extends PeerWeights {
  readonly peer: number;
  readonly sender: number;
  /** True if the peer passes it on from an origin. */
  readonly isCarried: boolean;
  readonly isPreTrusted: boolean;
  readonly lowering: number;
  readonly raising: number;
  readonly measure: number;
}

const clip = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value));

/** Figures that the page derives from a word, by its names: `l` is the log-odds, `part` is `tau a' f`. */
function figuresOf(word: Word) {
  const { lowering, raising, measure, tau, a: A, b: B, z, m: M, finds, findsClaim } = word;
  const c = lowering + raising;
  const mass = c + measure;
  const cx = c > 0 ? lowering / c : 0;
  const n = strengthOf(saturated(c, k), z, k);
  const a = Math.min(1, saturated(measure, k));
  const v = measure > 0 ? finds : cx * findsClaim + 1 - cx;
  const f = Math.min(1, M / k.measureOdds);
  const weightOf = (odds: number) => clip((tau * odds) / (2 * k.weightReference), 0, 1);
  const [w, wm] = [weightOf(A + B), weightOf(M)];
  const claims = tau * n * (cx * A - (1 - cx) * B);
  const most = k.massOfPeer;
  return {
    ...word,
    a,
    isLowering: heaviness((lowering + measure) / mass) > 0.5,
    voice: tau * Math.min(mass, 1) * v,
    weight: measure > 0 ? Math.max(w, wm) : w,
    effective: Math.max(w * n, k.saturation * wm * a),
    own: tau * (measure > 0 ? Math.max(f * Math.min(mass, most), Math.min(c, most)) : v * Math.min(mass, most)),
    part: tau * a * f,
    share: tau * f,
    l: measure > 0 ? Math.max(claims, tau * a * M) : claims,
  };
}

/** Score, confidence and verdict of a player from what peers say. */
export function judged(words: readonly Word[], prevalence: number) {
  const all = words.map(figuresOf);
  type Figures = (typeof all)[number];
  const sum = (of: readonly Figures[], figure: (word: Figures) => number) =>
    of.reduce((before, word) => before + figure(word), 0);
  // The heaviest first: of each witness one speaks, and of each peer where some of them pass on an origin.
  const isCarried = all.some((word) => word.isCarried);
  const speaking: Figures[] = [];
  for (const word of [...all].sort((p, q) => heaviness(q.voice) - heaviness(p.voice) || p.peer - q.peer)) {
    const isHeard = speaking.every(
      ({ witness, sender }) => witness !== word.witness && !(isCarried && sender === word.sender),
    );
    if (isHeard) speaking.push(word);
  }
  speaking.sort((p, q) => p.peer - q.peer);
  const heard = sum(speaking, ({ voice }) => voice);
  const oneSided = 1 - sum(speaking, ({ voice, z, a }) => voice * Math.max(z, a)) / Math.max(heard, 1e-9);
  const deflate = Math.max(heard, 1) ** (k.correlation + (k.correlationOneSided - k.correlation) * oneSided);
  const prior = Math.log(prevalence / (1 - prevalence));
  const suspicious = Math.max(k.suspiciousAt - prior, k.distanceMin) + k.oneSidedDistance * oneSided;
  const untrusted = suspicious + k.untrustedAt - k.suspiciousAt;
  const sumOf = (isPreTrusted: boolean) =>
    sum(
      speaking.filter((word) => word.isPreTrusted === isPreTrusted),
      ({ l }) => Math.min(l, suspicious * deflate * (isPreTrusted ? k.onePretrusted : k.onePeer)),
    );
  const [trusted, others] = [sumOf(true), sumOf(false)];
  const most = k.lambda * Math.abs(trusted);
  const ell = (trusted + (trusted === 0 ? others : clip(others, -most, most))) / deflate;
  const bans = speaking.filter(({ measure }) => measure > 0);
  // Each measure but one counts twice.
  const mass =
    sum(speaking, ({ own }) => own) + sum(bans, ({ part }) => part) - Math.max(0, ...bans.map(({ part }) => part));
  const shift = (ell > 0 ? lower(ell, suspicious, untrusted) : -higher(-ell)) * Math.min(1, 0.5 * mass ** 0.75);
  const own = all.filter((word) => !word.isCarried);
  const ownOf = (peer: number) => own.filter(({ sender }) => sender === peer);
  const effective =
    sum(own, (word) => word.effective) +
    sum(
      speaking.filter((word) => word.isCarried),
      (word) => Math.max(0, word.effective - sum(ownOf(word.sender), (other) => other.effective)),
    );
  const lowering = (isCarried ? speaking : all).filter((word) => word.weight > k.witnessWeight && word.isLowering);
  const score = 50 - clip(shift, -5 * mass ** 1.5, 5 * mass ** 1.5);
  const confidence = effective / (effective + k.confidenceHalf);
  const witnesses = new Set(lowering.map(({ witness }) => witness)).size;
  return {
    score,
    confidence,
    verdict: verdictOf(score, confidence, witnesses),
    banShares: bans.map(({ a, share }) => (a >= 0.1 ? share : 0)),
  };
}

function lower(ell: number, suspicious: number, untrusted: number): number {
  if (ell <= suspicious) return (10 * ell) / suspicious;
  if (ell <= untrusted) return 10 + (20 * (ell - suspicious)) / (untrusted - suspicious);
  return 50 - 20 * Math.exp(-(ell - untrusted) / 4);
}

function higher(ell: number): number {
  return ell <= k.trustedAt ? (20 * ell) / k.trustedAt : 50 - 30 * Math.exp(-(ell - k.trustedAt) / 4);
}

function verdictOf(score: number, confidence: number, witnesses: number): Verdict {
  if (score < 20 && witnesses >= 2) return 'untrusted';
  if (score < 40) return 'suspicious';
  return score >= 70 && confidence >= 0.35 ? 'trusted' : 'neutral';
}

/** The hour of the newest change: an event or a withdrawal. */
function updatedAt(oracle: Oracle, subject: string): number {
  const times = oracle.lifeOf(subject).map((fact) => {
    if (fact.kind === 'event') return fact.receivedAt;
    if (fact.kind === 'decision') return fact.isChange ? fact.at : 0;
    return fact.kind === 'withdrawal' ? fact.at : 0;
  });
  return Math.floor(Math.max(0, ...times) / hourMs) * hourMs;
}

/** True if a score so close to the edge of a band may be on either side of it. */
export function isNearBand(trust: ExpectedTrust, tolerance: number): boolean {
  const bands = [20, 40, 70].some((band) => Math.abs(trust.score - band) <= tolerance);
  return bands || Math.abs(trust.confidence - 0.35) <= tolerance;
}
