/** The two routes on fastify and Redis. One script stores an event once and adds it to its player's sums. */
import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import { type EventBody, eventSchema, keyCheck, scoreBody } from './event-schema.js';

const [redisPort, ...keys] = process.argv.slice(2);
const isKey = keyCheck(keys);
const redis = new Redis(Number(redisPort), '127.0.0.1', {
  // Sends all commands of a turn of the event loop in one socket write.
  enableAutoPipelining: true,
  scripts: {
    storeEvent: {
      numberOfKeys: 2,
      lua: `if not redis.call('SET', KEYS[1], ARGV[1], 'NX') then return 0 end
redis.call('HINCRBYFLOAT', KEYS[2], ARGV[2], ARGV[3])
redis.call('HINCRBY', KEYS[2], 'n', 1)
return 1`,
    },
  },
}) as Redis & { storeEvent(event: string, player: string, body: string, field: string, by: number): Promise<number> };

const app = fastify();

app.get<{ Params: { id: string } }>('/api/v1/players/:id/trust-score', async (request, reply) => {
  const { id } = request.params;
  const [lowering, raising, count] = await redis.hmget(`p:${id}`, 'b', 'g', 'n');
  if (!count) return reply.code(404).send({ code: 'player_not_found' });
  return scoreBody(id, Number(lowering), Number(raising), Number(count));
});

app.post<{ Body: EventBody }>('/api/v1/events', { schema: eventSchema }, async (request, reply) => {
  const event = request.body;
  if (!isKey(request.headers['x-peer-api-key'])) return reply.code(401).send({ code: 'invalid_api_key' });
  const field = event.event_type === 'commendation' ? 'g' : 'b';
  const stored = { ...event, received_at: new Date().toISOString(), status: 'accepted' };
  const body = JSON.stringify(stored);
  const isNew = await redis.storeEvent(`e:${event.event_id}`, `p:${event.player_id}`, body, field, event.severity);
  return isNew ? reply.code(201).send(stored) : reply.code(409).send({ code: 'duplicate_event' });
});

const address = await app.listen({ port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ msg: 'listening', port: Number(new URL(address).port) }));
process.once('SIGTERM', () => {
  redis.disconnect();
  void app.close();
});
