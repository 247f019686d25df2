/** Declares the path and query parameters of the routes, which `http/request/request-parameters.ts` parses. */
import { limits } from '../limits.js';
import { playerId } from '../validation/identifiers.js';
import type { Schema } from '../validation/schema.js';

interface Parameter {
  readonly description: string;
  readonly schema: Schema;
}

export const queryParameters = {
  limit: {
    description: `Entries per page; ${limits.pageDefault} if absent.`,
    schema: { type: 'integer', minimum: 1, maximum: limits.pageMax },
  },
  cursor: {
    description: 'The `next_cursor` of the previous page.',
    schema: { type: 'string', minLength: 1, maxLength: limits.cursorLength },
  },
  explain: {
    description: '`true` adds the parts of the score, without the identities of peers.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  ids: {
    description: `Player ids, separated by commas, which may be escaped (\`+\` is a plus). With those of \`id\`, 1 to ${limits.matchIdsMax}.`,
    schema: { type: 'string', examples: ['steam:76561198000000001,steam:76561198000000002'] },
  },
  id: {
    description: 'One player id, which may contain commas; may be repeated. Follows those of `ids` in the answer.',
    schema: { type: 'array', items: { type: 'string' } },
  },
} as const satisfies Record<string, Parameter>;

export type QueryParameter = keyof typeof queryParameters;

export const pathParameters: Readonly<Record<string, Parameter>> = {
  id: {
    description: 'The player, as in `player_id` of an event: the opaque id, or the subject hash.',
    schema: { type: 'string', minLength: 1, maxLength: limits.playerIdLength, pattern: playerId.pattern },
  },
  hash: {
    description: 'The subject hash, in either case.',
    schema: { type: 'string', pattern: '^[0-9A-Fa-f]{64}$' },
  },
  event_id: {
    description: 'The id of an event that the calling peer submitted.',
    schema: { type: 'string', minLength: 1, maxLength: limits.eventIdLength },
  },
};
