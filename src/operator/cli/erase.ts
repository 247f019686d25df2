/** Defines `ptf erase`, which also lists and refuses the erasures that wait for the operator. */
import type { Command } from 'commander';
import { limits } from '../../limits.js';
import { parseHash } from '../../operations/arguments.js';
import { exampleHash } from '../../operations/operation.js';
import type { Values } from '../../operations/table.js';
import { columns, facts, plural, printable } from '../../operations/text-table.js';
import { type CommandContext, examples, type Rendered, signed } from './command-context.js';
import { OperatorError } from './node-client.js';
import { allPages, confirmable, confirmed } from './operation-commands.js';

interface EraseOptions {
  readonly by?: string;
  readonly pending?: true;
  readonly refuse?: string;
  readonly reason?: string;
  readonly yes?: true;
}

export function addErase(program: Command, session: CommandContext): void {
  const { ask, done } = session;
  confirmable(signed(program.command('erase')))
    .argument('[hash]', 'subject hash, 64 hexadecimal characters', parseHash)
    .option('--pending', 'list the players whose erasure waits for the operator')
    .option('--refuse <hash>', 'refuse the requests of peers to erase this player', parseHash)
    .option('--reason <text>', `with --refuse: shown to these peers, at most ${limits.allowNoteLength} characters`)
    .description('erase everything that is stored about a player; also confirms or refuses the requests of peers')
    .addHelpText(
      'after',
      examples('erase --pending', `erase ${exampleHash}`, `erase --refuse ${exampleHash} --reason "banned twice"`),
    )
    .action(async (hash: string | undefined, { by, pending, refuse, reason, yes }: EraseOptions) => {
      if ([hash, pending, refuse].filter((given) => given !== undefined).length !== 1) {
        throw new OperatorError('wrong_usage', 'give a subject hash, --pending or --refuse', 2);
      }
      if ((refuse === undefined) !== (reason === undefined)) {
        throw new OperatorError('wrong_usage', '--refuse and --reason belong together', 2);
      }
      const signature = by === undefined ? {} : { by };
      if (refuse !== undefined) {
        const value = await ask('erase-refuse', { subject_hash: refuse, reason: reason!, ...signature });
        const text = `${value.subject_hash} stays: the peers that asked now read "${value.reason}"`;
        done({ value, lines: () => [printable(text)] });
      } else if (hash === undefined) {
        done(pendingErasures(await allPages(session, 'erase-pending', { from: 0, limit: limits.pageMax })));
      } else {
        await confirmed(session, yes, () => questionOf(session, hash));
        done(erasure(await ask('erase', { subject_hash: hash, ...signature })));
      }
    });
}

async function questionOf({ ask }: CommandContext, hash: string): Promise<string> {
  const known = await ask('player', { player_id: hash }).catch((error: unknown) => {
    if (error instanceof OperatorError && error.code === 'player_not_found') return null;
    throw error;
  });
  const found =
    known === null
      ? 'of whom no event is stored'
      : `${known.verdict}, with ${plural(known.event_count, 'event')} of ${plural(known.explain.peers, 'peer')}`;
  return `Erase player ${hash}, ${found}? This deletes everything stored about the player for good.`;
}

function pendingErasures({ data }: Values['erase-pending']): Rendered {
  const lines = (width: number): string[] =>
    columns(width, ['due'], data, [
      ['subject', (one) => one.subject_hash],
      ['due', (one) => one.due_at.slice(0, 10)],
      ['asked by', askedBy],
      ['because', ({ requests }) => requests[0]?.reason ?? ''],
      ['verdict', ({ evidence }) => evidence?.verdict ?? 'unknown'],
      ['peers', ({ evidence }) => evidence?.peers ?? 0],
      ['direction', ({ evidence }) => evidence?.direction ?? 'none'],
    ]);
  return { value: { data }, lines: data.length === 0 ? () => ['no erasure is waiting'] : lines };
}

function askedBy({ requests: [first, ...more] }: Values['erase-pending']['data'][number]): string {
  return `${first?.peer_name ?? 'anonymous'}${more.length > 0 ? ` and ${more.length} more` : ''}`;
}

function erasure(value: Values['erase']): Rendered {
  // The receipt is proof for the player: on one line, so that it can be copied.
  const lines = facts(Number.POSITIVE_INFINITY, [
    ['subject', value.subject_hash],
    ['status', value.status],
    ['events erased', value.events_erased],
    ['at', value.erased_at],
    ['receipt', value.receipt],
  ]);
  return { value, lines: () => lines };
}
