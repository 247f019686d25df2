/**
 * A stretch of events as columns: what a state takes in of each, side by side, so that neither bytes of a batch become
 * an object per event nor look-ups wait for memory one after the other. Columns are filled, taken in and filled again.
 */

import {
  copyKey,
  encodeKey,
  type IdTag,
  KEY_BYTES,
  KEY_WORDS,
  type SubjectKey,
  TAG_WORDS,
  writeTag,
} from '../columns/packed-keys.js';

/** What the slots and rows of so many events take, some 100 KB, stays in the second cache between the phases. */
const EVENTS = 256;

/** Keys of subjects, with what decides where each stands. */
export interface KeyColumns {
  readonly count: number;
  /** Subject hashes as little-endian words, `KEY_WORDS` each. */
  readonly keys: Uint32Array;
  /** `Subjects` fills them in. */
  readonly hashes: Int32Array;
  /** The same: the row that each key most likely has, found when it was warmed; -1 where none was. */
  readonly rows: Int32Array;
}

/** Columns for so many keys, with none in them. */
export function keyColumns(capacity: number): { -readonly [K in keyof KeyColumns]: KeyColumns[K] } {
  return {
    count: 0,
    keys: new Uint32Array(capacity * KEY_WORDS),
    hashes: new Int32Array(capacity),
    rows: new Int32Array(capacity),
  };
}

/** What an event is looked up by: the tag of its id, and its subject's key, with its hash, at `i` of columns. */
export interface EventKeys {
  readonly columns: EventColumns;
  readonly i: number;
}

/** The values of an event that a state takes in beside its keys. `timestamp` is in ms since 1970. */
export interface EventValues {
  readonly peer: number;
  readonly event_type: number;
  readonly mass: number;
  /** Present where the event repeats an earlier one, and so adds no evidence. */
  readonly repeats?: true;
  readonly timestamp: number;
}

export class EventColumns implements KeyColumns {
  readonly capacity: number;
  count = 0;
  /** Tags of the event ids, `TAG_WORDS` each. */
  readonly tags: Uint16Array;
  readonly keys: Uint32Array;
  readonly hashes: Int32Array;
  readonly rows: Int32Array;
  readonly peers: Uint16Array;
  /** Numbers of the event types. */
  readonly types: Uint8Array;
  readonly masses: Float64Array;
  /** ms since 1970: when the events happened, as their peers say. */
  readonly timestamps: Float64Array;

  constructor(capacity = EVENTS) {
    this.capacity = capacity;
    this.tags = new Uint16Array(capacity * TAG_WORDS);
    this.keys = new Uint32Array(capacity * KEY_WORDS);
    this.hashes = new Int32Array(capacity);
    this.rows = new Int32Array(capacity);
    this.peers = new Uint16Array(capacity);
    this.types = new Uint8Array(capacity);
    this.masses = new Float64Array(capacity);
    this.timestamps = new Float64Array(capacity);
  }

  /**
   * Adds the key of an event's subject, and nothing else of it; there must be room. One without a subject gets any key.
   */
  addKey(subject: SubjectKey | null): void {
    if (subject !== null) copyKey(subject.words, subject.at, this.keys, this.count * KEY_WORDS);
    this.count++;
  }

  /** Holds what this event is looked up by, alone. */
  onlyKeys(subject: SubjectKey | null, tag: IdTag): EventKeys {
    this.count = 0;
    this.addKey(subject);
    writeTag(tag, this.tags, 0);
    return { columns: this, i: 0 };
  }

  /** The rest of event `i`, whose keys are there. */
  setOthers(i: number, { peer, event_type, mass, repeats, timestamp }: EventValues): void {
    this.peers[i] = peer;
    this.types[i] = event_type;
    this.masses[i] = repeats === undefined ? mass : 0;
    this.timestamps[i] = timestamp;
  }
}

/** A subject's 32 bytes as its key. */
export function keyOf(subject: Uint8Array): SubjectKey {
  const words = new Uint32Array(KEY_WORDS);
  subjectWords(subject, words, 0);
  return { words, at: 0 };
}

/** A key as the subject's 32 bytes. */
export function bytesOf({ words, at }: SubjectKey): Uint8Array {
  const bytes = new Uint8Array(KEY_BYTES);
  encodeKey(words, at, new DataView(bytes.buffer), 0);
  return bytes;
}

/** Writes a subject's hash as words to `to` of a column. */
export function subjectWords(subject: Uint8Array, words: Uint32Array, to: number): void {
  for (let i = 0; i < KEY_WORDS; i++) {
    const at = 4 * i;
    words[to + i] = subject[at]! | (subject[at + 1]! << 8) | (subject[at + 2]! << 16) | (subject[at + 3]! << 24);
  }
}
