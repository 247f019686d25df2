/** The allow list, erasures, and the score, its explanation and the data that the group holds about a player. */
import { refusalOfRawIds } from '../core/hashing/pseudonym.js';
import { reasonsOf } from '../core/scoring/reasons.js';
import { publishedFigures } from '../core/scoring/score.js';
import { verdicts } from '../core/vocabulary.js';
import { granted, refused } from '../errors.js';
import type * as api from '../group/api.js';
import { limits } from '../limits.js';
import { playerId } from '../validation/identifiers.js';
import { shape } from '../validation/schema.js';
import { parseHash, parseUntil } from './arguments.js';
import { disputeValue } from './dispute-operations.js';
import { auditEntryValue } from './log-operations.js';
import { by, exampleHash, isoTime, mapped, note, operation, page, parsed, subjectHash, typed } from './operation.js';
import { facts, table } from './text-table.js';

const hash = parsed('<hash>', 'subject hash, 64 hexadecimal characters', { parse: parseHash });

export const playerOperations = {
  'allow-list': operation({
    request: shape(page(limits.allowedSubjectsMax)),
    dashboard: true,
    answer: (request, { group }) => pageOf(group.allowedPlayers(), request, allowedPlayerValue),
    ptf: {
      group: 'allow',
      command: 'list',
      text: 'list the players on the allow list',
      examples: ['allow list', 'allow list --json'],
      show({ data }, width) {
        if (data.length === 0) return ['no player is on the allow list'];
        const rows = data.map((one) => [one.subject_hash, one.until, one.note, one.entry_id]);
        return table(width, rows, ['subject', 'until', 'note', 'entry'], ['subject', 'until']);
      },
    },
  }),

  'allow-add': operation({
    request: shape({ subject_hash: subjectHash, until: { type: 'string', format: 'date-time' }, note, by }, ['by']),
    dashboard: true,
    answer: async ({ subject_hash, until, note: reason }, { group, by: actor }) =>
      mapped(
        await group.allowPlayer(Buffer.from(subject_hash, 'hex'), Date.parse(until), reason, actor),
        allowedPlayerValue,
      ),
    ptf: {
      group: 'allow',
      command: 'add',
      text: 'let a player read as neutral until a date; replaces an earlier entry',
      given: {
        subject_hash: hash,
        until: parsed('--until <date>', 'a day, up to its end in UTC, or a time: 2026-12-31, 2026-12-31T18:00:00Z', {
          parse: parseUntil,
        }),
        note: typed(
          '--note <text>',
          `the reason, for operators only: one line, at most ${limits.allowNoteLength} characters`,
        ),
      },
      examples: [`allow add ${exampleHash} --until 2026-12-31 --note "appeal 4711" --by alice`],
      show: (value) => [
        `${value.subject_hash} reads as neutral until ${value.until}`,
        `The audit log names the entry ${value.entry_id}, but neither the player nor the note.`,
      ],
    },
  }),

  'allow-remove': operation({
    request: shape({ subject_hash: subjectHash, by }, ['by']),
    dashboard: true,
    async answer(request, { group, by: actor }) {
      const subject_hash = request.subject_hash.toLowerCase();
      return mapped(await group.disallowPlayer(Buffer.from(subject_hash, 'hex'), actor), () => ({ subject_hash }));
    },
    ptf: {
      group: 'allow',
      command: 'remove',
      text: 'remove a player from the allow list before its date',
      given: { subject_hash: hash },
      examples: [`allow remove ${exampleHash} --by alice`],
      show: (value) => [`${value.subject_hash} was removed from the allow list: its score counts again`],
    },
  }),

  /** `ptf erase --pending` is the same command as `ptf erase`: see `operator/cli/erase.ts`. */
  'erase-pending': operation({
    request: shape(page(limits.pendingErasuresMax)),
    dashboard: true,
    answer: (request, { group }) => pageOf(group.pendingErasures(), request, (one) => pendingValue(group, one)),
  }),

  /** `ptf erase --refuse`: see `operator/cli/erase.ts`. */
  'erase-refuse': operation({
    request: shape({ subject_hash: subjectHash, reason: note, by }, ['by']),
    dashboard: true,
    async answer({ subject_hash: hash, reason, by: _ }, { group, by: actor }) {
      const subject_hash = hash.toLowerCase();
      const outcome = await group.refuseErasure(Buffer.from(subject_hash, 'hex'), reason, actor);
      return mapped(outcome, () => ({ subject_hash, status: 'refused' as const, reason }));
    },
  }),

  /** Players with one of some verdicts, from position `from` on. A page may be empty although others follow. */
  'players-list': operation({
    request: shape({
      verdicts: { type: 'array', minItems: 1, maxItems: verdicts.length, items: { enum: verdicts } },
      ...page(Number.MAX_SAFE_INTEGER),
    }),
    dashboard: true,
    answer({ verdicts: wanted, from, limit }, { group }) {
      const { players, next } = group.playersBy(wanted, from, limit);
      const data = players.map(({ subject, eventCount, updatedAt, ...figures }) => {
        return { subject_hash: subject, ...figures, event_count: eventCount, updated_at: isoTime(updatedAt) };
      });
      return granted({ data, next_from: next });
    },
  }),

  player: operation({
    request: shape({ player_id: playerId }),
    dashboard: true,
    /** Codes: subject_hash_required, player_id_not_canonical, player_not_found, overloaded, dependency_unavailable. */
    async answer({ player_id }, { group, pseudonymise }) {
      const subject = pseudonymise(player_id);
      if (subject === null) return refused(refusalOfRawIds(group.identity.identityMode));
      const view = group.trust(subject);
      const explanation = group.explain(subject);
      if (view === undefined || explanation === undefined) return refused('player_not_found');
      const events = await group.playerEvents(subject, null, 1, null);
      const allowed = group.allowedPlayer(subject);
      return mapped(events, (listed) => playerValue(subject, view, explanation, listed, allowed));
    },
    ptf: {
      command: 'player',
      text: 'show the score of a player and its explanation; shows no peer its events',
      given: { player_id: typed('<id>', 'account id as peers send it, or the subject hash') },
      examples: ['player 76561202255225729', `player ${exampleHash}`],
      show: playerLines,
    },
  }),

  erase: operation({
    request: shape({ subject_hash: subjectHash, by }, ['by']),
    dashboard: true,
    isSlow: true,
    async answer(request, { group, by: actor }) {
      const subject_hash = request.subject_hash.toLowerCase();
      const outcome = await group.confirmErasure(Buffer.from(subject_hash, 'hex'), actor);
      return mapped(outcome, ({ status, eventsErased, erasedAt, receipt }) => ({
        subject_hash,
        status,
        events_erased: eventsErased,
        erased_at: isoTime(erasedAt),
        receipt,
      }));
    },
  }),

  'subject-export': operation({
    request: shape({ subject_hash: subjectHash, by }, ['by']),
    isSlow: true,
    answer: async (request, { group, by: actor }) =>
      mapped(await group.exportSubject(Buffer.from(request.subject_hash, 'hex'), actor), (view) =>
        subjectExportValue(view, group.identity.groupId),
      ),
    ptf: {
      group: 'subject',
      command: 'export',
      text: 'print all stored data about a player as one JSON document; the audit log records the export without naming the player',
      given: { subject_hash: parsed('<hash>', 'the subject hash', { parse: parseHash }) },
      examples: [`subject export ${exampleHash} --by alice > player.json`],
      // The document is the same with and without `--json`, since a person will read it.
      show: (value) => JSON.stringify(value, null, 2).split('\n'),
    },
  }),
};

