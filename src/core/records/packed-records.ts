/** Encodes and decodes the frequent records as packed little-endian bytes, after the two bytes of `record-codec.ts`. */
import { encodeKey, encodeTag, ID_TAG_BYTES, KEY_WORDS, readKey, readTag, TAG_WORDS } from '../columns/packed-keys.js';
import type { EventTypeId } from '../evidence/event-types.js';
import type { EventColumns, EventKeys } from '../tables/event-columns.js';
import type { CarriedSums, DecidedEvent, EventAccepted, EventTombstone, WeightsPublished } from './records.js';

/** The head of an event ends with the tag of its id. */
const TAG_AT = 76;
const EVENT_HEAD = TAG_AT + ID_TAG_BYTES;
export const EVENT_TYPE_AT = 2;
const TOMBSTONE_BYTES = 22;
const CARRIED_SUMS_HEAD_BYTES = 12;
const CARRIED_SUMS_BYTES = 80;
/** After the carried sums of a pair with measures: their sum, and the bits of `VoteSpace.follows`. */
const MEASURED_SUMS_BYTES = 9;

/** Event version 3 repeats another, 4 has flags and a reference, 5 may lack the reference; 1 was never published. */
export const EVENT_VERSION_MIN = 2;
const REPEATED = 3;
const REFERENCED = 4;
const FLAGGED = 5;

/** After the head of an event with flags: a byte of flags, and the length of the reference in 16 bits, 0 if absent. */
const FLAGS_AT = EVENT_HEAD;
const REFERENCE_LENGTH_AT = EVENT_HEAD + 1;
const FLAGGED_HEAD = EVENT_HEAD + 3;
const REPEATS = 1;
const FOLLOWS = 2;

export function eventVersion({ repeats, follows, reference }: DecidedEvent): number {
  if (follows !== undefined) return FLAGGED;
  if (reference !== undefined) return REFERENCED;
  return repeats === undefined ? EVENT_VERSION_MIN : REPEATED;
}

export function isEventVersion(version: number): boolean {
  return version >= EVENT_VERSION_MIN && version <= FLAGGED;
}

export function isRepeated(bytes: Uint8Array, at: number): boolean {
  const version = bytes[at + 1]!;
  return version === REPEATED || (version >= REFERENCED && (bytes[at + FLAGS_AT]! & REPEATS) !== 0);
}

export function isFollowing(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 1]! === FLAGGED && (bytes[at + FLAGS_AT]! & FOLLOWS) !== 0;
}

export function eventBytes({ event_id, schema_version, follows, reference }: DecidedEvent): number {
  const bytes = EVENT_HEAD + event_id.length + schema_version.length;
  if (reference === undefined && follows === undefined) return bytes;
  return bytes + FLAGGED_HEAD - EVENT_HEAD + Buffer.byteLength(reference ?? '');
}

/** Writes an event at byte `at`; `view` covers the same bytes. */
export function writeEvent(
  event: DecidedEvent,
  { columns, i }: EventKeys,
  bytes: Buffer,
  view: DataView,
  at: number,
): void {
  bytes[at + EVENT_TYPE_AT] = event.event_type;
  bytes[at + 3] = event.event_id.length;
  view.setUint16(at + 4, event.peer, true);
  view.setUint16(at + 6, event.game, true);
  view.setFloat64(at + 8, event.timestamp, true);
  view.setFloat64(at + 16, event.severity, true);
  view.setFloat64(at + 24, event.mass, true);
  view.setFloat64(at + 32, event.prev, true);
  encodeKey(columns.keys, i * KEY_WORDS, view, at + 40);
  view.setUint32(at + 72, event.schema_version.length, true);
  encodeTag(columns.tags, i * TAG_WORDS, view, at + TAG_AT);
  if (event.reference !== undefined || event.follows !== undefined) {
    writeFlagged(event, bytes, at);
    return;
  }
  writeTexts(event, bytes, at + EVENT_HEAD);
}

/** Returns the end. */
function writeTexts({ event_id, schema_version }: DecidedEvent, bytes: Buffer, at: number): number {
  const from = at + bytes.write(event_id, at, 'latin1');
  return from + bytes.write(schema_version, from, 'latin1');
}

function writeFlagged(event: DecidedEvent, bytes: Buffer, at: number): void {
  const from = writeTexts(event, bytes, at + FLAGGED_HEAD);
  const length = event.reference === undefined ? 0 : bytes.write(event.reference, from, 'utf8');
  bytes[at + FLAGS_AT] = (event.repeats === undefined ? 0 : REPEATS) | (event.follows === undefined ? 0 : FOLLOWS);
  bytes.writeUInt16LE(length, at + REFERENCE_LENGTH_AT);
}

