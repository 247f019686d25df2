/** Collects everything that a group holds of one player for the operator, from the state and the log. */
import { eventTypeName } from '../../core/evidence/event-types.js';
import type { GroupState } from '../../core/state.js';
import { NO_KEY } from '../../core/vocabulary.js';
import { granted, type Outcome } from '../../errors.js';
import { limits } from '../../limits.js';
import type { AuditEntry, DisputeView, ExportedEvent, SubjectExport } from '../api.js';
import type { GroupPool, ListedEvent } from '../ports/pool.js';
import { disputeView } from './dispute-views.js';
import type { Holdings, PairHolding } from './subject-holdings.js';

/** Runs work in the pool, or returns the refusal if the pool has no room. */
export type AskPool = <R>(work: (pool: GroupPool) => Promise<R>) => Promise<Outcome<R>>;

/** `receipt` proves the export against the commitment in the audit log. Codes: overloaded. */
export async function exportOf(
  state: GroupState,
  subject: string,
  receipt: string,
  holdings: Holdings,
  ask: AskPool,
): Promise<Outcome<SubjectExport>> {
  const events = await eventsOf(state, holdings, ask);
  if (!events.ok) return events;
  const { erasureRequests, disputes, droppedDisputes, allowed, allowRecords, seq } = holdings;
  const ofDisputes = [...droppedDisputes, ...disputes.flatMap((one) => [one.seq, ...one.decisions])];
  const seqs = [...erasureRequests, ...allowRecords, ...ofDisputes, seq];
  const read = await ask((pool) => pool.records(seqs.sort((p, q) => p - q)));
  if (!read.ok) return read;
  const audit: AuditEntry[] = [];
  const requests: SubjectExport['erasureRequests'][number][] = [];
  const refusals: SubjectExport['refusedErasures'][number][] = [];
  const pastAllowed: SubjectExport['pastAllowed'][number][] = [];
  const pastDisputes: SubjectExport['pastDisputes'][number][] = [];
  const idOf = (peer: number) => (peer === NO_KEY ? null : state.peers.at(peer).peerId);
  for (const [i, { record, at }] of read.value.entries()) {
    if (!('audit' in record)) continue;
    const { prev_hash: prevHash, ...entry } = record.audit;
    audit.push({ seq: seqs[i]!, at, ...entry, prevHash });
    if (record.type === 'erasure_requested') requests.push({ requestedAt: at, peerId: idOf(record.peer) });
    if (record.type === 'erasure_refused') refusals.push({ at, reason: record.reason });
    if (record.type === 'player_allowed' && record.id !== allowed?.id) {
      pastAllowed.push({ id: record.id, addedAt: at, until: record.until, note: record.note ?? '' });
    }
    if (record.type === 'dispute_opened' && droppedDisputes.includes(seqs[i]!)) {
      pastDisputes.push({ id: record.dispute_id, openedAt: at, peerId: idOf(record.peer), text: record.text });
    }
  }
  const { pairs, trust, at } = holdings;
  return granted({
    subject,
    exportedAt: at,
    receipt,
    trust,
    sums: pairs.map(({ sender, origin, events: count, lowering, raising, measure: bans, isVoid }) => {
      return { peerId: state.peers.at(sender).peerId, origin, events: count, lowering, raising, bans, isVoid };
    }),
    ...events.value,
    disputes: disputes.map((dispute): DisputeView => disputeView(state, dispute)),
    pastDisputes,
    erasureRequests: requests,
    refusedErasures: refusals,
    allowed,
    pastAllowed,
    audit,
  });
}

/** Returns the events of all pairs, newest first; `isComplete` is false if there are more than one export holds. */
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
): ExportedEvent {
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
    isVoid,
  };
}
