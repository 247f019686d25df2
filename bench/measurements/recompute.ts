/** Measures the computation of peer weights: its duration alone and in a node, and its effect on readers. */
import { limits } from '../../src/limits.js';
import { runTask } from '../core/tasks.js';
import { measureDisturbed, sendEvents } from '../disturbed.js';
import { health, settled } from '../node-target.js';
import { measured } from '../run.js';
import { median } from '../statistics.js';

/**
 * The p99 of nine computations is computed from 300 reads, and two such runs differ by a quarter. Computations of ten
 * million players take long, so they are fewer.
 */
const rounds = { least: 9, most: 24, players: 24_000_000 };
/**
 * V8 compiles code that runs once per computation within this many runs; loops over more players are compiled sooner.
 */
const rehearsals = { least: 5, most: 30, players: 30_000_000 };
const repeat = 5;
/**
 * The service pauses for `weightsRestFactor` times the duration of the last computation. The added half is a safety
 * margin.
 */
const restFactor = limits.weightsRestFactor + 0.5;
/** Calls of the health route after which a node has compiled it: 0.2 ms of its thread instead of 0.6. */
const healthCalls = 1_000;
const pollMs = 20;

export const recompute = measured({
  name: 'recompute',
  summary: 'peer weights: time, memory, and readers meanwhile',
  players: 1_000_000,
  peers: 50,
  async measure(run) {
    const to = run.report;
    const { players, peers, seed } = run.options;
    const task = { players, peers, seed, repeat };
    const grown = await runTask('recompute', { ...task, layout: 'grown' }, 'recompute, alone, in tables that grew');
    const alone = await runTask('recompute', { ...task, layout: 'loaded' }, 'recompute, alone');
    const figure = `peer trust of ${players} players, ${peers} peers, alone`;
    const aloneS = to.figure(figure, 's', 'less', alone.times);
    to.figure(`${figure}, in tables that grew`, 's', 'less', grown.times);
    to.figure('memory with the group drawn', 'MB', 'less', alone.groupMb);
    to.figure('memory at the peak', 'MB', 'less', alone.peakMb);

    const running = await run.node({ environment: { WEIGHTS_INTERVAL_MS: '50' } });
    const { node, site } = running;
    for (let call = 0; call < healthCalls; call++) await health(node);
    let events = 0;
    const work = async (): Promise<number> => {
      await sendEvents(node, site, events++, 1);
      const { weights } = await settled(node, pollMs);
      // Counted from the start of the computation, because the service may have waited first.
      return (Date.now() - Date.parse(weights.computed_at!)) / 1000;
    };
    const counts = { rehearsals: timesOf(players, rehearsals), rounds: timesOf(players, rounds), restFactor };
    const { workS, p99Ratio, worstLoopMs } = await measureDisturbed(run, running, {
      what: 'a recompute',
      work,
      ...counts,
    });
    to.goal(`recompute at ${players} players, ${peers} peers, alone`, aloneS, 'at most', 1, ' s');
    to.goal(`recompute at ${players} players, ${peers} peers, in the node`, median(workS), 'at most', 1, ' s');
    to.goal("readers' p99 during a recompute against quiet", p99Ratio, 'at most', 1.2, 'x', 1.5);
    to.goal('event-loop stall during a recompute', worstLoopMs, 'at most', 10, ' ms');
  },
});

/** Returns the number of computations that cover `all.players` players together, within the bounds. */
function timesOf(players: number, all: { least: number; most: number; players: number }): number {
  return Math.min(all.most, Math.max(all.least, Math.floor(all.players / players)));
}
