/** Which schemas get a name of their own in the OpenAPI document. */
import { batchSchema, eventSchema, registrationSchema } from './request-bodies.js';
import {
  auditPageSchema,
  batchResultSchema,
  erasureSchema,
  errorSchema,
  healthSchema,
  matchScoresSchema,
  peerListSchema,
  pendingErasureSchema,
  playerEventsSchema,
  problemSchema,
  registeredPeerSchema,
  storedEventSchema,
  trustScoreSchema,
  unknownPlayerSchema,
  verdictSchema,
  withdrawalSchema,
} from './response-bodies.js';

/** The schemas that get a name of their own in the OpenAPI document; everything else is written out in place. */
export const namedSchemas = {
  Event: eventSchema,
  StoredEvent: storedEventSchema,
  EventBatch: batchSchema,
  EventBatchResult: batchResultSchema,
  Registration: registrationSchema,
  RegisteredPeer: registeredPeerSchema,
  PeerList: peerListSchema,
  AuditPage: auditPageSchema,
  TrustScore: trustScoreSchema,
  UnknownPlayer: unknownPlayerSchema,
  MatchScores: matchScoresSchema,
  PlayerVerdict: verdictSchema,
  PlayerEvents: playerEventsSchema,
  Erasure: erasureSchema,
  PendingErasure: pendingErasureSchema,
  Withdrawal: withdrawalSchema,
  Health: healthSchema,
  Error: errorSchema,
  Problem: problemSchema,
} as const;
