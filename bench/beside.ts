/**
 * Measures a peer alone, then beside an attack: its success and latency, and their goals. The peer plays on: it keeps
 * its connections, as a game server does.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startAttack } from './load/attack.js';
import type { AttackTask } from './load/attack-thread.js';
import { connectionsTo } from './load/drive.js';
import type { Run } from './run.js';
import { driveWindow, measuredOf, p99MsOf, type Series, unexpected, type Window } from './windows.js';

/** Time after the rehearsal for the node to finish what the attack left. */
const restMs = 3_000;

/**
 * Each of the two windows takes half of the run's seconds. A rehearsal comes first: a node compiles the code that an
 * attack reaches when it runs for the first time, and its threads load.
 */
export async function besideAttack(run: Run, peer: Series & { connections: number }, task: AttackTask): Promise<void> {
  const { report: to, startedMs } = run;
  const connections = connectionsTo(peer.target, peer.connections);
  const series = { ...peer, connections };
  const seconds = run.options.seconds / 2;
  const rehearsal = await startAttack(task);
  await driveWindow(series, seconds, startedMs);
  await rehearsal.end();
  await delay(restMs);
  const alone = await driveWindow(series, seconds, startedMs);
  const attack = await startAttack(task);
  const beside = await driveWindow(series, seconds, startedMs);
  await attack.end();
  for (const connection of connections) connection.close();
  const { name } = task;
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

/** Returns the share of the requests that were answered with 200 or 201, late ones included. */
function success({ driven }: Window): number {
  const served = driven.kinds.map(({ statuses }) => (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0));
  return served.reduce((sum, count) => sum + count, 0) / driven.sent;
}
