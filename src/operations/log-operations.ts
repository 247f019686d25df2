/** The audit log, the published peer weights, and the verification of the store. */
import type { AuditEntry, PublishedWeights, VerifyReport } from '../group/api.js';
import { limits } from '../limits.js';
import { shape } from '../validation/schema.js';
import { parseCount } from './arguments.js';
import { count, isoTime, mapped, operation, parsed } from './operation.js';
import { table } from './text-table.js';

const anySeq = count(0, Number.MAX_SAFE_INTEGER);

export const logOperations = {
  /** The newest entries; with `before`, the newest ones below that sequence number. */
  'audit-tail': operation({
    request: shape({ count: count(1, limits.pageMax), before: count(1, Number.MAX_SAFE_INTEGER) }, ['before']),
    dashboard: true,
    isSlow: true,
    answer: async (request, { group }) =>
      mapped(await group.auditTail(request.count, request.before), ({ entries }) => ({
        data: entries.map(auditEntryValue),
      })),
    ptf: {
      group: 'audit',
      command: 'tail',
      text: 'show the newest entries, the oldest of them first',
      given: {
        count: parsed('--count <number>', `how many, 1 to ${limits.pageMax}`, {
          parse: parseCount,
          initial: { value: 20 },
        }),
      },
      examples: ['audit tail', 'audit tail --count 100 --json'],
      show({ data }, width) {
        const rows = data.map(({ seq, at, action, actor, target, hash }) => [seq, at, action, actor, target, hash]);
        const heads = ['seq', 'at', 'action', 'actor', 'target', 'hash'];
        return table(rows, width, heads, ['at', 'action', 'actor']);
      },
    },
  }),

  /** Entries with a sequence number above `after`. */
  'audit-page': operation({
    request: shape({ after: anySeq, limit: count(1, limits.pageMax) }),
    isSlow: true,
    answer: async ({ after, limit }, { group }) =>
      mapped(await group.audit(after, limit), ({ entries, nextAfter }) => ({
        data: entries.map(auditEntryValue),
        next_after: nextAfter,
      })),
  }),

  /** Peer weights published after record `after`. */
  'weights-page': operation({
    request: shape({ after: anySeq }),
    isSlow: true,
    answer: async ({ after }, { group }) =>
      mapped(await group.publishedWeights(after), ({ entries, nextAfter, lastSeq }) => ({
        data: entries.map(publishedWeightsValue),
        next_after: nextAfter,
        last_seq: lastSeq,
      })),
  }),

  /** `ptf verify` also checks a folder without a node: see `operator/cli/verify.ts`. */
  verify: operation({
    request: shape({}),
    dashboard: true,
    isSlow: true,
    answer: async (_, { group, onProgress }) => mapped(await group.verify(onProgress), verifyValue),
  }),
};

export function auditEntryValue(entry: AuditEntry) {
  const { seq, at, action, actor, target, prevHash, hash } = entry;
  return { seq, at: isoTime(at), action, actor, target, prev_hash: prevHash, hash };
}
export interface AuditEntryValue extends ReturnType<typeof auditEntryValue> {}

function publishedWeightsValue({ seq, at, basedOnSeq, computedAt, pi, peers }: PublishedWeights) {
  const named = peers.map(({ peerId, ...figures }) => ({ peer_id: peerId, ...figures }));
  const times = { at: isoTime(at), based_on_seq: basedOnSeq, computed_at: isoTime(computedAt) };
  return { seq, ...times, bad_share: pi, peers: named };
}

/** Converts a report to wire names, also one that was made without a node. */
export function verifyValue(report: VerifyReport) {
  const { ok, lastSeq, batches, records, auditEntries, snapshots, faults } = report;
  return { ok, last_seq: lastSeq, batches, records, audit_entries: auditEntries, snapshots, faults };
}
export interface VerifyValue extends ReturnType<typeof verifyValue> {}
