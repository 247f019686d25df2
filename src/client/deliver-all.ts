/** One batch until every event of it is through: what the node could not take at once is sent again, the rest is not. */
import type { EventBody } from '../http/contract/request-bodies.js';
import { bounds } from './bounds.js';
import { fullJitterMs, type Runtime } from './runtime.js';
import type { DeliveryResult, EventOutcome } from './submission.js';
import type { TrustError } from './trust-error.js';

export interface DeliverAll {
  readonly deliver: (events: readonly EventBody[]) => Promise<DeliveryResult[]>;
  readonly wait: (ms: number) => Promise<void>;
  readonly runtime: Runtime;
  readonly deadlineMs: number;
}

/** One outcome per event, in order. Rejects with what kept an event back where the deadline passes. */
export async function deliverAll(
  batch: readonly EventBody[],
  { deliver, wait, runtime, deadlineMs }: DeliverAll,
): Promise<EventOutcome[]> {
  const endsAt = runtime.elapsedMs() + deadlineMs;
  const outcomes = new Map<EventBody, EventOutcome>();
  for (let attempt = 0, rest = batch; ; attempt++) {
    const left: EventBody[] = [];
    let trouble: TrustError | undefined;
    for (const [index, result] of (await deliver(rest)).entries()) {
      if ('later' in result) {
        trouble ??= result.later;
        left.push(rest[index]!);
      } else {
        outcomes.set(rest[index]!, result);
      }
    }
    if (trouble === undefined) return batch.map((event) => outcomes.get(event)!);
    const waitMs = fullJitterMs(runtime, attempt, bounds.backoffBaseMs, bounds.backoffCapMs);
    if (runtime.elapsedMs() + waitMs >= endsAt) throw trouble;
    await wait(waitMs);
    rest = left;
  }
}
