/** The disputes of peers, and the operator's decisions. */
import { disputeStatuses } from '../core/vocabulary.js';
import { granted } from '../errors.js';
import type { DisputeView } from '../group/api.js';
import { limits } from '../limits.js';
import { shape } from '../validation/schema.js';
import { parseSince } from './arguments.js';
import { by, disputeId, exampleId, isoTime, mapped, operation, page, parsed, peerId, typed } from './operation.js';
import { columns, cutMiddle, facts } from './text-table.js';

const exampleDispute = '3f2b8a51-7c1d-4a8e-9b35-6d0f4e2c1a90';
const reportersColumn = ['reporters', ({ reporters }: DisputeValue) => reporters.map(reporterText).join('; ')] as const;

export const disputeOperations = {
  'disputes-list': operation({
    request: shape(
      {
        ...page(Number.MAX_SAFE_INTEGER),
        status: { enum: [...disputeStatuses, 'decided'] },
        since: { type: 'string', format: 'date-time' },
      },
      ['status', 'since'],
    ),
    dashboard: true,
    answer({ from, limit, status, since }, { group }) {
      const end = from + limit;
      const found = group.disputes(status, from, end + 1);
      const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
      const data = found.slice(0, limit).filter(({ openedAt }) => openedAt >= sinceMs);
      return granted({ data: data.map(disputeValue), next_from: found.length > limit ? end : null });
    },
    ptf: {
      group: 'disputes',
      command: 'list',
      text: 'list disputes with their texts, the oldest first',
      given: {
        status: parsed('--status <status>', 'only disputes with one status', { choices: disputeStatuses }),
        since: parsed('--since <time>', 'only disputes opened since a day or a time in UTC, or in the last 12h or 7d', {
          parse: parseSince,
        }),
      },
      sorts: {
        opened: ({ opened_at }) => Date.parse(opened_at),
        by: ({ peer_name }) => peer_name ?? '',
        against: ({ against_name }) => against_name ?? '',
      },
      examples: ['disputes list --status open', 'disputes list --json'],
      show({ data }, width) {
        if (data.length === 0) return ['no disputes'];
        const isWide = width === Number.POSITIVE_INFINITY;
        // The name is cut, so that the beginning of the id stays whole beside it: several peers may have one name.
        const cutAgainst = ({ against, against_name }: DisputeValue) =>
          `${cutMiddle(against_name ?? '', Math.max(8, width / 10))} ${against?.slice(0, 8) ?? ''}`.trim();
        return columns(width, ['status', 'opened', 'against'], data, [
          ['dispute', (one) => one.dispute_id],
          ['status', (one) => one.status],
          ['opened', (one) => (isWide ? one.opened_at : one.opened_at.slice(0, 10))],
          ['player', (one) => one.subject_hash],
          ['by', (one) => one.peer_name ?? 'anonymous'],
          ['against', (one) => (isWide ? againstText(one) : cutAgainst(one))],
          ...(isWide ? [reportersColumn] : []),
          ['text', (one) => one.text],
        ]);
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
            'peer whose events become void; may be given several times. Not needed if the dispute names the peer, or only one reported the player, and the text names no other',
            { parse: (text, before = []) => [...before, text] },
          ),
        },
        examples: [`disputes uphold ${exampleDispute}`, `disputes uphold ${exampleDispute} --peer ${exampleId}`],
        show: disputeLines,
      },
      ...(['reject', 'undo'] as const).map((decision) => ({
        group: 'disputes' as const,
        command: decision,
        text:
          decision === 'reject'
            ? 'reject an open dispute: the events count as before'
            : 'undo a decision: the dispute is open again, and void events count again',
        given: { decision: { fixed: decision }, dispute_id: typed('<id>') },
        examples: [`disputes ${decision} ${exampleDispute} --by alice`],
        show: disputeLines,
      })),
    ],
  }),
};

export function disputeValue(view: DisputeView) {
  const { id, openedAt, by: disputant, subject, text, against, status, decidedAt, voids } = view;
  return {
    dispute_id: id,
    opened_at: isoTime(openedAt),
    peer_id: disputant?.peerId ?? null,
    peer_name: disputant?.peerName ?? null,
    subject_hash: subject,
    text,
    against: against?.peerId ?? null,
    against_name: against?.peerName ?? null,
    /** Other peers that the text names: to uphold, the operator must then choose. */
    also_named: view.alsoNamed.map(({ peerId: peer_id, peerName: peer_name }) => ({ peer_id, peer_name })),
    status,
    decided_at: decidedAt === null ? null : isoTime(decidedAt),
    voids,
    reporters: view.reporters.map(({ peerId: peer_id, peerName: peer_name, direction, events, lastAt, weight }) => {
      return { peer_id, peer_name, direction, event_count: events, last_at: isoTime(lastAt), weight };
    }),
  };
}
export interface DisputeValue extends ReturnType<typeof disputeValue> {}

function disputeLines(value: DisputeValue, width: number): string[] {
  return facts(width, [
    ['dispute', value.dispute_id],
    ['status', value.status],
    ['subject', value.subject_hash],
    ['opened', value.opened_at],
    ['by', value.peer_id === null ? 'anonymous' : `${value.peer_name} (${value.peer_id})`],
    ['against', againstText(value)],
    ...value.reporters.map((one) => ['reporter', reporterText(one)] as const),
    ['void', value.voids.join(', ') || 'nothing'],
    ['text', value.text],
    ...value.also_named.map((one) => ['text names', `${one.peer_name} (${one.peer_id})`] as const),
  ]);
}

function againstText({ against, against_name }: DisputeValue): string {
  return against === null ? 'no peer in particular' : `${against_name} (${against})`;
}

function reporterText(one: DisputeValue['reporters'][number]): string {
  const { peer_id, peer_name, direction, event_count, last_at, weight } = one;
  const held = direction === 'both' ? 'lowering and raising' : 'lowering';
  return `${peer_name} (${peer_id}): ${event_count} events, ${held}, last ${last_at}, weight ${weight.toFixed(2)}`;
}
