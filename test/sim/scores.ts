/**
 * The expected reads, from the oracle's list: every sum is added up anew from the events themselves, each decayed by
 * its own age. Formulas and numbers are those of the scoring page, stated here a second time.
 */
import type { EventTypeName } from '../../src/core/evidence/event-types.js';
import type { Verdict } from '../../src/core/vocabulary.js';
import type { EventFact } from './facts.js';
import { heaviness } from './fit.js';
import { numbers as k } from './fit-numbers.js';
import type { Oracle } from './oracle.js';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;

/** Way and base weight of each type, from the contract. */
const types: Readonly<Record<EventTypeName, readonly [sign: -1 | 0 | 1, base: number]>> = {
  report_cheating: [-1, 1],
  report_toxicity: [-1, 0.5],
  report_spam: [-1, 0.25],
  friendly_fire: [-1, 0.5],
  ban_applied: [-1, 1],
  session_anomaly: [-1, 0.5],
  matchmaking_fraud: [-1, 1],
  commendation: [1, 1],
  ban_lifted: [0, 0],
  session_clean: [1, 0.3],
};

/** Relative error that sums of doubles may gather: a few hundred additions and factors at 2^-53 each. */
const roundingPart = 1e-12;
/**
 * Number of half-lives by which a sum in the service may be below the largest one and still be represented: factors end
 * at 1,000 half-lives, and sums grow to about 2^256 before the epoch moves. A difference nearer to that end is no
 * finding.
 */
const rangeLives = 700;
/**
 * Half-lives before its time at which evidence may be beyond the bound of a sum in the service, 2^300; the epoch moves
 * before 256.
 */
const boundedLives = 280;
/** Error of evidence from which on a read tells nothing. */
const vague = 1e-7;

/** One peer's evidence on one player at a moment; `error`: how far doubles, added up in order, may be from it. */
export interface Evidence {
  /** The number under which it is held, and the peer that sent it. */
  readonly peer: number;
  readonly sender: number;
  readonly lowering: number;
  readonly raising: number;
  readonly error: number;
  /** True if any event counts, and true if any ever had a severity above 0: otherwise the sums are exactly zero. */
  readonly isHeld: boolean;
  readonly isHeavy: boolean;
}

type Mutable<T> = { -readonly [name in keyof T]: T[name] };

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
  /** How far an honest answer may be off, in evidence; null: so far that it tells nothing. */
  readonly error: number | null;
  /** Some peer's evidence is too near to nothing to say whether it counts. */
  readonly isEdge: boolean;
}

/**
 * The moment at which a read of a subject takes the decay: the end of the minute, but never before its newest evidence.
 */
export function asOfTime(oracle: Oracle, subject: string, now: number): number {
  return Math.max(Math.ceil(now / minuteMs) * minuteMs, newestEvidence(oracle, subject));
}

export function newestEvidence(oracle: Oracle, subject: string): number {
  return Math.max(...oracle.eventsOf(subject).map(decaysFrom));
}

function decaysFrom(event: EventFact): number {
  return Math.min(event.timestamp, event.receivedAt);
}

/**
 * Half-lives by which an event is decayed at a moment, through every scale that came after it; negative: it is yet to
 * come. `isBounded`: it was carried over as more than any evidence is, which the service bounds.
 */
function livesOf(
  oracle: Oracle,
  event: EventFact,
  at: number,
): { readonly lives: number; readonly isBounded: boolean } {
  const { scales } = oracle.facts;
  let lives = 0;
  let from = decaysFrom(event);
  let isBounded = false;
  for (let i = event.scales; i < scales.length; i++) {
    lives += livesBetween(from, scales[i]!.epoch, scales[i - 1]!.halfLifeDays);
    from = scales[i]!.epoch;
    isBounded ||= lives < -boundedLives;
  }
  return { lives: lives + livesBetween(from, at, oracle.scale.halfLifeDays), isBounded };
}

function livesBetween(from: number, to: number, halfLifeDays: number): number {
  return halfLifeDays === 0 ? 0 : (to - from) / (halfLifeDays * dayMs);
}

/**
 * The amount of an event that is lost by rounding, or left at the end of the range, in its value as of a time. It grows
 * with the distance between the epoch and the time of the read, and with conversions to another half-life.
 */
function cutOff(oracle: Oracle, scalesBefore: number, at: number): number {
  const { scales } = oracle.facts;
  let cut = 0;
  let from = 0;
  for (let i = scalesBefore; i <= scales.length; i++) {
    const { epoch, halfLifeDays } = scales[i - 1]!;
    const to = scales[i]?.epoch ?? at;
    if (cut > 0) cut *= 2 ** -livesBetween(from, to, halfLifeDays);
    cut += 2 ** (Math.min(1000, Math.max(0, livesBetween(to, epoch, halfLifeDays))) - rangeLives);
    from = to;
  }
  return cut;
}

