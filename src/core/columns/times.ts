/** Stores when each record was received: a step per distinct time. Answers to duplicates need no read of the log. */
const SEGMENT_SIZE = 1 << 15;

export class NumberColumn {
  readonly #segments: Float64Array[] = [];
  length = 0;

  push(value: number): void {
    const i = this.length++;
    if (i % SEGMENT_SIZE === 0) this.#segments.push(new Float64Array(SEGMENT_SIZE));
    this.#segments[Math.floor(i / SEGMENT_SIZE)]![i % SEGMENT_SIZE] = value;
  }

  at(i: number): number {
    return this.#segments[Math.floor(i / SEGMENT_SIZE)]![i % SEGMENT_SIZE]!;
  }

  /** Index of the first value above `value` in an ascending column. */
  firstAbove(value: number): number {
    return firstWhere(this.length, (i) => this.at(i) > value);
  }
}

/** Returns the first of `count` places at which `holds` becomes and stays true; `count` if it never does. */
export function firstWhere(count: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export class Times {
  readonly seqs = new NumberColumn();
  readonly ats = new NumberColumn();
  #lastAt = Number.NaN;

  /** Notes that record `seq` was received at `at`. Must be called for every record, in order. */
  note(seq: number, at: number): void {
    if (at === this.#lastAt) return;
    this.#lastAt = at;
    this.seqs.push(seq);
    this.ats.push(at);
  }

  /** Returns the time at which record `seq` was received, in ms since 1970. */
  receivedAt(seq: number): number {
    return this.ats.at(this.seqs.firstAbove(seq) - 1);
  }

  /**
   * Returns the last record of the longest run of steps that begins after record `after`, ends at or before record
   * `upTo` (the last record of a step), and was received before `before`. Returns `after` if there is no such run. A
   * step with a time later than `now` was noted by a clock that ran ahead; it is skipped and joins the run only
   * together with a later step. Looks at no more than `stepsMax` other steps.
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
