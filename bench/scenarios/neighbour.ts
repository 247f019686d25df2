/** What one peer gets while another one takes all the room it can: its success and its latency without and with each attack. */
import { limits } from '../../src/limits.js';
import { startAttack } from '../load/attack.js';
import type { AttackName } from '../load/attack-thread.js';
import { noAnswer } from '../load/connection.js';
import { at, Latencies } from '../load/latency.js';
import { batchKind, eventKind, mixture, scoreKind } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { startFilled } from '../node-target.js';
import type { Report } from '../report.js';
import { driveWindow, type Window, warmUpSecondsMax } from '../windows.js';

/** Connections of each attack. */
const attacks: readonly (readonly [AttackName, number])[] = [
  ['half batches', 140],
  ['flood of batches', 64],
  // More than the node takes: each that it closes for another one is opened again.
  ['idle connections', limits.connectionsMaxDefault + 400],
];
const victimConnections = 64;
/** Requests a second: little beside what a node can do. */
const victimRate = 200;
const victimBatch = 50;

export const neighbour = measured(
  'neighbour',
  'one peer without and with another that takes all the room it can: success and latency',
  { players: 10_000 },
  run,
);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const { target, site } = await startFilled('node', { ...options, snapshotAfter: 1 });
  try {
    const startedMs = performance.now();
    const [attacker, victim] = site.peers;
    if (attacker === undefined || victim === undefined) throw new Error('neighbour needs two peers');
    const victims = { ...site, peers: [victim] };
    const series = {
      name: 'victim',
      target,
      workload: mixture(site.seed, [
        [scoreKind(victims), 40],
        [eventKind(victims), 40],
        [batchKind(victims, victimBatch), 20],
      ]),
      connections: options.connections ?? victimConnections,
      rate: options.rate ?? victimRate,
    };
    await driveWindow(series, Math.min(warmUpSecondsMax, options.seconds), startedMs);
    for (const [name, count] of attacks) {
      const alone = await driveWindow(series, options.seconds / 2, startedMs);
      const attack = await startAttack({ name, port: target.port, attacker, count });
      const beside = await driveWindow(series, options.seconds / 2, startedMs);
      await attack.end();
      if (success(beside) < 1 || beside.driven.unsent > 0) to.note(`${name}: ${failures(beside)}`);
      const [aloneMs, besideMs] = [p99Ms(alone), p99Ms(beside)];
      to.figure(`${name}: p99 of the victim alone`, 'ms', 'less', aloneMs);
      to.figure(`${name}: p99 of the victim beside it`, 'ms', 'less', besideMs);
      to.figure(`${name}: success of the victim alone`, '%', 'more', 100 * success(alone));
      to.figure(`${name}: success of the victim beside it`, '%', 'more', 100 * success(beside));
      to.goal(`${name}: success of the victim`, 100 * success(beside), 'at least', 99, ' %');
      to.goal(`${name}: p99 of the victim beside it against alone`, besideMs / aloneMs, 'at most', 3, 'x');
    }
  } finally {
    await target.stop();
  }
}

/** Of all kinds together. */
function p99Ms({ driven }: Window): number {
  const all = new Latencies();
  for (const { latencies } of driven.kinds) all.add(latencies);
  return at(all.summary(), 99) / 1000;
}

/** Share of the requests that were answered as expected, late ones too. */
function success({ driven }: Window): number {
  const answers = driven.kinds.flatMap(({ statuses }) => [...statuses]);
  const served = answers.reduce((sum, [status, count]) => sum + (status === 200 || status === 201 ? count : 0), 0);
  return served / driven.sent;
}

/** What else became of the requests. */
function failures({ driven }: Window): string {
  const answers = driven.kinds.flatMap(({ name, statuses }) => [...statuses].map((entry) => [name, ...entry] as const));
  const others = answers.filter(([, status]) => status !== 200 && status !== 201);
  const texts = others.map(
    ([name, status, count]) => `${name} ${status === noAnswer ? 'no answer' : status}: ${count}`,
  );
  return [...texts, `found no free connection: ${driven.unsent}`].join(', ');
}
