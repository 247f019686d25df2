/**
 * Defines `ptf allow`, which lists and changes the allow list: players of the group that read as neutral until a date,
 * whatever was reported about them.
 */
import type { Command } from 'commander';
import { limits } from '../../limits.js';
import { parseHash, parseUntil } from './arguments.js';
import { type CommandContext, examples, rowsOf, type Signed, signature, signed } from './command-context.js';
import * as show from './renderers.js';

const exampleHash = '5f'.repeat(32);

export function addAllow(program: Command, session: CommandContext): void {
  interface Options extends Signed {
    readonly until: string;
    readonly note: string;
  }
  const { ask, done } = session;
  const allow = program
    .command('allow')
    .description("manage the group's allow list: players that read as neutral until a date")
    .addHelpText('after', examples('allow list', `allow add ${exampleHash} --until 2026-12-31 --note "appeal 4711"`));
  signed(allow.command('add'))
    .argument('<hash>', 'subject hash, 64 hexadecimal characters', parseHash)
    .description('let a player read as neutral until a date; replaces an earlier entry')
    .requiredOption(
      '--until <date>',
      'a day, up to its end in UTC, or a time: 2026-12-31, 2026-12-31T18:00:00Z',
      parseUntil,
    )
    .requiredOption(
      '--note <text>',
      `the reason, for operators only: one line, at most ${limits.allowNoteLength} characters`,
    )
    .addHelpText('after', examples(`allow add ${exampleHash} --until 2026-12-31 --note "appeal 4711" --by alice`))
    .action(async (hash: string, { until, note, by }: Options) => {
      done(show.showAllowance(await ask('allow-add', { subject_hash: hash, until, note, ...signature(by) })));
    });
  allow
    .command('list')
    .description('list the players on the allow list')
    .addHelpText('after', examples('allow list', 'allow list --json'))
    .action(async () => {
      const page = (from: number) => ask('allow-list', { from, limit: limits.pageMax });
      done(show.showAllowed(await rowsOf(page)));
    });
  signed(allow.command('remove'))
    .argument('<hash>', 'subject hash, 64 hexadecimal characters', parseHash)
    .description('remove a player from the allow list before its date')
    .addHelpText('after', examples(`allow remove ${exampleHash} --by alice`))
    .action(async (hash: string, { by }: Signed) => {
      done(show.showAllowanceEnded(await ask('allow-remove', { subject_hash: hash, ...signature(by) })));
    });
}
