/**
 * Measures success and latency of one peer, alone and beside another peer that takes all the room it can, for each
 * attack.
 */
import { limits } from '../../src/limits.js';
import { besideAttack } from '../disturbed.js';
import type { AttackName } from '../load/attack-thread.js';
import type { Workload } from '../load/drive.js';
import { batchKind, eventKind, listingKind, mixture, type Site, scoreKind, withdrawalKind } from '../load/requests.js';
import { measured } from '../run.js';
import { warmUpSecondsMax } from '../windows.js';

/** Attacks with their connections, and whether the victim withdraws events beside it. */
const attacks: readonly (readonly [AttackName, connections: number, withdraws?: true])[] = [
  ['half batches', 140],
  ['flood of batches', 64],
  // More than the node accepts: the attack reopens each connection that the node closes for another one.
  ['idle connections', limits.connectionsMaxDefault + 400],
  ['old repeats', 16, true],
  ['many old repeats', 300, true],
  ['repeated matches', 8],
  ['unread streams', limits.streamReadersPerPeer],
];
const victimConnections = 64;
/** Requests a second; a small part of a node's capacity. */
const victimRate = 200;
const victimBatch = 50;
/** Requests between an event and its withdrawal: a second at the victim's rate, and no multiple of `withdrawnEvery`. */
const withdrawnAfter = 211;
const withdrawnEvery = 7;

export const neighbour = measured({
  name: 'neighbour',
  summary: 'one peer without and with another that takes all the room it can: success and latency',
  players: 10_000,
  // Every one of them has reported the player of the repeated matches.
  peers: 3_000,
  async measure(run) {
    const { target, site } = await run.node({ knownToAll: 1 });
    const [attacker, victim] = site.peers;
    if (attacker === undefined || victim === undefined) throw new Error('neighbour needs at least two peers');
    const victims = { ...site, peers: [victim] };
    const series = {
      name: 'victim',
      target,
      workload: mixture(
        site.seed,
        [scoreKind(victims), 40],
        [eventKind(victims), 35],
        [batchKind(victims, victimBatch), 20],
        [listingKind(victims), 5],
      ),
      connections: run.options.connections ?? victimConnections,
      rate: run.options.rate ?? victimRate,
    };
    await run.drive(series, Math.min(warmUpSecondsMax, run.options.seconds));
    for (const [name, count, withdraws] of attacks) {
      const workload = withdraws ? withWithdrawals(series.workload, victims) : series.workload;
      await besideAttack(run, { ...series, workload }, { name, port: target.port, attacker, count });
    }
  },
});

/** Adds the withdrawal of every seventh event, by a request that is not one of those events. */
function withWithdrawals({ kinds, kindAt }: Workload, victims: Site): Workload {
  const isEvent = (i: number) => i >= 0 && kinds[kindAt!(i)]!.name === 'event';
  return {
    kinds: [...kinds, withdrawalKind(victims, withdrawnAfter)],
    kindAt: (i) => (i % withdrawnEvery === 0 && isEvent(i - withdrawnAfter) ? kinds.length : kindAt!(i)),
  };
}
