/** `ptf audit verify`, and `ptf export audit`, which holds one page and waits for the reader of its output. */
import type { Command } from 'commander';
import { limits } from '../../limits.js';
import { facts } from '../../operations/text-table.js';
import type { Progress } from '../../terminal.js';
import { auditPages, type ChainReport, verifyChain } from '../protocol/audit-chain.js';
import { type CommandContext, examples, type Rendered, showing } from './command-context.js';
import { groupOf } from './operation-commands.js';

export function addAuditReaders(program: Command, session: CommandContext): void {
  groupOf(program, 'audit')
    .command('verify')
    .description('fetch every entry and recompute the chain of hashes')
    .addHelpText('after', examples('audit verify', 'audit verify --json'))
    .action(async () => session.done(chain(await verifyChain(pagesOf(session)))));
  program
    .command('export')
    .description('write the audit log as one JSON object per line')
    .addHelpText('after', examples('export audit | gzip > audit.ndjson.gz'))
    .command('audit')
    .description('every entry of the audit log, oldest first')
    .addHelpText('after', examples('export audit > audit.ndjson'))
    .action(() => showing(session, 'exporting', (bar) => writeAudit(session, bar)));
}

async function writeAudit(session: CommandContext, progress: Progress): Promise<void> {
  const total = (await session.ask('status', {})).last_seq;
  for await (const data of pagesOf(session)) {
    const lines = data.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    if (lines !== '' && !(await session.terminal.stream(lines))) return;
    progress.to(data.at(-1)?.seq ?? total, total);
  }
}

function pagesOf({ ask }: CommandContext) {
  return auditPages((after) => ask('audit-page', { after, limit: limits.pageMax }));
}

function chain(value: ChainReport): Rendered {
  const { first_broken: broken } = value;
  const lines = facts(Number.POSITIVE_INFINITY, [
    ['entries', value.entries],
    ['head hash', value.head_hash],
  ]);
  if (broken === null) return { value, lines: () => [...lines, 'The chain is intact.'] };
  const error = `the audit entry at seq ${broken.seq} ${broken.fault}`;
  return { value, lines: () => lines, fault: { code: 'audit_broken', error } };
}
