/**
 * Declared origins and their carriers. An origin is a source that several peers may pass on, such as a public ban list;
 * a carrier is a peer together with an origin whose events it sends. Origins and carriers take numbers from the same
 * sequence as peers: what a peer sends under an origin is held under the carrier's number, apart from its own evidence.
 * Both are few, so they are plain objects; their numbers never change.
 */

export interface Origin {
  readonly index: number;
  readonly name: string;
  /** ms since 1970, of the first declaration. */
  readonly declaredAt: number;
  /** False once it was removed: what is held under it stays, and no further events are taken. */
  declared: boolean;
}

export interface Carrier {
  readonly index: number;
  /** Number of the peer, and of the origin. */
  readonly peer: number;
  readonly origin: number;
}

export class Origins {
  readonly list: Origin[] = [];
  readonly carriers: Carrier[] = [];
  readonly #byName = new Map<string, Origin>();
  readonly #byNumber = new Map<number, Origin>();
  readonly #carriers = new Map<number, Carrier>();
  /** By the origin's number, then by the peer's. */
  readonly #carriersOf = new Map<number, Map<number, Carrier>>();

  /** How many numbers origins and carriers take. */
  get size(): number {
    return this.list.length + this.carriers.length;
  }

  /** How many origins are declared and not removed. */
  get declared(): number {
    return this.list.reduce((count, { declared }) => count + +declared, 0);
  }

  /** The origin of this name, also where it was removed. */
  named(name: string): Origin | undefined {
    return this.#byName.get(name);
  }

  /** The origin with this number, undefined for the number of a peer or a carrier. */
  at(number: number): Origin | undefined {
    return this.#byNumber.get(number);
  }

  carrierAt(number: number): Carrier | undefined {
    return this.#carriers.get(number);
  }

  /** The carrier that a peer is for an origin; undefined before its first event. */
  carrierOf(peer: number, origin: number): Carrier | undefined {
    return this.#carriersOf.get(origin)?.get(peer);
  }

  /** The carriers of an origin, in the order of their first events. */
  carriersOf(origin: number): Carrier[] {
    return [...(this.#carriersOf.get(origin)?.values() ?? [])];
  }

  /** The peer that sends what is held under a number: of a carrier its peer, else the number itself. */
  peerOf(number: number): number {
    if (this.carriers.length === 0) return number;
    return this.#carriers.get(number)?.peer ?? number;
  }

  /** The numbers under which the evidence of a peer is held: its own, then those of its carriers. */
  numbersOf(peer: number): number[] {
    return [peer, ...this.carriers.filter((carrier) => carrier.peer === peer).map(({ index }) => index)];
  }

  /** The name of the origin under which a number holds evidence; null for a peer's own. */
  nameOf(number: number): string | null {
    const carrier = this.#carriers.get(number);
    return carrier === undefined ? null : this.#byNumber.get(carrier.origin)!.name;
  }

  /** Declares a new origin; `index`: the next number. */
  add(origin: Origin): void {
    this.list.push(origin);
    this.#byName.set(origin.name, origin);
    this.#byNumber.set(origin.index, origin);
    this.#carriersOf.set(origin.index, new Map());
  }

  /** Adds a carrier; `index`: the next number. */
  carry(carrier: Carrier): void {
    const carriers = this.#carriersOf.get(carrier.origin);
    if (carriers === undefined) throw new Error(`origins: there is no origin number ${carrier.origin}`);
    this.carriers.push(carrier);
    this.#carriers.set(carrier.index, carrier);
    carriers.set(carrier.peer, carrier);
  }
}
