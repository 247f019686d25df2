/**
 * Measures the memory of a player and of an event id, the pauses while their tables grow, and the cost of a request by
 * group size.
 */
import type { GrowthResult } from '../core/growth.js';
import { runTask } from '../core/tasks.js';
import { eventKind, scoreKind } from '../load/requests.js';
import type { RunningNode } from '../node-target.js';
import { measured, type Run } from '../run.js';
import { ratios } from '../statistics.js';
import { cpuUsOf } from '../windows.js';

const fewPlayers = 10_000;
/** A Map of more players would not fit into every machine that runs this measurement. */
const mapPlayersMax = 1_000_000;
const tableNames = { subjects: 'players', map: 'players in a Map of objects', 'event-ids': 'event ids' } as const;

export const memory = measured({
  name: 'memory',
  summary: 'bytes and pauses of the tables; cost by group size',
  players: 1_000_000,
  async measure(run) {
    const to = run.report;
    const { players, peers, seed } = run.options;
    const grow = async (table: keyof typeof tableNames, count = players): Promise<GrowthResult> => {
      const name = tableNames[table];
      const grown = await runTask('growth', { players: count, peers, seed, table }, `growing ${name}`);
      to.figure(`${name}: bytes each`, 'bytes', 'less', grown.bytesPerRow);
      to.figure(`${name}: worst stall while growing to ${grown.rows}`, 'ms', 'less', grown.worstTurnMs);
      to.figure(`${name}: full collection`, 'ms', 'less', grown.collectionMs);
      return grown;
    };
    const subjects = await grow('subjects');
    const map = await grow('map', Math.min(players, mapPlayersMax));
    const ids = await grow('event-ids');
    const sizes = sizesUpTo(players);
    const { reads, events } = await costBySize(run, sizes);

    const ofMap = subjects.bytesPerRow / map.bytesPerRow;
    to.goal('state per player', subjects.bytesPerRow, 'at most', 136, ' bytes', 140);
    to.goal('state per player, of that in a Map of objects', ofMap, 'at most', 0.25, 'x');
    to.goal('event_id memory, an event', ids.bytesPerRow, 'at most', 24, ' bytes');
    to.goal('event-loop stall while growing', Math.max(subjects.worstTurnMs, ids.worstTurnMs), 'at most', 6, ' ms');
    to.goal(`cost of a read, ${players} players against ${sizes[0]}`, reads, 'at most', 1.5, 'x');
    to.goal(`cost of an event, ${players} players against ${sizes[0]}`, events, 'at most', 1.5, 'x');
  },
});

/** Returns 10,000 (or a tenth of `players` if that is less), ten times as many each time, and finally `players`. */
function sizesUpTo(players: number): number[] {
  const sizes: number[] = [];
  for (let size = Math.min(fewPlayers, Math.ceil(players / 10)); size < players; size *= 10) sizes.push(size);
  return [...sizes, players];
}

/** Returns the processor time of a whole request in the largest group, as a ratio to that in the smallest. */
async function costBySize(run: Run, sizes: readonly number[]): Promise<{ reads: number; events: number }> {
  const nodes: RunningNode[] = [];
  for (const players of sizes) nodes.push(await run.node({ players }, `${players} players`));
  const ratioOf = async (what: string, kindOf: typeof scoreKind, connections: number): Promise<number> => {
    const series = nodes.map(({ target, site }) => ({
      ...run.load(kindOf(site), connections),
      name: `${what}, ${target.name}`,
      target,
    }));
    const found = await run.alternate(what, series);
    const costs = found.map(cpuUsOf);
    return run.report.figure(`${what}: CPU, many players / few`, 'x', 'less', ratios(costs.at(-1)!, costs[0]!));
  };
  return { reads: await ratioOf('reads', scoreKind, 64), events: await ratioOf('events', eventKind, 256) };
}