function pageOf<T, V>(all: readonly T[], { from, limit }: Record<'from' | 'limit', number>, toValue: (one: T) => V) {
  const end = from + limit;
  return granted({ data: all.slice(from, end).map(toValue), next_from: end < all.length ? end : null });
}

function pendingValue(group: api.OperatorApi, { subject, requests }: api.PendingErasure) {
  const requestedAt = requests[0]!.requestedAt;
  return {
    subject_hash: subject,
    requested_at: isoTime(requestedAt),
    // The operator should decide within thirty days of the first request.
    due_at: isoTime(requestedAt + limits.erasureDueMs),
    requests: requests.map(({ peerId, requestedAt: at, reason }) => ({
      peer_id: peerId,
      peer_name: peerId === null ? null : (group.peerById(peerId)?.peerName ?? null),
      requested_at: isoTime(at),
      reason,
    })),
    /** Null if nothing is known of the player any more. */
    evidence: evidenceValue(group, Buffer.from(subject, 'hex')),
  };
}

function allowedPlayerValue({ subject, entryId, until, note: reason }: api.AllowedPlayer) {
  return { subject_hash: subject, entry_id: entryId, until: isoTime(until), note: reason };
}

export interface PlayerValue extends ReturnType<typeof playerValue> {}

/** A player as the operator sees it: the values that every peer may read, and no peer's events. */
function playerValue(
  subject: Uint8Array,
  view: api.TrustView,
  explanation: api.TrustExplanation,
  { summarised, summary }: api.PlayerEvents,
  allowed: api.AllowedPlayer | undefined,
) {
  // A split of fewer peers' evidence would reveal what a single peer reported.
  const isSplit = explanation.peers >= limits.summaryPeersMin;
  return {
    subject_hash: Buffer.from(subject).toString('hex'),
    allowed: allowed === undefined ? null : { until: isoTime(allowed.until), note: allowed.note },
    ...scoreValue(view),
    explain: {
      lowering: isSplit ? explanation.lowering : null,
      raising: isSplit ? explanation.raising : null,
      reasons: reasonsOf(view.verdict, explanation),
      witnesses: explanation.witnesses,
      two_sided: explanation.oneSided < 0.5,
      peers: explanation.peers,
      pre_trusted: explanation.preTrusted,
      half_life_days: explanation.halfLifeDays,
      ban_half_life_days: explanation.banHalfLifeDays,
      weights_based_on_seq: explanation.weightsBasedOnSeq,
    },
    /** The public summary; it covers the newest `summarised` events. */
    summarised,
    /** `week` is null on the row `other`, which is the only one if fewer than three peers contributed. */
    summary: summary.map(({ eventType, week, count }) => ({ event_type: eventType, week: week ?? null, count })),
  };
}

