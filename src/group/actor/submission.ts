/**
 * Handles a submission until it is decided: if only the log can tell repeats, reads it and offers the submission again.
 */
import type { RepeatFound, SubmitEvents } from '../../core/commands.js';
import type { Outcome, Refusal } from '../../errors.js';
import { limits } from '../../limits.js';
import type { Answers } from '../actor-commands.js';
import type { AcceptedEvent } from '../api.js';
import type { ChainPlace, RepeatQuery, RepeatsPiece } from '../ports/pool.js';
import { overloaded } from '../refusals.js';

export interface Submitting {
  offer(submission: SubmitEvents, answered: (answer: Answers['submit']) => void): Refusal | undefined;
  read(query: Omit<RepeatQuery, 'holder'>): Promise<Outcome<RepeatsPiece>>;
}

/** `tries`: how often the log is read, since a pair of peer and player may have changed meanwhile. */
export async function submitAll(
  to: Submitting,
  submission: SubmitEvents,
  tries: number,
): Promise<Outcome<AcceptedEvent>[]> {
  const { caller, checked = [] } = submission;
  const answer = await offered(to, submission);
  if (Array.isArray(answer)) return answer;
  const { events, checks, expired, withdrawn } = answer;
  if (tries === 0) return events.map(() => overloaded());
  const found: RepeatFound[] = [];
  let from: ChainPlace | null = null;
  for (let reads = 0; found.length < checks.length; reads++) {
    // A batch about many long chains is refused here: smaller ones share the reader with its other work.
    if (reads === limits.repeatReadsMax) return events.map(() => overloaded());
    const answered = new Set(found.map(({ index }) => index));
    const unread = checks.filter(({ index }) => !answered.has(index));
    const piece = await to.read({ checks: unread, expired, withdrawn, from });
    if (!piece.ok) return events.map(() => piece);
    found.push(...piece.value.found);
    from = piece.value.next;
  }
  // Other events of the submission may be asked about next time, while earlier answers still hold.
  const asked = new Set(found.map(({ index }) => index));
  const others = checked.filter(({ index }) => !asked.has(index));
  return submitAll(to, { caller, events, checked: [...others, ...found] }, tries - 1);
}

function offered(to: Submitting, submission: SubmitEvents): Promise<Answers['submit']> {
  const { length } = submission.events;
  return new Promise((resolve) => {
    const refusal = to.offer(submission, resolve);
    if (refusal !== undefined) resolve(Array.from({ length }, () => refusal));
  });
}
