/** Declares the data of the events of `GET /api/v1/verdicts/stream` (docs/VERDICT-STREAM.md). */
import { identityModes, verdicts } from '../core/vocabulary.js';
import { type FromSchema, type Schema, shape } from '../validation/schema.js';
import { count, dateTime, hashHex, mark } from './fields.js';

/** The schema of an object to which later versions may add members. */
function extensible<
  const Properties extends Readonly<Record<string, Schema>>,
  Optional extends keyof Properties & string = never,
>(properties: Properties, optional: readonly Optional[] = []) {
  const { additionalProperties: _, ...schema } = shape(properties, optional);
  return schema;
}

/** One published player, with values rounded as in a score read. */
export const changedPlayerSchema = extensible(
  {
    subject_hash: hashHex,
    score: { type: 'number', minimum: 0, maximum: 100 },
    confidence: { type: 'number', minimum: 0, maximum: 1 },
    verdict: { type: 'string', enum: verdicts },
    disputed: mark(
      'Present only for readers with the key of a peer whose events about the player are disputed, or are void since the operator upheld a dispute.',
    ),
    erasure_refused: {
      type: 'string',
      description:
        'Present only for readers with the key of a peer whose request to erase the player was refused: the reason of the operator.',
    },
    allowed: mark("Present only for a player on the group's allow list, who is neutral whatever was reported."),
  },
  ['disputed', 'erasure_refused', 'allowed'],
);
export type ChangedPlayer = FromSchema<typeof changedPlayerSchema>;

/** A player that was erased: a score read answers 404. The stream does not reveal who requested the erasure. */
export const removedPlayerSchema = extensible(
  {
    subject_hash: hashHex,
    gone: { type: 'boolean', const: true },
    subject_erased: mark('Present only for readers with the key of a peer whose events the erasure deleted.'),
  },
  ['subject_erased'],
);
export type RemovedPlayer = FromSchema<typeof removedPlayerSchema>;

const asOf = { ...dateTime, description: "The node's time up to which all changes have been sent." } as const;

/** The schema of the data of each event. */
export const eventSchemas = {
  /** The first event on every connection. */
  hello: extensible({
    version: { type: 'integer', const: 1 },
    group_id: { type: 'string' },
    identity_mode: { type: 'string', enum: identityModes },
    now: { ...dateTime, description: "The node's time when it sent this frame, to compare each `as_of` with." },
    heartbeat_ms: { ...count, description: 'The longest time between two frames of the node.' },
    score_step: { type: 'number', description: 'Score changes smaller than this may not be sent.' },
    confidence_step: { type: 'number', description: 'Confidence changes smaller than this may not be sent.' },
  }),
  /** The node cannot resume from the id that the reader sent; a snapshot follows on the same connection. */
  reset: extensible({ reason: { type: 'string', enum: ['too_old', 'unknown_id'] } }),
  snapshot: extensible({
    players: { type: 'array', items: changedPlayerSchema },
    last: { type: 'boolean', description: 'True on the last frame of the section, which alone has an id.' },
    as_of: asOf,
  }),
  change: extensible({
    changes: { type: 'array', items: { anyOf: [changedPlayerSchema, removedPlayerSchema] } },
    as_of: asOf,
  }),
  heartbeat: extensible({ as_of: asOf }),
  /** The node ends this connection, and the reader resumes on a new one. */
  resume: extensible({
    reason: { type: 'string', enum: ['slow_reader', 'draining', 'credentials', 'limit', 'rebuilt'] },
    after_ms: { ...count, description: 'Minimum time to wait before the next request.' },
  }),
} as const;

type Schemas = typeof eventSchemas;
export type StreamEvents = { readonly [Name in keyof Schemas]: FromSchema<Schemas[Name]> };
