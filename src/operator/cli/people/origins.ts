/**
 * Defines `ptf origins`, which lists, declares and removes the sources that peers may pass on. Each origin counts as
 * one witness, whichever peer carries it.
 */
import type { Command } from 'commander';
import type { OriginValue } from '../../protocol/values.js';
import { type CommandContext, examples, type Signed, signature, signed } from '../command-context.js';
import type { Rendered } from '../renderers.js';
import { printable, table } from '../table.js';

export function addOrigins(program: Command, { ask, done }: CommandContext): void {
  const origins = program.command('origins').description('list and declare the sources that peers may pass on');
  origins.addHelpText('after', examples('origins list', 'origins add public-ban-list --by alice'));
  origins
    .command('list')
    .description('list all origins, including removed ones, the oldest first')
    .addHelpText('after', examples('origins list', 'origins list --json'))
    .action(async () => {
      const { data } = await ask('origins-list', {});
      done(showOrigins(data));
    });
  const meanings = {
    add: 'declare an origin: from now on peers may send events that name it',
    remove: 'accept no further events of an origin; stored ones stay as they are',
  } as const;
  for (const change of ['add', 'remove'] as const) {
    signed(origins.command(`${change} <name>`))
      .description(meanings[change])
      .addHelpText('after', examples(`origins ${change} public-ban-list --by alice`))
      .action(async (name: string, { by }: Signed) => {
        done(showOrigin(await ask('origins-change', { change, name, ...signature(by) })));
      });
  }
}

function showOrigin(value: OriginValue): Rendered {
  return { value, lines: () => [printable(`${value.name}  ${value.status}`)] };
}

function showOrigins(data: readonly OriginValue[]): Rendered {
  const heads = ['name', 'status', 'weight', 'carriers', 'declared'];
  const rows = data.map((origin) => [
    origin.name,
    origin.status,
    origin.weight.toFixed(3),
    origin.carriers.length,
    origin.declared_at,
  ]);
  return {
    value: { data },
    lines: (width) => (rows.length === 0 ? ['no origin is declared'] : table(rows, width, heads, ['name', 'status'])),
  };
}
