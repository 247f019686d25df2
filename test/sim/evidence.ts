/**
 * The evidence about a player, from the oracle's list: every sum is added up anew from the events themselves, each
 * decayed by its own age; and whether an event follows those of another peer.
 */

import { type EvidenceKind, kindOf, types } from './event-kinds.js';
import type { EventFact } from './facts.js';
import type { BeginningList } from './first-peers.js';
import { numbers as k } from './fit-numbers.js';
import type { Oracle } from './oracle.js';

const dayMs = 86_400_000;
const minuteMs = 60_000;

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
export const vague = 1e-7;

const sumNames = ['lowering', 'raising', 'measure'] as const;
type Sums<T> = Readonly<Record<(typeof sumNames)[number], T>>;

/** One peer's evidence on one player at a moment; errors: how far doubles, added up in order, may be from it. */
export interface Evidence extends Sums<number> {
  /** The number under which it is held, and the peer that sent it. */
  readonly peer: number;
  readonly sender: number;
  /** The error of all sums together, and that of the measure. */
  readonly error: number;
  readonly measureError: number;
  /** Whether each sum is above 0; null: it is too near to nothing to say. */
  readonly stands: Sums<boolean | null>;
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

const decaysFrom = (event: EventFact): number => Math.min(event.timestamp, event.receivedAt);

/**
 * Half-lives by which an event is decayed at a moment, through every scale of its kind that came after it; negative: it
 * is yet to come. `isBounded`: it was carried over as more than any evidence is, which the service bounds.
 */
function livesOf(
  oracle: Oracle,
  event: EventFact,
  at: number,
): { readonly lives: number; readonly isBounded: boolean } {
  const scales = oracle.scalesOf(kindOf(event.type));
  let lives = 0;
  let from = decaysFrom(event);
  let isBounded = false;
  for (let i = event.scales; i < scales.length; i++) {
    lives += livesBetween(from, scales[i]!.epoch, scales[i - 1]!.halfLifeDays);
    from = scales[i]!.epoch;
    isBounded ||= lives < -boundedLives;
  }
  return { lives: lives + livesBetween(from, at, scales.at(-1)!.halfLifeDays), isBounded };
}

function livesBetween(from: number, to: number, halfLifeDays: number): number {
  return halfLifeDays === 0 ? 0 : (to - from) / (halfLifeDays * dayMs);
}

/**
 * The amount of an event that is lost by rounding, or left at the end of the range, in its value as of a time. It grows
 * with the distance between the epoch and the time of the read, and with conversions to another half-life.
 */
function cutOff(oracle: Oracle, { type, scales: scalesBefore }: EventFact, at: number): number {
  const scales = oracle.scalesOf(kindOf(type));
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

/** One sum of a pair while it is added up. */
class Sum {
  value = 0;
  error = 0;
  /** The masses that were added since it was 0 last, whether they still count or not. */
  parts: number[] = [];

  /** Whether it is above 0, where `isHeld` tells that an event counts. */
  stands(isHeld: boolean): boolean | null {
    if (this.value > 2 * this.error) return true;
    if (!isHeld) return false;
    // A withdrawal of everything leaves nothing, unless the last part was tiny beside the others.
    const isSure = this.parts.length === 0 || Math.min(...this.parts) > 0.01 * Math.max(...this.parts);
    return this.value === 0 && isSure && this.error < Number.POSITIVE_INFINITY ? false : null;
  }
}

/** A pair while its events are added up. */
class Pair implements Sums<Sum> {
  readonly sender: number;
  readonly lowering = new Sum();
  readonly raising = new Sum();
  readonly measure = new Sum();
  isHeld = false;

  constructor(sender: number) {
    this.sender = sender;
  }

  /** Evidence of the past that nobody can tell any more. */
  forget(): void {
    for (const name of sumNames) this[name].error = Number.POSITIVE_INFINITY;
  }

  evidence(peer: number): Evidence {
    const { sender, lowering, raising, measure, isHeld } = this;
    const stands = {
      lowering: lowering.stands(isHeld),
      raising: raising.stands(isHeld),
      measure: measure.stands(isHeld),
    };
    const values = { lowering: lowering.value, raising: raising.value, measure: measure.value };
    const error = lowering.error + raising.error + measure.error;
    return { peer, sender, ...values, error, measureError: measure.error, stands };
  }
}

/** Evidence of every peer that ever reported the subject, in order of the peers. */
export function evidenceOf(oracle: Oracle, subject: string, at: number): Evidence[] {
  const cuts = new Map<string, number>();
  const pairs = new Map<number, Pair>();
  const counted = oracle.countedOf(subject);
  for (const event of oracle.eventsOf(subject)) {
    const pair = pairs.get(event.number) ?? new Pair(event.peer);
    pairs.set(event.number, pair);
    const kind = kindOf(event.type);
    const sum = pair[kind === 'measures' ? 'measure' : types[event.type][0] < 0 ? 'lowering' : 'raising'];
    // An event of no mass is worth nothing at any moment, also where the factor is beyond the range of doubles.
    const { lives, isBounded } = livesOf(oracle, event, at);
    const mass = event.mass === 0 ? 0 : event.mass * 2 ** -lives;
    const key = `${kind} ${event.scales}`;
    const cut = cuts.get(key) ?? cutOff(oracle, event, at);
    cuts.set(key, cut);
    // A withdrawn event counts for nothing, but what it made of the sum's last digits stays.
    if (event.mass > 0) {
      sum.error += isBounded ? Number.POSITIVE_INFINITY : mass * roundingPart + cut;
      sum.parts.push(mass);
    }
    const takesBack = event.type === 'ban_lifted' && event.severity > 0;
    const counts = counted.get(event.number);
    if (counts === null) pair.forget();
    if (oracle.facts.withdrawals.has(event.id)) {
      // Mass of events that expired meanwhile does not return with the withdrawal of the event that revoked it.
      if (takesBack && lowersBefore(oracle, event)) pair.forget();
      continue;
    }
    pair.isHeld = true;
    if (takesBack && counts !== null) Object.assign(pair, { lowering: new Sum(), measure: new Sum() });
    if (counts?.has(event) !== false) sum.value += mass;
  }
  return [...pairs].sort(([a], [b]) => a - b).map(([peer, pair]) => pair.evidence(peer));
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

/**
 * Peers with lowering evidence about a subject, of their own or by an origin, sorted. `lowers` decides by the number of
 * a pair where that is too near to nothing to say.
 */
export function lowerersOf(
  oracle: Oracle,
  subject: string,
  now: number,
  lowers: (number: number) => boolean,
): number[] {
  const lowering = evidenceOf(oracle, subject, asOfTime(oracle, subject, now)).filter(({ peer, stands }) => {
    const each = [stands.lowering, stands.measure];
    return each.includes(true) || (each.includes(null) && lowers(peer));
  });
  return [...new Set(lowering.map(({ sender }) => sender))].sort((p, q) => p - q);
}

/** True if any of its sums is above 0, or may be. */
export const isSomething = ({ stands }: Evidence): boolean => sumNames.some((name) => stands[name] !== false);

/** True if it is too close to zero to decide whether it, or a measure of it, counts as evidence at all. */
export function isAtEdge(evidence: Evidence): boolean {
  const { lowering, raising, measure, error, stands } = evidence;
  return (lowering + raising + measure <= 2 * error && isSomething(evidence)) || stands.measure === null;
}

/** Whether a pair's measure, and its lowering claims, follow those of another peer: as it was decided last. */
export function followsOf(oracle: Oracle, subject: string, number: number) {
  const decided = oracle.eventsOf(subject).filter((event) => event.number === number && event.follows !== null);
  const last = (kind: EvidenceKind) => decided.findLast(({ type }) => kindOf(type) === kind)?.follows ?? false;
  return { follows: last('measures'), followsClaim: last('claims') };
}

/**
 * Whether an event that lowers, and is not noted yet, follows another peer's; null where that is too near to nothing to
 * say. Notes in `beginnings` that its peer began to lower the player.
 */
export function decideFollows(
  oracle: Oracle,
  event: EventFact,
  beginnings: Record<EvidenceKind, BeginningList>,
): boolean | null {
  const { subject, number, mass } = event;
  const kind = kindOf(event.type);
  const all = evidenceOf(oracle, subject, decaysFrom(event));
  const own = all.find(({ peer }) => peer === number);
  const least = k.earlierPart * mass;
  if (own !== undefined) {
    const earlier = kind === 'measures' ? own.measure : own.lowering;
    if (!(Math.abs(earlier - least) > 2 * own.error + roundingPart * least)) {
      beginnings[kind].add({ peer: event.peer, others: null });
      return null;
    }
    const before = followsOf(oracle, subject, number);
    if (earlier > least) return kind === 'measures' ? before.follows : before.followsClaim;
  }
  const voided = oracle.voidedOf(subject);
  const origin = oracle.carrier(number)?.origin;
  const others = all.filter(({ peer, sender }) => {
    if (sender === event.peer || (origin !== undefined && oracle.carrier(peer)?.origin === origin)) return false;
    if (oracle.statusOf(sender) === 'revoked' || voided.has(sender)) return false;
    return oracle.facts.of('weights').length === 0 || oracle.weightsOf(peer).tau > k.openGate;
  });
  const stand = others.map(({ lowering, measure, error, sender }) => {
    const sums = kind === 'measures' ? [measure] : [lowering, measure];
    const isVague = sums.some((sum) => !(Math.abs(sum - least) > 2 * error + roundingPart * least));
    return { sender, stands: sums.some((sum) => sum > least + 2 * error) ? true : isVague ? null : false };
  });
  const first = beginnings[kind].first();
  const isVague = stand.some(({ stands }) => stands === null);
  const before = [...new Set(stand.filter(({ stands }) => stands).map(({ sender }) => sender))];
  beginnings[kind].add({ peer: event.peer, others: isVague ? null : before });
  if (first === null) return null;
  if (first.mute.has(event.peer) || before.some((sender) => !first.heard.has(sender))) return true;
  return isVague ? null : false;
}
