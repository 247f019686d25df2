/** Declares the request bodies as schemas, from which validators, types and the OpenAPI document are derived. */
import { limits } from '../limits.js';
import { contactEmail, disputeText, gameIds, peerName, publicKey } from '../validation/identifiers.js';
import { type FromSchema, shape } from '../validation/schema.js';
import { eventProperties, laterEventProperties, peerId } from './fields.js';

const signature = { description: 'Reserved. Any JSON value, which is neither validated nor used nor stored.' } as const;

/** Used from `schema_version` 1.1.0 on. */
export const eventSchema = shape({ ...eventProperties, ...laterEventProperties, signature }, [
  'origin',
  'reference',
  'signature',
]);
export type EventBody = FromSchema<typeof eventSchema>;

/** Used before 1.1.0: later fields are unknown fields. */
export const firstEventSchema = { ...eventSchema, properties: { ...eventProperties, signature } } as const;

/** A batch without its items, which are validated one by one: an invalid one does not fail the others. */
export const batchEnvelopeSchema = shape({
  events: { type: 'array', minItems: 1, maxItems: limits.batchEventsMax, items: {} },
});
export type BatchEnvelope = FromSchema<typeof batchEnvelopeSchema>;

export const batchSchema = {
  ...batchEnvelopeSchema,
  properties: { events: { ...batchEnvelopeSchema.properties.events, items: eventSchema } },
} as const;

export const registrationSchema = shape(
  { peer_name: peerName, game_ids: gameIds, contact_email: contactEmail, public_key: publicKey },
  ['contact_email', 'public_key'],
);
export type RegistrationBody = FromSchema<typeof registrationSchema>;

export const disputeSchema = shape(
  {
    text: disputeText,
    peer_id: {
      ...peerId,
      description: 'The peer whose events are disputed, if the caller knows it; the operator decides.',
    },
  },
  ['peer_id'],
);
export type DisputeBody = FromSchema<typeof disputeSchema>;
