/** Finds the peers whose id or name a text contains, whatever its case and punctuation. */
import { getOrMake } from '../get-or-make.js';
import type { Peer } from './peers.js';

/** Longer names are known by their first words, so that a long name does not make each search long. */
const NAME_WORDS_MAX = 16;
/** Words of a text that are searched. Some single characters stand for several words. */
const TEXT_WORDS_MAX = 500;

export class PeerNames {
  readonly #peers: readonly Peer[];
  /** Numbers of peers by id and by name, both as plain words; filled when it is asked. */
  readonly #byWords = new Map<string, number[]>();
  #indexed = 0;

  /** `peers` may grow. */
  constructor(peers: readonly Peer[]) {
    this.#peers = peers;
  }

  /** Returns the numbers of the peers, sorted. */
  in(text: string): number[] {
    this.#indexNew();
    const words = wordsOf(text).slice(0, TEXT_WORDS_MAX);
    const found = new Set<number>();
    for (let start = 0; start < words.length; start++) {
      let run = '';
      for (const word of words.slice(start, start + NAME_WORDS_MAX)) {
        run = run === '' ? word : `${run} ${word}`;
        for (const number of this.#byWords.get(run) ?? []) found.add(number);
      }
    }
    return [...found].sort((p, q) => p - q);
  }

  #indexNew(): void {
    for (; this.#indexed < this.#peers.length; this.#indexed++) {
      const { index, peerId, peerName } = this.#peers[this.#indexed]!;
      for (const words of [wordsOf(peerId), wordsOf(peerName)]) {
        getOrMake(this.#byWords, words.slice(0, NAME_WORDS_MAX).join(' '), () => []).push(index);
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
