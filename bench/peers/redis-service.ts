/** The two routes on fastify and Redis. One script stores an event once and adds it to its player's sums. */
import { Redis } from 'ioredis';
import { serve } from './reference-service.js';

const [redisPort, ...keys] = process.argv.slice(2);
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

await serve(keys, {
  async read(id) {
    const [lowering, raising, count] = await redis.hmget(`p:${id}`, 'b', 'g', 'n');
    return count ? [Number(lowering), Number(raising), Number(count)] : null;
  },
  async add({ event_id: id, player_id: player, severity }, body, raises) {
    return (await redis.storeEvent(`e:${id}`, `p:${player}`, body, raises ? 'g' : 'b', severity)) === 1;
  },
  close: async () => redis.disconnect(),
});
