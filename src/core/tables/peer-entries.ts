/**
 * Stores the evidence of every (subject, peer) pair. A subject's entries lie next to each other in one block of a
 * segment, sorted by peer, and the fields of an entry lie side by side, so that a read touches one or two cache lines
 * and a binary search finds a pair. A full block moves to one of the next capacity.
 *
 * | words | type    | bytes | meaning                                                                              |
 * |-------|---------|-------|--------------------------------------------------------------------------------------|
 * | 0-1   | Float64 | 8     | lowering: sum of lowering claims, scaled forward to the decay epoch; if a measure stands, the pair's row in `Measures` in word 0 |
 * | 2-3   | Float64 | 8     | raising: sum of raising claims, scaled likewise                                      |
 * | 4, 5  | 48 bits | 6     | head: sequence number of the pair's newest record, its high bits in the low half of 5 |
 * | 5     | Uint16  | 2     | the number of the peer, or of the carrier of an origin, in the high half             |
 * | 6     | 28 bits | 4     | count: events held for the pair (accepted and not withdrawn)                         |
 * | 6     | bit 28  |       | measured: a measure stands                                                           |
 * | 6     | bit 29  |       | follows: the measure arrived while one of another peer stood                         |
 * | 6     | bit 30  |       | followsClaim: the lowering claims began while another peer's lowering evidence stood |
 * | 6     | bit 31  |       | void: an upheld dispute excludes the pair's evidence from scores                     |
 */
import { limits } from '../../limits.js';
import { Segment } from '../columns/segment.js';
import { decayed, rescaled } from '../evidence/decay.js';
import { type EvidenceSums, FOLLOWS, FOLLOWS_CLAIM, type VoteSpace, writeVote } from '../evidence/evidence.js';
import { Measures } from './measures.js';

const SEGMENT_BITS = 16;
const SEGMENT_SIZE = 1 << SEGMENT_BITS;
const SEGMENT_MASK = SEGMENT_SIZE - 1;

/** Capacities of blocks: exact for few peers, beyond that in alternating steps of a half and a third. */
const capacities = [1, 2, 3, 4, 5, 6, 7];
for (let size = 8; size < SEGMENT_SIZE; size *= 2) capacities.push(size, size * 1.5);
capacities.push(SEGMENT_SIZE);

const WORDS = 7;
const BYTES = 4 * WORDS;
const RAISING_AT = 8;
const HEAD = 4;
const PEER = 5;
const COUNT = 6;
const MEASURED = 1 << 28;
const FOLLOWS_SHIFT = 29;
const FOLLOWS_BITS = 3 << FOLLOWS_SHIFT;
const VOID_BIT = 31;
const COUNT_MASK = MEASURED - 1;
if (limits.eventIdsMax > COUNT_MASK) throw new Error('peer entries: the count of a pair does not fit');
const WORD = 0x1_0000_0000;

const sums: EvidenceSums = { lowering: 0, raising: 0, measure: 0 };

function classOf(count: number): number {
  let c = 0;
  while (capacities[c]! < count) c++;
  return c;
}

/** The evidence of a pair as a record states it; `follows` holds the bits of `VoteSpace.follows`. */
export interface PairEvidence extends Readonly<EvidenceSums> {
  readonly follows: number;
}

export const noEvidence: PairEvidence = { lowering: 0, raising: 0, measure: 0, follows: 0 };

export class PeerEntries {
  readonly #segments: Segment[] = [];
  readonly #measures = new Measures();
  /** First unused entry of the newest segment; initially as if a segment before the first were full. */
  #next = 0;
  size = 0;
  readonly #free: number[][] = capacities.map(() => []);

  allocate(count: number): number {
    this.size += count;
    return this.#block(classOf(count));
  }

