/**
 * Declares the effects that the actor returns and `loop.ts` carries out: commits, answers, counts of decided events,
 * and the steps of a redaction.
 */
import type { Answer } from '../commands.js';
import type { StoredBatch } from '../ports/log.js';
import type { RedactorStep } from '../removal/redactor.js';

export type Effect<T> =
  | {
      readonly type: 'commit';
      readonly batch: StoredBatch;
      readonly records: number;
      readonly rewrites: readonly StoredBatch[];
    }
  | { readonly type: 'answer'; readonly token: T; readonly answer: Answer }
  | DecidedEvents
  /**
   * `drop_snapshots`: remove every snapshot, since it may contain an erased subject; then call `snapshotsDropped`.
   * `redact`: work for the pool, whose result comes back by `redacted` or `workFailed`. `scrub`: overwrite the free
   * space of the log; then call `scrubbed`.
   */
  | RedactorStep;

export interface DecidedEvents {
  readonly type: 'decided';
  readonly eventType: string;
  readonly outcome: string;
  readonly events: number;
}

export type Resolve = (answer: Answer) => void;
