/** The verdicts that would change under different assumptions. The node computes them and writes nothing. */
import { publishedFigures } from '../core/scoring/score.js';
import { verdicts } from '../core/vocabulary.js';
import type { SimulationView, TrustView } from '../group/api.js';
import { limits } from '../limits.js';
import { shape } from '../validation/schema.js';
import { parseCount, parseHalfLife, parseNames, parsePeerSet } from './arguments.js';
import { count, exampleId, isoTime, mapped, operation, parsed, peerId } from './operation.js';
import { type Cell, columns, facts } from './text-table.js';

export const simulationOperations = {
  /** At least one of the assumptions, besides `rows`: the largest number of players, and of peers, to list. */
  simulate: operation({
    request: {
      ...shape(
        {
          pre_trusted: { type: 'array', maxItems: limits.preTrustedMax, uniqueItems: true, items: peerId },
          without: { type: 'array', minItems: 1, maxItems: limits.preTrustedMax, uniqueItems: true, items: peerId },
          half_life_days: count(0, limits.halfLifeDaysMax),
          ban_half_life_days: count(0, limits.halfLifeDaysMax),
          rows: count(1, limits.pageMax),
        },
        ['pre_trusted', 'without', 'half_life_days', 'ban_half_life_days'],
      ),
      minProperties: 2,
    },
    dashboard: true,
    isSlow: true,
    async answer(request, { group, onProgress }) {
      const { pre_trusted, without = [], half_life_days, ban_half_life_days, rows } = request;
      const halfLives = { halfLifeDays: half_life_days ?? null, banHalfLifeDays: ban_half_life_days ?? null };
      const query = { preTrusted: pre_trusted ?? null, without, ...halfLives, rowsMax: rows };
      return mapped(await group.simulate(query, onProgress), simulationValue);
    },
    ptf: {
      command: 'simulate',
      text: 'show which verdicts would change under different assumptions; changes nothing',
      given: {
        without: parsed('--without <ids>', 'as if these peers were revoked, with commas between', {
          parse: parseNames,
        }),
        pre_trusted: parsed('--pre-trusted <ids>', 'as if these peers, or none, were the pre-trusted ones', {
          parse: parsePeerSet,
        }),
        half_life_days: parsed(
          '--half-life <days>',
          'as if all evidence but bans had always decayed with this half-life; 0 means no decay',
          { parse: parseHalfLife },
        ),
        ban_half_life_days: parsed('--ban-half-life <days>', 'the same of standing bans', { parse: parseHalfLife }),
        rows: parsed('--rows <number>', `number of players and peers to list, 1 to ${limits.pageMax}`, {
          parse: parseCount,
          initial: { value: 20 },
        }),
      },
      problem: (request) =>
        Object.keys(request).length > 1
          ? undefined
          : 'give at least one of --without, --pre-trusted, --half-life, --ban-half-life',
      working: 'simulating',
      examples: [`simulate --without ${exampleId}`, 'simulate --pre-trusted none', 'simulate --half-life 60 --json'],
      show: simulationLines,
    },
  }),
};

function simulationValue(simulation: SimulationView) {
  const { seq, at, players, verdicts: table, changed, peers } = simulation;
  const counts = verdicts.flatMap((was) => verdicts.filter((is) => is !== was).map((is) => table[was][is]));
  const readOf = (view: TrustView) => ({ ...publishedFigures(view), verdict: view.verdict });
  return {
    seq,
    at: isoTime(at),
    players,
    /** Number of players whose verdict changes; `changed` lists some of them. */
    changed_count: counts.reduce((sum, count) => sum + count, 0),
    changed: changed.map(({ subject, before, after }) => ({
      subject_hash: subject,
      event_count: before.eventCount,
      before: readOf(before),
      after: readOf(after),
    })),
    verdicts: table,
    peers: peers.map(({ peerId, peerName, before, after }) => ({
      peer_id: peerId,
      peer_name: peerName,
      weight_before: before,
      weight_after: after,
    })),
  };
}
export interface SimulationValue extends ReturnType<typeof simulationValue> {}

function simulationLines(value: SimulationValue, width: number): string[] {
  const moves = verdicts.flatMap((was) =>
    verdicts
      .filter((is) => is !== was && value.verdicts[was][is] > 0)
      .map((is) => ({ was, is, players: value.verdicts[was][is] })),
  );
  const shown = <R>(rows: readonly R[], ...cells: readonly (readonly [string, (row: R) => Cell])[]): string[] =>
    rows.length === 0 ? [] : ['', ...columns(width, ['player', 'before', 'after', 'peer'], rows, cells)];
  return [
    ...facts(width, [
      ['at record', value.seq],
      ['at', value.at],
      ['players', value.players],
      ['changed verdicts', value.changed_count],
    ]),
    ...shown(moves, ['before', ({ was }) => was], ['after', ({ is }) => is], ['players', ({ players }) => players]),
    ...shown(
      value.peers,
      ['peer', (one) => one.peer_id],
      ['weight', (one) => one.weight_before.toFixed(3)],
      ['then', (one) => one.weight_after.toFixed(3)],
      ['name', (one) => one.peer_name],
    ),
    ...shown(
      value.changed,
      ['player', (one) => one.subject_hash],
      ['events', (one) => one.event_count],
      ['before', ({ before }) => before.verdict],
      ['score', ({ before }) => before.score.toFixed(2)],
      ['after', ({ after }) => after.verdict],
      ['then', ({ after }) => after.score.toFixed(2)],
      ['confidence', ({ after }) => after.confidence.toFixed(2)],
    ),
    ...(value.changed.length < value.changed_count ? ['', `${value.changed.length} of them listed; see --rows`] : []),
  ];
}
