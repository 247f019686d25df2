/** Collects everything that a group holds of one player for the operator, from the state and the log. */
import { eventTypeName } from '../../core/evidence/event-types.js';
import type { LogRecord, RecordType } from '../../core/records/records.js';
import type { GroupState } from '../../core/state.js';
import { NO_KEY } from '../../core/vocabulary.js';
import { granted, type Outcome } from '../../errors.js';
import { limits } from '../../limits.js';
import type { GroupPool, ListedEvent } from '../ports/pool.js';

import type { Holdings, PairHolding } from './subject-holdings.js';
import { auditEntry, disputeView } from './views.js';

/** Refuses the work if the pool has no room. */
export type AskPool = <R>(work: (pool: GroupPool) => Promise<R>) => Promise<Outcome<R>>;

/** `receipt` proves the export against the audit log's SHA-256(receipt + hash). Codes: overloaded. */
export async function exportOf(
  state: GroupState,
  subject: string,
  receipt: string,
  holdings: Holdings,
  ask: AskPool,
): Promise<Outcome<SubjectExport>> {
  const events = await eventsOf(state, holdings, ask);
  if (!events.ok) return events;
  const { erasureRequests, disputes, droppedDisputes, allowRecords, seq } = holdings;
  const ofDisputes = [...droppedDisputes, ...disputes.flatMap((one) => [one.seq, ...one.decisions])];
  const seqs = [...erasureRequests, ...allowRecords, ...ofDisputes, seq].sort((p, q) => p - q);
  const read = await ask((pool) => pool.records(seqs));
  if (!read.ok) return read;
  const named = read.value.map((one, i) => ({ ...one, seq: seqs[i]! }));
  return granted({ subject, receipt, ...heldOf(state, holdings, named), ...events.value });
}

interface NamedRecord {
  readonly record: LogRecord;
  readonly at: number;
  readonly seq: number;
}

export interface SubjectExport extends Readonly<ReturnType<typeof heldOf>> {
  readonly subject: string;
  readonly receipt: string;
  /** Newest first. */
  readonly events: readonly ExportedEvent[];
  /** False if there are more events than one export holds. */
  readonly isComplete: boolean;
}

/** `named`: the records that name the player, oldest first. */
function heldOf(state: GroupState, holdings: Holdings, named: readonly NamedRecord[]) {
  const { pairs, trust, at: exportedAt, disputes, droppedDisputes, allowed } = holdings;
  const idOf = (peer: number) => (peer === NO_KEY ? null : state.peers.at(peer).peerId);
  const of = <T extends RecordType>(type: T) =>
    named.filter((one): one is NamedRecord & { record: Extract<LogRecord, { type: T }> } => one.record.type === type);
  return {
    exportedAt,
    trust,
    /** The decayed evidence of each peer, including that of expired events. */
    sums: pairs.map(({ sender, origin, events: count, lowering, raising, measure: bans, isVoid }) => {
      return { peerId: state.peers.at(sender).peerId, origin, events: count, lowering, raising, bans, isVoid };
    }),
    disputes: disputes.map((dispute) => disputeView(state, dispute)),
    /** Dropped rejected disputes, whose texts are only in the log. */
    pastDisputes: of('dispute_opened')
      .filter(({ seq }) => droppedDisputes.includes(seq))
      .map(({ record, at }) => {
        return { id: record.dispute_id, openedAt: at, peerId: idOf(record.peer), text: record.text };
      }),
    /** Erasures that waited for the operator; the id is null for a peer without a key. */
    erasureRequests: of('erasure_requested').map(({ record, at }) => {
      return { requestedAt: at, peerId: idOf(record.peer) };
    }),
    refusedErasures: of('erasure_refused').map(({ record, at }) => ({ at, reason: record.reason })),
    allowed,
    /** Entries that ended or were replaced, the oldest first. */
    pastAllowed: of('player_allowed')
      .filter(({ record }) => record.id !== allowed?.id)
      .map(({ record, at }) => ({ id: record.id, addedAt: at, until: record.until, note: record.note ?? '' })),
    /** Entries of the audit log that concern the player without naming the player. */
    audit: named.flatMap(({ record, at, seq }) => ('audit' in record ? auditEntry(seq, at, record.audit) : [])),
  };
}

async function eventsOf(
  state: GroupState,
  { pairs, withdrawn, expired }: Holdings,
  ask: AskPool,
): Promise<Outcome<Pick<SubjectExport, 'events' | 'isComplete'>>> {
  const isWithdrawn = new Set(withdrawn);
  const events: ExportedEvent[] = [];
  let read = 0;
  for (const pair of pairs) {
    for (let from: number | null = pair.head; from !== null && read < limits.exportRecordsMax; ) {
      const head: number = from;
      const piece = await ask((pool) => pool.pairEvents({ head, expired }));
      if (!piece.ok) return piece;
      read += piece.value.read;
      from = piece.value.next;
      for (const { seq, receivedAt, event } of piece.value.events) {
        if (!isWithdrawn.has(seq)) events.push(exportedEvent(state, pair, seq, receivedAt, event));
      }
    }
  }
  events.sort((p, q) => q.seq - p.seq);
  return granted({ events, isComplete: read < limits.exportRecordsMax });
}

function exportedEvent(
  state: GroupState,
  { sender, origin, isVoid }: PairHolding,
  seq: number,
  receivedAt: number,
  event: ListedEvent['event'],
) {
  const peer = state.peers.at(sender);
  return {
    seq,
    receivedAt,
    peerId: peer.peerId,
    origin,
    reference: event.reference ?? null,
    schemaVersion: event.schema_version,
    eventId: event.event_id,
    eventType: eventTypeName(event.event_type),
    gameId: peer.gameIds[event.game]!,
    severity: event.severity,
    timestamp: event.timestamp,
    /** True if an upheld dispute excludes the event from the score. */
    isVoid,
  };
}

export interface ExportedEvent extends Readonly<ReturnType<typeof exportedEvent>> {}
