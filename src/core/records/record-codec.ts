/** Encodes and decodes records: type, version, and packed fields or JSON. Refuses versions of newer releases. */
import { NamedError } from '../../errors.js';
import { isEventTypeId } from '../evidence/event-types.js';
import { peerChangeIds } from '../peers/peer-changes.js';
import { EventColumns, type EventKeys, keyOf } from '../tables/event-columns.js';
import * as packedRecords from './packed-records.js';
import type { DecidedEvent, EventAccepted, LogRecord, RecordType } from './records.js';

/** Numbers as written to the log; a number is never reused. */
const typeIds: Record<RecordType, number> = {
  group_formed: 1,
  peer_registered: 2,
  pre_trust_set: 5,
  half_life_changed: 6,
  epoch_moved: 7,
  event_accepted: 8,
  event_gone: 9,
  event_withdrawn: 10,
  erasure_requested: 11,
  subject_erased: 12,
  batches_rewritten: 13,
  weights_published: 14,
  redacted: 15,
  evidence_kept: 16,
  events_retired: 17,
  scoring_changed: 18,
  peers_related: 19,
  evidence_taken_back: 20,
  events_erased: 21,
  origin_declared: 22,
  origin_removed: 23,
  origin_carried: 24,
  dispute_opened: 25,
  dispute_decided: 26,
  subject_exported: 27,
  player_allowed: 31,
  player_allowance_ended: 32,
  shared_erasure_asked: 33,
  ban_half_life_changed: 34,
  ban_epoch_moved: 35,
  group_setting_changed: 36,
  erasure_refused: 37,
  ...peerChangeIds,
};

const typeNames = new Map<number, RecordType>(
  (Object.entries(typeIds) as [RecordType, number][]).map(([name, id]) => [id, name]),
);

/** First versions with measures. Version 1 of weights had no witness groups; no published release wrote it. */
const WEIGHTS_VERSION_MIN = 2;
const WITH_MEASURES = 3;
const SUMS_WITH_MEASURES = 2;

const versionsMin: Partial<Record<RecordType, number>> = {
  event_accepted: packedRecords.EVENT_VERSION_MIN,
  weights_published: WEIGHTS_VERSION_MIN,
};

export class UnknownRecordError extends NamedError {}

/** Writes an event with its type and version to the `eventBytes` from byte `at` on; `view` covers the same bytes. */
export function writeEventRecord(
  event: DecidedEvent,
  keys: EventKeys,
  bytes: Buffer,
  view: DataView,
  at: number,
): void {
  bytes[at] = typeIds.event_accepted;
  bytes[at + 1] = packedRecords.eventVersion(event);
  packedRecords.writeEvent(event, keys, bytes, view, at);
}

export function encodeRecord(record: LogRecord): Uint8Array {
  if (record.type === 'event_accepted') return encodeEvent(record);
  const out = bytesOf(record);
  out[0] = typeIds[record.type];
  out[1] = versionOf(record);
  return out;
}

function versionOf(record: Exclude<LogRecord, EventAccepted>): number {
  if (record.type === 'evidence_kept') return packedRecords.hasMeasures(record) ? SUMS_WITH_MEASURES : 1;
  if (record.type !== 'weights_published') return 1;
  return record.measures === null ? WEIGHTS_VERSION_MIN : WITH_MEASURES;
}

const single = new EventColumns(1);

function encodeEvent(event: EventAccepted): Uint8Array {
  const keys = single.onlyKeys(keyOf(event.subject), event.id_tag);
  const out = Buffer.allocUnsafe(packedRecords.eventBytes(event));
  writeEventRecord(event, keys, out, new DataView(out.buffer, out.byteOffset, out.length), 0);
  return out;
}

function bytesOf(record: Exclude<LogRecord, EventAccepted>): Uint8Array {
  if (record.type === 'event_gone') return packedRecords.encodeTombstone(record);
  if (record.type === 'evidence_kept') return packedRecords.encodeCarriedSums(record);
  if (record.type === 'weights_published') return packedRecords.encodeWeights(record);
  const { type, ...rest } = record;
  const json = Buffer.from(JSON.stringify(rest, refuseNonFinite));
  const out = Buffer.allocUnsafe(2 + json.length);
  json.copy(out, 2);
  return out;
}

/** Throws `UnknownRecordError` for a record of another format, and any other error for damaged bytes. */
export function decodeRecord(bytes: Buffer): LogRecord {
  if (isEvent(bytes, 0)) return decodeKnownEvent(bytes);
  const type = typeNames.get(bytes[0]!);
  const version = bytes[1]!;
  if (version < (versionsMin[type!] ?? 1))
    throw new UnknownRecordError(
      `record of type ${bytes[0]} version ${version} is older than any that this release reads`,
    );
  if (type === 'weights_published' && version <= WITH_MEASURES)
    return packedRecords.decodeWeights(bytes, version === WITH_MEASURES);
  if (type === 'evidence_kept' && version <= SUMS_WITH_MEASURES) return packedRecords.decodeCarriedSums(bytes);
  if (type === undefined || type === 'event_accepted' || version !== 1) {
    throw new UnknownRecordError(`record of type ${bytes[0]} version ${version} was written by a newer release`);
  }
  if (type === 'event_gone') return packedRecords.decodeTombstone(bytes);
  return { type, ...JSON.parse(bytes.toString('utf8', 2)) } as LogRecord;
}

function decodeKnownEvent(bytes: Buffer): EventAccepted {
  const eventType = bytes[packedRecords.EVENT_TYPE_AT]!;
  if (isEventTypeId(eventType)) return packedRecords.decodeEvent(bytes, eventType);
  throw new UnknownRecordError(`event of type ${eventType} was written by a newer release`);
}

/** True if the record at byte `at` is an event that columns can hold: this release knows its type. */
export function fitsColumns(bytes: Uint8Array, at: number): boolean {
  return isEvent(bytes, at) && isEventTypeId(bytes[at + packedRecords.EVENT_TYPE_AT]!);
}

function isEvent(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === typeIds.event_accepted && packedRecords.isEventVersion(bytes[at + 1]!);
}

/** Throws for NaN and infinite numbers: JSON would turn them into `null`, and a replay would differ. */
function refuseNonFinite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`records: ${name} is ${value}`);
  return value;
}
