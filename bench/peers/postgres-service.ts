/**
 * The two routes on fastify and PostgreSQL. One prepared statement stores an event once and adds it to its player's
 * sums.
 */
import { fastify } from 'fastify';
import pg from 'pg';
import { type EventBody, eventSchema, keyCheck, scoreBody } from './event-schema.js';

const [folder, user, ...keys] = process.argv.slice(2);
const isKey = keyCheck(keys);
/** Twice the cores of a small server, and some more for connections that wait for the disk. */
const poolSize = 16;
const pool = new pg.Pool({ host: folder!, user: user!, database: 'postgres', max: poolSize, idleTimeoutMillis: 0 });

await pool.query(
  `CREATE TABLE IF NOT EXISTS events (event_id text PRIMARY KEY, player text NOT NULL, body jsonb NOT NULL)`,
);
await pool.query(
  `CREATE TABLE IF NOT EXISTS players (player text PRIMARY KEY, b float8 NOT NULL, g float8 NOT NULL, n int NOT NULL)`,
);

const store = `WITH stored AS (
  INSERT INTO events VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING player
), added AS (
  INSERT INTO players SELECT player, $4, $5, 1 FROM stored
  ON CONFLICT (player) DO UPDATE SET b = players.b + excluded.b, g = players.g + excluded.g, n = players.n + 1
) SELECT 1 FROM stored`;
const read = 'SELECT b, g, n FROM players WHERE player = $1';

const app = fastify();

app.get<{ Params: { id: string } }>('/api/v1/players/:id/trust-score', async (request, reply) => {
  const { id } = request.params;
  const { rows } = await pool.query<{ b: number; g: number; n: number }>({ name: 'read', text: read, values: [id] });
  const row = rows[0];
  if (row === undefined) return reply.code(404).send({ code: 'player_not_found' });
  return scoreBody(id, row.b, row.g, row.n);
});

app.post<{ Body: EventBody }>('/api/v1/events', { schema: eventSchema }, async (request, reply) => {
  const event = request.body;
  if (!isKey(request.headers['x-peer-api-key'])) return reply.code(401).send({ code: 'invalid_api_key' });
  const raises = event.event_type === 'commendation';
  const stored = { ...event, received_at: new Date().toISOString(), status: 'accepted' };
  const sums = raises ? [0, event.severity] : [event.severity, 0];
  const values = [event.event_id, event.player_id, JSON.stringify(stored), ...sums];
  const { rowCount } = await pool.query({ name: 'store', text: store, values });
  return rowCount === 1 ? reply.code(201).send(stored) : reply.code(409).send({ code: 'duplicate_event' });
});

const address = await app.listen({ port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ msg: 'listening', port: Number(new URL(address).port) }));
process.once('SIGTERM', () => {
  void app.close().then(() => pool.end());
});
