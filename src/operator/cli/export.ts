/**
 * Defines `ptf audit verify`, and `ptf export`, which writes the audit log or the history of peer weights to standard
 * output, one JSON object per line. It holds one page at a time and waits for the reader of the output.
 */
import type { Command } from 'commander';
import { limits } from '../../limits.js';
import type { AuditEntryValue } from '../../operations/log-operations.js';
import type { Values } from '../../operations/table.js';
import { facts } from '../../operations/text-table.js';
import { type ChainReport, verifyChain } from '../protocol/audit-chain.js';
import { type CommandContext, examples, type Progress, type Rendered, showing } from './command-context.js';
import { groupOf } from './operation-commands.js';

interface Page {
  readonly data: readonly object[];
  /** Progress of the export after this page. */
  readonly done: number;
  readonly total: number;
}

export function addAuditVerify(program: Command, session: CommandContext): void {
  groupOf(program, 'audit')
    .command('verify')
    .description('fetch every entry and recompute the chain of hashes')
    .addHelpText('after', examples('audit verify', 'audit verify --json'))
    .action(async () => session.done(chain(await verifyChain(auditPages(session)))));
}

export function addExport(program: Command, session: CommandContext): void {
  const exporting = program
    .command('export')
    .description('write the audit log or the history of weights as one JSON object per line')
    .addHelpText('after', examples('export audit > audit.ndjson', 'export weights | gzip > weights.ndjson.gz'));
  exporting
    .command('audit')
    .description('every entry of the audit log, oldest first')
    .addHelpText('after', examples('export audit > audit.ndjson'))
    .action(() => showing(session, 'exporting', (bar) => write(session, auditExport(session), bar)));
  exporting
    .command('weights')
    .description('every vector of peer weights that was published, oldest first')
    .addHelpText('after', examples('export weights > weights.ndjson'))
    .action(() => showing(session, 'exporting', (bar) => write(session, weightsExport(session), bar)));
}

async function write({ terminal }: CommandContext, pages: AsyncIterable<Page>, progress: Progress): Promise<void> {
  for await (const { data, done, total } of pages) {
    const lines = data.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    if (lines !== '' && !(await terminal.stream(lines))) return;
    progress.to(done, total);
  }
}

async function* auditExport(session: CommandContext): AsyncGenerator<Page> {
  const total = (await session.ask('status', {})).last_seq;
  for await (const data of auditPages(session)) yield { data, done: data.at(-1)?.seq ?? total, total };
}

/** Yields the pages of the audit log, oldest first. */
export async function* auditPages({ ask }: CommandContext): AsyncGenerator<readonly AuditEntryValue[]> {
  let after: number | null = 0;
  while (after !== null) {
    const page: Values['audit-page'] = await ask('audit-page', { after, limit: limits.pageMax });
    yield page.data;
    after = page.next_after;
  }
}

async function* weightsExport({ ask }: CommandContext): AsyncGenerator<Page> {
  let after: number | null = 0;
  while (after !== null) {
    const page: Values['weights-page'] = await ask('weights-page', { after });
    yield { data: page.data, done: page.next_after ?? page.last_seq, total: page.last_seq };
    after = page.next_after;
  }
}

function chain(value: ChainReport): Rendered {
  const { first_broken: broken } = value;
  const rows: [string, string][] = [
    ['entries', String(value.entries)],
    ['head hash', value.head_hash],
  ];
  const lines = (): string[] => facts(rows, Number.POSITIVE_INFINITY);
  if (broken === null) return { value, lines: () => [...lines(), 'The chain is intact.'] };
  const error = `the audit entry at seq ${broken.seq} ${broken.fault}`;
  return { value, lines, fault: { code: 'audit_broken', error } };
}
