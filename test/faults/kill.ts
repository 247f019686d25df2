/**
 * SIGKILL at random times under concurrent writers: a node of its own on a real disk is killed and started again on the
 * same folder. All acknowledged events and withdrawals must be present.
 */
import { temporaryFolder } from '../support/process.js';
import type { Fault } from './fault.js';
import { livesUnderWriters, withdrawing } from './writers.js';

const connections = 32;

export const kill: Fault = {
  name: 'kill',
  summary: `SIGKILL at random moments under ${connections} writers; nothing acknowledged may be lost`,
  rounds: 1_000,
  async run(rounds) {
    const { tally, random, strict } = rounds;
    await livesUnderWriters(rounds, temporaryFolder(), {
      env: { SNAPSHOT_EVERY: '500' },
      connections: () => connections,
      beside: withdrawing(random),
      endWithinMs: () => 500,
      end: async (node, say) => {
        const ended = await node.kill('SIGKILL');
        if (ended !== 'SIGKILL') say(`the node ended by itself with ${ended}`);
      },
    });
    if (strict) tally.need('acknowledged withdrawals');
  },
};
