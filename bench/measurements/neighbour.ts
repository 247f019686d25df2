/**
 * Measures success and latency of one peer, alone and beside another peer that takes all the room it can, for each
 * attack.
 */
import { limits } from '../../src/limits.js';
import { besideAttack } from '../disturbed.js';
import type { AttackName } from '../load/attack-thread.js';
import { batchKind, eventKind, listingKind, mixture, scoreKind } from '../load/requests.js';
import { measured } from '../run.js';
import { warmUpSecondsMax } from '../windows.js';

/** Connections of each attack. */
const attacks: readonly (readonly [AttackName, number])[] = [
  ['half batches', 140],
  ['flood of batches', 64],
  // More than the node accepts: the attack reopens each connection that the node closes for another one.
  ['idle connections', limits.connectionsMaxDefault + 400],
  ['old repeats', 16],
  ['repeated matches', 8],
  ['unread streams', limits.streamReadersPerPeer],
];
const victimConnections = 64;
/** Requests a second; a small part of a node's capacity. */
const victimRate = 200;
const victimBatch = 50;

export const neighbour = measured({
  name: 'neighbour',
  summary: 'one peer without and with another that takes all the room it can: success and latency',
  players: 10_000,
  async measure(run) {
    const { target, site } = await run.node();
    const [attacker, victim] = site.peers;
    if (attacker === undefined || victim === undefined) throw new Error('neighbour needs at least two peers');
    const victims = { ...site, peers: [victim] };
    const series = {
      name: 'victim',
      target,
      workload: mixture(site.seed, [
        [scoreKind(victims), 40],
        [eventKind(victims), 35],
        [batchKind(victims, victimBatch), 20],
        [listingKind(victims), 5],
      ]),
      connections: run.options.connections ?? victimConnections,
      rate: run.options.rate ?? victimRate,
    };
    await run.drive(series, Math.min(warmUpSecondsMax, run.options.seconds));
    for (const [name, count] of attacks) {
      await besideAttack(run, series, { name, port: target.port, attacker, count });
    }
  },
});
