/** Computes the digest of a state, whatever its layout: sums of 64-bit hashes of rows, and JSON of the rest. */
import { hash } from 'node:crypto';
import { copyTagBytes, KEY_WORDS, TAG_WORDS } from '../columns/packed-keys.js';
import type { GroupState } from '../state.js';
import { metaOf } from './snapshot-meta.js';

const HIGH_START = 0x9e3779b9 | 0;
const LOW_START = 0x85ebca6b | 0;
const HIGH_FACTOR = 0xcc9e2d51;
const LOW_FACTOR = 0x1b873593;

/** Sums the hashes of items of `size` words each, as two wrapping lanes of 32 bits. */
class Sum {
  /** Words of the next item, and the same memory as doubles. */
  readonly words: Uint32Array;
  readonly doubles: Float64Array;
  #high = 0;
  #low = 0;

  constructor(size: number) {
    const memory = new ArrayBuffer(Math.ceil(size / 2) * 8);
    this.words = new Uint32Array(memory, 0, size);
    this.doubles = new Float64Array(memory);
  }

  /** Adds the item whose words were written. */
  add(): void {
    let high = HIGH_START;
    let low = LOW_START;
    const { words } = this;
    for (let i = 0; i < words.length; i++) {
      const word = words[i]! | 0;
      high = Math.imul(high ^ word, HIGH_FACTOR);
      low = Math.imul(low ^ word, LOW_FACTOR);
      high = ((high << 15) | (high >>> 17)) ^ low;
      low = (((low << 13) | (low >>> 19)) + high) | 0;
    }
    this.#high = (this.#high + finish(high)) | 0;
    this.#low = (this.#low + finish(low)) | 0;
  }

  hex(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

/** The finaliser of MurmurHash3: every bit of the input moves every bit of the output. */
function finish(h: number): number {
  let x = h ^ (h >>> 16);
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  return x ^ (x >>> 16);
}

function subjectsSum({ subjects }: GroupState): string {
  const sum = new Sum(KEY_WORDS + 14);
  const { words, doubles } = sum;
  const double = KEY_WORDS / 2;
  for (const row of subjects.held()) {
    subjects.copyKeyOf(row, words, 0);
    doubles[double + 4] = subjects.updatedAt(row);
    doubles[double + 5] = subjects.evidenceAt(row);
    for (const entry of subjects.entriesOf(row)) {
      subjects.entries.read(entry, doubles, double, words, KEY_WORDS + 12);
      sum.add();
    }
  }
  return sum.hex();
}

function eventIdsSum({ eventIds }: GroupState): string {
  const sum = new Sum(2 * TAG_WORDS + 3);
  const { words } = sum;
  for (const id of eventIds.held()) {
    copyTagBytes(id.words, id.at, words, 0);
    words[10] = id.seq >>> 0;
    words[11] = Math.floor(id.seq / 0x100000000);
    words[12] = id.peer;
    sum.add();
  }
  return sum.hex();
}

function columnsSum({ times, auditSeqs, erasedEvents }: GroupState): string {
  const sum = new Sum(4);
  const add = (seq: number, at: number) => {
    sum.doubles[0] = seq;
    sum.doubles[1] = at;
    sum.add();
  };
  for (let i = 0; i < times.seqs.length; i++) add(times.seqs.at(i), times.ats.at(i));
  for (let i = 0; i < auditSeqs.length; i++) add(auditSeqs.at(i), Number.NaN);
  // The peer follows from the event's id. The numbers are negative here to distinguish them from times of receipt.
  for (const { seq, erasedSeq } of erasedEvents.all()) add(-seq, -erasedSeq);
  return sum.hex();
}

/** SHA-256, hex, of what a replay reproduces. Erasures in progress count by their records: the chains shrink. */
export function stateDigest(state: GroupState): string {
  const { erasures, ...meta } = metaOf(state);
  const sums = [subjectsSum(state), eventIdsSum(state), columnsSum(state)];
  return hash('sha256', [JSON.stringify(meta), erasures.map(([seq]) => seq).join(), ...sums].join('\n'), 'hex');
}
