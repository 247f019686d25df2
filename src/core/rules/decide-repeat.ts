/**
 * Finds the events of a submission that repeat an earlier one (peer, origin, player, type, timestamp). The state's
 * filter finds possible ones; those that it does not remember the caller looks up in the log.
 */
import { sameKey } from '../columns/packed-keys.js';
import type { EventSubmission, RepeatCheck, RepeatFound, SubmitEvents } from '../commands.js';
import { eventTypeNamed, isEvidence } from '../evidence/event-types.js';
import type { GroupState } from '../state.js';
import type { EventKeys } from '../tables/event-columns.js';
import { actingPeer } from './decide-event.js';
import { numberFor } from './decide-origin.js';

/**
 * Returns the events of a command that repeat an earlier one, and those of which only the log can tell, because the
 * command carries no answer of the log, or an outdated one. `keys` holds the lookup keys of each event.
 */
export function repeatsOf(state: GroupState, command: SubmitEvents, keys: readonly EventKeys[]) {
  const { caller, checked, events } = command;
  const unknown: RepeatCheck[] = [];
  const known = new Set<number>();
  for (const [index, event] of events.entries()) {
    const of = keys[index]!;
    const hash = hashOf(state, caller, event, of);
    if (hash === 0 || !state.repeats.has(hash) || state.eventIds.seqOfEvent(of.columns, of.i) > 0) continue;
    const { row, number, head } = pairOf(state, event, of);
    if (head <= state.retired.seq) continue;
    const { timestamp } = event;
    const type = eventTypeNamed(event.eventType).id;
    const recent = state.recentEvidence.seqOf({ hash, row, peer: number, type, timestamp });
    if (recent > state.retired.seq) {
      known.add(index);
      continue;
    }
    const found = checked?.find((one) => one.index === index);
    if (found === undefined || !isStillTrue(state, found, head, hash)) {
      unknown.push({ index, head, eventType: type, timestamp });
    } else if (found.seq > state.retired.seq) known.add(index);
  }
  return { unknown, known };
}

/**
 * True if an answer of the log holds for the chain from `head` on. Every change of a pair's chain is its new head. The
 * answer that nothing is repeated outlasts other events of the pair: otherwise a pair that changes all the time would
 * refuse every batch.
 */
function isStillTrue(state: GroupState, found: RepeatFound, head: number, hash: number): boolean {
  return found.head === head || (found.seq === 0 && state.recentEvidence.hasNoneSince(hash, found.head));
}

/** True if event `index` of a command repeats one of its earlier events that were `accepted`. */
export function repeatsAccepted(
  state: GroupState,
  { caller, events }: SubmitEvents,
  index: number,
  keys: EventKeys,
  accepted: readonly number[],
): boolean {
  if (accepted.length === 0) return false;
  const event = events[index]!;
  const hash = hashOf(state, caller, event, keys);
  return hash !== 0 && state.repeats.has(hash) && accepted.some((earlier) => isSameEvent(event, events[earlier]!));
}

/**
 * Returns the hash of the filter; 0 if the event is no evidence, or not the caller's: a read of the log takes time,
 * which would reveal the events of another peer.
 */
function hashOf(state: GroupState, caller: number | null, event: EventSubmission, { columns, i }: EventKeys): number {
  const peer = actingPeer(state, caller, event.peerId);
  const { id } = eventTypeNamed(event.eventType);
  if (!peer.ok || event.subject === null || !isEvidence(id)) return 0;
  const number = numberFor(state, peer.value, event.origin);
  // A carrier without a number holds no events yet.
  if (!number.ok || number.value >= state.numbers) return 0;
  return state.repeats.hashOf(columns.hashes[i]!, number.value, id, event.timestamp);
}

/** Returns the row and number of the event's pair, and its newest record; 0 if there is none. */
function pairOf(state: GroupState, { peerId, origin }: EventSubmission, { columns, i }: EventKeys) {
  const { subjects } = state;
  const row = subjects.findOfEvent(columns, i);
  const found = numberFor(state, state.peers.byId(peerId)!, origin);
  const number = found.ok ? found.value : -1;
  const entry = row < 0 || number < 0 ? -1 : subjects.findEntry(row, number);
  return { row, number, head: entry < 0 ? 0 : subjects.entries.head(entry) };
}

function isSameEvent(one: EventSubmission, other: EventSubmission): boolean {
  return (
    one.peerId === other.peerId &&
    one.origin === other.origin &&
    one.eventType === other.eventType &&
    one.timestamp === other.timestamp &&
    one.subject !== null &&
    other.subject !== null &&
    sameKey(one.subject.words, one.subject.at, other.subject.words, other.subject.at)
  );
}
