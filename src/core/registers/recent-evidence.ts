/**
 * Knows recent evidence that was decided here by its content, so that most repeats need no look into the log. An event
 * takes the place of another whose hash ends in the same bits, and is forgotten if removed.
 */
import type { EventTypeId } from '../evidence/event-types.js';

const SLOTS = 1 << 18;
/** With more withdrawn events all events are forgotten; with more erased subjects their events are searched. */
const LISTED_MAX = 4_096;

/** Content of an event, as `RepeatFilter` hashes it; `row`: the row of its subject. */
export interface EvidenceContent {
  readonly hash: number;
  readonly row: number;
  readonly peer: number;
  readonly type: EventTypeId;
  readonly timestamp: number;
}

export class RecentEvidence {
  /** Null before the first event: most states of a process decide none. */
  #columns: ReturnType<typeof newColumns> | null = null;
  /** All events after this record are noted. */
  #since = 0;
  readonly #withdrawn = new Set<number>();
  /** The last record before the erasure of a subject, by its row, which the next subject may get. */
  readonly #erased = new Map<number, number>();

  /** Returns an event with this content; 0 if none is known. */
  seqOf({ hash, row, peer, type, timestamp }: EvidenceContent): number {
    if (this.#columns === null) return 0;
    const { seqs, timestamps, rows, peers, types } = this.#columns;
    const slot = hash & (SLOTS - 1);
    const isSame = rows[slot] === row && peers[slot] === peer && types[slot] === type && timestamps[slot] === timestamp;
    const seq = isSame ? seqs[slot]! : 0;
    return seq <= (this.#erased.get(row) ?? 0) || this.#withdrawn.has(seq) ? 0 : seq;
  }

  /** True if certainly no event whose content has this hash came after record `seq`. */
  hasNoneSince(hash: number, seq: number): boolean {
    return this.#columns !== null && seq >= this.#since && this.#columns.seqs[hash & (SLOTS - 1)]! <= seq;
  }

  note({ hash, row, peer, type, timestamp }: EvidenceContent, seq: number): void {
    if (this.#columns === null) {
      this.#columns = newColumns();
      this.#since = seq - 1;
    }
    const { seqs, timestamps, rows, peers, types } = this.#columns;
    const slot = hash & (SLOTS - 1);
    seqs[slot] = seq;
    timestamps[slot] = timestamp;
    rows[slot] = row;
    peers[slot] = peer;
    types[slot] = type;
  }

  /** Tells that events up to record `seq` came without being noted. */
  missed(seq: number): void {
    this.#since = seq;
  }

  forget(seq: number): void {
    if (this.#columns === null) return;
    this.#withdrawn.add(seq);
    if (this.#withdrawn.size <= LISTED_MAX) return;
    this.#withdrawn.clear();
    this.#columns = null;
  }

  /** Forgets the events up to record `seq` about an erased subject. */
  forgetSubject(row: number, seq: number): void {
    if (this.#columns === null) return;
    this.#erased.set(row, seq);
    if (this.#erased.size <= LISTED_MAX) return;
    // The numbers stay, since they prove that nothing came through a slot.
    const { seqs, rows, timestamps } = this.#columns;
    for (let slot = 0; slot < SLOTS; slot++)
      if (seqs[slot]! <= (this.#erased.get(rows[slot]!) ?? 0)) timestamps[slot] = Number.NaN;
    this.#erased.clear();
  }
}

/** Sequence numbers are 0 in an empty slot. */
function newColumns() {
  return {
    seqs: new Float64Array(SLOTS),
    timestamps: new Float64Array(SLOTS),
    rows: new Uint32Array(SLOTS),
    peers: new Uint16Array(SLOTS),
    types: new Uint8Array(SLOTS),
  };
}
