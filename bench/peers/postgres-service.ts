/**
 * The two routes on fastify and PostgreSQL. One prepared statement stores an event once and adds it to its player's
 * sums.
 */
import pg from 'pg';
import { serve } from './reference-service.js';

const [folder, user, ...keys] = process.argv.slice(2);
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

await serve(keys, {
  async read(id) {
    const { rows } = await pool.query<{ b: number; g: number; n: number }>({ name: 'read', text: read, values: [id] });
    const row = rows[0];
    return row === undefined ? null : [row.b, row.g, row.n];
  },
  async add(event, body, raises) {
    const sums = raises ? [0, event.severity] : [event.severity, 0];
    const values = [event.event_id, event.player_id, body, ...sums];
    const { rowCount } = await pool.query({ name: 'store', text: store, values });
    return rowCount === 1;
  },
  close: () => pool.end(),
});
