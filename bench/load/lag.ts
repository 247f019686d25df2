/** Whether the generator of an open loop was late itself: a latency counts from when its request was due, so that would show as the server's. */
import type { Driven } from './drive.js';
import { at, Latencies } from './latency.js';

const percentile = 99;
/** Of the latencies: what is less does not change what they say. */
const shareMax = 0.1;
const lagUsMax = 1000;

/** What to say of drives of one load; undefined where the load came in time, or too little of it to tell. */
export function lagNote(name: string, drives: readonly Pick<Driven, 'kinds' | 'lag'>[]): string | undefined {
  const lag = new Latencies();
  const all = new Latencies();
  for (const drive of drives) {
    lag.add(drive.lag);
    for (const { latencies } of drive.kinds) all.add(latencies);
  }
  const [lagUs, latencyUs] = [at(lag.summary(), percentile), at(all.summary(), percentile)];
  if (!(lagUs > lagUsMax && lagUs > latencyUs * shareMax)) return undefined;
  const ms = (us: number) => (us / 1000).toFixed(1);
  return `${name}: the load itself was late, ${ms(lagUs)} ms at the 99th percentile, of ${ms(latencyUs)} ms: these latencies are partly its own`;
}
