/** Stores the fields that a state needs of events as columns, without an object per event. Filled again and again. */
import * as packedKeys from '../columns/packed-keys.js';

/** Capacity in events: their slots and rows, about 100 KB, stay in the second-level cache between the phases. */
const EVENTS = 256;

export interface KeyColumns {
  readonly count: number;
  /** Subject hashes as little-endian words, `KEY_WORDS` each. */
  readonly keys: Uint32Array;
  /** Hashes of the keys, filled in by `Subjects`. */
  readonly hashes: Int32Array;
  /** The probable row of each key, found by a prefetch; -1 if there is none. Filled in by `Subjects`. */
  readonly rows: Int32Array;
}

export function keyColumns(capacity: number): { -readonly [K in keyof KeyColumns]: KeyColumns[K] } {
  return {
    count: 0,
    keys: new Uint32Array(capacity * packedKeys.KEY_WORDS),
    hashes: new Int32Array(capacity),
    rows: new Int32Array(capacity),
  };
}

/** The lookup keys of an event, at index `i` of columns: the tag of its id, and its subject's key with its hash. */
export interface EventKeys {
  readonly columns: EventColumns;
  readonly i: number;
}

/** The values of an event that a state needs besides its keys. `timestamp` is in ms since 1970. */
export interface EventValues {
  readonly peer: number;
  readonly event_type: number;
  readonly mass: number;
  /** Present if the event repeats an earlier one and therefore adds no evidence. */
  readonly repeats?: true;
  /** Present if lowering evidence of the same kind by another peer stood before; see `EventAccepted`. */
  readonly follows?: true;
  readonly timestamp: number;
}

export class EventColumns implements KeyColumns {
  readonly capacity: number;
  count = 0;
  readonly tags: Uint16Array;
  readonly keys: Uint32Array;
  readonly hashes: Int32Array;
  readonly rows: Int32Array;
  readonly peers: Uint16Array;
  readonly types: Uint8Array;
  /** 1 if the event follows lowering evidence of another peer. */
  readonly follows: Uint8Array;
  readonly masses: Float64Array;
  /** Times of the events in ms since 1970, as their peers stated them. */
  readonly timestamps: Float64Array;

  constructor(capacity = EVENTS) {
    this.capacity = capacity;
    this.tags = new Uint16Array(capacity * packedKeys.TAG_WORDS);
    this.keys = new Uint32Array(capacity * packedKeys.KEY_WORDS);
    this.hashes = new Int32Array(capacity);
    this.rows = new Int32Array(capacity);
    this.peers = new Uint16Array(capacity);
    this.types = new Uint8Array(capacity);
    this.follows = new Uint8Array(capacity);
    this.masses = new Float64Array(capacity);
    this.timestamps = new Float64Array(capacity);
  }

  /** Adds only the key of an event's subject; there must be room. A missing subject is stored as an arbitrary key. */
  addKey(subject: packedKeys.SubjectKey | null): void {
    if (subject !== null) packedKeys.copyKey(subject.words, subject.at, this.keys, this.count * packedKeys.KEY_WORDS);
    this.count++;
  }

  onlyKeys(subject: packedKeys.SubjectKey | null, tag: packedKeys.IdTag): EventKeys {
    this.count = 0;
    this.addKey(subject);
    packedKeys.writeTag(tag, this.tags, 0);
    return { columns: this, i: 0 };
  }

  setOthers(i: number, { peer, event_type, mass, repeats, follows, timestamp }: EventValues): void {
    this.peers[i] = peer;
    this.types[i] = event_type;
    this.follows[i] = follows === undefined ? 0 : 1;
    this.masses[i] = repeats === undefined ? mass : 0;
    this.timestamps[i] = timestamp;
  }
}

export function keyOf(subject: Uint8Array): packedKeys.SubjectKey {
  const words = new Uint32Array(packedKeys.KEY_WORDS);
  subjectWords(subject, words, 0);
  return { words, at: 0 };
}

export function bytesOf({ words, at }: packedKeys.SubjectKey): Uint8Array {
  const bytes = new Uint8Array(packedKeys.KEY_BYTES);
  packedKeys.encodeKey(words, at, new DataView(bytes.buffer), 0);
  return bytes;
}

export function subjectWords(subject: Uint8Array, words: Uint32Array, to: number): void {
  for (let i = 0; i < packedKeys.KEY_WORDS; i++) {
    const at = 4 * i;
    words[to + i] = subject[at]! | (subject[at + 1]! << 8) | (subject[at + 2]! << 16) | (subject[at + 3]! << 24);
  }
}
