/**
 * When each record was received, by its sequence number: one step per moment, kept in segments that never move.
 * This answers `originally_received_at` of a duplicate without reading the log.
 */
const SEGMENT_SIZE = 1 << 15;

/** Numbers that are only ever appended. */
export class NumberColumn {
  readonly #segments: Float64Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    const i = this.#length++;
    if (i % SEGMENT_SIZE === 0) this.#segments.push(new Float64Array(SEGMENT_SIZE));
    this.#segments[Math.floor(i / SEGMENT_SIZE)]![i % SEGMENT_SIZE] = value;
  }

  at(i: number): number {
    return this.#segments[Math.floor(i / SEGMENT_SIZE)]![i % SEGMENT_SIZE]!;
  }

  /** Index of the first value above `value` in an ascending column. */
  firstAbove(value: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.at(middle) > value) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

export class Times {
  readonly seqs = new NumberColumn();
  readonly ats = new NumberColumn();
  #lastAt = Number.NaN;

  /** Record `seq` was received at `at`; called in order, for every record. */
  note(seq: number, at: number): void {
    if (at === this.#lastAt) return;
    this.#lastAt = at;
    this.seqs.push(seq);
    this.ats.push(at);
  }

  /** ms since 1970 at which record `seq` was received. */
  receivedAt(seq: number): number {
    return this.ats.at(this.seqs.firstAbove(seq) - 1);
  }

  /**
   * The last record of the longest run of moments that begins after record `after`, ends at `upTo` (the end of a
   * moment) or before, and was received before `before`; `after` where there is none. A moment later than `now` was
   * noted by a clock that ran ahead, and is passed over: those that follow it say how old it is. Looks at no more than
   * `stepsMax` other moments.
   */
  lastBefore(after: number, upTo: number, before: number, now: number, stepsMax: number): number {
    let last = after;
    let steps = 0;
    for (let i = Math.max(0, this.seqs.firstAbove(after + 1) - 1); i < this.seqs.length && steps < stepsMax; i++) {
      if (this.seqs.at(i) > upTo) break;
      const at = this.ats.at(i);
      if (at > now) continue;
      if (at >= before) break;
      last = i + 1 < this.seqs.length ? Math.min(upTo, this.seqs.at(i + 1) - 1) : upTo;
      steps++;
    }
    return last;
  }
}
