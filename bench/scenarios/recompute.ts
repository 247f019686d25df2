/** The computation of peer weights: how long it takes by itself and in a node, and what readers feel of it. */
import { limits } from '../../src/limits.js';
import { Background } from '../background.js';
import { runTask } from '../core/tasks.js';
import { measureDisturbed } from '../disturbed.js';
import { type LoadOptions, measured } from '../measured.js';
import { health, settled, startFilled } from '../node-target.js';
import type { Report } from '../report.js';
import { median } from '../result.js';
import { sendEvents } from './snapshot.js';

/** One of a hundred reads of nine computations is 300 reads: two such runs differ by a quarter. Of ten million players each takes long. */
const roundsMost = 24;
const roundsLeast = 9;
const measuredPlayers = 24_000_000;
/** Until then V8 still compiles what runs once in a computation, on a thread that takes the core for milliseconds: behind 15 it was one function in most. */
const rehearsalsMost = 30;
/** Loops over more players are compiled sooner: so many players in all rehearsals together will do, in no fewer than this. */
const rehearsedPlayers = 30_000_000;
const rehearsalsLeast = 5;
const repeat = 5;
/** The service rests so many times as long as the last computation took; a little more is quiet for sure. */
const restFactor = limits.weightsRestFactor + 0.5;
/** A node that runs for long has compiled what health takes: 0.2 ms of its thread in place of 0.6. */
const looksBefore = 1_000;
/** Of the processor time that the last one took: what the threads in the background do before it is no computation. */
const likelyShare = 0.5;

export const recompute = measured(
  'recompute',
  'peer weights: time, memory, and readers meanwhile',
  { players: 1_000_000, peers: 50 },
  run,
);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const { players, peers, seed } = options;
  const task = { players, peers, seed, repeat };
  const grown = await runTask('recompute', { ...task, layout: 'grown' }, 'recompute, alone, in tables that grew');
  const alone = await runTask('recompute', { ...task, layout: 'loaded' }, 'recompute, alone');
  const what = `peer trust of ${players} players, ${peers} peers, alone`;
  const aloneS = to.figure(what, 's', 'less', alone.times);
  to.figure(`${what}, in tables that grew`, 's', 'less', grown.times);
  to.figure('memory with the group drawn', 'MB', 'less', alone.groupMb);
  to.figure('memory at the peak', 'MB', 'less', alone.peakMb);
  const environment = { WEIGHTS_INTERVAL_MS: '50' };
  const { target, site, node } = await startFilled('node', { ...options, snapshotAfter: 1, environment });
  const background = new Background(node.pid!);
  try {
    for (let look = 0; look < looksBefore; look++) await health(node);
    let events = 0;
    let workedMs = 0;
    const { workS, p99Ratio, worstLoopMs } = await measureDisturbed(
      {
        target,
        site,
        what: 'a recompute',
        async work() {
          await sendEvents(node, site, events++, 1);
          const { last_seq } = await health(node);
          const begunMs = background.cpuMs();
          if (background.isSeen) await background.still(begunMs + likelyShare * workedMs);
          else await settled(node, last_seq);
          let endedMs = Date.now();
          return async () => {
            const isDone = (await health(node)).weights.based_on_seq >= last_seq;
            const { weights } = await settled(node, last_seq);
            // They were still before they began, as long as nobody knows how long they work.
            if (!isDone) endedMs = Date.now();
            workedMs = background.cpuMs() - begunMs;
            // From when the service began: it may have rested first.
            return (endedMs - Date.parse(weights.computed_at!)) / 1000;
          };
        },
        rehearsals: timesOf(players, rehearsedPlayers, rehearsalsLeast, rehearsalsMost),
        rounds: timesOf(players, measuredPlayers, roundsLeast, roundsMost),
        restFactor,
        quietS: options.seconds,
        connections: options.connections ?? 32,
        rate: options.rate ?? 5_000,
      },
      to,
    );
    to.goal(`recompute at ${players} players, ${peers} peers, alone`, aloneS, 'at most', 1, ' s');
    to.goal(`recompute at ${players} players, ${peers} peers, in the node`, median(workS), 'at most', 1, ' s');
    to.goal("readers' p99 during a recompute against quiet", p99Ratio, 'at most', 1.2, 'x');
    to.goal('event-loop stall during a recompute', worstLoopMs, 'at most', 10, ' ms');
  } finally {
    background.close();
    await target.stop();
  }
}

/** So often that it is `all` players together, within the bounds. */
function timesOf(players: number, all: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, Math.floor(all / players)));
}
