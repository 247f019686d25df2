/**
 * SHA-256 of four messages side by side, a message in each lane of a vector: a call of OpenSSL costs ten times what it computes. Source: FIPS 180-4,
 * sections 4.1.2, 4.2.2, 5.3.3 and 6.2.2; names as there.
 */
import {
  add,
  assign,
  type Code,
  choose,
  compile,
  constant,
  isBelow,
  load,
  loadWord,
  local,
  PAGE_BYTES,
  plus,
  type Run,
  repeat,
  rotateRight,
  shiftRight,
  store,
  swapBytes,
  xor,
} from './wasm.js';

export const LANES = 4;

export const BLOCK_BYTES = 64;
const DIGEST_WORDS = 8;
const BLOCK_WORDS = 16;
const WORD_BYTES = 4;
const VECTOR_BYTES = LANES * WORD_BYTES;

const roundConstants = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
];
const startOfHash = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/** Where the memory holds what, in bytes: constants once, digests and messages word by word of all lanes. */
const CONSTANTS = 0;
const START = CONSTANTS + roundConstants.length * WORD_BYTES;
const DIGESTS = 512;
const MESSAGES = 1024;

/** Blocks that a message may have. */
export const BLOCKS_MAX = (PAGE_BYTES - MESSAGES) / (BLOCK_BYTES * LANES);

/** Blocks of a message of so many bytes: behind it come a bit and its length. */
export function blocksOf(bytes: number): number {
  return Math.ceil((bytes + 9) / BLOCK_BYTES);
}

export class Sha256Lanes {
  readonly #run: Run;
  readonly #bytes: Uint8Array;
  readonly #words: Uint32Array;
  /** Bytes of every message that were taken in already. */
  #before = 0;

  constructor() {
    const { run, memory } = compile(program(), NUMBERS, VECTORS);
    this.#run = run;
    this.#bytes = new Uint8Array(memory);
    this.#words = new Uint32Array(memory);
    this.#words.set(roundConstants, CONSTANTS / WORD_BYTES);
  }

