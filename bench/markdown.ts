/** The goals that results judge as one table in Markdown, for a README: goal, wanted, reached, and the command that measured it. */
import { faultsOf, goalCells, markOf, placeOf, type Result } from './result.js';
import { readResult } from './result-file.js';

export function goalsTable(files: readonly string[]): string {
  const results = files.map(readResult);
  const lines = results.flatMap((result) =>
    result.goals.map((goal) => {
      const [figure, wanted, reached, verdict] = goalCells(goal) as [string, string, string, string];
      // It makes the figures worthless, whatever they reach.
      const [fault] = faultsOf(result);
      return [figure, wanted, reached, fault === undefined ? verdict : markOf(fault), `\`${commandOf(result)}\``];
    }),
  );
  const head = ['Goal', 'wanted', 'reached', '', 'measured by'];
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const places = [...new Set(results.map((result) => `${placeOf(result)}, ${result.started_at.slice(0, 10)}`))].join(
    '; ',
  );
  return [row(head), row(head.map(() => '---')), ...lines.map(row), '', `${places}.`].join('\n');
}

/** With every option, so that it means the same when the defaults change. */
function commandOf({ scenario, options }: Result): string {
  return [scenario, ...Object.entries(options).map(([name, value]) => `--${name} ${String(value)}`)].join(' ');
}
