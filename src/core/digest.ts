/**
 * The digest of a state: equal for equal states, however their tables are laid out. Subjects and event ids enter as sums of one
 * 64-bit hash each, so that no order is needed; the rest as JSON.
 */
import { hash } from 'node:crypto';
import { metaOf } from './snapshot-meta.js';
import type { GroupState } from './state.js';
import { KEY_WORDS, TAG_WORDS } from './words.js';

/** Sums of hashes, as two lanes of 32 bits that wrap. */
class Sum {
  #high = 0;
  #low = 0;

  add(words: Uint32Array): void {
    let high = 0x9e3779b9 | 0;
    let low = 0x85ebca6b | 0;
    for (let i = 0; i < words.length; i++) {
      const word = words[i]! | 0;
      high = Math.imul(high ^ word, 0xcc9e2d51);
      low = Math.imul(low ^ word, 0x1b873593);
      high = ((high << 15) | (high >>> 17)) ^ low;
      low = (((low << 13) | (low >>> 19)) + high) | 0;
    }
    this.#high = (this.#high + finish(high)) | 0;
    this.#low = (this.#low + finish(low)) | 0;
  }

  get hex(): string {
    return [this.#high, this.#low].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
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

/** One hash per (subject, peer) pair: key, times, peer, sums, count and head. */
function subjectsSum(state: GroupState): string {
  const { subjects } = state;
  const { entries } = subjects;
  const sum = new Sum();
  const words = new Uint32Array(KEY_WORDS + 12);
  const doubles = new Float64Array(5);
  const halves = new Uint32Array(doubles.buffer);
  for (let row = 0; row < subjects.rows; row++) {
    if (!subjects.has(row)) continue;
    for (let word = 0; word < KEY_WORDS; word++) words[word] = subjects.keyWord(row, word);
    doubles[3] = subjects.updatedAt(row);
    doubles[4] = subjects.evidenceAt(row);
    const first = subjects.firstEntry(row);
    for (let entry = first; entry < first + subjects.peerCount(row); entry++) {
      doubles[0] = entries.lowering(entry);
      doubles[1] = entries.raising(entry);
      doubles[2] = entries.head(entry);
      for (let i = 0; i < halves.length; i++) words[KEY_WORDS + i] = halves[i]!;
      words[KEY_WORDS + 10] = entries.peer(entry);
      words[KEY_WORDS + 11] = entries.count(entry);
      sum.add(words);
    }
  }
  return sum.hex;
}

function eventIdsSum(state: GroupState): string {
  const sum = new Sum();
  const words = new Uint32Array(13);
  for (const ids of state.eventIds.held()) {
    while (ids.next()) {
      for (let i = 0; i < TAG_WORDS; i++) {
        words[2 * i] = ids.tagWord(i) & 255;
        words[2 * i + 1] = ids.tagWord(i) >>> 8;
      }
      const { seq } = ids;
      words[10] = seq >>> 0;
      words[11] = Math.floor(seq / 0x100000000);
      words[12] = ids.peer;
      sum.add(words);
    }
  }
  return sum.hex;
}

/** When records were received, and which of them are audited. */
function columnsSum({ times, auditSeqs }: GroupState): string {
  const sum = new Sum();
  const doubles = new Float64Array(2);
  const words = new Uint32Array(doubles.buffer);
  for (let i = 0; i < times.seqs.length; i++) {
    doubles[0] = times.seqs.at(i);
    doubles[1] = times.ats.at(i);
    sum.add(words);
  }
  doubles[1] = Number.NaN;
  for (let i = 0; i < auditSeqs.length; i++) {
    doubles[0] = auditSeqs.at(i);
    sum.add(words);
  }
  return sum.hex;
}

/**
 * SHA-256, hex, of everything that a replay must reproduce. Of erasures under way only their records count: the chains that are
 * left of them grow shorter as the work goes on.
 */
export function stateDigest(state: GroupState): string {
  const { erasures, ...meta } = metaOf(state);
  const sums = [subjectsSum(state), eventIdsSum(state), columnsSum(state)];
  return hash('sha256', [JSON.stringify(meta), erasures.map(([seq]) => seq).join(), ...sums].join('\n'), 'hex');
}
