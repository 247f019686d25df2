/** Collects what the state holds about one player, as of one record. The events themselves are only in the log. */
import { asOfTime, decayed, decayFactorFor, measureFactorFor } from '../../core/evidence/decay.js';
import { eventTypeName } from '../../core/evidence/event-types.js';
import { subjectHex } from '../../core/hashing/pseudonym.js';
import type { LogRecord, RecordType } from '../../core/records/records.js';
import { readTrust } from '../../core/scoring/score.js';
import type { GroupState } from '../../core/state.js';
import { granted, type Outcome } from '../../errors.js';
import { limits } from '../../limits.js';
import type { ChainHead, GroupPool, ListedEvent } from '../ports/pool.js';
import { auditEntry, disputeView } from './views.js';

export interface Holdings extends Readonly<ReturnType<typeof holdingsOf>> {}

export type PairHolding = Holdings['pairs'][number];

export function holdingsOf(state: GroupState, subject: Uint8Array) {
  const { subjects, lastAt: at } = state;
  const hex = subjectHex(subject);
  const row = subjects.find(subject);
  const asOf = asOfTime(state, at);
  const named = state.allowed.of(hex) ?? { entry: null, seqs: [] };
  const decayFactor = row < 0 ? 0 : decayFactorFor(state, subjects.evidenceAt(row), asOf);
  const measureFactor = row < 0 ? 0 : measureFactorFor(state, subjects.evidenceAt(row), asOf);
  const pairs = headsOf(state, row).map((head, i) => {
    const entry = subjects.firstEntry(row) + i;
    const { entries } = subjects;
    return {
      ...head,
      events: entries.count(entry),
      /** Decayed sums, in events of severity 1. */
      lowering: decayed(entries.lowering(entry), decayFactor),
      raising: decayed(entries.raising(entry), decayFactor),
      measure: decayed(entries.measure(entry), measureFactor),
      /** True if an upheld dispute excludes the evidence from the score. */
      isVoid: entries.isVoid(entry),
    };
  });
  return {
    seq: state.lastSeq,
    /** ms since 1970. */
    at,
    trust: row < 0 ? null : readTrust(state, row, asOf),
    pairs,
    disputes: state.disputes.of(hex),
    droppedDisputes: state.disputes.droppedOf(hex),
    /** The entry of the allow list that counts, and the records that name the player for one. */
    allowed: (named.entry?.until ?? 0) < at ? null : named.entry,
    allowRecords: named.seqs,
    erasureRequests: state.erasureRequests.of(hex).seqs,
    withdrawn: withdrawnOf(state, hex),
    /** Events up to this record have left the log. */
    expired: state.retired.seq,
  };
}

export interface Chains extends Readonly<NonNullable<ReturnType<typeof chainsOf>>> {}

export function chainsOf(state: GroupState, subject: Uint8Array) {
  const { subjects, disputes } = state;
  const row = subjects.find(subject);
  if (row < 0) return null;
  const hex = subjectHex(subject);
  const heads = headsOf(state, row);
  const first = subjects.firstEntry(row);
  const total = heads.reduce((events, _, i) => events + subjects.entries.count(first + i), 0);
  const senders = [...new Set(heads.map(({ sender }) => sender))];
  return {
    total,
    heads,
    /** The peers among the senders that see their events as disputed. */
    disputed: disputes.size === 0 ? [] : senders.filter((peer) => disputes.concern(hex, peer)),
    withdrawn: withdrawnOf(state, hex),
    asOf: state.lastSeq,
    expired: state.retired.seq,
  };
}

/** Returns the heads in the order of the player's entries; none for row -1. */
function headsOf({ subjects, origins }: GroupState, row: number): ChainHead[] {
  if (row < 0) return [];
  return Array.from(subjects.entriesOf(row), (entry) => {
    const peer = subjects.entries.peer(entry);
    return { peer, sender: origins.peerOf(peer), origin: origins.nameOf(peer), head: subjects.entries.head(entry) };
  });
}

function withdrawnOf(state: GroupState, subject: string): number[] {
  const withdrawn: number[] = [];
  for (const [eventSeq, withdrawal] of state.withdrawals) if (withdrawal.subject === subject) withdrawn.push(eventSeq);
  return withdrawn;
}

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
  const idOf = (peer: number) => (state.peers.has(peer) ? state.peers.at(peer).peerId : null);
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
    /** Erasures that waited for the operator; the id is null without a key, or if a restore lost the peer. */
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
  let isComplete = true;
  for (const pair of pairs) {
    let from: number | null = pair.head;
    while (from !== null && read < limits.exportRecordsMax) {
      const head: number = from;
      const piece = await ask((pool) => pool.pairEvents({ head, expired }));
      if (!piece.ok) return piece;
      read += piece.value.read;
      from = piece.value.next;
      const listed = piece.value.events.filter(({ seq }) => !isWithdrawn.has(seq));
      events.push(...listed.map((one) => exportedEvent(state, pair, one)));
    }
    isComplete &&= from === null;
  }
  events.sort((p, q) => q.seq - p.seq);
  return granted({ events, isComplete });
}

function exportedEvent(
  state: GroupState,
  { sender, origin, isVoid }: PairHolding,
  { seq, receivedAt, event }: ListedEvent,
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
