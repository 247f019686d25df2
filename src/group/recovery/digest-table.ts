/**
 * Maps sequence numbers, which mostly come in order, to the first 16 bytes of SHA-256 digests, in 24 bytes each. A
 * `Map` would take five times as much memory, and is limited to 16,777,216 entries.
 */
const DIGEST_AT = 8;
const ROW_BYTES = 24;
/** A compromise: an insertion in the middle moves few bytes, and there are few runs to search. */
const RUN_ROWS = 512;

/** Half a digest: a collision is as hard to find as a key of 128 bits. */
const HEX_DIGITS = (ROW_BYTES - DIGEST_AT) * 2;

class Run {
  readonly rows = Buffer.alloc(RUN_ROWS * ROW_BYTES);
  count = 0;

  seq(row: number): number {
    return this.rows.readDoubleLE(row * ROW_BYTES);
  }

  rowFrom(seq: number): number {
    return firstWhere(this.count, (row) => this.seq(row) >= seq);
  }

  move(row: number, to: number): void {
    this.rows.copyWithin(to * ROW_BYTES, row * ROW_BYTES, this.count * ROW_BYTES);
    this.count += to - row;
  }

  split(): Run {
    const upper = new Run();
    const from = this.count >> 1;
    this.rows.copy(upper.rows, 0, from * ROW_BYTES, this.count * ROW_BYTES);
    upper.count = this.count - from;
    this.count = from;
    return upper;
  }
}

/** Returns the first of `count` places at which `holds` becomes and stays true. */
function firstWhere(count: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export class DigestTable {
  /** No run is empty. */
  readonly #runs: Run[] = [];

  get first(): number | undefined {
    return this.#runs[0]?.seq(0);
  }

  has(seq: number): boolean {
    const run = this.#runs[this.#runOf(seq)];
    return run !== undefined && isAt(run, run.rowFrom(seq), seq);
  }

  holds(seq: number, digest: string): boolean {
    const run = this.#runs[this.#runOf(seq)];
    if (run === undefined) return false;
    const row = run.rowFrom(seq);
    const at = row * ROW_BYTES;
    return (
      isAt(run, row, seq) && run.rows.toString('hex', at + DIGEST_AT, at + ROW_BYTES) === digest.slice(0, HEX_DIGITS)
    );
  }

  set(seq: number, digest: string): void {
    const run = this.#withRoom(seq);
    const row = run.rowFrom(seq);
    if (!isAt(run, row, seq)) run.move(row, row + 1);
    run.rows.writeDoubleLE(seq, row * ROW_BYTES);
    run.rows.write(digest, row * ROW_BYTES + DIGEST_AT, ROW_BYTES - DIGEST_AT, 'hex');
  }

  delete(seq: number): void {
    const index = this.#runOf(seq);
    const run = this.#runs[index];
    if (run === undefined) return;
    const row = run.rowFrom(seq);
    if (!isAt(run, row, seq)) return;
    run.move(row + 1, row);
    if (run.count === 0) this.#runs.splice(index, 1);
  }

  /** The last run that begins at or below `seq`, or else the first. */
  #runOf(seq: number): number {
    return Math.max(0, firstWhere(this.#runs.length, (i) => this.#runs[i]!.seq(0) > seq) - 1);
  }

  #withRoom(seq: number): Run {
    const index = this.#runOf(seq);
    const run = this.#runs[index];
    if (run !== undefined && run.count < RUN_ROWS) return run;
    const isBehindAll = run === undefined || (index === this.#runs.length - 1 && run.seq(run.count - 1) < seq);
    // Numbers in order leave full runs behind.
    const next = isBehindAll ? new Run() : run.split();
    this.#runs.splice(index + 1, 0, next);
    return isBehindAll || next.seq(0) <= seq ? next : run;
  }
}

function isAt(run: Run, row: number, seq: number): boolean {
  return row < run.count && run.seq(row) === seq;
}
