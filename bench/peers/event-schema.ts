/** Shared parts of both reference services: the event's schema, the known keys, and the score from two sums. */
import { hash } from 'node:crypto';

export interface EventBody {
  readonly event_id: string;
  readonly event_type: string;
  readonly peer_id: string;
  readonly player_id: string;
  readonly severity: number;
}

const text = { type: 'string', minLength: 1, maxLength: 128 };

export const eventSchema = {
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['schema_version', 'event_id', 'event_type', 'peer_id', 'player_id', 'game_id', 'severity', 'timestamp'],
    properties: {
      schema_version: text,
      event_id: text,
      event_type: { enum: ['report_cheating', 'report_toxicity', 'report_spam', 'commendation'] },
      peer_id: text,
      player_id: text,
      game_id: text,
      severity: { type: 'number', minimum: 0, maximum: 1 },
      timestamp: { type: 'string', format: 'date-time' },
      signature: {},
    },
  },
};

/** Checks a key against the digests of the keys in the process's arguments, by the same look-up as the service. */
export function keyCheck(keys: readonly string[]): (key: string | string[] | undefined) => boolean {
  const digests = new Set(keys.map((key) => hash('sha256', key)));
  return (key) => typeof key === 'string' && digests.has(hash('sha256', key));
}

export function scoreBody(player: string, lowering: number, raising: number, count: number): object {
  const score = Math.round((10_000 * (raising + 2)) / (lowering + raising + 4)) / 100;
  const confidence = Math.round((10_000 * count) / (count + 8)) / 10_000;
  const verdict = score < 40 ? 'suspicious' : 'neutral';
  return { player_id: player, score, confidence, verdict, event_count: count };
}
