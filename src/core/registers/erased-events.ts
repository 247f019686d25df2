/** Stores which events erasures removed, by the peer that sent them: record numbers alone, never an id or a player. */
import { Bits } from '../bits.js';
import { NumberColumn } from '../columns/times.js';
import { getOrMake } from '../get-or-make.js';

export interface ErasedEvent {
  readonly seq: number;
  /** The record that confirms that the event's bytes left the log. */
  readonly erasedSeq: number;
}

interface Columns {
  readonly seqs: NumberColumn;
  readonly erasedSeqs: NumberColumn;
}

export class ErasedEvents {
  readonly #erased = new Bits();
  readonly #byPeer = new Map<number, Columns>();

  add(peer: number, seq: number, erasedSeq: number): void {
    const { seqs, erasedSeqs } = getOrMake(this.#byPeer, peer, newColumns);
    seqs.push(seq);
    erasedSeqs.push(erasedSeq);
    this.#erased.add(seq);
  }

  has(seq: number): boolean {
    return this.#erased.has(seq);
  }

  countOf(peer: number): number {
    return this.#byPeer.get(peer)?.seqs.length ?? 0;
  }

  /** Returns up to `limit` erased events of a peer from position `from` on, in the order of their erasure. */
  of(peer: number, from: number, limit: number): ErasedEvent[] {
    const columns = this.#byPeer.get(peer);
    if (columns === undefined) return [];
    const events: ErasedEvent[] = [];
    for (let i = from; i < columns.seqs.length && events.length < limit; i++) {
      events.push({ seq: columns.seqs.at(i), erasedSeq: columns.erasedSeqs.at(i) });
    }
    return events;
  }

  /** Yields every erased event with its peer, each peer's events in the order of `of`. */
  *all(): Generator<ErasedEvent & { readonly peer: number }> {
    for (const [peer, { seqs, erasedSeqs }] of this.#byPeer) {
      for (let i = 0; i < seqs.length; i++) yield { peer, seq: seqs.at(i), erasedSeq: erasedSeqs.at(i) };
    }
  }
}

function newColumns(): Columns {
  return { seqs: new NumberColumn(), erasedSeqs: new NumberColumn() };
}
