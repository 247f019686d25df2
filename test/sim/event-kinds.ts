/** The event types of the contract: which way each moves trust, its base weight, and the kind of its evidence. */
import type { EventTypeName } from '../../src/core/evidence/event-types.js';

/** Way and base weight of each type. */
export const types: Readonly<Record<EventTypeName, readonly [sign: -1 | 0 | 1, base: number]>> = {
  report_cheating: [-1, 1],
  report_toxicity: [-1, 0.5],
  report_spam: [-1, 0.25],
  friendly_fire: [-1, 0.5],
  ban_applied: [-1, 1],
  session_anomaly: [-1, 0.5],
  matchmaking_fraud: [-1, 1],
  commendation: [1, 1],
  ban_lifted: [0, 0],
  session_clean: [1, 0.3],
};

export const kinds = ['claims', 'measures'] as const;
/** Each kind of evidence decays with a half-life of its own. */
export type EvidenceKind = (typeof kinds)[number];

export const kindOf = (type: EventTypeName): EvidenceKind => (type === 'ban_applied' ? 'measures' : 'claims');
