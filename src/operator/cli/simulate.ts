/**
 * Defines `ptf simulate`, which prints the verdicts that would change under different assumptions. The node computes
 * them and writes nothing.
 */
import type { Command } from 'commander';
import { verdicts } from '../../core/vocabulary.js';
import { limits } from '../../limits.js';
import type { Requests } from '../protocol/protocol.js';
import type { SimulationValue } from '../protocol/values.js';
import { parseCount, parseHalfLife, parseNames, parsePeerSet } from './arguments.js';
import { type CommandContext, examples, showing } from './command-context.js';
import { OperatorError } from './node-client.js';
import type { Rendered } from './renderers.js';
import { facts, table } from './table.js';

const exampleId = '0c4b2d0e-6f0a-4e0b-9c43-5f1a2b3c4d5e';
const ROWS = 20;

interface Options {
  readonly preTrusted?: readonly string[];
  readonly without?: readonly string[];
  readonly halfLife?: number;
  readonly banHalfLife?: number;
  readonly rows: number;
}

export function addSimulate(program: Command, session: CommandContext): void {
  program
    .command('simulate')
    .description('show which verdicts would change under different assumptions; changes nothing')
    .option('--without <ids>', 'as if these peers were revoked, with commas between', parseNames)
    .option('--pre-trusted <ids>', 'as if these peers, or none, were the pre-trusted ones', parsePeerSet)
    .option(
      '--half-life <days>',
      'as if all evidence but bans had always decayed with this half-life; 0 means no decay',
      parseHalfLife,
    )
    .option('--ban-half-life <days>', 'the same of standing bans', parseHalfLife)
    .option('--rows <number>', `number of players and peers to list, 1 to ${limits.pageMax}`, parseCount, ROWS)
    .addHelpText(
      'after',
      examples(`simulate --without ${exampleId}`, 'simulate --pre-trusted none', 'simulate --half-life 60 --json'),
    )
    .action(async (options: Options) => {
      const request = requestOf(options);
      session.done(
        showSimulation(await showing(session, 'simulating', (bar) => session.ask('simulate', request, bar))),
      );
    });
}

function requestOf({ preTrusted, without, halfLife, banHalfLife, rows }: Options): Requests['simulate'] {
  if ([preTrusted, without, halfLife, banHalfLife].every((assumption) => assumption === undefined)) {
    const text = 'give at least one of --without, --pre-trusted, --half-life, --ban-half-life';
    throw new OperatorError('wrong_usage', text, 2);
  }
  return {
    ...(preTrusted === undefined ? {} : { pre_trusted: preTrusted }),
    ...(without === undefined ? {} : { without }),
    ...(halfLife === undefined ? {} : { half_life_days: halfLife }),
    ...(banHalfLife === undefined ? {} : { ban_half_life_days: banHalfLife }),
    rows,
  };
}

export function showSimulation(value: SimulationValue): Rendered {
  const moves = verdicts.flatMap((was) =>
    verdicts
      .filter((is) => is !== was && value.verdicts[was][is] > 0)
      .map((is) => [was, is, value.verdicts[was][is]] as const),
  );
  const players = value.changed.map(({ subject_hash, event_count, before, after }) => [
    subject_hash,
    event_count,
    before.verdict,
    before.score.toFixed(2),
    after.verdict,
    after.score.toFixed(2),
    after.confidence.toFixed(2),
  ]);
  const peers = value.peers.map(({ peer_id, peer_name, weight_before, weight_after }) => [
    peer_id,
    weight_before.toFixed(3),
    weight_after.toFixed(3),
    peer_name,
  ]);
  const whole = ['player', 'before', 'after', 'peer'];
  const lines = (width: number): string[] => [
    ...facts(
      [
        ['at record', value.seq],
        ['at', value.at],
        ['players', value.players],
        ['changed verdicts', value.changed_count],
      ],
      width,
    ),
    ...section(moves, (rows) => table(rows, width, ['before', 'after', 'players'], whole)),
    ...section(peers, (rows) => table(rows, width, ['peer', 'weight', 'then', 'name'], whole)),
    ...section(players, (rows) =>
      table(rows, width, ['player', 'events', 'before', 'score', 'after', 'then', 'confidence'], whole),
    ),
    ...(value.changed.length < value.changed_count ? ['', `${value.changed.length} of them listed; see --rows`] : []),
  ];
  return { value, lines };
}

function section<R>(rows: readonly R[], lines: (rows: readonly R[]) => readonly string[]): string[] {
  return rows.length === 0 ? [] : ['', ...lines(rows)];
}
