/** The allow list, erasures, and the data that the group holds about a player. */
import { verdicts } from '../core/vocabulary.js';
import { granted } from '../errors.js';
import type { AllowedPlayer, OperatorApi, PendingErasure } from '../group/api.js';
import { limits } from '../limits.js';
import { playerId } from '../validation/identifiers.js';
import { shape } from '../validation/schema.js';
import { parseHash, parseUntil } from './arguments.js';
import { subjectExportValue } from './export-document.js';
import {
  by,
  count,
  exampleHash,
  isoTime,
  mapped,
  note,
  operation,
  page,
  parsed,
  subjectHash,
  typed,
} from './operation.js';
import { evidenceValue, lookUpPlayer, playerLines } from './player-lookup.js';
import { table } from './text-table.js';

const hash = parsed('<hash>', 'subject hash, 64 hexadecimal characters', { parse: parseHash });

export const playerOperations = {
  'allow-list': operation({
    request: shape(page(limits.allowedSubjectsMax)),
    dashboard: true,
    answer({ from, limit }, { group }) {
      const entries = group.allowedPlayers();
      const data = entries.slice(from, from + limit).map(allowedPlayerValue);
      return granted({ data, next_from: from + limit < entries.length ? from + limit : null });
    },
    ptf: {
      group: 'allow',
      command: 'list',
      text: 'list the players on the allow list',
      examples: ['allow list', 'allow list --json'],
      show({ data }, width) {
        if (data.length === 0) return ['no player is on the allow list'];
        const rows = data.map((one) => [one.subject_hash, one.until, one.note, one.entry_id]);
        return table(rows, width, ['subject', 'until', 'note', 'entry'], ['subject', 'until']);
      },
    },
  }),

  'allow-add': operation({
    request: shape({ subject_hash: subjectHash, until: { type: 'string', format: 'date-time' }, note, by }, ['by']),
    dashboard: true,
    answer: async (request, { group, by: actor }) => {
      const subject = Buffer.from(request.subject_hash, 'hex');
      return mapped(
        await group.allowPlayer(subject, Date.parse(request.until), request.note, actor),
        allowedPlayerValue,
      );
    },
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
      const outcome = await group.disallowPlayer(Buffer.from(subject_hash, 'hex'), actor);
      return mapped(outcome, () => ({ subject_hash }));
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
    answer({ from, limit }, { group }) {
      const all = group.pendingErasures();
      const end = from + limit;
      const data = all.slice(from, end).map((pending) => pendingValue(group, pending));
      return granted({ data, next_from: end < all.length ? end : null });
    },
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
      from: count(0, Number.MAX_SAFE_INTEGER),
      limit: count(1, limits.pageMax),
    }),
    dashboard: true,
    answer({ verdicts: wanted, from, limit }, { group }) {
      const { players, next } = group.playersBy(wanted, from, limit);
      const data = players.map(({ subject, verdict, score, confidence, eventCount, updatedAt }) => {
        return {
          subject_hash: subject,
          verdict,
          score,
          confidence,
          event_count: eventCount,
          updated_at: isoTime(updatedAt),
        };
      });
      return granted({ data, next_from: next });
    },
  }),

  /** A player by account id or subject hash. Shows no peer's events. */
  player: operation({
    request: shape({ player_id: playerId }),
    dashboard: true,
    answer: ({ player_id }, { group, pseudonymise }) => lookUpPlayer(group, pseudonymise, player_id),
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

function pendingValue(group: OperatorApi, { subject, requests }: PendingErasure) {
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

function allowedPlayerValue({ subject, entryId, until, note: reason }: AllowedPlayer) {
  return { subject_hash: subject, entry_id: entryId, until: isoTime(until), note: reason };
}
