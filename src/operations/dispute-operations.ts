/** The disputes of peers, and the operator's decisions. */
import { disputeStatuses } from '../core/vocabulary.js';
import { granted } from '../errors.js';
import type { DisputeView } from '../group/api.js';
import { limits } from '../limits.js';
import { shape } from '../validation/schema.js';
import {
  by,
  disputeId,
  exampleDispute,
  exampleId,
  isoTime,
  mapped,
  operation,
  page,
  parsed,
  peerId,
  typed,
} from './operation.js';
import { facts, table } from './text-table.js';

export const disputeOperations = {
  /** Lists disputes, the oldest first, from position `from` on; those with one status if it is given. */
  'disputes-list': operation({
    request: shape({ ...page(Number.MAX_SAFE_INTEGER), status: { enum: disputeStatuses } }, ['status']),
    dashboard: true,
    answer({ from, limit, status }, { group }) {
      const all = group.disputes(status);
      const end = from + limit;
      return granted({ data: all.slice(from, end).map(disputeValue), next_from: end < all.length ? end : null });
    },
    ptf: {
      group: 'disputes',
      command: 'list',
      text: 'list disputes with their texts, the oldest first',
      given: { status: parsed('--status <status>', 'only disputes with one status', { choices: disputeStatuses }) },
      examples: ['disputes list --status open', 'disputes list --json'],
      show({ data }, width) {
        if (data.length === 0) return ['no disputes'];
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
        return table(rows, width, heads, ['dispute', 'status']);
      },
    },
  }),

  /** `peer_ids`: to uphold, the peers whose events become void. */
  'disputes-decide': operation({
    request: shape(
      {
        decision: { enum: ['uphold', 'reject', 'undo'] },
        dispute_id: disputeId,
        peer_ids: { type: 'array', minItems: 1, maxItems: limits.disputeVoidsMax, uniqueItems: true, items: peerId },
        by,
      },
      ['peer_ids', 'by'],
    ),
    dashboard: true,
    answer: async ({ decision, dispute_id, peer_ids = [] }, { group, by: actor }) =>
      mapped(await group.decideDispute(decision, dispute_id, peer_ids, actor), disputeValue),
    ptf: [
      {
        group: 'disputes',
        command: 'uphold',
        text: 'make the events of peers about the player void: they stay stored, and do not count',
        given: {
          decision: { fixed: 'uphold' },
          dispute_id: typed('<id>'),
          peer_ids: parsed<readonly string[]>(
            '--peer <id>',
            'peer whose events become void; may be given several times. Not needed if there is only one such peer',
            { parse: (text, before = []) => [...before, text] },
          ),
        },
        examples: [`disputes uphold ${exampleDispute}`, `disputes uphold ${exampleDispute} --peer ${exampleId}`],
        show: disputeLines,
      },
      {
        group: 'disputes',
        command: 'reject',
        text: 'reject an open dispute: the events count as before',
        given: { decision: { fixed: 'reject' }, dispute_id: typed('<id>') },
        examples: [`disputes reject ${exampleDispute} --by alice`],
        show: disputeLines,
      },
      {
        group: 'disputes',
        command: 'undo',
        text: 'undo a decision: the dispute is open again, and void events count again',
        given: { decision: { fixed: 'undo' }, dispute_id: typed('<id>') },
        examples: [`disputes undo ${exampleDispute} --by alice`],
        show: disputeLines,
      },
    ],
  }),
};

export function disputeValue(view: DisputeView) {
  const { id, openedAt, peerId: disputant, subject, text, against, status, decidedAt, voids, reporters } = view;
  return {
    dispute_id: id,
    opened_at: isoTime(openedAt),
    peer_id: disputant,
    subject_hash: subject,
    text,
    against,
    status,
    decided_at: decidedAt === null ? null : isoTime(decidedAt),
    voids,
    reporters,
  };
}
export interface DisputeValue extends ReturnType<typeof disputeValue> {}

function disputeLines(value: DisputeValue, width: number): string[] {
  return facts(
    [
      ['dispute', value.dispute_id],
      ['status', value.status],
      ['subject', value.subject_hash],
      ['opened', value.opened_at],
      ['by', value.peer_id ?? 'anonymous'],
      ['against', value.against ?? 'no peer in particular'],
      ['reporters', value.reporters.join(', ') || 'none'],
      ['void', value.voids.join(', ') || 'nothing'],
      ['text', value.text],
    ],
    width,
  );
}