  /** Makes room for an entry at `place` of the `count` entries at `at`; returns the block's present address. */
  insert(at: number, count: number, place: number): number {
    const block = this.#grow(at, count);
    this.size++;
    const { words } = this.#segments[block >>> SEGMENT_BITS]!;
    const from = ((block & SEGMENT_MASK) + place) * WORDS;
    // Copies by a loop: most players have few peers, for whom a call of `copyWithin` takes longer than the copy.
    for (let i = ((block & SEGMENT_MASK) + count) * WORDS - 1; i >= from; i--) words[i + WORDS] = words[i]!;
    // The copy that stays here must not release the row of a measure.
    words[from + COUNT] = 0;
    return block;
  }

  /** Returns the block with room for one more entry: the same, or a larger one that its entries moved to. */
  #grow(at: number, count: number): number {
    const old = classOf(count);
    if (count < capacities[old]!) return at;
    const to = this.#block(classOf(count + 1));
    this.#move(at, to, count);
    this.#free[old]!.push(at);
    return to;
  }

  release(at: number, count: number): void {
    for (let i = 0; i < count; i++) this.set(at + i, 0, noEvidence, 0, 0);
    this.#free[classOf(count)]!.push(at);
    this.size -= count;
  }

  lowering(entry: number): number {
    const { words, view } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS;
    if ((words[at + COUNT]! & MEASURED) !== 0) return this.#measures.lowering(words[at]!);
    return view.getFloat64(at * 4, true);
  }

  /** The sum of standing measures, scaled forward to their own epoch; most often 0. */
  measure(entry: number): number {
    const { words } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS;
    return (words[at + COUNT]! & MEASURED) === 0 ? 0 : this.#measures.get(words[at]!);
  }

  follows(entry: number): number {
    const { words } = this.#segments[entry >>> SEGMENT_BITS]!;
    return (words[(entry & SEGMENT_MASK) * WORDS + COUNT]! & FOLLOWS_BITS) >>> FOLLOWS_SHIFT;
  }

  lowers(entry: number): boolean {
    return this.lowering(entry) > 0 || this.measure(entry) > 0;
  }

  get measured(): number {
    return this.#measures.count();
  }

  raising(entry: number): number {
    return this.#segments[entry >>> SEGMENT_BITS]!.view.getFloat64((entry & SEGMENT_MASK) * BYTES + RAISING_AT, true);
  }

  head(entry: number): number {
    const { words } = this.#segments[entry >>> SEGMENT_BITS]!;
    return headAt(words, (entry & SEGMENT_MASK) * WORDS);
  }

  count(entry: number): number {
    return this.#segments[entry >>> SEGMENT_BITS]!.words[(entry & SEGMENT_MASK) * WORDS + COUNT]! & COUNT_MASK;
  }

  isVoid(entry: number): boolean {
    return this.#segments[entry >>> SEGMENT_BITS]!.words[(entry & SEGMENT_MASK) * WORDS + COUNT]! >>> VOID_BIT === 1;
  }

  /** Excludes an entry's evidence from scores, or includes it again. `set` includes it again, too. */
  setVoid(entry: number, isVoid: boolean): void {
    const { words } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS + COUNT;
    words[at] = ((words[at]! & ~(1 << VOID_BIT)) | (isVoid ? 1 << VOID_BIT : 0)) >>> 0;
  }

  peer(entry: number): number {
    return this.#segments[entry >>> SEGMENT_BITS]!.words[(entry & SEGMENT_MASK) * WORDS + PEER]! >>> 16;
  }

  /** Copies an entry to `double` and `word` of two columns; the count comes with the bits of `follows`. */
  read(entry: number, doubles: Float64Array, double: number, numbers: Uint32Array, word: number): void {
    const { words, view } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS;
    doubles[double] = this.lowering(entry);
    doubles[double + 1] = view.getFloat64(at * 4 + RAISING_AT, true);
    doubles[double + 2] = headAt(words, at);
    doubles[double + 3] = this.measure(entry);
    numbers[word] = words[at + PEER]! >>> 16;
    numbers[word + 1] = words[at + COUNT]! & (COUNT_MASK | FOLLOWS_BITS);
  }

  /**
   * Writes the `count` entries from `first` on as votes from `to` on, decayed by the factors at `at`; returns the end.
   * A double as an argument would become an object for each player.
   */
  putVotes(
    first: number,
    count: number,
    factors: Float64Array,
    measureFactors: Float64Array,
    at: number,
    votes: VoteSpace,
    to: number,
  ): number {
    const decayFactor = factors[at]!;
    const { words, view } = this.#segments[first >>> SEGMENT_BITS]!;
    const from = (first & SEGMENT_MASK) * WORDS;
    let end = to;
    for (let word = from; word < from + count * WORDS; word += WORDS) {
      const bits = words[word + COUNT]!;
      const isMeasured = (bits & MEASURED) !== 0;
      // Computed without a branch: 0 for a void entry, whose vote then has no mass and does not count.
      const counts = 1 - (bits >>> VOID_BIT);
      const lowering = isMeasured ? this.#measures.lowering(words[word]!) : view.getFloat64(word * 4, true);
      sums.lowering = counts * decayed(lowering, decayFactor);
      sums.raising = counts * decayed(view.getFloat64(word * 4 + RAISING_AT, true), decayFactor);
      sums.measure = isMeasured ? counts * decayed(this.#measures.get(words[word]!), measureFactors[at]!) : 0;
      end = writeVote(votes, end, words[word + PEER]! >>> 16, sums, (bits & FOLLOWS_BITS) >>> FOLLOWS_SHIFT);
    }
    return end;
  }

  /** Index of a peer among the entries; if the peer is absent, the complement of the index where it belongs. */
  placeOf(first: number, count: number, peer: number): number {
    const { words } = this.#segments[first >>> SEGMENT_BITS]!;
    const at = (first & SEGMENT_MASK) * WORDS + PEER;
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = words[at + middle * WORDS]! >>> 16;
      if (found === peer) return middle;
      if (found < peer) low = middle + 1;
      else high = middle;
    }
    return ~low;
  }

  /** Prefetches both ends of the entries, which lie in two cache lines for most players. */
  prefetch(first: number, count: number): number {
    const { words } = this.#segments[first >>> SEGMENT_BITS]!;
    const at = (first & SEGMENT_MASK) * WORDS;
    return words[at]! + words[at + count * WORDS - 1]!;
  }

  set(entry: number, peer: number, evidence: PairEvidence, count: number, head: number): void {
    const { words, view } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS;
    if ((words[at + COUNT]! & MEASURED) !== 0) this.#measures.remove(words[at]!);
    view.setFloat64(at * 4, evidence.lowering, true);
    view.setFloat64(at * 4 + RAISING_AT, evidence.raising, true);
    words[at + COUNT] = (count | (evidence.follows << FOLLOWS_SHIFT)) >>> 0;
    writeHead(words, at, peer, head);
    if (evidence.measure > 0) this.setMeasure(entry, evidence.measure);
  }

  setLowering(entry: number, sum: number): void {
    const { words, view } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS;
    if ((words[at + COUNT]! & MEASURED) !== 0) this.#measures.setLowering(words[at]!, sum);
    else view.setFloat64(at * 4, sum, true);
  }

  /** Sets the sum of standing measures, above 0; everything else of the pair stays. */
  setMeasure(entry: number, sum: number): void {
    const { words, view } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS;
    if ((words[at + COUNT]! & MEASURED) === 0) {
      words[at] = this.#measures.add(view.getFloat64(at * 4, true));
      words[at + 1] = 0;
      words[at + COUNT] = (words[at + COUNT]! | MEASURED) >>> 0;
    }
    this.#measures.set(words[at]!, sum);
  }

  /** Adds a claim (negative lowers) and sets the head. `follows`: its lowering began after that of another peer. */
  add(entry: number, mass: number, head: number, follows: boolean): void {
    const { words, view } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS;
    if (mass < 0) {
      this.#setFollows(words, at, FOLLOWS_CLAIM, follows);
      this.setLowering(entry, this.lowering(entry) - mass);
    } else if (mass > 0) {
      view.setFloat64(at * 4 + RAISING_AT, view.getFloat64(at * 4 + RAISING_AT, true) + mass, true);
    }
    words[at + COUNT]!++;
    writeHead(words, at, words[at + PEER]! >>> 16, head);
  }

  /** Like `add`, for a measure of a mass that is not negative. */
  addMeasure(entry: number, mass: number, head: number, follows: boolean): void {
    const { words } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS;
    if (mass > 0) {
      this.#setFollows(words, at, FOLLOWS, follows);
      this.setMeasure(entry, this.measure(entry) + mass);
    }
    words[at + COUNT]!++;
    writeHead(words, at, words[at + PEER]! >>> 16, head);
  }

  setFollows(entry: number, bits: number): void {
    const { words } = this.#segments[entry >>> SEGMENT_BITS]!;
    const at = (entry & SEGMENT_MASK) * WORDS;
    this.#setFollows(words, at, FOLLOWS, (bits & FOLLOWS) !== 0);
    this.#setFollows(words, at, FOLLOWS_CLAIM, (bits & FOLLOWS_CLAIM) !== 0);
  }

  #setFollows(words: Uint32Array, at: number, bit: number, isSet: boolean): void {
    const mask = bit << FOLLOWS_SHIFT;
    words[at + COUNT] = ((words[at + COUNT]! & ~mask) | (isSet ? mask : 0)) >>> 0;
  }

  /** Multiplies the sums of claims by one factor and those of measures by another; unused entries stay zero. */
  scale(factor: number, measureFactor: number): void {
    this.#measures.scale(factor, measureFactor);
    if (factor === 1) return;
    for (const { view, words } of this.#segments) {
      for (let at = 0; at < SEGMENT_SIZE * WORDS; at += WORDS) {
        const raising = at * 4 + RAISING_AT;
        view.setFloat64(raising, rescaled(view.getFloat64(raising, true), factor), true);
        if ((words[at + COUNT]! & MEASURED) !== 0) continue;
        view.setFloat64(at * 4, rescaled(view.getFloat64(at * 4, true), factor), true);
      }
    }
  }

  #move(from: number, to: number, count: number): void {
    const source = this.#segments[from >>> SEGMENT_BITS]!.words;
    const target = this.#segments[to >>> SEGMENT_BITS]!.words;
    const sourceAt = (from & SEGMENT_MASK) * WORDS;
    const targetAt = (to & SEGMENT_MASK) * WORDS;
    for (let i = 0; i < count * WORDS; i++) {
      target[targetAt + i] = source[sourceAt + i]!;
      source[sourceAt + i] = 0;
    }
  }

  /** Takes a block of the class from the released ones or from the end. Blocks never straddle a segment's end. */
  #block(sizeClass: number): number {
    const given = this.#free[sizeClass]!.pop();
    if (given !== undefined) return given;
    const capacity = capacities[sizeClass]!;
    const left = this.#segments.length * SEGMENT_SIZE - this.#next;
    if (left < capacity) {
      this.#freeRemainder(left);
      this.#segments.push(new Segment(SEGMENT_SIZE * WORDS));
    }
    const at = this.#next;
    this.#next += capacity;
    return at;
  }

  #freeRemainder(left: number): void {
    for (let c = capacities.length - 1; c >= 0; c--) {
      const capacity = capacities[c]!;
      while (left >= capacity) {
        this.#free[c]!.push(this.#next);
        this.#next += capacity;
        left -= capacity;
      }
    }
  }
}

/** `at`: the entry's first word. */
function headAt(words: Uint32Array, at: number): number {
  return (words[at + PEER]! & 0xffff) * WORD + words[at + HEAD]!;
}

/** `at`: the entry's first word. */
function writeHead(words: Uint32Array, at: number, peer: number, head: number): void {
  words[at + HEAD] = head >>> 0;
  words[at + PEER] = peer * 0x10000 + Math.floor(head / WORD);
}
