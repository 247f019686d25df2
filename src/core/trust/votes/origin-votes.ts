/** Merges the votes of an origin's carriers into the heaviest: carried evidence is no agreement between carriers. */
import { cappedMass, roundForComparison, type VoteSpace } from '../../evidence/evidence.js';
import type { Joined } from '../../peers/peers.js';
import type { Carrier, Origins } from '../../registers/origins.js';

const NONE = -1;

type Columns = Omit<VoteSpace, 'excluded'>;

/** `voice`: `tau n1` of the carrier's vote. */
type FoundVotes = Columns & { readonly voice: Float64Array };

export class OriginVotes {
  readonly origins: readonly number[];
  readonly carriers: readonly Carrier[];
  /** Indexed by number: 1 for a peer that carries an origin's evidence on some player. */
  readonly carries: Uint8Array;
  /** Indexed by number: the origin of a carrier, `NONE` for others; and the carrier's peer. */
  readonly #originOf: Int32Array;
  readonly #peerOf: Int32Array;
  #found = 0;
  readonly #votes: FoundVotes;
  readonly #gates: Float64Array;

  /** `numbers` counts peers, origins and carriers. A carrier with gate 0 in `gates` never speaks for an origin. */
  constructor({ list, carriers }: Pick<Origins, 'list' | 'carriers'>, numbers: number, gates: Float64Array) {
    this.origins = list.map(({ index }) => index);
    this.carriers = carriers;
    this.carries = new Uint8Array(numbers);
    this.#originOf = new Int32Array(numbers).fill(NONE);
    this.#peerOf = new Int32Array(numbers).fill(NONE);
    for (const { index, peer, origin } of carriers) {
      this.#originOf[index] = origin;
      this.#peerOf[index] = peer;
    }
    this.#votes = {
      peer: new Uint16Array(list.length),
      claims: new Float64Array(list.length),
      x: new Float64Array(list.length),
      measure: new Float64Array(list.length),
      follows: new Uint8Array(list.length),
      voice: new Float64Array(list.length),
    };
    this.#gates = gates;
  }

  /** Replaces the votes of carriers from `from` up to `end` by those of their origins; returns the new end. */
  merge(votes: VoteSpace, from: number, end: number): number {
    const { peer } = votes;
    this.#found = 0;
    let next = from;
    for (let e = from; e < end; e++) {
      const origin = this.#originOf[peer[e]!]!;
      if (origin !== NONE) {
        this.carries[this.#peerOf[peer[e]!]!] = 1;
        this.#take(origin, votes, e);
        continue;
      }
      if (next < e) copy(votes, e, votes, next);
      next++;
    }
    for (let f = 0; f < this.#found; f++) {
      let to = next++;
      for (; to > from && peer[to - 1]! > this.#votes.peer[f]!; to--) copy(votes, to - 1, votes, to);
      copy(this.#votes, f, votes, to);
    }
    return next;
  }

  /** Keeps the vote of the heaviest carrier, and among equal ones that of the carrier that came first. */
  #take(origin: number, votes: VoteSpace, e: number): void {
    const { voice } = this.#votes;
    const own = this.#gates[this.#peerOf[votes.peer[e]!]!]! * cappedMass(votes.claims[e]! + votes.measure[e]!);
    if (own === 0) return;
    let f = 0;
    while (f < this.#found && this.#votes.peer[f] !== origin) f++;
    if (f < this.#found && roundForComparison(own) <= roundForComparison(voice[f]!)) return;
    if (f === this.#found) this.#found++;
    copy(votes, e, this.#votes, f);
    this.#votes.peer[f] = origin;
    voice[f] = own;
  }
}

function copy(of: Columns, from: number, into: Columns, to: number): void {
  into.peer[to] = of.peer[from]!;
  into.claims[to] = of.claims[from]!;
  into.x[to] = of.x[from]!;
  into.measure[to] = of.measure[from]!;
  into.follows[to] = of.follows[from]!;
}

/** Facts about the peers besides their evidence; flags are one byte per peer, 0 for no. */
export interface PeerFacts {
  readonly preTrusted: Uint8Array;
  /** 1 for revoked peers: neither their entries nor their pre-trust count. */
  readonly excluded: Uint8Array;
  /** Factor of each peer for its age, in [0, 1]; absent if all count in full. */
  readonly seniority?: Float64Array;
  /** Absent if no peer carries an origin. */
  readonly origins?: OriginFacts;
  /** Absent if no peer is new. */
  readonly joined?: Joined;
}

/** Facts about origins and carriers, numbered like peers. Votes of origins replace those of carriers. */
export type OriginFacts = Pick<OriginVotes, 'origins' | 'carriers' | 'carries'>;
