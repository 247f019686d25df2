/**
 * Converts a state to the blocks of a snapshot and back. Tables are written by content, not by layout: rows in no
 * particular order, each whole, so that the format outlives every change of the tables. Blocks, little-endian, of a
 * quarter of a mebibyte:
 *
 * | key         | content                                                                                              |
 * |-------------|------------------------------------------------------------------------------------------------------|
 * | `meta`      | JSON, `SnapshotMeta`                                                                                 |
 * | `times/n`   | per step: f64 first sequence number, f64 time                                                        |
 * | `audit/n`   | f64 sequence number                                                                                  |
 * | `erased/n`  | per event that went with an erasure: u16 peer, f64 its record, f64 the record that says so           |
 * | `ids/n`     | per event id: 10 bytes tag, f64 sequence number, u16 peer                                            |
 * | `repeats/n` | u32 hash of what an event says, see `RepeatFilter`                                                   |
 * | `players/n` | per subject: 32 bytes key, f64 time of change, f64 of evidence, u16 entries; per entry: u16 peer, u32 count, f64 lowering, raising, head |
 * | `bans/n`    | per pair with a measure, or that follows others: 32 bytes key, u16 peer, u8 bits of `VoteSpace.follows`, f64 measure |
 */
import { limits } from '../../limits.js';
import { ID_TAG_BYTES, KEY_WORDS, readKey, readTag, TAG_WORDS } from '../columns/packed-keys.js';
import type { GroupState } from '../state.js';
import { type KeyColumns, keyColumns } from '../tables/event-columns.js';
import { noEvidence } from '../tables/peer-entries.js';
import type { Subjects } from '../tables/subjects.js';
import { type SnapshotMeta, snapshotMetaOf, stateFrom } from './snapshot-meta.js';

export const SNAPSHOT_VERSION = 3;

export interface SnapshotBlock {
  readonly key: string;
  readonly bytes: Uint8Array;
}

const TIME_BYTES = 16;
const ID_BYTES = ID_TAG_BYTES + 10;
const ERASED_BYTES = 18;
const PLAYER_BYTES = 50;
const ENTRY_BYTES = 30;
const BAN_BYTES = 43;

/** Writes the rows of one table into blocks that share one buffer; see `snapshotBlocks`. */
class Blocks {
  #number = 0;
  #buffer = Buffer.allocUnsafe(limits.snapshotBlockBytes);
  #at = 0;

  constructor(private readonly name: string) {}

