/**
 * Collects pending events, sorted by the part of a table where each belongs, and adds them part by part. The touched
 * memory then stays in the processor's caches, while events in their own order would wait for nearly every access. A
 * part keeps its events in order, so that every sum equals the one of event-by-event application, bit for bit. Each
 * event has two rows, one of its player and one of its id:
 *
 * | words | of a player | meaning                                   | words | of an id   | meaning                        |
 * |-------|-------------|-------------------------------------------|-------|------------|--------------------------------|
 * | 0-7   | Uint32 x 8  | key: the subject hash                     | 0-4   | Uint16 x 5 | tag                            |
 * | 8-9   | Float64     | mass                                      | 5-6   | Uint16 x 2 | record, counted from the first |
 * | 10-11 | Float64     | ms since 1970: from when the mass decays  | 7     | Uint16     | peer                           |
 * | 12    | Uint32      | hour since 1970 in which it was received  |       |            |                                |
 * | 13    | Uint32      | peer, from bit 16 on the type, in bit 24 whether it follows another's | | |                            |
 * | 14    | Uint32      | hash of the key                           |       |            |                                |
 * | 15    | Uint32      | record, counted from the first            |       |            |                                |
 */
import { limits } from '../../limits.js';
import { copyKey, copyTag, type IdTag, KEY_WORDS, TAG_WORDS, writeTag } from '../columns/packed-keys.js';
import { evidenceAt } from '../evidence/decay.js';
import type { EventColumns } from './event-columns.js';
import { type EventIds, ID_PARTS, idPartOf } from './event-ids.js';
import { hourOf, type Subjects } from './subjects.js';

const PLAYER_WORDS = 16;
const PLAYER_DOUBLES = PLAYER_WORDS / 2;
const MASS = 4;
const DECAYS_FROM = 5;
const HOUR = 12;
const PEER = 13;
const HASH = 14;
const RECORD = 15;

/** Players are partitioned by the highest bits of the hash, like the shards of the index. */
const PART_BITS = 9;
const PARTS = 1 << PART_BITS;
const PART_SHIFT = 32 - PART_BITS;

const TYPE_SHIFT = 16;
const FOLLOWS_SHIFT = 24;

const ID_WORDS = 8;
const ID_RECORD = 5;
const ID_PEER = 7;

/** Rows that a part hardly ever exceeds if `count` rows spread evenly: the mean and twelve deviations. */
function roomFor(count: number, parts: number): number {
  const mean = count / parts;
  return Math.ceil(mean + 12 * Math.sqrt(mean)) + 4;
}

const wanted = new Uint16Array(TAG_WORDS);

/** Adds an event to the entry of its pair; the key of its subject begins at `from` of `words`. */
export type AddEvidence = (
  entry: number,
  event: { readonly peer: number; readonly type: number; readonly mass: number; readonly follows: boolean },
  seq: number,
  decaysFrom: number,
  words: Uint32Array,
  from: number,
) => void;

export class SortedEvents {
  readonly #addEvidence: AddEvidence;
  readonly #eventIds: EventIds;
  readonly #subjects: Subjects;
  readonly #players: Uint32Array;
  readonly #doubles: Float64Array;
  readonly #playerRoom: number;
  readonly #playersUsed = new Uint32Array(PARTS);
  /** The row of the player of an event, unknown before it is looked up. */
  readonly #row = new Int32Array(1);
  readonly #ids: Uint16Array;
  readonly #idRoom: number;
  readonly #idsUsed = new Uint32Array(ID_PARTS);
  /** The record from which rows count; 0 while there are no rows. */
  #firstSeq = 0;
  #isFull = false;

  /** Reserves room for about `count` events, `limits.sortedEvents` at most. */
  constructor(eventIds: EventIds, subjects: Subjects, count: number, addEvidence: AddEvidence) {
    this.#addEvidence = addEvidence;
    this.#eventIds = eventIds;
    this.#subjects = subjects;
    const rows = Math.min(count, limits.sortedEvents);
    this.#playerRoom = roomFor(rows, PARTS);
    this.#players = new Uint32Array(PARTS * this.#playerRoom * PLAYER_WORDS);
    this.#doubles = new Float64Array(this.#players.buffer);
    this.#idRoom = roomFor(rows, ID_PARTS);
    this.#ids = new Uint16Array(ID_PARTS * this.#idRoom * ID_WORDS);
  }

