/**
 * One batch until every event of it is through: what the node could not take at once is sent again, the rest is not,
 * and what takes too long in one call is sent in smaller ones.
 */
import type { EventBody } from '../../contract/request-bodies.js';
import { markedUnknown } from '../transport/caller.js';
import { Retries } from '../transport/retries.js';
import type { Runtime } from '../transport/runtime.js';
import { isRetryable, isTooSlow, TrustError } from '../trust-error.js';
import type { DeliveryResult, EventOutcome } from './submission.js';

export interface DeliverAll {
  /** One call of a single attempt's length, and of `leftMs` at most. */
  readonly deliver: (events: readonly EventBody[], leftMs: number) => Promise<DeliveryResult[]>;
  readonly wait: (ms: number) => Promise<void>;
  readonly runtime: Runtime;
  readonly deadlineMs: number;
  /** How many events go into one call, in all batches of a submission: what was too many once is not tried again. */
  readonly call: { size: number };
}

/**
 * One outcome per event, in order. Rejects with what kept events back where none gets through for as long as the
 * deadline.
 */
export async function deliverAll(
  batch: readonly EventBody[],
  { deliver, wait, runtime, deadlineMs, call }: DeliverAll,
): Promise<EventOutcome[]> {
  const outcomes = new Map<EventBody, EventOutcome>();
  let retries = new Retries(runtime, deadlineMs);
  let isUnknown = false;
  let cause: TrustError | undefined;
  let rest = batch;
  while (rest.length > 0) {
    const sent = rest.slice(0, call.size);
    const { left, failure } = await delivered(sent, (part) => deliver(part, retries.leftMs), outcomes);
    rest = [...left, ...rest.slice(sent.length)];
    if (left.length < sent.length) {
      retries = new Retries(runtime, deadlineMs);
      cause = undefined;
    }
    if (failure === undefined) continue;
    isUnknown ||= failure.outcomeUnknown;
    // An open circuit says nothing about why it opened.
    if (failure.code !== 'circuit_open') cause = failure;
    // In quarters: a deadline has room for few attempts that take too long.
    if (isTooSlow(failure)) call.size = Math.ceil(sent.length / 4);
    const waitMs = isRetryable(failure) ? retries.pauseMs(failure) : null;
    if (waitMs === null) throw markedUnknown(cause ?? failure, isUnknown);
    await wait(waitMs);
  }
  return batch.map((event) => outcomes.get(event)!);
}

/** Sends these once. `left`: those that did not get through, because of `trouble`. */
async function delivered(
  sent: readonly EventBody[],
  deliver: (events: readonly EventBody[]) => Promise<DeliveryResult[]>,
  outcomes: Map<EventBody, EventOutcome>,
): Promise<{ readonly left: readonly EventBody[]; readonly failure: TrustError | undefined }> {
  const left: EventBody[] = [];
  let failure: TrustError | undefined;
  try {
    for (const [index, result] of (await deliver(sent)).entries()) {
      if ('later' in result) {
        failure ??= result.later;
        left.push(sent[index]!);
      } else {
        outcomes.set(sent[index]!, result);
      }
    }
    return { left, failure };
  } catch (error) {
    if (!(error instanceof TrustError)) throw error;
    return { left: sent, failure: error };
  }
}
