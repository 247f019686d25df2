/** The audit log, and the verification of the store. */
import { granted } from '../errors.js';
import type { AuditEntry, OperatorApi, VerifyReport } from '../group/api.js';
import { limits } from '../limits.js';
import { type FromSchema, shape } from '../validation/schema.js';
import { parseCount, parseSince } from './arguments.js';
import { count, isoTime, mapped, operation, parsed, typed } from './operation.js';
import { table } from './text-table.js';

const filterText = { type: 'string', minLength: 1, maxLength: 100 } as const;
const anySeq = count(0, Number.MAX_SAFE_INTEGER);

const wantedEntries = shape(
  {
    count: count(1, limits.pageMax),
    before: count(1, Number.MAX_SAFE_INTEGER),
    since: { type: 'string', format: 'date-time' },
    actor: filterText,
    action: filterText,
  },
  ['before', 'since', 'actor', 'action'],
);
type Wanted = FromSchema<typeof wantedEntries>;

export const logOperations = {
  /** The newest entries, below `before` if given. `actor`, `action`: only entries that contain these texts. */
  'audit-tail': operation({
    request: wantedEntries,
    dashboard: true,
    isSlow: true,
    answer: (request, { group }) => newestEntries(group, request),
    ptf: {
      group: 'audit',
      command: 'tail',
      text: 'show the newest entries, the oldest of them first',
      given: {
        actor: typed(
          '--actor <text>',
          'only entries whose actor contains this text, such as alice or the id of a peer',
        ),
        action: typed('--action <text>', 'only entries whose action contains this text, such as erasure'),
        since: parsed('--since <time>', 'only entries since a day or a time in UTC, or of the last 12h or 7d', {
          parse: parseSince,
        }),
        count: parsed('--count <number>', `how many, 1 to ${limits.pageMax}`, {
          parse: parseCount,
          initial: { value: 20 },
        }),
      },
      examples: ['audit tail', 'audit tail --actor alice --since 7d', 'audit tail --count 100 --json'],
      show({ data, next_before, is_cut }, width) {
        const isWide = width === Number.POSITIVE_INFINITY;
        const rows = data.map(({ seq, at, action, actor, target, hash }) => {
          const time = isWide ? at : `${at.slice(0, 19)}Z`;
          return [seq, time, action, actor, target, ...(isWide ? [hash] : [])];
        });
        const heads = ['seq', 'at', 'action', 'actor', 'target', ...(isWide ? ['hash'] : [])];
        const lines = table(width, rows, heads, ['at']);
        return is_cut
          ? [...lines, `Entries before ${next_before} were not searched; narrow it down by --since.`]
          : lines;
      },
    },
  }),

  'audit-page': operation({
    request: shape({ after: anySeq, limit: count(1, limits.pageMax) }),
    isSlow: true,
    answer: async ({ after, limit }, { group }) =>
      mapped(await group.audit(after, limit), ({ entries, nextAfter }) => ({
        data: entries.map(auditEntryValue),
        next_after: nextAfter,
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

/** Converts a report to wire names, also one that was made without a node. */
export function verifyValue(report: VerifyReport) {
  const { ok, lastSeq, batches, records, auditEntries, snapshots, faults } = report;
  return { ok, last_seq: lastSeq, batches, records, audit_entries: auditEntries, snapshots, faults };
}
export interface VerifyValue extends ReturnType<typeof verifyValue> {}

/** Reads backwards until enough entries are found, at most `limits.auditReadMax`; with `is_cut`, more may be older. */
async function newestEntries(group: OperatorApi, { count: most, before, since, actor = '', action = '' }: Wanted) {
  const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
  const found: AuditEntry[] = [];
  const isFiltered = actor !== '' || action !== '' || since !== undefined;
  let next: number | null | undefined = before;
  for (let read = 0; found.length < most && next !== null && read < limits.auditReadMax; ) {
    const page: Awaited<ReturnType<OperatorApi['auditTail']>> = await group.auditTail(
      isFiltered ? limits.pageMax : most,
      next,
    );
    if (!page.ok) return page;
    const { entries } = page.value;
    read += entries.length;
    const matching = entries.filter(
      (entry) => entry.at >= sinceMs && contains(entry.actor, actor) && contains(entry.action, action),
    );
    found.unshift(...matching);
    const [oldest] = entries;
    next = oldest === undefined || oldest.seq <= 1 || oldest.at < sinceMs ? null : oldest.seq;
  }
  const newest = found.slice(-most);
  const nextBefore = found.length > most ? newest[0]!.seq : (next ?? null);
  const isCut = found.length < most && nextBefore !== null;
  return granted({ data: newest.map(auditEntryValue), next_before: nextBefore, is_cut: isCut });
}

function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
