/**
 * Measures success and latency of one peer, alone and beside another peer that takes all the room it can, for each
 * attack.
 */
import { limits } from '../../src/limits.js';
import { startAttack } from '../load/attack.js';
import type { AttackName } from '../load/attack-thread.js';
import { batchKind, eventKind, listingKind, mixture, scoreKind } from '../load/requests.js';
import { measured } from '../run.js';
import { driveWindow, measuredOf, p99MsOf, unexpected, type Window, warmUpSecondsMax } from '../windows.js';

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
    const to = run.report;
    const { seconds } = run.options;
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
    await driveWindow(series, Math.min(warmUpSecondsMax, seconds), run.startedMs);
    for (const [name, count] of attacks) {
      const alone = await driveWindow(series, seconds / 2, run.startedMs);
      const attack = await startAttack({ name, port: target.port, attacker, count });
      const beside = await driveWindow(series, seconds / 2, run.startedMs);
      await attack.end();
      const failures = unexpected(measuredOf(series, [beside]));
      const { unsent } = beside.driven;
      if (failures !== '' || unsent > 0) to.note(`${name}: ${failures || 'no refusal'}; no free connection: ${unsent}`);
      for (const [when, window] of [
        ['alone', alone],
        ['beside it', beside],
      ] as const) {
        to.figure(`${name}: p99 of the victim ${when}`, 'ms', 'less', p99MsOf(window));
        to.figure(`${name}: success of the victim ${when}`, '%', 'more', 100 * success(window));
      }
      const slower = p99MsOf(beside) / p99MsOf(alone);
      to.goal(`${name}: success of the victim`, 100 * success(beside), 'at least', 99, ' %');
      to.goal(`${name}: p99 of the victim beside it against alone`, slower, 'at most', 3, 'x');
    }
  },
});

/** Returns the share of the requests that were answered with 200 or 201, late ones included. */
function success({ driven }: Window): number {
  const served = driven.kinds.map(({ statuses }) => (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0));
  return served.reduce((sum, count) => sum + count, 0) / driven.sent;
}
