/** Finds the peers whose id or name a text contains, whatever its case and punctuation. */
import { getOrMake } from '../get-or-make.js';
import type { Peer } from './peers.js';

export class PeerNames {
  readonly #peers: readonly Peer[];
  /** Numbers of peers by id and by name, both as plain words; filled when it is asked. */
  readonly #byWords = new Map<string, number[]>();
  #indexed = 0;
  #wordsMax = 0;

  /** `peers` may grow. */
  constructor(peers: readonly Peer[]) {
    this.#peers = peers;
  }

  /** Returns the numbers of the peers, sorted. */
  in(text: string): number[] {
    this.#indexNew();
    const words = wordsOf(text);
    const found = new Set<number>();
    for (let start = 0; start < words.length; start++) {
      for (let end = start + 1; end <= Math.min(words.length, start + this.#wordsMax); end++) {
        for (const number of this.#byWords.get(words.slice(start, end).join(' ')) ?? []) found.add(number);
      }
    }
    return [...found].sort((p, q) => p - q);
  }

  #indexNew(): void {
    for (; this.#indexed < this.#peers.length; this.#indexed++) {
      const { index, peerId, peerName } = this.#peers[this.#indexed]!;
      for (const words of [wordsOf(peerId), wordsOf(peerName)]) {
        this.#wordsMax = Math.max(this.#wordsMax, words.length);
        getOrMake(this.#byWords, words.join(' '), () => []).push(index);
      }
    }
  }
}

function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}+/gu, '');
  return plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