/** Evidence of every peer that ever reported the subject, in order of the peers. */
export function evidenceOf(oracle: Oracle, subject: string, at: number): Evidence[] {
  let [scales, cut] = [0, 0];
  const byPeer = new Map<number, Omit<Mutable<Evidence>, 'peer'>>();
  const counted = oracle.countedOf(subject);
  for (const event of oracle.eventsOf(subject)) {
    const none = { lowering: 0, raising: 0, error: 0, isHeld: false, isHeavy: false };
    const sums = byPeer.get(event.number) ?? { sender: event.peer, ...none };
    byPeer.set(event.number, sums);
    const [sign, base] = types[event.type];
    // An event of no severity is worth nothing at any moment, also where the factor is beyond the range of doubles.
    const { lives, isBounded } = livesOf(oracle, event, at);
    const mass = event.severity === 0 ? 0 : base * event.severity * 2 ** -lives;
    if (scales !== event.scales) [scales, cut] = [event.scales, cutOff(oracle, event.scales, at)];
    // A withdrawn event counts for nothing, but what it made of the sum's last digits stays.
    sums.error += isBounded && event.severity > 0 ? Number.POSITIVE_INFINITY : mass * roundingPart + cut;
    sums.isHeavy ||= event.severity > 0;
    const takesBack = event.type === 'ban_lifted' && event.severity > 0;
    const counts = counted.get(event.number);
    if (counts === null) sums.error = Number.POSITIVE_INFINITY;
    if (oracle.facts.withdrawals.has(event.id)) {
      // Mass of events that expired meanwhile does not return with the withdrawal of the event that revoked it.
      if (takesBack && lowersBefore(oracle, event)) sums.error = Number.POSITIVE_INFINITY;
      continue;
    }
    sums.isHeld = true;
    if (takesBack) sums.lowering = 0;
    if (counts?.has(event) === false) continue;
    if (sign < 0) sums.lowering += mass;
    else sums.raising += mass;
  }
  return [...byPeer].sort(([a], [b]) => a - b).map(([peer, sums]) => ({ peer, ...sums }));
}

/** True if a peer lowered the player before this event of its own, by one that may have expired. */
function lowersBefore(oracle: Oracle, { number, subject, id }: EventFact): boolean {
  const events = oracle.eventsOf(subject);
  const before = events.slice(
    0,
    events.findIndex((one) => one.id === id),
  );
  return before.some((one) => one.number === number && types[one.type][0] < 0 && !oracle.isStored(one));
}

/** True if it is too close to zero to decide whether it counts as evidence at all. */
export function isAtEdge({ lowering, raising, error, isHeld, isHeavy }: Evidence): boolean {
  return lowering + raising <= 2 * error && isHeld && isHeavy;
}

export function trustOf(oracle: Oracle, subject: string, now: number): ExpectedTrust {
  const { preTrusted } = oracle;
  const voided = oracle.voidedOf(subject);
  const seen = { lowering: 0, raising: 0, preTrusted: false };
  const senders = new Set<number>();
  /** By origin what the heaviest of its carriers holds. */
  const carried = new Map<number, Evidence>();
  const words: Word[] = [];
  let error = 0;
  let isEdge = false;
  for (const evidence of evidenceOf(oracle, subject, asOfTime(oracle, subject, now))) {
    if (oracle.statusOf(evidence.sender) === 'revoked' || voided.has(evidence.sender)) continue;
    error += evidence.error;
    const m = evidence.lowering + evidence.raising;
    const isPreTrusted = preTrusted.includes(evidence.peer);
    if (isAtEdge(evidence)) {
      isEdge = true;
      // Any evidence of a pre-trusted peer, however small, bounds all others.
      if (isPreTrusted) error = Number.POSITIVE_INFINITY;
    }
    if (!(m > 0)) continue;
    const weights = oracle.weightsOf(evidence.peer);
    const n = (k.saturation * m) / (m + k.half);
    const strength = n > 1 ? 1 + (n - 1) * (k.repeat + (1 - k.repeat) * weights.z) : n;
    const origin = oracle.carrier(evidence.peer)?.origin ?? null;
    words.push({
      ...weights,
      peer: evidence.peer,
      sender: evidence.sender,
      isCarried: origin !== null,
      m,
      x: evidence.lowering / m,
      strength,
      isPreTrusted,
    });
    senders.add(evidence.sender);
    seen.preTrusted ||= isPreTrusted;
    if (origin === null) {
      seen.lowering += evidence.lowering;
      seen.raising += evidence.raising;
      continue;
    }
    const heaviest = carried.get(origin);
    if (heaviest === undefined || heaviness(m) > heaviness(heaviest.lowering + heaviest.raising))
      carried.set(origin, evidence);
  }
  // Evidence that is nothing or nearly so may speak for a witness group in place of a pre-trusted peer whose own is 0
  // in single precision; and any evidence of that peer would bound all others.
  if (isEdge && words.some(({ isPreTrusted, m }) => isPreTrusted && heaviness(m) === 0))
    error = Number.POSITIVE_INFINITY;
  for (const { lowering, raising } of carried.values()) {
    seen.lowering += lowering;
    seen.raising += raising;
  }
  const { score, confidence, witnesses } = judged(words, oracle.prevalence);
  return {
    score,
    confidence,
    verdict: verdictOf(score, confidence, witnesses),
    eventCount: oracle.liveOf(subject).length,
    updatedAt: updatedAt(oracle, subject),
    ...seen,
    peers: senders.size,
    error: error < vague ? error : null,
    isEdge,
  };
}

