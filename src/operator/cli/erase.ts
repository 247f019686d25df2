/** Defines `ptf erase`, which also lists the erasures that wait for the operator. */
import type { Command } from 'commander';
import { parseHash } from '../../operations/arguments.js';
import { exampleHash } from '../../operations/operation.js';
import type { Values } from '../../operations/table.js';
import { facts, table } from '../../operations/text-table.js';
import { type CommandContext, examples, type Rendered, type Signed, signature, signed } from './command-context.js';
import { OperatorError } from './node-client.js';

export function addErase(program: Command, { ask, done }: CommandContext): void {
  signed(program.command('erase'))
    .argument('[hash]', 'subject hash, 64 hexadecimal characters', parseHash)
    .option('--pending', 'list the players whose erasure waits for the operator')
    .description('erase everything that is stored about a player; also confirms the requests of peers')
    .addHelpText('after', examples('erase --pending', `erase ${exampleHash}`))
    .action(async (hash: string | undefined, { by, pending }: Signed & { readonly pending?: true }) => {
      if ((hash === undefined) === (pending === undefined)) {
        throw new OperatorError('wrong_usage', 'give a subject hash, or --pending', 2);
      }
      if (hash === undefined) done(pendingErasures(await ask('erase-pending', {})));
      else done(erasure(await ask('erase', { subject_hash: hash, ...signature(by) })));
    });
}

function pendingErasures({ data }: Values['erase-pending']): Rendered {
  const rows = data.map((one) => [one.subject_hash, one.requested_at, one.due_at]);
  return {
    value: { data },
    lines: (width) =>
      rows.length === 0
        ? ['no erasure is waiting']
        : table(rows, width, ['subject', 'requested', 'due'], ['subject', 'due']),
  };
}

function erasure(value: Values['erase']): Rendered {
  const rows: [string, string][] = [
    ['subject', value.subject_hash],
    ['status', value.status],
    ['events erased', String(value.events_erased)],
    ['at', value.erased_at],
    ['receipt', value.receipt],
  ];
  // The receipt is proof for the player: on one line, so that it can be copied.
  return { value, lines: () => facts(rows, Number.POSITIVE_INFINITY) };
}
