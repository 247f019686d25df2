/** Stores the peers of the group (thousands) and finds them by number, which never changes, id or key. */
import { timingSafeEqual } from 'node:crypto';
import { limits } from '../../limits.js';
import { getOrMake } from '../get-or-make.js';
import type { PeerStatus } from '../vocabulary.js';

export interface Peer {
  /** Number of the peer. Origins and their carriers take numbers, too: see `Origins`. */
  readonly index: number;
  readonly peerId: string;
  readonly peerName: string;
  readonly gameIds: readonly string[];
  readonly contactEmail: string | null;
  readonly registeredAt: number;
  status: PeerStatus;
  /** SHA-256 of the key, hex. */
  keyDigest: string;
  /** Key before the last rotation, while its overlap lasts. */
  oldKeyDigest: string | null;
  /** ms since 1970; the old key works until then. */
  oldKeyUntil: number;
  /** Ed25519, 32 bytes, base64url; undefined if the peer does not sign its writes. */
  publicKey?: string | undefined;
  /** Words of the operator, for operators only. */
  note?: string | undefined;
  eventCount: number;
}

/** Least number of reporting peers that determine a group's age: fewer could be unused leftovers. */
const SENIORS_MIN = 3;

/** Leading hex digits of a key's digest by which a peer is found: 64 bits, which no two keys of a group share. */
const FOUND_BY = 16;

/** When peers joined the group, in ms since 1970. */
export interface Joined {
  /** Times by number; infinite for a number that is no peer's. */
  readonly at: Float64Array;
  /** Peers that joined later are new. */
  readonly newSince: number;
}

export class Peers {
  /** In the order of registration, which is the order of their numbers. */
  readonly list: Peer[] = [];
  /** Holes where an origin or a carrier has the number. */
  readonly #byNumber: (Peer | undefined)[] = [];
  readonly #byId = new Map<string, Peer>();
  /** By the first digits of a key's digest, which the lookup's time may tell; the rest is compared in constant time. */
  readonly #byKey = new Map<string, Peer>();

  get size(): number {
    return this.list.length;
  }

  byStatus(): Record<PeerStatus, number> {
    const counts = { active: 0, suspended: 0, revoked: 0 };
    for (const { status } of this.list) counts[status]++;
    return counts;
  }

  /**
   * Seniority by number, in [0, 1]: 1 from an age of `newPeerMs` on, or in a younger group of that of its third oldest
   * reporting peer. If fewer than three peers have reported for an hour, there are no newcomers.
   */
  seniority(at: number, newPeerMs: number, numbers: number = this.size): Float64Array {
    const ageOf = ({ registeredAt }: Peer) => Math.max(0, at - registeredAt);
    const reporting = this.list.filter(({ eventCount, status }) => eventCount > 0 && status !== 'revoked');
    const third = reporting.map(ageOf).sort((p, q) => q - p)[SENIORS_MIN - 1] ?? 0;
    const fullMs = Math.min(newPeerMs, third);
    const knowsNewcomers = third >= limits.establishedMs && fullMs > 0;
    const seniority = new Float64Array(numbers);
    for (const peer of this.list) seniority[peer.index] = knowsNewcomers ? Math.min(1, ageOf(peer) / fullMs) : 1;
    return seniority;
  }

  /** Registration times by number (else infinity); null if none is within `newPeerMs` before `at`. */
  joined(at: number, newPeerMs: number, numbers: number = this.size): Joined | null {
    const newSince = at - newPeerMs;
    if (!this.list.some(({ registeredAt }) => registeredAt > newSince)) return null;
    const joinedAt = new Float64Array(numbers).fill(Number.POSITIVE_INFINITY);
    for (const { index, registeredAt } of this.list) joinedAt[index] = registeredAt;
    return { at: joinedAt, newSince };
  }

  /** Peers that registered at most `withinMs` before a time, and those of them that have reported. */
  newcomers(at: number, withinMs: number): { readonly registered: number; readonly reporting: number } {
    const young = this.list.filter(({ registeredAt, status }) => at - registeredAt < withinMs && status !== 'revoked');
    return { registered: young.length, reporting: young.filter(({ eventCount }) => eventCount > 0).length };
  }

  /** Number of occupied places: a revoked peer that never sent an event has released its own. */
  get count(): number {
    return this.list.filter(({ status, eventCount }) => status !== 'revoked' || eventCount > 0).length;
  }

  at(index: number): Peer {
    const peer = this.#byNumber[index];
    if (peer === undefined) throw new Error(`peers: there is no peer number ${index}`);
    return peer;
  }

  has(index: number): boolean {
    return this.#byNumber[index] !== undefined;
  }

  page(from: number, limit: number): Peer[] {
    // No number is below the peer's place in the list.
    let start = Math.min(from, this.size);
    while (start > 0 && this.list[start - 1]!.index >= from) start--;
    return this.list.slice(start, start + limit);
  }