/** One peer's evidence about the player: `m` events of which the share `x` lowers, and its influence. */
interface Word {
  readonly peer: number;
  readonly sender: number;
  /** True if the peer passes it on from an origin. */
  readonly isCarried: boolean;
  readonly m: number;
  readonly x: number;
  readonly strength: number;
  readonly isPreTrusted: boolean;
  readonly tau: number;
  readonly a: number;
  readonly b: number;
  readonly z: number;
  readonly witness: number;
}

const clip = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value));

function judged(all: readonly Word[], prevalence: number) {
  const weight = ({ tau, a, b }: Word) => clip((tau * (a + b)) / (2 * k.weightReference), 0, 1);
  const voice = ({ tau, m }: Word) => tau * Math.min(m, 1);
  const sum = (of: readonly Word[], figure: (word: Word) => number) =>
    of.reduce((before, word) => before + figure(word), 0);
  // The heaviest first: of each witness one speaks, and of each peer where some of them pass on an origin.
  const isCarried = all.some((word) => word.isCarried);
  const speaking: Word[] = [];
  for (const word of [...all].sort((p, q) => heaviness(voice(q)) - heaviness(voice(p)) || p.peer - q.peer)) {
    const isHeard = speaking.every(
      ({ witness, sender }) => witness !== word.witness && !(isCarried && sender === word.sender),
    );
    if (isHeard) speaking.push(word);
  }
  speaking.sort((p, q) => p.peer - q.peer);
  const heard = sum(speaking, voice);
  const oneSided = 1 - sum(speaking, (word) => voice(word) * word.z) / Math.max(heard, 1e-9);
  const deflate = Math.max(heard, 1) ** (k.correlation + (k.correlationOneSided - k.correlation) * oneSided);
  const prior = Math.log(prevalence / (1 - prevalence));
  const suspicious = Math.max(k.suspiciousAt - prior, k.distanceMin) + k.oneSidedDistance * oneSided;
  const untrusted = suspicious + k.untrustedAt - k.suspiciousAt;
  const l = ({ tau, strength, x, a, b, isPreTrusted }: Word) =>
    Math.min(
      tau * strength * (x * a - (1 - x) * b),
      suspicious * deflate * (isPreTrusted ? k.onePretrusted : k.onePeer),
    );
  const trusted = sum(
    speaking.filter(({ isPreTrusted }) => isPreTrusted),
    l,
  );
  const others = sum(
    speaking.filter(({ isPreTrusted }) => !isPreTrusted),
    l,
  );
  const most = k.lambda * Math.abs(trusted);
  const ell = (trusted + (trusted === 0 ? others : clip(others, -most, most))) / deflate;
  const mass = sum(speaking, ({ tau, m }) => tau * Math.min(m, 3));
  const shift = (ell > 0 ? lower(ell, suspicious, untrusted) : -higher(-ell)) * Math.min(1, 0.5 * mass ** 0.75);
  const effectiveOf = (word: Word) => weight(word) * word.strength;
  const own = all.filter((word) => !word.isCarried);
  const ownOf = (peer: number) => own.filter(({ sender }) => sender === peer);
  const effective =
    sum(own, effectiveOf) +
    sum(
      speaking.filter((word) => word.isCarried),
      (word) => Math.max(0, effectiveOf(word) - sum(ownOf(word.sender), effectiveOf)),
    );
  const speakers = isCarried ? speaking.filter((word) => voice(word) > 0) : all;
  const lowering = speakers.filter((word) => weight(word) > k.witnessWeight && word.x > 0.5);
  return {
    score: 50 - clip(shift, -5 * mass ** 1.5, 5 * mass ** 1.5),
    confidence: effective / (effective + k.confidenceHalf),
    witnesses: new Set(lowering.map(({ witness }) => witness)).size,
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
