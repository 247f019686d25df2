/**
 * A stretch of events as columns: what a state takes in of each, side by side, so that neither bytes of a batch become an object per
 * event nor look-ups wait for memory one after the other. Columns are filled, taken in and filled again.
 */
import { type IdTag, writeTag } from './event-ids.js';
import type { EventAccepted } from './records.js';
import { KEY_BYTES, KEY_WORDS, TAG_WORDS } from './words.js';

/** What the slots and rows of so many events take, some 100 KB, stays in the second cache between the phases. */
const EVENTS = 256;

/** Keys of subjects, with what decides where each stands. */
export interface KeyColumns {
  readonly count: number;
  /** Subject hashes as little-endian words, `KEY_WORDS` each. */
  readonly keys: Uint32Array;
  /** `Subjects` fills them in. */
  readonly hashes: Int32Array;
}

/** What an event is looked up by: the tag of its id, and the same with its subject's key and hash at `i` of columns. */
export interface EventKeys {
  readonly tag: IdTag;
  readonly columns: EventColumns;
  readonly i: number;
}

export class EventColumns implements KeyColumns {
  readonly capacity: number;
  count = 0;
  /** Tags of the event ids, `TAG_WORDS` each. */
  readonly tags: Uint16Array;
  readonly keys: Uint32Array;
  readonly hashes: Int32Array;
  readonly peers: Uint16Array;
  readonly masses: Float64Array;
  /** ms since 1970: when the events happened, as their peers say. */
  readonly timestamps: Float64Array;

  constructor(capacity = EVENTS) {
    this.capacity = capacity;
    this.tags = new Uint16Array(capacity * TAG_WORDS);
    this.keys = new Uint32Array(capacity * KEY_WORDS);
    this.hashes = new Int32Array(capacity);
    this.peers = new Uint16Array(capacity);
    this.masses = new Float64Array(capacity);
    this.timestamps = new Float64Array(capacity);
  }

  /** Adds where an event will be looked up, and nothing else of it; there must be room. One without a subject gets any key. */
  addKeys(subject: Uint8Array | null, tag: IdTag): void {
    writeTag(tag, this.tags, this.count * TAG_WORDS);
    if (subject !== null) subjectWords(subject, this.keys, this.count * KEY_WORDS);
    this.count++;
  }

  /** Holds the keys of this event alone. */
  onlyKeys(subject: Uint8Array | null, tag: IdTag): void {
    this.count = 0;
    this.addKeys(subject, tag);
  }

  /** The rest of event `i`, whose keys are there. */
  setRest(i: number, { peer, mass, timestamp }: EventAccepted): void {
    this.peers[i] = peer;
    this.masses[i] = mass;
    this.timestamps[i] = timestamp;
  }
}

/** The keys of a column, each as 32 bytes, which are those of the column. */
export function keysAsBytes(keys: Uint32Array): Uint8Array[] {
  const bytes = new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength);
  const each: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += KEY_BYTES) each.push(bytes.subarray(at, at + KEY_BYTES));
  return each;
}

/** Writes a subject's hash as words to `to` of a column. */
export function subjectWords(subject: Uint8Array, words: Uint32Array, to: number): void {
  for (let i = 0; i < KEY_WORDS; i++) {
    const at = 4 * i;
    words[to + i] = subject[at]! | (subject[at + 1]! << 8) | (subject[at + 2]! << 16) | (subject[at + 3]! << 24);
  }
}
