/**
 * The list of what was acknowledged, in order: facts are only ever appended, and taken back from the end where a turn
 * proved to be lost. The maps beside the list only find facts; none of them holds a sum.
 */
import type { EventTypeName } from '../../src/core/evidence/event-types.js';
import type { PeerStatus } from '../../src/core/vocabulary.js';
import type { EvidenceKind } from './event-kinds.js';
import type { Columns } from './fit-votes.js';

export interface EventFact {
  readonly kind: 'event';
  readonly id: string;
  readonly peer: number;
  /** Under which the service holds it: the peer's, or that of the carrier that the peer is of its origin. */
  readonly number: number;
  /** Name of the origin, null for the peer's own. */
  readonly origin: string | null;
  readonly reference: string | null;
  /** Hex. */
  readonly subject: string;
  readonly type: EventTypeName;
  readonly gameId: string;
  readonly schemaVersion: string;
  readonly severity: number;
  readonly timestamp: number;
  readonly receivedAt: number;
  /**
   * Whether an event with the same content existed when it came: its evidence then does not count until that one is
   * withdrawn.
   */
  readonly repeats: 'yes' | 'no' | 'unknown';
  /** Its evidence at its own time; 0 where it was too old when it came, or of severity 0. */
  readonly mass: number;
  /** Whether it follows lowering evidence of another peer; null for an event of which nothing is decided. */
  readonly follows: boolean | null;
  /** Number of scales of its kind when it came: the later ones apply to it. */
  readonly scales: number;
}

/** False for an event that is stored but is no evidence, and revokes none. */
export function isEvidence({ mass, type, severity }: EventFact): boolean {
  return mass > 0 || (type === 'ban_lifted' && severity > 0);
}

export interface WithdrawalFact {
  readonly kind: 'withdrawal';
  readonly event: EventFact;
  readonly at: number;
}

export interface ErasureFact {
  readonly kind: 'erasure';
  readonly subject: string;
  /** Number of the peer, -1 without a key, -2 the operator. */
  readonly caller: number;
  /** It only waits for the operator. */
  readonly pending: boolean;
  readonly at: number;
}

/** The operator refuses the requests for an erasure that wait. */
export interface RefusalFact {
  readonly kind: 'refusal';
  readonly subject: string;
  readonly reason: string;
}

/** An entry of the allow list, or its end. */
export interface AllowFact {
  readonly kind: 'allow';
  readonly subject: string;
  /** The end of the minute up to which the entry counts; null: it is removed. */
  readonly until: number | null;
  readonly id: string;
}

export interface PeerFact {
  readonly kind: 'peer';
  readonly number: number;
  readonly peerId: string;
  readonly peerName: string;
  readonly gameIds: readonly string[];
  readonly keyDigest: string;
  readonly at: number;
}

export interface StatusFact {
  readonly kind: 'status';
  readonly peer: number;
  readonly status: PeerStatus;
}

export interface KeyFact {
  readonly kind: 'key';
  readonly peer: number;
  readonly keyDigest: string;
  /** Until when the key before it works; 0: it is dead. */
  readonly oldUntil: number;
}

export interface PreTrustFact {
  readonly kind: 'pre_trust';
  readonly peers: readonly number[];
  readonly configured: string | null;
}

export interface RelationFact {
  readonly kind: 'relation';
  readonly first: number;
  readonly second: number;
  readonly relation: 'same' | 'independent';
}

/** An origin was declared, or removed; the first time it gets its number. */
export interface OriginFact {
  readonly kind: 'origin';
  readonly number: number;
  readonly name: string;
  readonly isDeclared: boolean;
}

/** A peer sent the first event of an origin (its number). */
export interface CarrierFact {
  readonly kind: 'carrier';
  readonly number: number;
  readonly peer: number;
  readonly origin: number;
}

