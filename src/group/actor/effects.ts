/** Declares the effects that the actor returns and `loop.ts` carries out. */
import type { Answer } from '../actor-commands.js';
import type { StoredBatch } from '../ports/log.js';
import type { RemovalStep } from '../removal/removal-process.js';

export type Effect<T> =
  | {
      readonly type: 'commit';
      readonly batch: StoredBatch;
      readonly records: number;
      readonly rewrites: readonly StoredBatch[];
    }
  | { readonly type: 'answer'; readonly token: T; readonly answer: Answer }
  | DecidedEvents
  | RemovalStep;

export interface DecidedEvents {
  readonly type: 'decided';
  readonly eventType: string;
  readonly outcome: string;
  readonly events: number;
}

export type Resolve = (answer: Answer) => void;
