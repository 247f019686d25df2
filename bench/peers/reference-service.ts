/** The two routes of both reference services on fastify. Each service brings its store. */
import { hash } from 'node:crypto';
import { fastify } from 'fastify';

interface EventBody {
  readonly event_id: string;
  readonly event_type: string;
  readonly peer_id: string;
  readonly player_id: string;
  readonly severity: number;
}

const text = { type: 'string', minLength: 1, maxLength: 128 };

const eventSchema = {
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

export interface Store {
  /** Returns the sums that lower and raise a player's score and the count of the events; null if there are none. */
  read(player: string): Promise<readonly [lowering: number, raising: number, count: number] | null>;
  /** Stores an event once and adds it to its player's sums. Returns whether it is new. */
  add(event: EventBody, body: string, raises: boolean): Promise<boolean>;
  close(): Promise<void>;
}

/** Serves both routes on a free port until SIGTERM. Finds a caller's key by its digest, as the service does. */
export async function serve(keys: readonly string[], store: Store): Promise<void> {
  const digests = new Set(keys.map((key) => hash('sha256', key)));
  const app = fastify();

  app.get<{ Params: { id: string } }>('/api/v1/players/:id/trust-score', async (request, reply) => {
    const { id } = request.params;
    const sums = await store.read(id);
    return sums === null ? reply.code(404).send({ code: 'player_not_found' }) : scoreBody(id, ...sums);
  });

  app.post<{ Body: EventBody }>('/api/v1/events', { schema: eventSchema }, async (request, reply) => {
    const event = request.body;
    const key = request.headers['x-peer-api-key'];
    if (typeof key !== 'string' || !digests.has(hash('sha256', key))) {
      return reply.code(401).send({ code: 'invalid_api_key' });
    }
    const stored = { ...event, received_at: new Date().toISOString(), status: 'accepted' };
    const isNew = await store.add(event, JSON.stringify(stored), event.event_type === 'commendation');
    return isNew ? reply.code(201).send(stored) : reply.code(409).send({ code: 'duplicate_event' });
  });

  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  console.log(JSON.stringify({ msg: 'listening', port: Number(new URL(address).port) }));
  process.once('SIGTERM', () => void app.close().then(() => store.close()));
}

function scoreBody(player: string, lowering: number, raising: number, count: number): object {
  const score = Math.round((10_000 * (raising + 2)) / (lowering + raising + 4)) / 100;
  const confidence = Math.round((10_000 * count) / (count + 8)) / 10_000;
  const verdict = score < 40 ? 'suspicious' : 'neutral';
  return { player_id: player, score, confidence, verdict, event_count: count };
}