export interface DisputeFact {
  readonly kind: 'dispute';
  readonly id: string;
  /** Number of the peer, -1 without a key. */
  readonly caller: number;
  readonly subject: string;
  readonly text: string;
  readonly against: number | null;
  readonly at: number;
}

export interface DecisionFact {
  readonly kind: 'decision';
  readonly dispute: DisputeFact;
  readonly status: 'open' | 'upheld' | 'rejected';
  /** Peers whose events about the player are void while it is upheld. */
  readonly voids: readonly number[];
  readonly at: number;
  /** True if it makes events void or makes them count again. */
  readonly isChange: boolean;
}

/** Half-life and epoch of a kind from here on; what came before is carried over at its worth at `epoch`. */
export interface ScaleFact {
  readonly kind: 'scale';
  readonly of: EvidenceKind;
  readonly halfLifeDays: number;
  readonly epoch: number;
}

export interface WeightsFact extends Columns<ArrayLike<number>> {
  readonly kind: 'weights';
  readonly basedOnSeq: number;
  readonly computedAt: number;
  readonly pi: number;
  readonly witness: Uint16Array;
}

/** An entry of the audit log; `target` null where only the answer tells it. */
export interface AuditedFact {
  readonly kind: 'audited';
  readonly action: string;
  readonly actor: string;
  target: string | null;
  readonly at: number;
}

/** Facts about one player. */
export type SubjectFact =
  | EventFact
  | WithdrawalFact
  | ErasureFact
  | RefusalFact
  | DisputeFact
  | DecisionFact
  | AllowFact;

export type Fact =
  | EventFact
  | WithdrawalFact
  | ErasureFact
  | RefusalFact
  | AllowFact
  | PeerFact
  | StatusFact
  | KeyFact
  | PreTrustFact
  | RelationFact
  | OriginFact
  | CarrierFact
  | DisputeFact
  | DecisionFact
  | ScaleFact
  | WeightsFact
  | AuditedFact;

export class Facts {
  readonly all: Fact[] = [];
  readonly events = new Map<string, EventFact>();
  readonly withdrawals = new Map<string, WithdrawalFact>();
  readonly bySubject = new Map<string, SubjectFact[]>();
  readonly #byKind = new Map<Fact['kind'], Fact[]>();

  /** Returns the facts of one kind, in order. */
  of<K extends Fact['kind']>(kind: K): readonly Extract<Fact, { kind: K }>[] {
    return (this.#byKind.get(kind) ?? []) as Extract<Fact, { kind: K }>[];
  }

  /** How many numbers are given out; so the next one. */
  get numbers(): number {
    const origins = new Set(this.of('origin').map(({ name }) => name));
    return this.of('peer').length + origins.size + this.of('carrier').length;
  }

  add(fact: Fact): void {
    for (const list of this.#listsOf(fact)) list.push(fact);
    if (fact.kind === 'event') this.events.set(fact.id, fact);
    if (fact.kind === 'withdrawal') this.withdrawals.set(fact.event.id, fact);
  }

  /** Takes back what was added after the list had this length. */
  truncate(length: number): void {
    while (this.all.length > length) {
      const fact = this.all.at(-1)!;
      for (const list of this.#listsOf(fact)) list.pop();
      if (fact.kind === 'event') this.events.delete(fact.id);
      if (fact.kind === 'withdrawal') this.withdrawals.delete(fact.event.id);
    }
  }

  #listsOf(fact: Fact): Fact[][] {
    const subject = subjectOf(fact);
    return [
      this.all,
      listAt<Fact>(this.#byKind, fact.kind),
      ...(subject === null ? [] : [listAt<Fact>(this.bySubject as Map<string, Fact[]>, subject)]),
    ];
  }
}

/** The list of a key, which is made where there is none. */
function listAt<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

function subjectOf(fact: Fact): string | null {
  if (fact.kind === 'withdrawal') return fact.event.subject;
  if (fact.kind === 'decision') return fact.dispute.subject;
  return 'subject' in fact ? fact.subject : null;
}
