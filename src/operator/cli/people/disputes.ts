/** Defines `ptf disputes`, which lists the disputes of peers and records the operator's decisions. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { type DisputeStatus, disputeStatuses } from '../../../core/vocabulary.js';
import { limits } from '../../../limits.js';
import type { DisputeValue } from '../../protocol/values.js';
import { type CommandContext, examples, rowsOf, type Signed, signature, signed } from '../command-context.js';
import type { Rendered } from '../renderers.js';
import { facts, table } from '../table.js';

const exampleId = '3f2b8a51-7c1d-4a8e-9b35-6d0f4e2c1a90';
const examplePeer = '0c4b2d0e-6f0a-4e0b-9c43-5f1a2b3c4d5e';

export function addDisputes(program: Command, session: CommandContext): void {
  const disputes = program.command('disputes').description('list and decide the disputes of peers');
  disputes.addHelpText('after', examples('disputes list', `disputes uphold ${exampleId} --by alice`));
  disputes
    .command('list')
    .description('list disputes with their texts, the oldest first')
    .addOption(new Option('--status <status>', 'only disputes with one status').choices(disputeStatuses))
    .addHelpText('after', examples('disputes list --status open', 'disputes list --json'))
    .action(async ({ status }: { readonly status?: DisputeStatus }) => {
      const asked = { limit: limits.pageMax, ...(status === undefined ? {} : { status }) };
      session.done(showDisputes(await rowsOf((from) => session.ask('disputes-list', { from, ...asked }))));
    });
  addUphold(disputes, session);
  const meanings = {
    reject: 'reject an open dispute: the events count as before',
    undo: 'undo a decision: the dispute is open again, and void events count again',
  } as const;
  for (const decision of ['reject', 'undo'] as const) {
    signed(disputes.command(`${decision} <id>`))
      .description(meanings[decision])
      .addHelpText('after', examples(`disputes ${decision} ${exampleId} --by alice`))
      .action(async (id: string, { by }: Signed) => {
        const request = { decision, dispute_id: id, ...signature(by) };
        session.done(showDispute(await session.ask('disputes-decide', request)));
      });
  }
}

function addUphold(disputes: Command, { ask, done }: CommandContext): void {
  interface Options extends Signed {
    readonly peer?: readonly string[];
  }
  const collected = (id: string, before: readonly string[] = []) => [...before, id];
  signed(disputes.command('uphold <id>'))
    .description('make the events of peers about the player void: they stay stored, and do not count')
    .option(
      '--peer <id>',
      'peer whose events become void; may be given several times. Not needed if there is only one such peer',
      collected,
    )
    .addHelpText(
      'after',
      examples(`disputes uphold ${exampleId}`, `disputes uphold ${exampleId} --peer ${examplePeer}`),
    )
    .action(async (id: string, { peer, by }: Options) => {
      const named = peer === undefined ? {} : { peer_ids: peer };
      const request = { decision: 'uphold', dispute_id: id, ...named, ...signature(by) } as const;
      done(showDispute(await ask('disputes-decide', request)));
    });
}

function showDisputes(data: readonly DisputeValue[]): Rendered {
  const heads = ['dispute', 'status', 'opened', 'subject', 'by', 'reporters', 'text'];
  const rows = data.map((one) => [
    one.dispute_id,
    one.status,
    one.opened_at,
    one.subject_hash,
    one.peer_id ?? 'anonymous',
    one.reporters.join(','),
    one.text,
  ]);
  return {
    value: { data },
    lines: (width) => (rows.length === 0 ? ['no disputes'] : table(rows, width, heads, ['dispute', 'status'])),
  };
}

function showDispute(value: DisputeValue): Rendered {
  const rows: [string, string][] = [
    ['dispute', value.dispute_id],
    ['status', value.status],
    ['subject', value.subject_hash],
    ['opened', value.opened_at],
    ['by', value.peer_id ?? 'anonymous'],
    ['against', value.against ?? 'no peer in particular'],
    ['reporters', value.reporters.join(', ') || 'none'],
    ['void', value.voids.join(', ') || 'nothing'],
    ['text', value.text],
  ];
  return { value, lines: (width) => facts(rows, width) };
}
