/**
 * Computes the digest of a state, which is equal for equal states whatever the layout of their tables. Subjects and
 * event ids contribute sums of 64-bit hashes, so that their order does not matter; everything else contributes JSON.
 */
import { hash } from 'node:crypto';
import { KEY_WORDS, TAG_WORDS } from '../columns/packed-keys.js';
import type { GroupState } from '../state.js';
import { metaOf } from './snapshot-meta.js';

/** Items hashed side by side: steps of one hash wait for each other, so several take little longer than one. */
const TOGETHER = 4;
const HIGH_START = 0x9e3779b9 | 0;
const LOW_START = 0x85ebca6b | 0;
const HIGH_FACTOR = 0xcc9e2d51;
const LOW_FACTOR = 0x1b873593;

/** Sums the hashes of items of `size` words each, as two wrapping lanes of 32 bits. */
class Sum {
  readonly #size: number;
  /** Words of the next items, and the same memory as doubles. */
  readonly words: Uint32Array;
  readonly doubles: Float64Array;
  at = 0;
  #high = 0;
  #low = 0;

  constructor(size: number) {
    const memory = new ArrayBuffer(TOGETHER * size * 4);
    this.#size = size;
    this.words = new Uint32Array(memory);
    this.doubles = new Float64Array(memory);
  }

  /** Adds the item whose words were written. */
  add(): void {
    this.at += this.#size;
    if (this.at < this.words.length) return;
    this.#digest(TOGETHER);
    this.at = 0;
  }

  /** Returns the sum over all items; no item may follow. */
  hex(): string {
    if (this.at > 0) this.#digest(this.at / this.#size);
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** Hashes the words but adds only the first `count`. Lanes are local variables, which stay in registers. */
  #digest(count: number): void {
    const { words } = this;
    const size = this.#size;
    let [high0, high1, high2, high3] = [HIGH_START, HIGH_START, HIGH_START, HIGH_START];
    let [low0, low1, low2, low3] = [LOW_START, LOW_START, LOW_START, LOW_START];
    for (let i = 0; i < size; i++) {
      const word0 = words[i]! | 0;
      const word1 = words[i + size]! | 0;
      const word2 = words[i + 2 * size]! | 0;
      const word3 = words[i + 3 * size]! | 0;
      high0 = Math.imul(high0 ^ word0, HIGH_FACTOR);
      high1 = Math.imul(high1 ^ word1, HIGH_FACTOR);
      high2 = Math.imul(high2 ^ word2, HIGH_FACTOR);
      high3 = Math.imul(high3 ^ word3, HIGH_FACTOR);
      low0 = Math.imul(low0 ^ word0, LOW_FACTOR);
      low1 = Math.imul(low1 ^ word1, LOW_FACTOR);
      low2 = Math.imul(low2 ^ word2, LOW_FACTOR);
      low3 = Math.imul(low3 ^ word3, LOW_FACTOR);
      high0 = ((high0 << 15) | (high0 >>> 17)) ^ low0;
      high1 = ((high1 << 15) | (high1 >>> 17)) ^ low1;
      high2 = ((high2 << 15) | (high2 >>> 17)) ^ low2;
      high3 = ((high3 << 15) | (high3 >>> 17)) ^ low3;
      low0 = (((low0 << 13) | (low0 >>> 19)) + high0) | 0;
      low1 = (((low1 << 13) | (low1 >>> 19)) + high1) | 0;
      low2 = (((low2 << 13) | (low2 >>> 19)) + high2) | 0;
      low3 = (((low3 << 13) | (low3 >>> 19)) + high3) | 0;
    }
    this.#sum(high0, low0);
    if (count > 1) this.#sum(high1, low1);
    if (count > 2) this.#sum(high2, low2);
    if (count > 3) this.#sum(high3, low3);
  }

  #sum(high: number, low: number): void {
    this.#high = (this.#high + finish(high)) | 0;
    this.#low = (this.#low + finish(low)) | 0;
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

function subjectsSum(state: GroupState): string {
  const { subjects } = state;
  const { entries } = subjects;
  const sum = new Sum(KEY_WORDS + 14);
  const { words, doubles } = sum;
  for (let row = 0; row < subjects.rows; row++) {
    if (!subjects.has(row)) continue;
    const updatedAt = subjects.updatedAt(row);
    const evidenceAt = subjects.evidenceAt(row);
    const first = subjects.firstEntry(row);
    for (let entry = first; entry < first + subjects.peerCount(row); entry++) {
      const { at } = sum;
      subjects.copyKeyOf(row, words, at);
      const double = (at + KEY_WORDS) / 2;
      entries.read(entry, doubles, double, words, at + KEY_WORDS + 12);
      doubles[double + 4] = updatedAt;
      doubles[double + 5] = evidenceAt;
      sum.add();
    }
  }
  return sum.hex();
}

function eventIdsSum(state: GroupState): string {
  const sum = new Sum(2 * TAG_WORDS + 3);
  const { words } = sum;
  for (const ids of state.eventIds.held()) {
    while (ids.next()) {
      const { at } = sum;
      ids.readBytes(words, at);
      const { seq } = ids;
      words[at + 10] = seq >>> 0;
      words[at + 11] = Math.floor(seq / 0x100000000);
      words[at + 12] = ids.peer;
      sum.add();
    }
  }
  return sum.hex();
}

function columnsSum({ times, auditSeqs, erasedEvents }: GroupState): string {
  const sum = new Sum(4);
  const { doubles } = sum;
  const add = (seq: number, at: number) => {
    doubles[sum.at / 2] = seq;
    doubles[sum.at / 2 + 1] = at;
    sum.add();
  };
  for (let i = 0; i < times.seqs.length; i++) add(times.seqs.at(i), times.ats.at(i));
  for (let i = 0; i < auditSeqs.length; i++) add(auditSeqs.at(i), Number.NaN);
  // The peer follows from the event's id. The numbers are negative here to distinguish them from times of receipt.
  for (const { seq, erasedSeq } of erasedEvents.all()) add(-seq, -erasedSeq);
  return sum.hex();
}

/**
 * SHA-256, hex, of everything that a replay must reproduce. Erasures in progress count by their records alone, because
 * their remaining chains shrink as the work proceeds.
 */
export function stateDigest(state: GroupState): string {
  const { erasures, ...meta } = metaOf(state);
  const sums = [subjectsSum(state), eventIdsSum(state), columnsSum(state)];
  return hash('sha256', [JSON.stringify(meta), erasures.map(([seq]) => seq).join(), ...sums].join('\n'), 'hex');
}
