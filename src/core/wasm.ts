/**
 * WebAssembly for the loops that need what JavaScript has not: vectors of four words. An expression is the code that leaves its value on
 * the stack; functions put expressions together. Source: WebAssembly Core Specification 2.0, section 5, "Binary Format".
 */

/** Code, a byte each. */
export type Code = readonly number[];

/** The types of Node have no WebAssembly, and those that have it bring all of a browser. */
declare const WebAssembly: {
  readonly Memory: new (pages: { initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: { readonly run: Run } };
};

/** A compiled function: it takes one number, and gives its result in the memory. */
export type Run = (argument: number) => void;

export const PAGE_BYTES = 65_536;

const I32 = 0x7f;
const V128 = 0x7b;
const VECTOR = 0xfd;

/** LEB128. */
function unsigned(n: number): Code {
  return n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...unsigned(n >>> 7)];
}

function signed(n: number): Code {
  return n >= -0x40 && n < 0x40 ? [n & 0x7f] : [(n & 0x7f) | 0x80, ...signed(n >> 7)];
}

function vector(operation: number, ...operands: readonly Code[]): Code {
  return [...operands.flat(), VECTOR, ...unsigned(operation)];
}

export function constant(n: number): Code {
  return [0x41, ...signed(n)];
}

export function local(index: number): Code {
  return [0x20, ...unsigned(index)];
}

export function assign(index: number, value: Code): Code {
  return [...value, 0x21, ...unsigned(index)];
}

/** Numbers, not vectors. */
export function plus(x: Code, y: Code): Code {
  return [...x, ...y, 0x6a];
}

export function isBelow(x: Code, y: Code): Code {
  return [...x, ...y, 0x49];
}

/** Does the body, and again as long as `more` is not 0 after it. */
export function repeat(body: Code, more: Code): Code {
  return [0x03, 0x40, ...body, ...more, 0x0d, 0, 0x0b];
}

/** The vector at an address and so many bytes on, a multiple of 16 in all. */
export function load(address: Code, offset: number): Code {
  return [...vector(0, address), 4, ...unsigned(offset)];
}

/** Four times the word at an address and so many bytes on, a multiple of 4 in all. */
export function loadWord(address: Code, offset: number): Code {
  return [...vector(9, address), 2, ...unsigned(offset)];
}

export function store(address: Code, offset: number, value: Code): Code {
  return [...vector(11, address, value), 4, ...unsigned(offset)];
}

export function add(first: Code, ...others: readonly Code[]): Code {
  return others.reduce((sum, other) => vector(174, sum, other), first);
}

export function xor(first: Code, ...others: readonly Code[]): Code {
  return others.reduce((sum, other) => vector(81, sum, other), first);
}

/** The bits of `ones` where the mask has a 1, those of `zeros` where it has a 0. */
export function choose(mask: Code, ones: Code, zeros: Code): Code {
  return vector(82, ones, zeros, mask);
}

/** Each word by itself, filled with zeros. */
export function shiftRight(words: Code, by: number): Code {
  return vector(173, words, constant(by));
}

export function rotateRight(words: Code, by: number): Code {
  return vector(80, shiftRight(words, by), vector(171, words, constant(32 - by)));
}

export function rotateLeft(words: Code, by: number): Code {
  return rotateRight(words, 32 - by);
}

/** Bytes of two vectors by their numbers, from 16 on those of the second. */
function bytesOf(first: Code, second: Code, numbers: readonly number[]): Code {
  return [...vector(13, first, second), ...numbers];
}

/** The bytes of each word the other way round. */
export function swapBytes(words: Code): Code {
  return bytesOf(words, words, [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]);
}

/** Four words of two vectors by their numbers, from 4 on those of the second. */
export function wordsOf(first: Code, second: Code, numbers: readonly [number, number, number, number]): Code {
  return bytesOf(
    first,
    second,
    numbers.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte)),
  );
}

/**
 * Compiles a function of one number, local 0, with `numbers` and then `vectors` further locals, all of them 0; its memory
 * is one page.
 */
export function compile(
  body: Code,
  numbers: number,
  vectors: number,
): { readonly run: Run; readonly memory: ArrayBuffer } {
  const declared = [2, ...unsigned(numbers), I32, ...unsigned(vectors), V128];
  const code = [...declared, ...body, 0x0b];
  const module = new WebAssembly.Module(
    Uint8Array.of(
      ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(1, [1, 0x60, 1, I32, 0]),
      ...section(2, [1, ...name('its'), ...name('memory'), 2, 0, 1]),
      ...section(3, [1, 0]),
      ...section(7, [1, ...name('run'), 0, 0]),
      ...section(10, [1, ...unsigned(code.length), ...code]),
    ),
  );
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { run } = new WebAssembly.Instance(module, { its: { memory } }).exports;
  return { run, memory: memory.buffer };
}

function section(id: number, content: Code): Code {
  return [id, ...unsigned(content.length), ...content];
}

function name(text: string): Code {
  return [...unsigned(text.length), ...Buffer.from(text)];
}

/**
 * What is made of WebAssembly, when it is first asked for: some milliseconds that a node had better spend at its start. Once for all there are,
 * since an instance reserves gigabytes of addresses. Null in a process whose addresses are bounded, or without WebAssembly and its vectors.
 */
export function onFirstUse<T>(make: () => T): () => T | null {
  let made: T | null | undefined;
  return () => {
    if (made !== undefined) return made;
    try {
      made = make();
    } catch {
      made = null;
    }
    return made;
  };
}