  byId(peerId: string): Peer | undefined {
    return this.#byId.get(peerId);
  }

  byKey(digest: string, now: number): Peer | undefined {
    const peer = this.#byKey.get(digest.slice(0, FOUND_BY));
    if (peer === undefined || isSame(digest, peer.keyDigest)) return peer;
    if (peer.oldKeyDigest === null || !isSame(digest, peer.oldKeyDigest)) return undefined;
    // An overlap that ends too far ahead was set while the clock ran ahead; it must not become valid once the clock is
    // right.
    const leftMs = peer.oldKeyUntil - now;
    return leftMs > 0 && leftMs <= limits.keyOverlapMsMax ? peer : undefined;
  }

  add(peer: Peer): void {
    if (peer.index < this.#byNumber.length) throw new Error(`peers: number ${peer.index} is out of order`);
    this.list.push(peer);
    this.#byNumber[peer.index] = peer;
    this.#byId.set(peer.peerId, peer);
    this.#findByKeys(peer);
  }

  rotate(peer: Peer, keyDigest: string, oldKeyUntil: number): void {
    for (const digest of keysOf(peer)) this.#byKey.delete(digest.slice(0, FOUND_BY));
    peer.oldKeyDigest = oldKeyUntil > 0 ? peer.keyDigest : null;
    peer.oldKeyUntil = oldKeyUntil;
    peer.keyDigest = keyDigest;
    this.#findByKeys(peer);
  }

  #findByKeys(peer: Peer): void {
    for (const digest of keysOf(peer)) this.#byKey.set(digest.slice(0, FOUND_BY), peer);
  }
}

const keysOf = ({ keyDigest, oldKeyDigest }: Peer) => (oldKeyDigest === null ? [keyDigest] : [oldKeyDigest, keyDigest]);

/** Compares in a time that depends on the lengths alone. */
const isSame = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** Longer names are known by their first words, so that a long name does not make each search long. */
const NAME_WORDS_MAX = 16;
/** Fewest characters of a word that alone points to a name, and of one that ends or begins a longer word. */
const PART_MIN = 3;
const END_MIN = 5;

/** Finds the peers whose id or name a text contains, whatever its case, blanks and punctuation. */
export class PeerNames {
  /** Numbers of peers by id, the first part of an id, and name, as plain words joined; filled when it is asked. */
  readonly #byWords = new Map<string, number[]>();
  /** By number: the words of the name, and all of them joined. */
  readonly #parts = new Map<number, string[]>();
  #indexed = 0;

  /** `peers` may grow. */
  constructor(private readonly peers: readonly Peer[]) {}

  /**
   * Returns the numbers, sorted, of the peers besides `addressed` that a text names. One of `reporters` is also named
   * by a single word of its name that the name of `addressed` lacks, even at an end of a longer word.
   */
  in(text: string, reporters: readonly number[] = [], addressed: number | null = null): number[] {
    this.#indexNew();
    const words = wordsOf(text);
    const found = new Set<number>();
    const own = new Set(this.#parts.get(addressed ?? -1));
    const parts = new Set<string>();
    for (const [start, word] of words.entries()) {
      let run = '';
      for (const next of words.slice(start, start + NAME_WORDS_MAX)) {
        run += next;
        parts.add(run);
        for (const number of this.#byWords.get(run) ?? []) found.add(number);
      }
      const end = own.has(word) ? 0 : Math.min(word.length, limits.peerNameLength);
      for (let length = END_MIN; length < end; length++) parts.add(word.slice(0, length)).add(word.slice(-length));
    }
    const isNamed = (part: string) => part.length >= PART_MIN && parts.has(part) && !own.has(part);
    for (const number of reporters) if (this.#parts.get(number)!.some(isNamed)) found.add(number);
    return [...found].filter((number) => number !== addressed).sort((p, q) => p - q);
  }

  #indexNew(): void {
    for (; this.#indexed < this.peers.length; this.#indexed++) {
      const { index, peerId, peerName } = this.peers[this.#indexed]!;
      const name = wordsOf(peerName).slice(0, NAME_WORDS_MAX);
      this.#parts.set(index, [...name, name.join('')]);
      for (const words of [wordsOf(peerId).slice(0, NAME_WORDS_MAX), [peerId.slice(0, 8)], name]) {
        getOrMake(this.#byWords, words.join(''), () => []).push(index);
      }
    }
  }
}

const wordsIn = /[\p{L}\p{M}\p{N}]+/gu;

/** A single character that stands for several words counts as a blank: no text has more words than characters. */
function wordsOf(text: string): string[] {
  const isPhrase = (character: string) => (character.normalize('NFKC').match(wordsIn) ?? []).length > 1;
  const plain = text
    .replace(/\P{ASCII}/gu, (character) => (isPhrase(character) ? ' ' : character))
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}+/gu, '');
  return plain.match(wordsIn) ?? [];
}
