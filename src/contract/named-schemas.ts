/** Names the schemas that the OpenAPI document defines once and refers to; it inlines all others. */
import * as refusals from './error-bodies.js';
import { healthSchema } from './health-body.js';
import * as requests from './request-bodies.js';
import * as responses from './response-bodies.js';
import * as stream from './verdict-stream.js';

export const namedSchemas = {
  Event: requests.eventSchema,
  StoredEvent: responses.storedEventSchema,
  EventBatch: requests.batchSchema,
  EventBatchResult: responses.batchResultSchema,
  Registration: requests.registrationSchema,
  RegisteredPeer: responses.registeredPeerSchema,
  PeerList: responses.peerListSchema,
  AuditPage: responses.auditPageSchema,
  TrustScore: responses.trustScoreSchema,
  UnknownPlayer: responses.unknownPlayerSchema,
  MatchScores: responses.matchScoresSchema,
  PlayerVerdict: responses.verdictSchema,
  PlayerEvents: responses.playerEventsSchema,
  Erasure: responses.erasureSchema,
  PendingErasure: responses.pendingErasureSchema,
  Dispute: requests.disputeSchema,
  OpenedDispute: responses.openedDisputeSchema,
  Withdrawal: responses.withdrawalSchema,
  Health: healthSchema,
  StreamHello: stream.helloDataSchema,
  StreamReset: stream.resetDataSchema,
  StreamSnapshot: stream.snapshotDataSchema,
  StreamChange: stream.changeDataSchema,
  StreamHeartbeat: stream.heartbeatDataSchema,
  StreamResume: stream.resumeDataSchema,
  ErrorCode: refusals.errorCodeSchema,
  SchemaFault: refusals.violationSchema,
  SchemaFaults: refusals.violationsSchema,
  InvalidParameterDetails: refusals.invalidParameterSchema,
  DuplicateDetails: refusals.duplicateSchema,
  DuplicateDisputeDetails: refusals.duplicateDisputeSchema,
  RateLimitDetails: refusals.rateLimitSchema,
  InternalErrorDetails: refusals.internalErrorSchema,
  UnavailableDetails: refusals.unavailableSchema,
  ErrorDetails: refusals.errorDetailsSchema,
  Error: refusals.errorSchema,
  Problem: refusals.problemSchema,
} as const;
