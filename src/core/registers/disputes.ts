/** Stores the disputes, which are few, and the pairs of player and peer that upheld ones exclude from the scores. */
import { limits } from '../../limits.js';
import { getOrMake } from '../get-or-make.js';
import type { DisputeStatus } from '../vocabulary.js';

export interface Dispute {
  readonly id: string;
  readonly seq: number;
  /** ms since 1970. */
  readonly openedAt: number;
  /** Peer that disputes, or `NO_KEY`. */
  readonly peer: number;
  /** Hex. */
  readonly subject: string;
  readonly text: string;
  readonly against: number | null;
  readonly status: DisputeStatus;
  /** ms since 1970; null while the dispute is open. */
  readonly decidedAt: number | null;
  /** Peers whose events about the player do not count while the dispute is upheld. */
  readonly voids: readonly number[];
  readonly decisions: readonly number[];
}

export class Disputes {
  /** Iterates in the order of opening. */
  readonly #byId = new Map<string, Dispute>();
  readonly #bySubject = new Map<string, Set<string>>();
  /** By player (hex): the records of dropped disputes, whose texts are still in the log. */
  readonly #dropped = new Map<string, number[]>();
  readonly counts: Record<DisputeStatus, number> = { open: 0, upheld: 0, rejected: 0 };
  /** Records of the newest rejections, also of erased disputes: a replay, which does not know these, drops the same. */
  rejections: number[] = [];

  get size(): number {
    return this.#byId.size;
  }

  all(): Dispute[] {
    return [...this.#byId.values()];
  }

  byId(id: string): Dispute | undefined {
    return this.#byId.get(id);
  }

  /** Disputes about one player (hex), in the order of opening. */
  of(subject: string): Dispute[] {
    return [...(this.#bySubject.get(subject) ?? [])].map((id) => this.#byId.get(id)!);
  }

  /** The records of dropped disputes about a player (hex). */
  droppedOf(subject: string): readonly number[] {
    return this.#dropped.get(subject) ?? [];
  }

  /** Records that hold texts about a player (hex), and the decisions on dropped disputes. */
  seqsOf(subject: string): number[] {
    return [...this.droppedOf(subject), ...this.of(subject).map(({ seq }) => seq)];
  }

  get dropped(): readonly (readonly [subject: string, seqs: readonly number[]])[] {
    return [...this.#dropped];
  }

  restoreDropped(subject: string, seqs: readonly number[]): void {
    this.#dropped.set(subject, [...seqs]);
  }

  /** Peers whose events about a player (hex) do not count, sorted by number. */
  voidedOf(subject: string): number[] {
    const voided = new Set<number>();
    for (const { status, voids } of this.of(subject))
      if (status === 'upheld') for (const peer of voids) voided.add(peer);
    return [...voided].sort((p, q) => p - q);
  }

  subjects(): Iterable<string> {
    return this.#bySubject.keys();
  }

  /** True if a peer that holds events about a player (hex) is to see these events as disputed. */
  concern(subject: string, peer: number): boolean {
    return this.of(subject).some(({ status, against, voids }) => {
      if (status === 'open') return against === null || against === peer;
      return status === 'upheld' && voids.includes(peer);
    });
  }

  add(dispute: Dispute): void {
    this.#byId.set(dispute.id, dispute);
    getOrMake(this.#bySubject, dispute.subject, () => new Set()).add(dispute.id);
    this.counts[dispute.status]++;
  }

  decide(id: string, { status, voids }: Pick<Dispute, 'status' | 'voids'>, seq: number, at: number): void {
    if (status === 'rejected' && this.rejections.push(seq) > limits.disputesRejectedMax)
      this.#dropUpTo(this.rejections.shift()!);
    const dispute = this.#byId.get(id);
    if (dispute === undefined) return;
    this.counts[dispute.status]--;
    this.counts[status]++;
    const decisions = [...dispute.decisions, seq];
    this.#byId.set(id, { ...dispute, status, voids, decidedAt: status === 'open' ? null : at, decisions });
  }

  remove(subject: string): void {
    for (const dispute of this.of(subject)) this.#remove(dispute);
    this.#dropped.delete(subject);
  }

  /** Drops the disputes that were rejected up to a record. Upheld ones stay: they may be undone at any time. */
  #dropUpTo(seq: number): void {
    for (const dispute of this.#byId.values()) {
      if (dispute.status !== 'rejected' || dispute.decisions.at(-1)! > seq) continue;
      this.#remove(dispute);
      getOrMake(this.#dropped, dispute.subject, () => []).push(dispute.seq, ...dispute.decisions);
    }
  }

  #remove({ id, status, subject }: Dispute): void {
    this.#byId.delete(id);
    this.counts[status]--;
    const others = this.#bySubject.get(subject);
    others?.delete(id);
    if (others?.size === 0) this.#bySubject.delete(subject);
  }
}