function scoreValue(view: api.TrustView) {
  const { verdict, eventCount, updatedAt } = view;
  return { ...publishedFigures(view), verdict, event_count: eventCount, updated_at: isoTime(updatedAt) };
}

/** How the evidence about a player points, and of how many peers; for an operator's decision. */
function evidenceValue(group: api.OperatorApi, subject: Uint8Array) {
  const [view, explanation] = [group.trust(subject), group.explain(subject)];
  if (view === undefined || explanation === undefined) return null;
  const { lowering, raising, peers } = explanation;
  const oneWay = lowering > 0 ? ('lowering' as const) : ('raising' as const);
  const direction =
    lowering > 0 && raising > 0 ? ('both' as const) : lowering + raising > 0 ? oneWay : ('none' as const);
  return { verdict: view.verdict, score: publishedFigures(view).score, event_count: view.eventCount, peers, direction };
}

function playerLines(player: PlayerValue, width: number): string[] {
  const { explain, allowed } = player;
  const known = (value: number | null): string => value?.toFixed(2) ?? 'not shown with fewer than 3 peers';
  const lines = facts(width, [
    ['subject', player.subject_hash],
    ['verdict', `${player.verdict}${allowed === null ? '' : `, on the allow list until ${allowed.until}`}`],
    ['score', player.score.toFixed(1)],
    ['confidence', player.confidence.toFixed(2)],
    ['why', explain.reasons.join(' ')],
    ['events', player.event_count],
    ['peers', `${explain.peers}${explain.pre_trusted ? ', pre-trusted ones among them' : ''}`],
    ['witnesses', explain.witnesses],
    ['lowering', known(explain.lowering)],
    ['raising', known(explain.raising)],
    ['changed', player.updated_at],
  ]);
  if (player.summary.length === 0) return lines;
  const rows = player.summary.map(({ event_type, week, count }) => [event_type, week ?? '', count]);
  return [...lines, '', ...table(width, rows, ['reported', 'week', 'events'])];
}

/** Raised when a member is removed or changes its meaning; members may be added without that. */
const SUBJECT_EXPORT_VERSION = 1;

/** The document of `ptf subject export`, whose JSON Schema is `docs/operating/subject-export.schema.json`. */
function subjectExportValue(view: api.SubjectExport, groupId: string) {
  const { trust } = view;
  return {
    version: SUBJECT_EXPORT_VERSION,
    subject_hash: view.subject,
    group_id: groupId,
    exported_at: isoTime(view.exportedAt),
    receipt: view.receipt,
    score: trust === null ? null : scoreValue(trust),
    sums: view.sums.map(({ peerId, isVoid: isOut, ...sums }) => ({ peer_id: peerId, ...sums, void: isOut })),
    events: view.events.map((event) => ({
      seq: event.seq,
      received_at: isoTime(event.receivedAt),
      peer_id: event.peerId,
      origin: event.origin,
      reference: event.reference,
      schema_version: event.schemaVersion,
      event_id: event.eventId,
      event_type: event.eventType,
      game_id: event.gameId,
      severity: event.severity,
      timestamp: isoTime(event.timestamp),
      void: event.isVoid,
    })),
    events_complete: view.isComplete,
    disputes: view.disputes.map((dispute) => {
      const { peer_name, against_name, also_named, ...value } = disputeValue(dispute);
      return { ...value, reporters: value.reporters.map(({ peer_id }) => peer_id) };
    }),
    past_disputes: view.pastDisputes.map(({ id, openedAt, peerId, text: disputeText }) => {
      return { dispute_id: id, opened_at: isoTime(openedAt), peer_id: peerId, text: disputeText };
    }),
    erasure_requests: view.erasureRequests.map(({ requestedAt, peerId }) => {
      return { requested_at: isoTime(requestedAt), peer_id: peerId };
    }),
    refused_erasures: view.refusedErasures.map(({ at, reason }) => ({ refused_at: isoTime(at), reason })),
    allow_list: view.allowed === null ? null : { ...view.allowed, until: isoTime(view.allowed.until) },
    past_allow_list: view.pastAllowed.map(({ id, addedAt, until, note }) => {
      return { id, added_at: isoTime(addedAt), until: isoTime(until), note };
    }),
    audit: view.audit.map(auditEntryValue),
  };
}
