/** Handles submissions of events and withdrawals: translates requests and answers; the group decides. */
import { eventValidator } from '../../contract/event-validator.js';
import type { BatchEnvelope, EventBody } from '../../contract/request-bodies.js';
import type { WithdrawalBody } from '../../contract/response-bodies.js';
import { ByteStrings } from '../../core/columns/byte-strings.js';
import { KEY_WORDS, type SubjectKey } from '../../core/columns/packed-keys.js';
import { keyOf } from '../../core/tables/event-columns.js';
import { errors, type Outcome, type Refusal, refused } from '../../errors.js';
import type { AcceptedEvent, EventSubmission } from '../../group/api.js';
import { limits } from '../../limits.js';
import { parseUtcDateTime } from '../../validation/formats.js';
import { batchEntryText, batchResultText, isJsonWithin, storedEventBody, timeText } from '../bodies/bodies.js';
import type { HttpDeps } from '../deps.js';
import { countRefusedIds } from '../request/answering.js';
import { ok, okJson, refusalReply } from '../request/reply.js';
import { type ApiReply, type ApiRequest, type Handlers, holderOf } from '../request/request.js';
import { rawIdRefusal, readEventId } from '../request/request-parameters.js';
import type { WorkTurns } from '../room/work-turns.js';

const validateEvent = eventValidator('the event');

const playerIds = new ByteStrings();

export function eventHandlers(
  { node, pseudonyms, metrics }: Pick<HttpDeps, 'node' | 'pseudonyms' | 'metrics'>,
  work: Pick<WorkTurns, 'parsed'>,
) {
  const refusal = rawIdRefusal(node.identity);
  /** Replaces the group's refusal of a raw id with one that says what the peer should send instead. */
  const explained = <T>(outcome: Outcome<T>): Outcome<T> =>
    !outcome.ok && outcome.code === refusal.code ? refusal : outcome;

  function submissionOf(event: EventBody, subject: SubjectKey | null): EventSubmission {
    const timestamp = parseUtcDateTime(event.timestamp);
    if (timestamp === undefined) throw new Error('the schema admitted a timestamp that does not parse');
    const submission: { -readonly [K in keyof EventSubmission]: EventSubmission[K] } = {
      schemaVersion: event.schema_version,
      eventId: event.event_id,
      eventType: event.event_type,
      peerId: event.peer_id,
      subject,
      gameId: event.game_id,
      severity: event.severity,
      timestamp,
    };
    if (event.origin !== undefined) submission.origin = event.origin;
    if (event.reference !== undefined) submission.reference = event.reference;
    return submission;
  }

  function submissionsOf(events: readonly EventBody[]): EventSubmission[] {
    playerIds.clear();
    for (const event of events) playerIds.push(event.player_id);
    const words = pseudonyms.ofAll(playerIds);
    if (words === null) return events.map((event) => submissionOf(event, subjectOf(event)));
    return events.map((event, i) => submissionOf(event, { words, at: i * KEY_WORDS }));
  }

  /** Returns null if the group does not accept the raw id that the peer sent. */
  function subjectOf(event: EventBody): SubjectKey | null {
    const subject = pseudonyms.of(event.player_id);
    return subject === null ? null : keyOf(subject);
  }

  function submitEvent({ body, caller, remote }: ApiRequest<EventBody>): Promise<ApiReply> {
    const submission = submissionOf(body, subjectOf(body));
    return node.group.submit(caller, [submission], holderOf(caller, remote)).then(([decided]) => {
      if (decided === undefined) throw new Error('the group gave no outcome for an event');
      const outcome = explained(decided);
      if (!outcome.ok) return refusalReply(outcome);
      return { status: 201, body: storedEventBody(body.peer_id, body.player_id, submission, outcome.value) };
    });
  }

  /** While the commit is pending, only ids are kept of the body, because the garbage collector copies what is kept. */
  function submitEvents({ body, caller, remote }: ApiRequest<BatchEnvelope>): Promise<ApiReply> {
    const ids: (string | null)[] = [];
    const refusals = new Map<number, Refusal>();
    const events: EventBody[] = [];
    for (const [place, item] of body.events.entries()) {
      // Only the first faulty events list further faults, or the answer could be many times as long as the batch.
      const checked = checkedItem(item, refusals.size < limits.batchFaultsExplained ? limits.furtherFaultsMax : 0);
      if (checked.ok) {
        ids.push(checked.value.event_id);
        events.push(checked.value);
      } else {
        ids.push(eventIdOf(item));
        refusals.set(place, checked);
        countRefusedIds(checked, metrics);
      }
    }
    const submissions = submissionsOf(events);
    work.parsed(events.length);
    const holder = holderOf(caller, remote);
    const outcomes = submissions.length === 0 ? Promise.resolve([]) : node.group.submit(caller, submissions, holder);
    return outcomes.then((decided) => batchReply(ids, refusals, decided.map(explained)));
  }

  async function withdrawEvent({ params, caller }: ApiRequest<undefined>): Promise<ApiReply> {
    const eventId = readEventId(params.event_id ?? '');
    if (!eventId.ok) return refusalReply(eventId);
    const outcome = await node.group.withdraw(caller, eventId.value);
    if (!outcome.ok) return refusalReply(outcome);
    return ok({ event_id: eventId.value, withdrawn_at: timeText(outcome.value.withdrawnAt) } satisfies WithdrawalBody);
  }

  return { submitEvent, submitEvents, withdrawEvent } satisfies Partial<Handlers>;
}

/** Checks an event as if it were alone. Only one with a signature, which no schema bounds, is measured. */
function checkedItem(item: unknown, moreMax: number): Outcome<EventBody> {
  const checked = validateEvent(item, moreMax);
  if (checked.ok && checked.value.signature === undefined) return checked;
  return isJsonWithin(item, limits.eventBodyBytes) ? checked : refused('payload_too_large');
}

/** `ids`: of all events of a batch, null for an event without one. `refusals`: by place, the events not submitted. */
function batchReply(
  ids: readonly (string | null)[],
  refusals: ReadonlyMap<number, Refusal>,
  outcomes: readonly Outcome<AcceptedEvent>[],
): ApiReply {
  const [first] = outcomes;
  const isUnavailable = outcomes.every((one) => !one.ok && errors[one.code].status === 503);
  // If none of the batch could be accepted, its caller needs no results.
  if (first?.ok === false && isUnavailable) return refusalReply(first);
  let next = 0;
  let accepted = 0;
  let duplicates = 0;
  const results = ids.map((id, place) => {
    const outcome = refusals.get(place) ?? outcomes[next++];
    if (outcome === undefined) throw new Error('an event of a batch has no outcome');
    if (outcome.ok) accepted++;
    else if (outcome.code === 'duplicate_event') duplicates++;
    return batchEntryText(id, outcome);
  });
  if (next !== outcomes.length) throw new Error('the group gave an outcome for no event of a batch');
  return okJson(batchResultText({ accepted, duplicates, rejected: ids.length - accepted - duplicates }, results));
}

function eventIdOf(item: unknown): string | null {
  if (typeof item !== 'object' || item === null || !('event_id' in item)) return null;
  return typeof item.event_id === 'string' ? item.event_id : null;
}
