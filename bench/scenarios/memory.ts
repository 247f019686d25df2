/** What a player, an event id and their growth cost in memory and in pauses, and what a larger group costs each request. */
import type { GrowthResult } from '../core/growth.js';
import { runTask } from '../core/tasks.js';
import type { Kind } from '../load/drive.js';
import { eventKind, only, type Site, scoreKind } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { startFilled } from '../node-target.js';
import type { Report } from '../report.js';
import { median } from '../result.js';
import { stopAll, type Target } from '../target.js';
import { alternate, ratios, report } from '../windows.js';

const fewPlayers = 10_000;
/** A Map of more would not fit into every machine that runs this. */
const mapPlayersMax = 1_000_000;

export const memory = measured(
  'memory',
  'bytes and pauses of the tables; cost by group size',
  { players: 1_000_000 },
  run,
);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const { players, peers, seed } = options;
  const population = { players, peers, seed };
  const grow = async (table: 'subjects' | 'map' | 'event-ids', count = players): Promise<GrowthResult> => {
    const name = { subjects: 'players', map: 'players in a Map of objects', 'event-ids': 'event ids' }[table];
    const grown = await runTask('growth', { ...population, players: count, table }, `growing ${name}`);
    to.figure(`${name}: bytes each`, 'bytes', 'less', grown.bytesPerRow);
    to.figure(`${name}: worst stall while growing to ${grown.rows}`, 'ms', 'less', grown.worstTurnMs);
    to.figure(`${name}: full collection`, 'ms', 'less', grown.collectionMs);
    to.course({ name, chart: 'Worst stall while a table grows, ms', across: 'insertions', points: grown.stalls });
    return grown;
  };
  const subjects = await grow('subjects');
  const map = await grow('map', Math.min(players, mapPlayersMax));
  const ids = await grow('event-ids');

  const sizes = sizesUpTo(players);
  const costs = await runTask('cost', { peers, seed, sizes }, 'cost in the core');
  for (const { players: of, eventNs, readNs } of costs) {
    to.figure(`core only: one event among ${of} players`, 'ns', 'less', eventNs);
    to.figure(`core only: one read among ${of} players`, 'ns', 'less', readNs);
  }
  const inCore = 'Cost in the core, ns';
  by(
    to,
    inCore,
    'an event',
    sizes,
    costs.map(({ eventNs }) => eventNs),
  );
  by(
    to,
    inCore,
    'a read',
    sizes,
    costs.map(({ readNs }) => readNs),
  );
  const [reads, events] = await costByPlayers(options, sizes, to);
  const few = sizes[0]!;

  to.goal('state per player', subjects.bytesPerRow, 'at most', 136, ' bytes');
  to.goal(
    'state per player, of that in a Map of objects',
    subjects.bytesPerRow / map.bytesPerRow,
    'at most',
    0.25,
    'x',
  );
  to.goal('event_id memory, an event', ids.bytesPerRow, 'at most', 24, ' bytes');
  to.goal('event-loop stall while growing', Math.max(subjects.worstTurnMs, ids.worstTurnMs), 'at most', 6, ' ms');
  to.goal(`cost of a read, ${players} players against ${few}`, reads, 'at most', 1.5, 'x');
  to.goal(`cost of an event, ${players} players against ${few}`, events, 'at most', 1.5, 'x');
}

/** 10,000, or a tenth of `players` where that is less, each tenfold of it below `players`, and `players`. */
function sizesUpTo(players: number): number[] {
  const sizes: number[] = [];
  for (let size = Math.min(fewPlayers, Math.ceil(players / 10)); size < players; size *= 10) sizes.push(size);
  return [...sizes, players];
}

function by(to: Report, chart: string, name: string, sizes: readonly number[], values: readonly number[]): void {
  to.course({ name, chart, across: 'players', decades: true, points: sizes.map((size, i) => [size, values[i]!]) });
}

/** Processor time of a whole request in a node with as many players as in the largest of `sizes`, as a ratio to the smallest. */
async function costByPlayers(
  options: LoadOptions,
  sizes: readonly number[],
  to: Report,
): Promise<[reads: number, events: number]> {
  const nodes: { target: Target; site: Site }[] = [];
  try {
    for (const players of sizes) {
      nodes.push(await startFilled(`${players} players`, { ...options, players, snapshotAfter: 1 }));
    }
    const ratioOf = async (what: string, kindOf: (site: Site) => Kind, connections: number): Promise<number> => {
      const series = nodes.map(({ target, site }) => ({
        name: `${what}, ${target.name}`,
        target,
        workload: only(kindOf(site)),
        connections: options.connections ?? connections,
        rate: options.rate,
      }));
      const found = await alternate(what, series, options.seconds);
      for (const one of found) report(to, one);
      const costs = found.map(({ windows }) => windows.map(({ cpuUs }) => cpuUs));
      by(to, 'Processor time of a request, us', what, sizes, costs.map(median));
      return to.figure(`${what}: CPU, many players / few`, 'x', 'less', ratios(costs.at(-1)!, costs[0]!));
    };
    return [await ratioOf('reads', scoreKind, 64), await ratioOf('events', eventKind, 256)];
  } finally {
    await stopAll(nodes.map(({ target }) => target));
  }
}
