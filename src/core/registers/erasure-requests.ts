/** Stores erasures that wait for the operator, those that it refused, and the records that name the player. */
import { Bits } from '../bits.js';
import { NumberColumn } from '../columns/times.js';
import { getOrMake } from '../get-or-make.js';
import type { PendingReason } from '../vocabulary.js';

export interface ErasureRequest {
  readonly seq: number;
  /** The asking peer, or `NO_KEY`. */
  readonly peer: number;
  /** Absent if an earlier release recorded the request. */
  readonly reason?: PendingReason;
}

export interface RefusedErasure {
  /** ms since 1970. */
  readonly at: number;
  /** The operator's words to the peers that asked. */
  readonly reason: string;
  /** Without those that have asked again. */
  readonly peers: readonly number[];
}

export interface ErasureRequests {
  readonly pending: readonly ErasureRequest[];
  /** Newest first. */
  readonly refused: readonly RefusedErasure[];
  readonly seqs: readonly number[];
}

const none: ErasureRequests = { pending: [], refused: [], seqs: [] };

export class ErasureRegister {
  /** Indexed by subject, hex. */
  readonly #subjects = new Map<string, ErasureRequests>();
  /** Number of players whose erasure waits for the operator. */
  pending = 0;

  of(subject: string): ErasureRequests {
    return this.#subjects.get(subject) ?? none;
  }

  all(): (readonly [subject: string, requests: ErasureRequests])[] {
    return [...this.#subjects].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  request(subject: string, request: ErasureRequest): void {
    const { pending, refused: before, seqs } = this.of(subject);
    // A peer that asks again waits again: the earlier answer no longer concerns it.
    const still = before.map((one) => ({ ...one, peers: one.peers.filter((peer) => peer !== request.peer) }));
    const refused = still.filter(({ peers }) => peers.length > 0);
    this.set(subject, { pending: [...pending, request], refused, seqs: [...seqs, request.seq] });
  }

  refuse(subject: string, reason: string, seq: number, at: number): void {
    const { pending, refused, seqs } = this.of(subject);
    const peers = [...new Set(pending.map(({ peer }) => peer))];
    this.set(subject, { pending: [], refused: [{ at, reason, peers }, ...refused], seqs: [...seqs, seq] });
  }

  set(subject: string, requests: ErasureRequests): void {
    this.erase(subject);
    this.#subjects.set(subject, requests);
    if (requests.pending.length > 0) this.pending++;
  }

  erase(subject: string): void {
    if (this.of(subject).pending.length > 0) this.pending--;
    this.#subjects.delete(subject);
  }
}

export interface ErasedEvent {
  readonly seq: number;
  /** The record that confirms that the event's bytes left the log. */
  readonly erasedSeq: number;
}

/** Events that erasures removed, by the peer that sent them: record numbers alone, never an id or a player. */
export class ErasedEvents {
  readonly #erased = new Bits();
  readonly #byPeer = new Map<number, ReturnType<typeof newColumns>>();

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

function newColumns() {
  return { seqs: new NumberColumn(), erasedSeqs: new NumberColumn() };
}
