/**
 * Starts and stops, the stop at any moment: while threads load, under load, amid a snapshot or an erasure. Each must
 * end with 0 within its time and lose nothing; a thread that is ended amid a call into LMDB would end the process by a
 * signal.
 */
import { limits } from '../../src/limits.js';
import { temporaryFolder } from '../support/process.js';
import type { Random } from '../support/random.js';
import type { Fault } from './fault.js';
import { eventOf, livesUnderWriters, post, remove, type Writers } from './writers.js';

/** At times a player is reported, and erased. */
async function eraseSome({ node: { url }, peer }: Writers, id: string, random: Random): Promise<boolean> {
  if (random.below(20) > 0) return false;
  const hash = random
    .below(2 ** 32)
    .toString(16)
    .padStart(64, '0');
  await post(url, '/api/v1/events', peer, eventOf(peer, `${id}-erased`, hash));
  await remove(url, `subjects/${hash}`, peer);
  return false;
}

export const stop: Fault = {
  name: 'stop',
  summary: 'stops at any moment of a node that loads, writes, snapshots and erases; each must end with 0',
  rounds: 300,
  async run(rounds) {
    const { tally, random } = rounds;
    await livesUnderWriters(rounds, temporaryFolder(), {
      env: { SNAPSHOT_EVERY: '200', WEIGHTS_INTERVAL_MS: '50', ERASURE_QUOTA_PER_DAY: '1000000' },
      connections: () => 4,
      batch: 100,
      beside: (writers, id) => eraseSome(writers, id, random),
      // A third of the stops comes before there is anything to stop.
      isEarly: (round) => round % 3 === 1,
      endWithinMs: (isEarly) => (isEarly ? 20 : 600),
      end: async (node, say) => {
        const started = performance.now();
        const exit = await node.kill('SIGTERM');
        const ms = Math.round(performance.now() - started);
        tally.most('longest stop, ms', ms);
        if (exit !== 0) say(`a stop ended with ${exit}: ${node.output().slice(-600)}`);
        if (ms > limits.shutdownMs) say(`a stop took ${ms} ms`);
      },
    });
  },
};
