/**
 * Forms witness groups: peers that count as one (docs/SCORING.md, "Witness groups"). Two peers are joined by a
 * declaration of the operator, as clones (their votes on the same players are equal), as allied peers, or as carriers
 * of one list. The lowest peer of a group names it.
 */
import { getOrMake } from '../get-or-make.js';
import type { PeerRelation, WitnessPair, WitnessReason } from '../vocabulary.js';

export class Witnesses {
  /** Per peer: the lowest peer of its group, which is the peer itself if it is alone. */
  readonly numbers: Uint16Array;
  readonly sizes: Uint16Array;
  /** Joined pairs in the order in which they were found; a group has one pair fewer than it has peers. */
  readonly pairs: WitnessPair[] = [];
  /** Per peer: the lowest of the peers that were declared the same as it, or the peer itself. */
  readonly declared: Uint16Array;
  readonly #independent: readonly PeerRelation[];
  readonly #members = new Map<number, readonly number[]>();

  /** Peers declared the same are one witness. No group ever holds two that were declared independent. */
  constructor(peers: number, relations: readonly PeerRelation[] = []) {
    this.numbers = Uint16Array.from({ length: peers }, (_, j) => j);
    this.sizes = new Uint16Array(peers).fill(1);
    this.#independent = relations.filter(({ relation }) => relation === 'independent');
    const rule: JoinRule = { reason: 'declared', areAlike: () => true, apart: new ApartGroups() };
    for (const { first, second, relation } of relations) if (relation === 'same') this.joinIfAlike(first, second, rule);
    this.declared = this.numbers.slice();
  }

  areOne(j: number, k: number): boolean {
    return this.numbers[j] === this.numbers[k];
  }

  /** Joins the groups of `j < k` if all peers of both are alike and no two were declared independent. */
  joinIfAlike(j: number, k: number, { reason, areAlike, apart }: JoinRule): void {
    const { numbers, sizes } = this;
    const representative = Math.min(numbers[j]!, numbers[k]!);
    const given = Math.max(numbers[j]!, numbers[k]!);
    if (representative === given || apart.has(representative, given)) return;
    const [kept, others] = [this.#membersOf(representative), this.#membersOf(given)];
    const areOne = () => kept.every((one) => others.every((other) => areAlike(one, other)));
    if (this.#wouldMeet(representative, given) || !areOne()) {
      apart.add(representative, given);
      return;
    }
    apart.join(representative, given);
    this.pairs.push({ first: j, second: k, reason });
    const members = [...kept, ...others];
    for (const peer of members) {
      numbers[peer] = representative;
      sizes[peer] = members.length;
    }
    this.#members.set(representative, members);
    this.#members.delete(given);
  }

  #membersOf(representative: number): readonly number[] {
    return this.#members.get(representative) ?? [representative];
  }

  #wouldMeet(one: number, other: number): boolean {
    return this.#independent.some(({ first, second }) => {
      const [p, q] = [this.numbers[first], this.numbers[second]];
      return (p === one && q === other) || (p === other && q === one);
    });
  }
}

/** By what a rule joins peers, and the groups that it found to stay apart. */
export interface JoinRule {
  readonly reason: WitnessReason;
  readonly areAlike: (j: number, k: number) => boolean;
  readonly apart: ApartGroups;
}

/** Pairs of groups that are not alike. As groups only grow, what one of two is apart from stays apart from both. */
export class ApartGroups {
  readonly #from = new Map<number, Set<number>>();

  has(one: number, other: number): boolean {
    return this.#from.get(one)?.has(other) ?? false;
  }

  add(one: number, other: number): void {
    getOrMake(this.#from, one, () => new Set()).add(other);
    getOrMake(this.#from, other, () => new Set()).add(one);
  }

  /** Notes that `given` is now a part of `kept`. */
  join(kept: number, given: number): void {
    for (const other of this.#from.get(given) ?? []) {
      this.#from.get(other)!.delete(given);
      this.add(kept, other);
    }
    this.#from.delete(given);
  }
}

/** The peers that count as one witness with a peer, and the reasons; built once for all peers of a computation. */
export class WitnessLinks {
  readonly #links = new Map<number, WitnessPair[]>();

  constructor(pairs: readonly WitnessPair[]) {
    for (const pair of pairs) {
      for (const peer of [pair.first, pair.second]) getOrMake(this.#links, peer, () => []).push(pair);
    }
  }

  /** Returns the peers joined with a peer, directly or not, with the reasons; at most `most`, by number. */
  of(peer: number, most: number): { readonly peer: number; readonly reason: WitnessReason }[] {
    const found = new Map<number, WitnessReason>();
    // The walk over a map also visits entries that are added meanwhile.
    const joined = (from: number) => {
      for (const { first, second, reason } of this.#links.get(from) ?? []) {
        if (found.size >= most) return;
        const other = first === from ? second : first;
        if (other !== peer && !found.has(other)) found.set(other, reason);
      }
    };
    joined(peer);
    for (const other of found.keys()) {
      if (found.size >= most) break;
      joined(other);
    }
    return [...found].map(([other, reason]) => ({ peer: other, reason })).sort((p, q) => p.peer - q.peer);
  }
}

/** Counts the groups of several peers, and their peers. `witness`: lowest of each; `isPeer`: no origin or carrier. */
export function groupsOf(
  witness: Uint16Array | null,
  isPeer: (number: number) => boolean,
): { readonly groups: number; readonly peers: number } {
  const members = new Map<number, number>();
  witness?.forEach((named, number) => {
    if (isPeer(number)) members.set(named, (members.get(named) ?? 0) + 1);
  });
  const groups = [...members.values()].filter((count) => count > 1);
  return { groups: groups.length, peers: groups.reduce((sum, count) => sum + count, 0) };
}
