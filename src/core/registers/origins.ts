/**
 * Stores the declared origins and their carriers. An origin is a source that several peers may pass on, such as a
 * public ban list; a carrier is a peer together with an origin whose events it sends. Origins and carriers take numbers
 * from the same sequence as peers: evidence that a peer sends under an origin has the carrier's number, apart from the
 * peer's own evidence. Both are few, so they are plain objects; their numbers never change.
 */

export interface Origin {
  readonly index: number;
  readonly name: string;
  /** Time of the first declaration, in ms since 1970. */
  readonly declaredAt: number;
  /** False once the origin was removed: its evidence stays, and no further events are accepted. */
  declared: boolean;
}

export interface Carrier {
  readonly index: number;
  readonly peer: number;
  readonly origin: number;
}

export class Origins {
  readonly list: Origin[] = [];
  readonly carriers: Carrier[] = [];
  readonly #byName = new Map<string, Origin>();
  readonly #byNumber = new Map<number, Origin>();
  readonly #carriers = new Map<number, Carrier>();
  readonly #carriersOf = new Map<number, Map<number, Carrier>>();

  get size(): number {
    return this.list.length + this.carriers.length;
  }

  named(name: string): Origin | undefined {
    return this.#byName.get(name);
  }

  /** Returns the origin with this number; undefined for the number of a peer or a carrier. */
  at(number: number): Origin | undefined {
    return this.#byNumber.get(number);
  }

  carrierAt(number: number): Carrier | undefined {
    return this.#carriers.get(number);
  }

  /** Returns the carrier of a peer and an origin; undefined before its first event. */
  carrierOf(peer: number, origin: number): Carrier | undefined {
    return this.#carriersOf.get(origin)?.get(peer);
  }

  /** Returns the carriers of an origin, in the order of their first events. */
  carriersOf(origin: number): Carrier[] {
    return [...(this.#carriersOf.get(origin)?.values() ?? [])];
  }

  peerOf(number: number): number {
    if (this.carriers.length === 0) return number;
    return this.#carriers.get(number)?.peer ?? number;
  }

  /** Returns the numbers under which a peer's evidence is held: its own, then those of its carriers. */
  numbersOf(peer: number): number[] {
    return [peer, ...this.carriers.filter((carrier) => carrier.peer === peer).map(({ index }) => index)];
  }

  /** Returns the name of the origin of a number's evidence; null for a peer's own. */
  nameOf(number: number): string | null {
    const carrier = this.#carriers.get(number);
    return carrier === undefined ? null : this.#byNumber.get(carrier.origin)!.name;
  }

  add(origin: Origin): void {
    this.list.push(origin);
    this.#byName.set(origin.name, origin);
    this.#byNumber.set(origin.index, origin);
    this.#carriersOf.set(origin.index, new Map());
  }

  carry(carrier: Carrier): void {
    const carriers = this.#carriersOf.get(carrier.origin);
    if (carriers === undefined) throw new Error(`origins: there is no origin number ${carrier.origin}`);
    this.carriers.push(carrier);
    this.#carriers.set(carrier.index, carrier);
    carriers.set(carrier.peer, carrier);
  }
}