  /** The sums after whole blocks, with which `startFrom` goes on; spoils all lanes. */
  after(blocks: Uint8Array): Uint32Array {
    const sums = Uint32Array.from(startOfHash);
    if (blocks.length === 0) return sums;
    this.startFrom(sums, 0);
    this.writeStart(0, new DataView(blocks.buffer, blocks.byteOffset), 0, blocks.length);
    this.digest(blocks.length / BLOCK_BYTES);
    const digests = new DataView(this.#words.buffer, DIGESTS);
    return sums.map((_, i) => digests.getUint32(i * VECTOR_BYTES));
  }

  /** All messages begin after so many bytes whose sums are given. */
  startFrom(sums: Uint32Array, bytes: number): void {
    this.#words.set(sums, START / WORD_BYTES);
    this.#before = bytes;
  }

  /** Writes so many bytes at `from` to the beginning of a lane's message; they must be fewer than a message may have. */
  writeStart(lane: number, view: DataView, from: number, length: number): void {
    const start = MESSAGES / WORD_BYTES + lane;
    const whole = length & ~3;
    // A word of the message is as far from the next as four of the memory.
    for (let i = 0; i < whole; i += WORD_BYTES) this.#words[start + i] = view.getUint32(from + i);
    for (let i = whole; i < length; i++) this.#bytes[byteAt(lane, i)] = view.getUint8(from + i);
  }

  /** Writes the end of a lane's message behind its first `length` bytes, and what pads it. */
  writeEnd(lane: number, length: number, end: Uint8Array): void {
    const total = length + end.length;
    const padded = blocksOf(total) * BLOCK_BYTES;
    for (let i = 0; i < end.length; i++) this.#bytes[byteAt(lane, length + i)] = end[i]!;
    for (let i = total; i < padded; i++) this.#bytes[byteAt(lane, i)] = 0;
    this.#bytes[byteAt(lane, total)] = 0x80;
    this.#words[byteAt(lane, padded - 1) / WORD_BYTES] = (this.#before + total) * 8;
  }

  /** Makes the digests of all lanes, whose messages have so many blocks. */
  digest(blocks: number): void {
    this.#run(blocks);
  }

  /** Writes a lane's digest to `to` of a column, as little-endian words. */
  read(lane: number, words: Uint32Array, to: number): void {
    const from = DIGESTS / WORD_BYTES + lane;
    for (let i = 0; i < DIGEST_WORDS; i++) words[to + i] = this.#words[from + i * LANES]!;
  }
}

/** Where a byte of a lane's message stands. Its words are big-endian, those of the memory little-endian. */
function byteAt(lane: number, i: number): number {
  return MESSAGES + (i >>> 2) * VECTOR_BYTES + lane * WORD_BYTES + 3 - (i & 3);
}

// Locals: first the argument, then numbers, then vectors.
const BLOCKS_LEFT = 0;
const BLOCK_AT = 1;
const ROUND_AT = 2;
const NUMBERS = 2;
const WORKING = NUMBERS + 1;
const HASH = WORKING + DIGEST_WORDS;
const SCHEDULE = HASH + DIGEST_WORDS;
const T1 = SCHEDULE + BLOCK_WORDS;
const VECTORS = T1 + 1 - WORKING;

/** Where the constants of the last sixteen rounds begin. */
const LAST_ROUNDS = (roundConstants.length - BLOCK_WORDS) * WORD_BYTES;

const none = constant(0);

function each(count: number, code: (i: number) => Code): Code {
  return Array.from({ length: count }, (_, i) => code(i)).flat();
}

/** The whole function: all blocks of the messages, then their digests. */
function program(): Code {
  const block = [
    ...each(BLOCK_WORDS, (i) => assign(SCHEDULE + i, load(local(BLOCK_AT), i * VECTOR_BYTES))),
    ...each(DIGEST_WORDS, (i) => assign(WORKING + i, local(HASH + i))),
    ...assign(ROUND_AT, none),
    ...rounds(),
    ...repeat([...nextSchedule(), ...rounds()], isBelow(local(ROUND_AT), constant(LAST_ROUNDS))),
    ...each(DIGEST_WORDS, (i) => assign(HASH + i, add(local(HASH + i), local(WORKING + i)))),
    ...assign(BLOCK_AT, plus(local(BLOCK_AT), constant(BLOCK_WORDS * VECTOR_BYTES))),
    ...assign(BLOCKS_LEFT, plus(local(BLOCKS_LEFT), constant(-1))),
  ];
  return [
    ...each(DIGEST_WORDS, (i) => assign(HASH + i, loadWord(none, START + i * WORD_BYTES))),
    ...assign(BLOCK_AT, constant(MESSAGES)),
    ...repeat(block, local(BLOCKS_LEFT)),
    ...each(DIGEST_WORDS, (i) => store(none, DIGESTS + i * VECTOR_BYTES, swapBytes(local(HASH + i)))),
  ];
}

/** The words of the next sixteen rounds, each in the place of the oldest that it is made of. */
function nextSchedule(): Code {
  const words = each(BLOCK_WORDS, (i) => {
    const w = (t: number) => local(SCHEDULE + ((i + t) % BLOCK_WORDS));
    const sigma0 = xor(rotateRight(w(1), 7), rotateRight(w(1), 18), shiftRight(w(1), 3));
    const sigma1 = xor(rotateRight(w(14), 17), rotateRight(w(14), 19), shiftRight(w(14), 10));
    return assign(SCHEDULE + i, add(w(0), sigma0, w(9), sigma1));
  });
  return [...words, ...assign(ROUND_AT, plus(local(ROUND_AT), constant(BLOCK_WORDS * WORD_BYTES)))];
}

/** Sixteen rounds, after which every working variable is back at its place. */
function rounds(): Code {
  return each(BLOCK_WORDS, round);
}

/** Variables are not moved on: the next round names them anew. */
function round(i: number): Code {
  const variable = (n: number) => WORKING + ((n - i + BLOCK_WORDS) % DIGEST_WORDS);
  const [a, b, c, e, f, g] = [0, 1, 2, 4, 5, 6].map((n) => local(variable(n))) as [Code, Code, Code, Code, Code, Code];
  const [d, h] = [variable(3), variable(7)];
  const sum1 = xor(rotateRight(e, 6), rotateRight(e, 11), rotateRight(e, 25));
  const sum0 = xor(rotateRight(a, 2), rotateRight(a, 13), rotateRight(a, 22));
  // Where two of the three agree, they are the majority.
  const majority = choose(xor(a, b), c, b);
  const roundConstant = loadWord(local(ROUND_AT), CONSTANTS + i * WORD_BYTES);
  return [
    ...assign(T1, add(local(h), local(SCHEDULE + i), roundConstant, sum1, choose(e, f, g))),
    ...assign(d, add(local(d), local(T1))),
    ...assign(h, add(local(T1), sum0, majority)),
  ];
}
