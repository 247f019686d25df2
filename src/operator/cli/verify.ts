/** Defines `ptf verify`, which also checks a folder without a node, and `ptf adopt`. */
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { type VerifyValue, verifyValue } from '../../operations/log-operations.js';
import { facts } from '../../operations/text-table.js';
import type { Progress } from '../../terminal.js';
import { type CommandContext, examples, type Rendered, showing } from './command-context.js';
import { NoNodeError, OperatorError } from './node-client.js';

export function addVerify(program: Command, session: CommandContext): void {
  const { ask, done, dir, verifyFolder } = session;
  const verify = async (progress: Progress): Promise<Rendered> => {
    try {
      return verification(await ask('verify', {}, progress), 'node');
    } catch (error) {
      const isThere = statSync(dir(), { throwIfNoEntry: false })?.isDirectory() === true;
      if (!(error instanceof NoNodeError) || !isThere) throw error;
      const report = await verifyFolder(dir(), 'full', progress);
      // A store without the first record of a node is not reported as intact, since that would hide a wrong folder.
      if (report.ok && report.lastSeq === 0) throw new OperatorError('no_store', `${dir()} holds no store`);
      return verification(verifyValue(report), 'folder');
    }
  };
  program
    .command('verify')
    .description('check the whole store: log, chain, snapshots, audit; without a node, the folder itself')
    .addHelpText('after', examples('verify', 'verify --data-dir /backup/ptf'))
    .action(async () => done(await showing(session, 'verifying', verify)));
  program
    .command('adopt')
    .description('detach a copied data folder from the node that runs on the original')
    .addHelpText(
      'after',
      `\nA node on the copy is independent: two nodes of one group do not exchange events.\n${examples('adopt --data-dir /data/copy')}`,
    )
    .action(async () => {
      const outcome = await session.adoptFolder(dir());
      const text =
        outcome === 'adopted'
          ? `${dir()} is now a folder of its own; a node can be started on it.`
          : `${dir()} has no running owner; nothing was changed, and a node can be started on it.`;
      done({ value: { outcome }, lines: () => [text] });
    });
}

/** `checked`: the running node read its own store, or this command read the folder. */
function verification(report: VerifyValue, checked: 'node' | 'folder'): Rendered {
  const value = { ...report, checked };
  const images = report.snapshots.map(({ seq, ok }) => (ok ? String(seq) : `${seq} (damaged)`));
  const lines = (width: number): string[] =>
    facts(width, [
      ['checked by', checked === 'node' ? 'the running node' : 'this command; no node runs'],
      ['last seq', report.last_seq],
      ['batches', report.batches],
      ['records', report.records],
      ['audit entries', report.audit_entries],
      ['snapshots', images.join(', ') || 'none'],
    ]);
  if (report.ok) return { value, lines: (width) => [...lines(width), 'The store is intact.'] };
  return { value, lines, fault: { code: 'store_damaged', error: report.faults.join('; ') } };
}
