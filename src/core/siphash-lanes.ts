/**
 * HalfSipHash-1-3 of eight subjects' keys side by side, four in the lanes of a vector, and two such vectors: every step of a hash waits for the one
 * before, so that eight take little longer than one. Names as in `siphash.ts`, which it gives the same hashes as.
 */
import { type SipKey, START_V2, START_V3, sipHash } from './siphash.js';
import {
  add,
  assign,
  type Code,
  compile,
  constant,
  load,
  loadWord,
  local,
  onFirstUse,
  plus,
  type Run,
  repeat,
  rotateLeft,
  store,
  wordsOf,
  xor,
} from './wasm.js';
import { KEY_BYTES, KEY_WORDS } from './words.js';

const LANES = 4;
const VECTOR_BYTES = 16;
/** Vectors of keys side by side, and how many keys that are. */
const SIDES = [0, 1];
const TOGETHER = SIDES.length * LANES;
/** Keys of one run. */
const KEYS_MAX = 256;

/** Where the memory holds what, in bytes: words that every lane begins with or takes in, then keys and their hashes. */
const START = 0;
const LENGTH = 16;
const FINAL = 20;
const KEYS = 64;
const HASHES = KEYS + KEYS_MAX * KEY_BYTES;

/** The lanes of all; without them keys are hashed one after the other. */
export const sharedSipLanes: () => SipLanes | null = onFirstUse(() => new SipLanes());

/** The hashes, as `sipHash` gives them, of the first `count` keys of a column, `KEY_WORDS` each. */
export function sipHashes(key: SipKey, keys: Uint32Array, count: number, hashes: Int32Array): void {
  const lanes = count < TOGETHER ? null : sharedSipLanes();
  const together = lanes === null ? 0 : count - (count % TOGETHER);
  for (let from = 0; from < together; from += KEYS_MAX) {
    lanes!.hash(key, keys, from, Math.min(together, from + KEYS_MAX), hashes);
  }
  for (let i = together; i < count; i++) hashes[i] = sipHash(key, keys, i * KEY_WORDS, KEY_WORDS);
}

class SipLanes {
  readonly #run: Run;
  readonly #words: Uint32Array;

  constructor() {
    const { run, memory } = compile(program(), NUMBERS, VECTORS);
    this.#run = run;
    this.#words = new Uint32Array(memory);
    this.#words[LENGTH / 4] = KEY_BYTES << 24;
    this.#words[FINAL / 4] = 0xff;
  }

  /** Of the keys from `from` up to `to`, a multiple of `TOGETHER` and `KEYS_MAX` at most. */
  hash({ k0, k1 }: SipKey, keys: Uint32Array, from: number, to: number, hashes: Int32Array): void {
    const words = this.#words;
    words[START] = k0;
    words[START + 1] = k1;
    words[START + 2] = START_V2 ^ k0;
    words[START + 3] = START_V3 ^ k1;
    words.set(keys.subarray(from * KEY_WORDS, to * KEY_WORDS), KEYS / 4);
    this.#run((to - from) / TOGETHER);
    for (let i = from; i < to; i++) hashes[i] = words[HASHES / 4 + i - from]!;
  }
}

// Locals: first the argument, then numbers, then vectors.
const GROUPS_LEFT = 0;
const KEY_AT = 1;
const HASH_AT = 2;
const NUMBERS = 2;
const V = NUMBERS + 1;
const M = V + SIDES.length * 4;
const HELD = M + SIDES.length * KEY_WORDS;
const VECTORS = HELD + LANES - V;

/** The whole function: `TOGETHER` keys after `TOGETHER` keys. */
function program(): Code {
  const group = [
    ...SIDES.flatMap((side) => [...words(side, 0), ...words(side, LANES)]),
    ...SIDES.flatMap((side) => [0, 1, 2, 3].flatMap((n) => assign(V + 4 * side + n, everywhere(START + 4 * n)))),
    ...Array.from({ length: KEY_WORDS }, (_, i) => rounds((side) => local(M + KEY_WORDS * side + i))).flat(),
    ...rounds(() => everywhere(LENGTH)),
    ...SIDES.flatMap((side) => assign(V + 4 * side + 2, xor(local(V + 4 * side + 2), everywhere(FINAL)))),
    ...rounds(null),
    ...rounds(null),
    ...rounds(null),
    ...SIDES.flatMap((side) => {
      const [v1, v3] = [local(V + 4 * side + 1), local(V + 4 * side + 3)];
      return store(local(HASH_AT), side * VECTOR_BYTES, xor(v1, v3));
    }),
    ...assign(KEY_AT, plus(local(KEY_AT), constant(TOGETHER * KEY_BYTES))),
    ...assign(HASH_AT, plus(local(HASH_AT), constant(SIDES.length * VECTOR_BYTES))),
    ...assign(GROUPS_LEFT, plus(local(GROUPS_LEFT), constant(-1))),
  ];
  return [
    ...assign(KEY_AT, constant(KEYS)),
    ...assign(HASH_AT, constant(HASHES)),
    ...repeat(group, local(GROUPS_LEFT)),
  ];
}

/** A word of the memory in every lane. */
function everywhere(at: number): Code {
  return loadWord(constant(0), at);
}

/** Four words of each of a side's keys, from the `first` on: those of one key lie in one vector, and then one of each key does. */
function words(side: number, first: number): Code {
  const key = (n: number) => local(HELD + n);
  const m = (n: number) => M + KEY_WORDS * side + first + n;
  const [low, high] = [
    [0, 1, 4, 5],
    [2, 3, 6, 7],
  ] as const;
  return [
    ...[0, 1, 2, 3].flatMap((n) => {
      const at = (side * LANES + n) * KEY_BYTES + first * 4;
      return assign(HELD + n, load(local(KEY_AT), at));
    }),
    ...assign(m(0), wordsOf(key(0), key(1), [0, 4, 1, 5])),
    ...assign(m(1), wordsOf(key(2), key(3), [0, 4, 1, 5])),
    ...assign(m(2), wordsOf(key(0), key(1), [2, 6, 3, 7])),
    ...assign(m(3), wordsOf(key(2), key(3), [2, 6, 3, 7])),
    ...[0, 2].flatMap((n) => [
      ...assign(HELD, wordsOf(local(m(n)), local(m(n + 1)), high)),
      ...assign(m(n), wordsOf(local(m(n)), local(m(n + 1)), low)),
      ...assign(m(n + 1), key(0)),
    ]),
  ];
}

/** One round of each side, which takes a word in or none. */
function rounds(m: ((side: number) => Code) | null): Code {
  return SIDES.flatMap((side) => {
    const at = V + 4 * side;
    const [v0, v1, v2, v3] = [0, 1, 2, 3].map((n) => local(at + n)) as [Code, Code, Code, Code];
    return [
      ...(m === null ? [] : assign(at + 3, xor(v3, m(side)))),
      ...assign(at, add(v0, v1)),
      ...assign(at + 1, xor(rotateLeft(v1, 5), v0)),
      ...assign(at, rotateLeft(v0, 16)),
      ...assign(at + 2, add(v2, v3)),
      ...assign(at + 3, xor(rotateLeft(v3, 8), v2)),
      ...assign(at, add(v0, v3)),
      ...assign(at + 3, xor(rotateLeft(v3, 7), v0)),
      ...assign(at + 2, add(v2, v1)),
      ...assign(at + 1, xor(rotateLeft(v1, 13), v2)),
      ...assign(at + 2, rotateLeft(v2, 16)),
      ...(m === null ? [] : assign(at, xor(v0, m(side)))),
    ];
  });
}