export function decodeEvent(bytes: Buffer, eventType: EventTypeId): EventAccepted {
  const isFlagged = bytes[1]! >= REFERENCED;
  const head = isFlagged ? FLAGGED_HEAD : EVENT_HEAD;
  const idEnd = head + bytes[3]!;
  const versionEnd = idEnd + bytes.readUInt32LE(72);
  const referenceBytes = isFlagged ? bytes.readUInt16LE(REFERENCE_LENGTH_AT) : 0;
  return {
    type: 'event_accepted',
    event_type: eventType,
    peer: bytes.readUInt16LE(4),
    game: bytes.readUInt16LE(6),
    timestamp: bytes.readDoubleLE(8),
    severity: bytes.readDoubleLE(16),
    mass: bytes.readDoubleLE(24),
    prev: bytes.readDoubleLE(32),
    subject: bytes.subarray(40, 72),
    id_tag: bytes.toString('latin1', TAG_AT, EVENT_HEAD),
    event_id: bytes.toString('latin1', head, idEnd),
    schema_version: bytes.toString('latin1', idEnd, versionEnd),
    ...(isRepeated(bytes, 0) ? { repeats: true as const } : {}),
    ...(isFollowing(bytes, 0) ? { follows: true as const } : {}),
    ...(referenceBytes > 0 ? { reference: bytes.toString('utf8', versionEnd, versionEnd + referenceBytes) } : {}),
  };
}

/** Adds the event at byte `at` to columns with room. An event that repeats another adds no evidence. */
export function readEvent(bytes: Uint8Array, view: DataView, at: number, columns: EventColumns): void {
  const i = columns.count++;
  columns.peers[i] = view.getUint16(at + 4, true);
  columns.timestamps[i] = view.getFloat64(at + 8, true);
  columns.types[i] = view.getUint8(at + EVENT_TYPE_AT);
  columns.masses[i] = isRepeated(bytes, at) ? 0 : view.getFloat64(at + 24, true);
  columns.follows[i] = isFollowing(bytes, at) ? 1 : 0;
  readKey(view, at + 40, columns.keys, i * KEY_WORDS);
  readTag(view, at + TAG_AT, columns.tags, i * TAG_WORDS);
}

export function encodeTombstone(tombstone: EventTombstone): Uint8Array {
  const out = Buffer.allocUnsafe(TOMBSTONE_BYTES);
  out.writeUInt16LE(tombstone.peer, 2);
  out.writeDoubleLE(tombstone.prev, 4);
  out.write(tombstone.id_tag, 12, ID_TAG_BYTES, 'latin1');
  return out;
}

export function decodeTombstone(bytes: Buffer): EventTombstone {
  return {
    type: 'event_gone',
    peer: bytes.readUInt16LE(2),
    prev: bytes.readDoubleLE(4),
    id_tag: bytes.toString('latin1', 12, 12 + ID_TAG_BYTES),
  };
}

const WEIGHTS_HEAD = 30;
/** Sizes per peer, all peers of one before those of the next: tau, a, b; z, witness; the weights of measures. */
const WEIGHT_BYTES = 24;
const WITNESS_BYTES = 10;
const MEASURE_BYTES = 25;

export function encodeWeights(weights: WeightsPublished): Uint8Array {
  const { tau, a, b, z, witness, measures } = weights;
  const count = tau.length;
  const bytes = WEIGHT_BYTES + WITNESS_BYTES + (measures === null ? 0 : MEASURE_BYTES);
  const out = Buffer.allocUnsafe(WEIGHTS_HEAD + count * bytes);
  out.writeUInt32LE(count, 2);
  out.writeDoubleLE(weights.based_on_seq, 6);
  out.writeDoubleLE(weights.computed_at, 14);
  out.writeDoubleLE(weights.pi, 22);
  for (let i = 0; i < count; i++) {
    const at = WEIGHTS_HEAD + i * WEIGHT_BYTES;
    out.writeDoubleLE(tau[i]!, at);
    out.writeDoubleLE(a[i]!, at + 8);
    out.writeDoubleLE(b[i]!, at + 16);
    const behind = WEIGHTS_HEAD + count * WEIGHT_BYTES + i * WITNESS_BYTES;
    out.writeDoubleLE(z[i]!, behind);
    out.writeUInt16LE(witness[i]!, behind + 8);
    if (measures === null) continue;
    const last = WEIGHTS_HEAD + count * (WEIGHT_BYTES + WITNESS_BYTES) + i * MEASURE_BYTES;
    out.writeDoubleLE(measures.m[i]!, last);
    out.writeDoubleLE(measures.finds[i]!, last + 8);
    out.writeDoubleLE(measures.findsClaim[i]!, last + 16);
    out[last + 24] = measures.measured[i]! | (measures.judged[i]! << 1);
  }
  return out;
}

