/**
 * A client of the peer trust federation service for game servers.
 *
 * Start with `TrustClient`: its reads have a time budget, its writes arrive exactly once, and the node's stream keeps
 * its cache current. `EventSpool` keeps events on disk until the node has stored them. `TrustPolicy` turns trust into
 * actions, in shadow mode first.
 * @packageDocumentation
 */
import './require-node.js';

export type { NormalizeOptions } from '../player-ids/player-id.js';
export type * from './call-types.js';
export type { TrustClientOptions } from './client-options.js';
export { normalizePlayerId } from './ids/normalize.js';
export { isSubjectHash, subjectHash } from './ids/subject.js';
export type { PlayerTrust, TrustSource, TrustValues, Verdict } from './player-trust.js';
export { AllowList, type AllowListEntry } from './policy/client-allow-list.js';
export * from './policy/policy.js';
export { type PoolTransportOptions, poolTransport } from './transport/pool-transport.js';
export { generateSigningKey, type SigningKeyPair, signingPublicKey } from './transport/request-signer.js';
export type { Runtime } from './transport/time.js';
export {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from './transport/transport.js';
export { TrustClient } from './trust-client.js';
export {
  type ClientErrorCode,
  type ServiceErrorCode,
  TrustError,
  type TrustErrorCode,
  type TrustErrorFacts,
} from './trust-error.js';
export type {
  DeferredEvent,
  DeliveryResult,
  EventOutcome,
  EventType,
  SubmitManyOutcome,
  TrustEvent,
} from './write/client-event.js';
export * from './write/spool/event-spool.js';
export type * from './write/spool/progress.js';
