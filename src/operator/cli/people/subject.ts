/** Defines `ptf subject export`, which prints everything that the node holds about one player, as one JSON document. */
import type { Command } from 'commander';
import { subjectExportSchema } from '../../protocol/subject-export.js';
import { parseHash } from '../arguments.js';
import { type CommandContext, examples, type Signed, signature, signed } from '../command-context.js';

export function addSubject(program: Command, { ask, done }: CommandContext): void {
  const hash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const subject = program
    .command('subject')
    .description('answer the request of a player for the data that the group holds');
  subject.addHelpText('after', examples(`subject export ${hash} > player.json`));
  signed(subject.command('export'))
    .argument('<hash>', 'the subject hash', parseHash)
    .description(
      'print all stored data about a player as one JSON document; the audit log records the export without naming the player',
    )
    .addHelpText('after', examples(`subject export ${hash} --by alice > player.json`))
    .action(async (hash: string, { by }: Signed) => {
      const value = await ask('subject-export', { subject_hash: hash, ...signature(by) });
      // The document is the same with and without `--json`, since a person will read it.
      done({ value, lines: () => JSON.stringify(value, null, 2).split('\n') });
    });
  subject
    .command('schema')
    .description('print the JSON Schema of that document')
    .addHelpText('after', examples('subject schema > subject-export.schema.json'))
    .action(() => {
      done({ value: subjectExportSchema, lines: () => JSON.stringify(subjectExportSchema, null, 2).split('\n') });
    });
}