export function decodeWeights(bytes: Buffer, withMeasures: boolean): WeightsPublished {
  const count = bytes.readUInt32LE(2);
  const behind = WEIGHTS_HEAD + count * WEIGHT_BYTES;
  const last = behind + count * WITNESS_BYTES;
  const column = (at: number, step: number) =>
    Float64Array.from({ length: count }, (_, i) => bytes.readDoubleLE(at + i * step));
  return {
    type: 'weights_published',
    based_on_seq: bytes.readDoubleLE(6),
    computed_at: bytes.readDoubleLE(14),
    pi: bytes.readDoubleLE(22),
    tau: column(WEIGHTS_HEAD, WEIGHT_BYTES),
    a: column(WEIGHTS_HEAD + 8, WEIGHT_BYTES),
    b: column(WEIGHTS_HEAD + 16, WEIGHT_BYTES),
    z: column(behind, WITNESS_BYTES),
    witness: Uint16Array.from({ length: count }, (_, i) => bytes.readUInt16LE(behind + 8 + i * WITNESS_BYTES)),
    measures: withMeasures
      ? {
          m: column(last, MEASURE_BYTES),
          finds: column(last + 8, MEASURE_BYTES),
          findsClaim: column(last + 16, MEASURE_BYTES),
          measured: Uint8Array.from({ length: count }, (_, i) => bytes[last + 24 + i * MEASURE_BYTES]! & 1),
          judged: Uint8Array.from({ length: count }, (_, i) => bytes[last + 24 + i * MEASURE_BYTES]! >>> 1),
        }
      : null,
  };
}

/** True if sums hold what a release without measures could not read. */
export function hasMeasures({ subject, measure = 0, follows = 0 }: CarriedSums): boolean {
  return subject !== null && (measure > 0 || follows > 0);
}

/** Encodes carried sums. Without a subject, only their place in the chain is left. */
export function encodeCarriedSums(sums: CarriedSums): Uint8Array {
  const whole = CARRIED_SUMS_BYTES + (hasMeasures(sums) ? MEASURED_SUMS_BYTES : 0);
  const out = Buffer.allocUnsafe(sums.subject === null ? CARRIED_SUMS_HEAD_BYTES : whole);
  out.writeUInt16LE(sums.peer, 2);
  out.writeDoubleLE(sums.prev, 4);
  if (sums.subject === null) return out;
  out.set(sums.subject, CARRIED_SUMS_HEAD_BYTES);
  out.writeUInt32LE(sums.count, 44);
  out.writeDoubleLE(sums.lowering, 48);
  out.writeDoubleLE(sums.raising, 56);
  out.writeDoubleLE(sums.updated_at, 64);
  out.writeDoubleLE(sums.evidence_at, 72);
  if (!hasMeasures(sums)) return out;
  out.writeDoubleLE(sums.measure ?? 0, CARRIED_SUMS_BYTES);
  out[CARRIED_SUMS_BYTES + 8] = sums.follows ?? 0;
  return out;
}

/** The fields of stated sums once their subject was erased. */
export const noSums = { subject: null, lowering: 0, raising: 0, count: 0, updated_at: 0, evidence_at: 0 } as const;

export function decodeCarriedSums(bytes: Buffer): CarriedSums {
  const link = { type: 'evidence_kept', peer: bytes.readUInt16LE(2), prev: bytes.readDoubleLE(4) } as const;
  if (bytes.length === CARRIED_SUMS_HEAD_BYTES) return { ...link, ...noSums };
  const hasMore = bytes.length > CARRIED_SUMS_BYTES;
  const measure = hasMore ? bytes.readDoubleLE(CARRIED_SUMS_BYTES) : 0;
  const follows = hasMore ? bytes[CARRIED_SUMS_BYTES + 8]! : 0;
  return {
    ...link,
    subject: bytes.subarray(CARRIED_SUMS_HEAD_BYTES, 44),
    count: bytes.readUInt32LE(44),
    lowering: bytes.readDoubleLE(48),
    raising: bytes.readDoubleLE(56),
    updated_at: bytes.readDoubleLE(64),
    evidence_at: bytes.readDoubleLE(72),
    ...(measure > 0 ? { measure } : {}),
    ...(follows > 0 ? { follows } : {}),
  };
}
