/**
 * The evidence of every (subject, peer) pair, in columns. A subject's entries lie next to each other in one block of a segment,
 * in order of their peers, so that a read touches few cache lines and a pair is found by halves; a block that is full moves to
 * one of the next capacity.
 *
 * | column   | type    | bytes | meaning                                                              |
 * |----------|---------|-------|----------------------------------------------------------------------|
 * | lowering | Float64 | 8     | sum of lowering mass, scaled forward to the decay epoch              |
 * | raising  | Float64 | 8     | sum of raising mass, scaled likewise                                 |
 * | head     | Float64 | 8     | sequence number of the pair's newest record: the head of its chain   |
 * | count    | Uint32  | 4     | events held for the pair (accepted and not withdrawn)                |
 * | peer     | Uint16  | 2     | the peer's number                                                    |
 */

const SEGMENT_BITS = 16;
const SEGMENT_SIZE = 1 << SEGMENT_BITS;
const SEGMENT_MASK = SEGMENT_SIZE - 1;

/** Capacities of blocks: tight for the few peers that most players have, a third apart beyond. */
const capacities = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024].concat([
  1536,
  2048,
  3072,
  4096,
  6144,
  8192,
  12288,
  16384,
  24576,
  32768,
  49152,
  SEGMENT_SIZE,
]);

class Segment {
  readonly lowering = new Float64Array(SEGMENT_SIZE);
  readonly raising = new Float64Array(SEGMENT_SIZE);
  readonly head = new Float64Array(SEGMENT_SIZE);
  readonly count = new Uint32Array(SEGMENT_SIZE);
  readonly peer = new Uint16Array(SEGMENT_SIZE);
}

function classOf(count: number): number {
  let c = 0;
  while (capacities[c]! < count) c++;
  return c;
}

export class PeerEntries {
  readonly #segments: Segment[] = [];
  /** First unused entry of the newest segment; starts as if the one before the first were full. */
  #next = 0;
  /** Blocks given back, per capacity class. */
  readonly #free: number[][] = capacities.map(() => []);

  /** A block for `count` entries. */
  allocate(count: number): number {
    return this.#block(classOf(count));
  }

  /** Makes room for an entry at `place` among the `count` entries of the block at `at`; returns where the block lies now. */
  insert(at: number, count: number, place: number): number {
    const block = this.#grow(at, count);
    const s = this.#segments[block >>> SEGMENT_BITS]!;
    const from = (block & SEGMENT_MASK) + place;
    const end = (block & SEGMENT_MASK) + count;
    for (const column of [s.lowering, s.raising, s.head, s.count, s.peer]) column.copyWithin(from + 1, from, end);
    return block;
  }

  /** The block with room for one entry more: itself, or a larger one that its entries moved to. */
  #grow(at: number, count: number): number {
    const old = classOf(count);
    if (count < capacities[old]!) return at;
    const to = this.#block(classOf(count + 1));
    for (let i = 0; i < count; i++) this.#move(at + i, to + i);
    this.#free[old]!.push(at);
    return to;
  }

  /** Clears a block of `count` entries and gives it back. */
  release(at: number, count: number): void {
    for (let i = 0; i < count; i++) this.set(at + i, 0, 0, 0, 0, 0);
    this.#free[classOf(count)]!.push(at);
  }

  lowering(entry: number): number {
    return this.#segments[entry >>> SEGMENT_BITS]!.lowering[entry & SEGMENT_MASK]!;
  }

  raising(entry: number): number {
    return this.#segments[entry >>> SEGMENT_BITS]!.raising[entry & SEGMENT_MASK]!;
  }

  head(entry: number): number {
    return this.#segments[entry >>> SEGMENT_BITS]!.head[entry & SEGMENT_MASK]!;
  }

  count(entry: number): number {
    return this.#segments[entry >>> SEGMENT_BITS]!.count[entry & SEGMENT_MASK]!;
  }

  peer(entry: number): number {
    return this.#segments[entry >>> SEGMENT_BITS]!.peer[entry & SEGMENT_MASK]!;
  }

  set(entry: number, peer: number, lowering: number, raising: number, count: number, head: number): void {
    const s = this.#segments[entry >>> SEGMENT_BITS]!;
    const i = entry & SEGMENT_MASK;
    s.peer[i] = peer;
    s.lowering[i] = lowering;
    s.raising[i] = raising;
    s.count[i] = count;
    s.head[i] = head;
  }

  /** One more event: adds its mass (negative lowers) and makes `head` the head of the pair's chain. */
  add(entry: number, mass: number, head: number): void {
    const s = this.#segments[entry >>> SEGMENT_BITS]!;
    const i = entry & SEGMENT_MASK;
    if (mass < 0) s.lowering[i]! -= mass;
    else s.raising[i]! += mass;
    s.count[i]!++;
    s.head[i] = head;
  }

  /** Multiplies every sum by `factor`; what is unused is zero and stays so. */
  scale(factor: number): void {
    for (const s of this.#segments) {
      for (let i = 0; i < SEGMENT_SIZE; i++) {
        s.lowering[i]! *= factor;
        s.raising[i]! *= factor;
      }
    }
  }

  #move(from: number, to: number): void {
    this.set(to, this.peer(from), this.lowering(from), this.raising(from), this.count(from), this.head(from));
    this.set(from, 0, 0, 0, 0, 0);
  }

  /** A block of the class, from what was given back or from the end. Blocks never straddle a segment's end. */
  #block(sizeClass: number): number {
    const given = this.#free[sizeClass]!.pop();
    if (given !== undefined) return given;
    const capacity = capacities[sizeClass]!;
    const left = this.#segments.length * SEGMENT_SIZE - this.#next;
    if (left < capacity) {
      this.#giveBackRest(left);
      this.#segments.push(new Segment());
    }
    const at = this.#next;
    this.#next += capacity;
    return at;
  }

  #giveBackRest(left: number): void {
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
