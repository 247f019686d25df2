/**
 * Decides whether an event follows others: whether its peer bans or reports after another peer did. A peer that only
 * repeats what others found is no witness of its own (docs/SCORING.md, "The log-odds").
 */
import { isMeasure } from '../evidence/event-types.js';
import { FOLLOWS, FOLLOWS_CLAIM } from '../evidence/evidence.js';
import { trustConstants } from '../evidence/trust-constants.js';
import type { DecidedEvent } from '../records/records.js';
import { type GroupState, MEASURES_FROM } from '../state.js';

/**
 * Share of the new mass from which a pair's earlier evidence decides. Less than that holds no place: a peer could
 * otherwise be first about every player by reports that weigh nothing.
 */
const EARLIER_PART = 0.01;

/**
 * True if the event, together with the pair's earlier evidence of its kind, follows lowering evidence of another peer:
 * a measure follows measures, a claim follows either. `row` and `entry` of the pair are -1 if absent. `sender`: the
 * peer and the name of the origin, from which the number of the pair may not follow yet.
 */
export function follows(
  state: GroupState,
  row: number,
  entry: number,
  { event_type, mass }: Decided,
  sender: Sender,
): boolean {
  if (!(mass < 0) || state.scoring.version < MEASURES_FROM || row < 0) return false;
  const { entries } = state.subjects;
  const ofMeasures = isMeasure(event_type);
  if (entry >= 0) {
    const earlier = ofMeasures ? entries.measure(entry) : entries.lowering(entry);
    if (earlier >= EARLIER_PART * -mass) return (entries.follows(entry) & (ofMeasures ? FOLLOWS : FOLLOWS_CLAIM)) !== 0;
  }
  const first = state.subjects.firstEntry(row);
  for (let other = first; other < first + state.subjects.peerCount(row); other++) {
    const stands = ofMeasures ? entries.measure(other) > 0 : entries.lowers(other);
    if (stands && !entries.isVoid(other) && isAnotherVoice(state, sender, entries.peer(other))) return true;
  }
  return false;
}

type Decided = Pick<DecidedEvent, 'event_type' | 'mass'>;

interface Sender {
  readonly peer: number;
  readonly origin: string | undefined;
}

/**
 * True if a number belongs to another peer and another origin, and its word counts. A peer whose gate is closed must
 * not make others follow it by being first about every player, nor one that no computation has seen, except before the
 * first computation of the group.
 */
function isAnotherVoice({ origins, peerWeights, weights }: GroupState, sender: Sender, other: number): boolean {
  if (origins.peerOf(other) === sender.peer || peerWeights.excluded[other] === 1) return false;
  if (sender.origin !== undefined && origins.nameOf(other) === sender.origin) return false;
  return weights.computedAt === null || peerWeights.tau[other]! > trustConstants.openGate;
}
