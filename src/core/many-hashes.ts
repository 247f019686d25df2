/**
 * SHA-256 of many short texts with something secret around each, as many at a time as there are lanes: a third of the time of one after
 * the other.
 */
import { hash } from 'node:crypto';
import { BLOCK_BYTES, BLOCKS_MAX, blocksOf, LANES, Sha256Lanes } from './sha256-lanes.js';
import type { Texts } from './texts.js';
import { onFirstUse } from './wasm.js';
import { readKey } from './words.js';

/** The lanes of all; without them hashes are made one after the other. */
export const sharedLanes: () => Sha256Lanes | null = onFirstUse(() => new Sha256Lanes());
/** Whose texts lie in the lanes. */
let holder: ManyHashes | undefined;

export class ManyHashes {
  readonly #before: Uint8Array;
  readonly #after: Uint8Array;
  /** The sums after `before`. */
  #start: Uint32Array | undefined;
  /** Behind a text of which length a lane has `after` already: ids are often of one length. -1 for none. */
  readonly #lengths = new Int32Array(LANES);
  /** Where the hashes of the filled lanes go. */
  readonly #places = new Uint32Array(LANES);
  #filled = 0;
  /** Of the messages of the filled lanes. */
  #blocks = 0;

  /** `before`: whole blocks, which are taken in once and for all. */
  constructor(before: Uint8Array, after: Uint8Array) {
    if (before.length % BLOCK_BYTES !== 0) throw new Error('hashes: what comes before is no whole number of blocks');
    this.#before = before;
    this.#after = after;
  }

  /**
   * Writes the hash of text `i` to `to` of a column as little-endian words: now, or when others are added to the same column, or it
   * is finished. Nobody else may add in between.
   */
  add(texts: Texts, i: number, words: Uint32Array, to: number): void {
    const length = texts.length(i);
    const blocks = blocksOf(length + this.#after.length);
    const held = this.#held();
    if (held === null || blocks > BLOCKS_MAX) {
      const digest = hash('sha256', Buffer.concat([this.#before, Buffer.from(texts.text(i)), this.#after]), 'buffer');
      readKey(new DataView(digest.buffer, digest.byteOffset), 0, words, to);
      return;
    }
    if (this.#filled > 0 && blocks !== this.#blocks) this.finish(words);
    const lane = this.#filled;
    held.writeStart(lane, texts.view, texts.start(i), length);
    if (this.#lengths[lane] !== length) {
      held.writeEnd(lane, length, this.#after);
      this.#lengths[lane] = length;
    }
    this.#blocks = blocks;
    this.#places[lane] = to;
    this.#filled = lane + 1;
    if (this.#filled === LANES) this.finish(words);
  }

  finish(words: Uint32Array): void {
    if (this.#filled === 0) return;
    const held = sharedLanes();
    if (held === null || holder !== this) throw new Error('hashes: somebody else added in between');
    held.digest(this.#blocks);
    for (let lane = 0; lane < this.#filled; lane++) held.read(lane, words, this.#places[lane]!);
    this.#filled = 0;
  }

  /** The lanes, with nobody else's texts; null where there are none. */
  #held(): Sha256Lanes | null {
    const held = sharedLanes();
    if (held === null || holder === this) return held;
    this.#start ??= held.after(this.#before);
    held.startFrom(this.#start, this.#before.length);
    this.#lengths.fill(-1);
    holder = this;
    return held;
  }
}
