/**
 * Whether an event repeats an earlier one: same peer, player, type and timestamp. The state knows only which events may; whether one does
 * is read in the log and comes back with the command. Rules only, nothing is read here.
 */
import type { EventSubmission, RepeatCheck, SubmitEvents } from './commands.js';
import type { EventKeys } from './event-columns.js';
import { eventTypeNamed, isEvidence } from './event-types.js';
import type { GroupState } from './state.js';
import { sameKey } from './words.js';

/**
 * The events of a command of which only the log can tell whether they repeat one, and of which the command does not know it as of now; empty
 * where all can be decided. `keys` are what each is looked up by.
 */
export function repeatsToCheck(state: GroupState, command: SubmitEvents, keys: readonly EventKeys[]): RepeatCheck[] {
  const { checked, events } = command;
  const checks: RepeatCheck[] = [];
  for (const [index, event] of events.entries()) {
    const of = keys[index]!;
    const hash = hashOf(state, event, of);
    if (hash === 0 || !state.repeats.has(hash) || state.eventIds.seqOfEvent(of.columns, of.i) > 0) continue;
    const head = headOf(state, event, of);
    if (head <= state.retired.seq) continue;
    const known =
      checked?.asOf === state.redacted && checked.found.some((one) => one.index === index && one.head === head);
    if (known) continue;
    checks.push({ index, head, eventType: eventTypeNamed(event.eventType).id, timestamp: event.timestamp });
  }
  return checks;
}

/** Whether event `index` of a command that needs no check repeats one of the log, or one of the events of the command that were `accepted` before it. */
export function isRepeat(
  state: GroupState,
  { checked, events }: SubmitEvents,
  index: number,
  keys: EventKeys,
  accepted: readonly number[],
): boolean {
  if (checked === undefined && accepted.length === 0) return false;
  const event = events[index]!;
  const hash = hashOf(state, event, keys);
  if (hash === 0 || !state.repeats.has(hash)) return false;
  const found = checked?.found.find((one) => one.index === index);
  if (found !== undefined && found.seq > state.retired.seq) return true;
  return accepted.some((earlier) => saysTheSame(event, events[earlier]!));
}

/** What the filter knows the event by; 0 for one that is no evidence, or refused anyway. */
function hashOf(state: GroupState, event: EventSubmission, { columns, i }: EventKeys): number {
  const peer = state.peers.byId(event.peerId);
  const { id } = eventTypeNamed(event.eventType);
  if (peer === undefined || event.subject === null || !isEvidence(id)) return 0;
  return state.repeats.hashOf(columns.hashes[i]!, peer.index, id, event.timestamp);
}

/** The newest record of the event's peer and player, 0 for none. */
function headOf(state: GroupState, { peerId }: EventSubmission, { columns, i }: EventKeys): number {
  const { subjects } = state;
  const row = subjects.findOfEvent(columns, i);
  const entry = row < 0 ? -1 : subjects.findEntry(row, state.peers.byId(peerId)!.index);
  return entry < 0 ? 0 : subjects.entries.head(entry);
}

function saysTheSame(one: EventSubmission, other: EventSubmission): boolean {
  return (
    one.peerId === other.peerId &&
    one.eventType === other.eventType &&
    one.timestamp === other.timestamp &&
    one.subject !== null &&
    other.subject !== null &&
    sameKey(one.subject.words, one.subject.at, other.subject.words, other.subject.at)
  );
}
