/**
 * Measures how other work affects the requests of a load: background work of the node by quiet windows against windows
 * that last as long as the work, and attacks by the success and latency of a peer alone and beside the attack.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startAttack } from './load/attack.js';
import type { AttackTask } from './load/attack-thread.js';
import { Connection } from './load/connection.js';
import { connectionsTo } from './load/drive.js';
import { eventKind, only, type Site, scoreKind } from './load/requests.js';
import type { RunningNode } from './node-target.js';
import type { OwnNode } from './own-node.js';
import { startProgress } from './progress.js';
import type { Run } from './run.js';
import {
  awaitLoopSamples,
  measuredOf,
  p99MsOf,
  report,
  type Series,
  unexpected,
  type Window,
  warmUpSecondsMax,
} from './windows.js';

export interface Disturbance {
  readonly what: string;
  /** Does the work. Resolves to its duration in seconds. */
  readonly work: () => Promise<number>;
  /** Runs of the work under load before the measurement. */
  readonly rehearsals: number;
  readonly rounds: number;
  /** Length of the quiet window after each round, as a multiple of the duration of the work. */
  readonly restFactor: number;
}

const longestWorkS = 600;
/** Work that takes longer is slowed down by other work of the machine, and the run would not end. */
const longestRestS = 5;
const connectionsDefault = 32;
const rateDefault = 5_000;
/** Time after the rehearsal of an attack for the node to finish what the attack left. */
const restMs = 3_000;

export async function measureDisturbed(run: Run, { target, site }: RunningNode, given: Disturbance) {
  const { what, work, rehearsals, rounds, restFactor } = given;
  const { seconds, rate } = run.options;
  // The readers keep their connections between windows, as game servers do.
  const connections = connectionsTo(target, run.options.connections ?? connectionsDefault);
  run.use({
    async stop() {
      for (const connection of connections) connection.close();
    },
  });
  const load = { target, workload: only(scoreKind(site)), connections, rate: rate ?? rateDefault };
  const series: Series = { ...load, name: 'reads, quiet' };
  const busySeries: Series = { ...load, name: `reads, during ${what}` };
  const all = rehearsals + rounds;
  const progress = startProgress(what, all + 1);
  const quietS = seconds / (rounds + 1);
  // Warm up in a closed loop. At the measured rate both sides would take long to compile their code.
  await run.drive({ ...series, rate: null }, Math.min(warmUpSecondsMax, seconds));
  const workS: number[] = [];
  const busy: Window[] = [];
  const quiet = [await run.drive(series, quietS)];
  for (let round = 0; round < all; round++) {
    const [window, tookS] = await driveDuring(run, busySeries, work);
    busy.push(window);
    workS.push(tookS);
    quiet.push(await run.drive(series, Math.max(quietS, Math.min(longestRestS, restFactor * tookS))));
    progress.advance(1);
  }
  for (const rehearsed of [workS, busy, quiet]) rehearsed.splice(0, rehearsals);
  await awaitLoopSamples(target);
  progress.stop();
  const [ofQuiet, ofBusy] = [measuredOf(series, quiet), measuredOf(busySeries, busy)];
  report(run.report, ofQuiet);
  report(run.report, ofBusy);
  run.report.figure(what, 's', 'less', workS);
  // If readers wait for a free connection in the quiet windows, the comparison means nothing.
  const wasQuiet = quiet.every(({ driven }) => driven.unsent === 0);
  const ratio = ofBusy.latencies.ms(99) / ofQuiet.latencies.ms(99);
  const figure = `readers' p99, during ${what} / quiet`;
  const p99Ratio = run.report.figure(figure, 'x', 'less', wasQuiet ? ratio : Number.NaN);
  return { workS, p99Ratio, worstLoopMs: Math.max(0, ...busy.flatMap(({ loop }) => loop.map(({ max }) => max))) };
}

/** Drives one window for as long as the work takes. */
export async function driveDuring<T>(run: Run, series: Series, work: () => Promise<T>): Promise<[Window, T]> {
  const ended = new AbortController();
  let driving!: Promise<Window>;
  // Start the work just before the window, which does not measure the request that makes the work due.
  const nearly = new Promise<void>((beforeBegin) => {
    const cues = { until: ended.signal, beforeBegin };
    driving = run.drive(series, longestWorkS, cues);
  });
  try {
    await Promise.race([nearly, driving]);
    const result = await work();
    ended.abort();
    return [await driving, result];
  } finally {
    ended.abort();
  }
}

/**
 * Sends `count` events, each after the answer to the one before. A batch would occupy the node's thread and delay the
 * readers.
 */
export function sendEvents(node: OwnNode, site: Site, first: number, count: number): Promise<void> {
  const kind = eventKind(site);
  return new Promise((resolve, reject) => {
    const connection = new Connection('127.0.0.1', node.port);
    let sent = 0;
    const next = () => connection.send(kind.request(first + sent++, 0));
    connection.onAnswer = (_, status) => {
      if (status === 201 && sent < count) return next();
      connection.close();
      if (status === 201) resolve();
      else reject(new Error(`expected an event to be answered with 201, got ${status}`));
    };
    next();
  });
}

/**
 * Measures a peer alone, then beside an attack. Each of the two windows takes half of the run's seconds. A rehearsal
 * comes first: a node compiles the code that an attack reaches when it runs for the first time, and its threads load.
 */
export async function besideAttack(run: Run, peer: Series & { connections: number }, task: AttackTask): Promise<void> {
  const to = run.report;
  // The peer keeps its connections, as a game server that plays on does.
  const connections = connectionsTo(peer.target, peer.connections);
  const series = { ...peer, connections };
  const seconds = run.options.seconds / 2;
  const attacked = async (): Promise<Window> => {
    const end = await startAttack(task);
    const window = await run.drive(series, seconds);
    await end();
    return window;
  };
  await attacked();
  await delay(restMs);
  const alone = await run.drive(series, seconds);
  const beside = await attacked();
  for (const connection of connections) connection.close();
  const { name } = task;
  const failures = unexpected(measuredOf(series, [beside]));
  const { unsent } = beside.driven;
  if (failures !== '' || unsent > 0) to.note(`${name}: ${failures || 'no refusal'}; no free connection: ${unsent}`);
  for (const [when, window] of Object.entries({ alone, 'beside it': beside })) {
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
