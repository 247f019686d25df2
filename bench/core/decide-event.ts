/** Decides one event that was not looked up before, for tests and benches; the service looks up a turn at once. */
import type { EventSubmission } from '../../src/core/commands.js';
import type { EventAccepted } from '../../src/core/records/records.js';
import { decideByKeys, type EventGranted } from '../../src/core/rules/decide-event.js';
import type { GroupState } from '../../src/core/state.js';
import { bytesOf, EventColumns } from '../../src/core/tables/event-columns.js';
import type { Granted, Refusal } from '../../src/errors.js';

const single = new EventColumns(1);

export function decideEvent(
  state: GroupState,
  caller: number | null,
  submission: EventSubmission,
  now: number,
  repeats = false,
): (Granted<EventAccepted> & Pick<EventGranted, 'before'>) | Refusal {
  const { eventId, subject } = submission;
  const id_tag = state.idTags.of(eventId);
  const keys = single.onlyKeys(subject, id_tag);
  state.subjects.prefetch(single);
  const decided = decideByKeys(state, caller, submission, now, keys, repeats);
  // An event without a subject was refused before.
  return decided.ok ? { ...decided, value: { subject: bytesOf(subject!), id_tag, ...decided.value } } : decided;
}