  /** Yields the full blocks and the last one. `rowBytes`: the bytes that `write` writes of each row. */
  *of<Row>(
    rows: Iterable<Row>,
    rowBytes: number | ((row: Row) => number),
    write: (row: Row, to: Blocks) => void,
  ): Generator<SnapshotBlock> {
    for (const row of rows) {
      const bytes = typeof rowBytes === 'number' ? rowBytes : rowBytes(row);
      if (this.#at + bytes > this.#buffer.length) {
        if (this.#at > 0) yield this.#finish();
        if (bytes > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(bytes);
      }
      write(row, this);
    }
    if (this.#at > 0) yield this.#finish();
  }

  #finish(): SnapshotBlock {
    const key = `${this.name}/${String(this.#number++).padStart(8, '0')}`;
    const bytes = this.#buffer.subarray(0, this.#at);
    this.#at = 0;
    return { key, bytes };
  }

  u8(value: number): void {
    this.#at = this.#buffer.writeUInt8(value, this.#at);
  }

  u16(value: number): void {
    this.#at = this.#buffer.writeUInt16LE(value, this.#at);
  }

  u32(value: number): void {
    this.#at = this.#buffer.writeUInt32LE(value, this.#at);
  }

  f64(value: number): void {
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }
}

/**
 * Yields the blocks of a state, in order; it must not change meanwhile. A block is valid until the next: separate
 * buffers would be megabytes of garbage, whose memory the C library keeps.
 */
export function* snapshotBlocks(state: GroupState): Generator<SnapshotBlock> {
  if (state.countsBansAsClaims) throw new Error('snapshot: the state is of an earlier version of scoring');
  const { times, auditSeqs, erasedEvents, eventIds, repeats, subjects } = state;
  yield { key: 'meta', bytes: Buffer.from(JSON.stringify(snapshotMetaOf(state))) };
  yield* new Blocks('times').of(upTo(times.seqs.length), TIME_BYTES, (i, to) => {
    to.f64(times.seqs.at(i));
    to.f64(times.ats.at(i));
  });
  yield* new Blocks('audit').of(upTo(auditSeqs.length), 8, (i, to) => to.f64(auditSeqs.at(i)));
  yield* new Blocks('erased').of(erasedEvents.all(), ERASED_BYTES, ({ peer, seq, erasedSeq }, to) => {
    to.u16(peer);
    to.f64(seq);
    to.f64(erasedSeq);
  });
  yield* new Blocks('ids').of(eventIds.held(), ID_BYTES, (id, to) => {
    for (let i = 0; i < TAG_WORDS; i++) to.u16(id.words[id.at + i]!);
    to.f64(id.seq);
    to.u16(id.peer);
  });
  yield* new Blocks('repeats').of(repeats.held(), 4, (hash, to) => to.u32(hash));
  const bytesOf = (row: number) => PLAYER_BYTES + subjects.peerCount(row) * ENTRY_BYTES;
  yield* new Blocks('players').of(subjects.held(), bytesOf, (row, to) => writePlayer(subjects, row, to));
  yield* new Blocks('bans').of(bans(subjects), BAN_BYTES, ({ row, entry }, to) => {
    writeKey(subjects, row, to);
    to.u16(subjects.entries.peer(entry));
    to.u8(subjects.entries.follows(entry));
    to.f64(subjects.entries.measure(entry));
  });
}

function* upTo(count: number): Generator<number> {
  for (let i = 0; i < count; i++) yield i;
}

const key = new Uint32Array(KEY_WORDS);

function writeKey(subjects: Subjects, row: number, to: Blocks): void {
  subjects.copyKeyOf(row, key, 0);
  for (const word of key) to.u32(word);
}

function writePlayer(subjects: Subjects, row: number, to: Blocks): void {
  const { entries } = subjects;
  writeKey(subjects, row, to);
  to.f64(subjects.updatedAt(row));
  to.f64(subjects.evidenceAt(row));
  to.u16(subjects.peerCount(row));
  for (const entry of subjects.entriesOf(row)) {
    to.u16(entries.peer(entry));
    to.u32(entries.count(entry));
    to.f64(entries.lowering(entry));
    to.f64(entries.raising(entry));
    to.f64(entries.head(entry));
  }
}

function* bans(subjects: Subjects): Generator<{ readonly row: number; readonly entry: number }> {
  const { entries } = subjects;
  for (const row of subjects.held()) {
    for (const entry of subjects.entriesOf(row)) {
      if (entries.measure(entry) !== 0 || entries.follows(entry) !== 0) yield { row, entry };
    }
  }
}

/** Returns the content of the block `meta`; null for every other block. */
export function metaIn({ key, bytes }: SnapshotBlock): SnapshotMeta | null {
  if (key !== 'meta') return null;
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as SnapshotMeta;
}

/** Throws if the blocks are not a whole snapshot of this version. */
export function loadSnapshot(blocks: Iterable<SnapshotBlock>, salt: Uint8Array): GroupState {
  let state: GroupState | null = null;
  let expected = { audited: 0, measured: 0, repeats: { count: 0, sum: 0 } };
  for (const block of blocks) {
    const meta = metaIn(block);
    if (meta !== null) {
      expected = meta;
      state = stateFrom(meta, salt);
      state.eventIds.reserve(meta.eventCount);
      state.subjects.reserve(meta.players);
      state.repeats.reserve(meta.repeats.count);
      continue;
    }
    const { key, bytes } = block;
    if (state === null) throw new Error(`snapshot: block ${key} comes before meta`);
    const load = loaders.get(key.slice(0, key.indexOf('/')));
    if (load === undefined) throw new Error(`snapshot: unknown block ${key}`);
    load(state, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  if (state === null) throw new Error('snapshot: no meta block');
  const { audited, measured, repeats } = expected;
  if (state.auditSeqs.length !== audited) throw new Error('snapshot: audit blocks are missing');
  if (state.eventIds.size !== state.eventCount) throw new Error('snapshot: event id blocks are missing');
  if (state.repeats.size !== repeats.count || state.repeats.sum !== repeats.sum) {
    throw new Error('snapshot: repeat blocks are missing or damaged');
  }
  if (state.subjects.entries.measured !== measured) throw new Error('snapshot: ban blocks are missing');
  state.markAllVoid();
  return state;
}

/** By table. The view covers the block's bytes; a `Buffer` would read a number byte by byte. */
const loaders = new Map(
  Object.entries<(state: GroupState, view: DataView) => void>({
    times({ times }, view) {
      for (let at = 0; at < view.byteLength; at += TIME_BYTES)
        times.note(view.getFloat64(at, true), view.getFloat64(at + 8, true));
    },
    audit({ auditSeqs }, view) {
      for (let at = 0; at < view.byteLength; at += 8) auditSeqs.push(view.getFloat64(at, true));
    },
    erased({ erasedEvents }, view) {
      for (let at = 0; at < view.byteLength; at += ERASED_BYTES) {
        erasedEvents.add(view.getUint16(at, true), view.getFloat64(at + 2, true), view.getFloat64(at + 10, true));
      }
    },
    ids({ eventIds }, view) {
      const tag = new Uint16Array(TAG_WORDS);
      for (let at = 0; at < view.byteLength; at += ID_BYTES) {
        readTag(view, at, tag, 0);
        const seq = view.getFloat64(at + ID_TAG_BYTES, true);
        eventIds.insertFrom(tag, 0, seq, view.getUint16(at + ID_TAG_BYTES + 8, true));
      }
    },
    repeats({ repeats }, view) {
      for (let at = 0; at < view.byteLength; at += 4) repeats.add(view.getUint32(at, true));
    },
    players: loadPlayers,
    bans({ subjects }, view) {
      for (let at = 0; at < view.byteLength; at += BAN_BYTES) {
        readKey(view, at, key, 0);
        const row = subjects.findFrom(key, 0);
        const entry = row < 0 ? -1 : subjects.findEntry(row, view.getUint16(at + 32, true));
        if (entry < 0) throw new Error('snapshot: a ban belongs to no pair');
        subjects.entries.setFollows(entry, view.getUint8(at + 34));
        const measure = view.getFloat64(at + 35, true);
        if (measure > 0) subjects.entries.setMeasure(entry, measure);
      }
    },
  }),
);

const PLAYERS = 256;

function loadPlayers(state: GroupState, view: DataView): void {
  const columns = keyColumns(PLAYERS);
  for (let at = 0; at < view.byteLength; ) {
    const from = at;
    for (columns.count = 0; columns.count < PLAYERS && at < view.byteLength; columns.count++) {
      readKey(view, at, columns.keys, columns.count * KEY_WORDS);
      at += PLAYER_BYTES + view.getUint16(at + 48, true) * ENTRY_BYTES;
    }
    state.subjects.prefetch(columns);
    loadRows(state, columns, view, from);
  }
}

/** Loads the players whose keys are in the columns; the first begins at byte `from`. */
function loadRows({ subjects }: GroupState, columns: KeyColumns, view: DataView, from: number): void {
  let at = from;
  for (let i = 0; i < columns.count; i++) {
    const peers = view.getUint16(at + 48, true);
    const first = subjects.admit(columns, i, peers, view.getFloat64(at + 32, true), view.getFloat64(at + 40, true));
    at += PLAYER_BYTES;
    for (let entry = first; entry < first + peers; entry++, at += ENTRY_BYTES) {
      const head = view.getFloat64(at + 22, true);
      if (!Number.isInteger(head) || head < 0 || head > limits.seqMax)
        throw new Error('snapshot: the head of a pair is not a record of the log');
      const sums = { ...noEvidence, lowering: view.getFloat64(at + 6, true), raising: view.getFloat64(at + 14, true) };
      subjects.entries.set(entry, view.getUint16(at, true), sums, view.getUint32(at + 2, true), head);
    }
  }
}