  /** Adds events as records from `firstSeq` on, received at `at` (ms since 1970), and fills in their hashes. */
  add(events: EventColumns, firstSeq: number, at: number): void {
    this.#subjects.fillHashes(events);
    const hour = hourOf(at);
    for (let i = 0; i < events.count; i++) {
      this.#makeRoom(firstSeq + i);
      this.#addPlayer(events, i, firstSeq + i, hour, at);
      this.#addId(events.tags, i * TAG_WORDS, firstSeq + i, events.peers[i]!);
    }
  }

  addId(tag: IdTag, seq: number, peer: number): void {
    this.#makeRoom(seq);
    writeTag(tag, wanted, 0);
    this.#addId(wanted, 0, seq, peer);
  }

  settle(): void {
    if (this.#firstSeq === 0) return;
    for (let part = 0; part < ID_PARTS; part++) {
      this.#eventIds.makeRoom(part, this.#idsUsed[part]!);
      this.#settleIds(part);
    }
    for (let part = 0; part < PARTS; part++) this.#settlePlayers(part);
    this.#idsUsed.fill(0);
    this.#playersUsed.fill(0);
    this.#firstSeq = 0;
    this.#isFull = false;
  }

  #makeRoom(seq: number): void {
    if (this.#isFull || seq - this.#firstSeq > 0xffffffff) this.settle();
    if (this.#firstSeq === 0) this.#firstSeq = seq;
  }

  #addPlayer(
    { keys, hashes, peers, types, follows, masses, timestamps }: EventColumns,
    i: number,
    seq: number,
    hour: number,
    at: number,
  ) {
    const hash = hashes[i]!;
    const part = hash >>> PART_SHIFT;
    const used = this.#playersUsed[part]!++;
    const row = part * this.#playerRoom + used;
    const words = this.#players;
    const from = row * PLAYER_WORDS;
    copyKey(keys, i * KEY_WORDS, words, from);
    this.#doubles[row * PLAYER_DOUBLES + MASS] = masses[i]!;
    this.#doubles[row * PLAYER_DOUBLES + DECAYS_FROM] = evidenceAt(timestamps[i]!, at);
    words[from + HOUR] = hour;
    words[from + PEER] = peers[i]! | (types[i]! << TYPE_SHIFT) | (follows[i]! << FOLLOWS_SHIFT);
    words[from + HASH] = hash;
    words[from + RECORD] = seq - this.#firstSeq;
    if (used + 1 === this.#playerRoom) this.#isFull = true;
  }

  #addId(tags: Uint16Array, from: number, seq: number, peer: number): void {
    const part = idPartOf(tags, from);
    const used = this.#idsUsed[part]!++;
    const words = this.#ids;
    const to = (part * this.#idRoom + used) * ID_WORDS;
    copyTag(tags, from, words, to);
    const record = seq - this.#firstSeq;
    words[to + ID_RECORD] = record & 0xffff;
    words[to + ID_RECORD + 1] = record >>> 16;
    words[to + ID_PEER] = peer;
    if (used + 1 === this.#idRoom) this.#isFull = true;
  }

  #settleIds(part: number): void {
    const words = this.#ids;
    const first = part * this.#idRoom * ID_WORDS;
    const end = first + this.#idsUsed[part]! * ID_WORDS;
    for (let at = first; at < end; at += ID_WORDS) {
      const record = words[at + ID_RECORD]! + words[at + ID_RECORD + 1]! * 0x10000;
      this.#eventIds.insertWithRoom(words, at, this.#firstSeq + record, words[at + ID_PEER]!);
    }
  }

  #settlePlayers(part: number): void {
    const words = this.#players;
    const first = part * this.#playerRoom;
    for (let row = first; row < first + this.#playersUsed[part]!; row++) {
      const from = row * PLAYER_WORDS;
      const decaysFrom = this.#doubles[row * PLAYER_DOUBLES + DECAYS_FROM]!;
      const packed = words[from + PEER]!;
      const event = {
        peer: packed & 0xffff,
        type: (packed >>> TYPE_SHIFT) & 0xff,
        mass: this.#doubles[row * PLAYER_DOUBLES + MASS]!,
        follows: packed >>> FOLLOWS_SHIFT === 1,
      };
      this.#row[0] = -1;
      // The hash is signed, as everywhere, for the reason that `sipHash` gives.
      const hash = words[from + HASH]! | 0;
      const hour = words[from + HOUR]!;
      const entry = this.#subjects.ensureEntryAt(this.#row, 0, words, from, hash, event.peer, hour, decaysFrom);
      this.#addEvidence(entry, event, this.#firstSeq + words[from + RECORD]!, decaysFrom, words, from);
    }
  }
}
