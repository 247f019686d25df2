/** Delivers a batch until each event has a result: sends events again, and splits a call that is too slow or large. */
import type { EventBody } from '../../contract/request-bodies.js';
import { markedUnknown } from '../transport/caller.js';
import { Retries } from '../transport/retries.js';
import type { Runtime } from '../transport/time.js';
import { isRetryable, isTooSlow, TrustError } from '../trust-error.js';
import type { DeliveryResult, EventOutcome } from './client-event.js';

export interface DeliverAll {
  /** Makes one call with a single attempt, which takes at most `leftMs`. */
  readonly deliver: (events: readonly EventBody[], leftMs: number) => Promise<DeliveryResult[]>;
  readonly wait: (ms: number) => Promise<void>;
  readonly runtime: Runtime;
  readonly deadlineMs: number;
  /** Events per call, shared by all batches, so that a size that was too large is not tried again. */
  readonly call: { size: number };
}

/** One outcome per event, in order. Rejects if no event is delivered for as long as the deadline. */
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
    const results = await deliver(sent, retries.leftMs).catch((error: unknown) => {
      if (!(error instanceof TrustError)) throw error;
      return sent.map((): DeliveryResult => ({ later: error }));
    });
    const left: EventBody[] = [];
    let failure: TrustError | undefined;
    for (const [index, result] of results.entries()) {
      if ('later' in result) {
        failure ??= result.later;
        left.push(sent[index]!);
      } else {
        outcomes.set(sent[index]!, result);
      }
    }
    rest = [...left, ...rest.slice(sent.length)];
    if (left.length < sent.length) {
      retries = new Retries(runtime, deadlineMs);
      cause = undefined;
    }
    if (failure === undefined) continue;
    isUnknown ||= failure.outcomeUnknown;
    // An open circuit does not say why it opened.
    if (failure.code !== 'circuit_open') cause = failure;
    const isTooLarge = failure.status === 413 && sent.length > 1;
    // Divided by four, because a deadline has room for few attempts that take too long.
    if (isTooSlow(failure) || isTooLarge) call.size = Math.ceil(sent.length / 4);
    const waitMs = isRetryable(failure) || isTooLarge ? retries.pauseMs(failure) : null;
    if (waitMs === null) throw markedUnknown(cause ?? failure, isUnknown);
    await wait(waitMs);
  }
  return batch.map((event) => outcomes.get(event)!);
}
