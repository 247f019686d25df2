/** Decides whether an event follows others: such a peer is no witness of its own (docs/SCORING.md, "The log-odds"). */
import { measureOfClaim } from '../evidence/decay.js';
import { isMeasure } from '../evidence/event-types.js';
import { FOLLOWS, FOLLOWS_CLAIM } from '../evidence/evidence.js';
import { trustConstants } from '../evidence/trust-constants.js';
import type { DecidedEvent } from '../records/records.js';
import type { FirstPeers } from '../registers/first-peers.js';
import { type GroupState, MEASURES_FROM } from '../state.js';

/**
 * Share of the new mass from which earlier evidence counts, of the pair and of others. Less than that holds no place: a
 * peer could otherwise be first about every player by reports that weigh nothing.
 */
const EARLIER_PART = 0.01;

/**
 * True if an event, with the pair's earlier evidence, follows that of other peers, the result of `othersBefore`: a
 * measure follows measures, a claim either. A peer that is first about nearly everybody is not followed.
 */
export function follows(
  state: GroupState,
  entry: number,
  event: Decided,
  sender: number,
  others: readonly number[] | null,
): boolean {
  if (others === null) return lowers(state, event) && (state.subjects.entries.follows(entry) & bitOf(event)) !== 0;
  const first = firstPeersOf(state, event);
  return first.saysNothing(sender) || others.some((other) => !first.has(other));
}

/** Notes an event that begins to lower its player, so that peers are found that are first about nearly everybody. */
export function noteBeginning(state: GroupState, event: DecidedEvent, others: readonly number[]): void {
  firstPeersOf(state, event).note(state.origins.peerOf(event.peer), others);
}

function lowers({ scoring }: GroupState, { mass }: Decided): boolean {
  return mass < 0 && scoring.version >= MEASURES_FROM;
}

function bitOf({ event_type }: Decided): number {
  return isMeasure(event_type) ? FOLLOWS : FOLLOWS_CLAIM;
}

function firstPeersOf({ firstPeers }: GroupState, { event_type }: Decided): FirstPeers {
  return isMeasure(event_type) ? firstPeers.measures : firstPeers.claims;
}

/**
 * Returns the peers whose evidence stood before; null if the event does not lower, or the pair's own evidence decides.
 * `row`, `entry`: -1 if absent. `sender`: peer and origin, whose number may not be assigned yet.
 */
export function othersBefore(
  state: GroupState,
  row: number,
  entry: number,
  event: Decided & At,
  sender: Sender,
): number[] | null {
  if (!lowers(state, event)) return null;
  if (row < 0) return [];
  const { entries } = state.subjects;
  const ofMeasures = isMeasure(event.event_type);
  const least = EARLIER_PART * -event.mass;
  const leastMeasure = ofMeasures ? least : measureOfClaim(least, event.at, state, state.measureScale);
  const claims = (of: number) => holds(entries.lowering(of), least);
  const measures = (of: number) => holds(entries.measure(of), leastMeasure);
  if (entry >= 0 && (ofMeasures ? measures(entry) : claims(entry))) return null;
  const others = new Set<number>();
  const first = state.subjects.firstEntry(row);
  for (let other = first; other < first + state.subjects.peerCount(row); other++) {
    const stands = measures(other) || (!ofMeasures && claims(other));
    const number = entries.peer(other);
    if (stands && !entries.isVoid(other) && isAnotherVoice(state, sender, number))
      others.add(state.origins.peerOf(number));
  }
  return [...others];
}

/** A hundredth of the smallest numbers is 0, which no evidence holds. */
function holds(sum: number, least: number): boolean {
  return sum > 0 && sum >= least;
}

type Decided = Pick<DecidedEvent, 'event_type' | 'mass'>;

interface At {
  /** Time of the evidence in ms since 1970, by `evidenceAt`. */
  readonly at: number;
}

interface Sender {
  readonly peer: number;
  readonly origin: string | undefined;
}

/**
 * True if a number belongs to another peer and origin, and its word counts: nobody follows a closed gate, or a peer
 * that no computation has seen, except before the group's first.
 */
function isAnotherVoice({ origins, peerWeights, weights }: GroupState, sender: Sender, other: number): boolean {
  if (origins.peerOf(other) === sender.peer || peerWeights.excluded[other] === 1) return false;
  if (sender.origin !== undefined && origins.nameOf(other) === sender.origin) return false;
  return weights.computedAt === null || peerWeights.tau[other]! > trustConstants.openGate;
}
