/**
 * A conversation: requests that go out one behind the other on one connection, and how its bytes are cut. It is plain
 * data with names in place of keys and ids, so that it can be sent to several nodes, shrunk, and printed.
 */

export interface FuzzRequest {
  readonly method: string;
  /** As it stands in the request line. */
  readonly target: string;
  readonly version: string;
  /** Without those that frame the body. Each character is one byte. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Each character is one byte; null: none, and no field that frames one. */
  readonly body: string | null;
  /** In chunks of so many bytes; null: with its length. */
  readonly chunkBytes: number | null;
}

/** A change to the bytes of a whole conversation. Places are shares of its length, from 0 to below 1. */
export interface Damage {
  readonly at: number;
  readonly how: 'delete' | 'repeat' | 'insert' | 'flip' | 'end';
  readonly count: number;
  readonly text: string;
}

export interface Conversation {
  readonly requests: readonly FuzzRequest[];
  /** Raw bytes in place of or behind the requests: shapes that are no request. */
  readonly raw: string;
  readonly damages: readonly Damage[];
  /** Positions at which the bytes are split into writes, as shares of their length. */
  readonly cuts: readonly number[];
}

/** Replacements for placeholders in a request: `~key0~` and the like. */
export type Names = ReadonlyMap<string, string>;

const name = /~(\w+)~/g;

export function named(text: string, names: Names): string {
  return text.replace(name, (found, inside: string) => names.get(inside) ?? found);
}

function chunked(body: string, bytes: number): string {
  let text = '';
  for (let at = 0; at < body.length; at += bytes) {
    const chunk = body.slice(at, at + bytes);
    text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}

/** The bytes of a request, as latin1. */
export function textOf(request: FuzzRequest, names: Names): string {
  const { method, target, version, fields, chunkBytes } = request;
  const lines = fields.map(([field, value]) => `${field}: ${named(value, names)}\r\n`).join('');
  const head = `${method} ${named(target, names)} HTTP/${version}\r\n${lines}`;
  if (request.body === null) return `${head}\r\n`;
  const body = named(request.body, names);
  if (chunkBytes !== null) return `${head}Transfer-Encoding: chunked\r\n\r\n${chunked(body, chunkBytes)}`;
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

function damaged(text: string, { at, how, count, text: other }: Damage): string {
  const from = Math.floor(at * text.length);
  const to = Math.min(text.length, from + count);
  const [before, between, after] = [text.slice(0, from), text.slice(from, to), text.slice(to)];
  switch (how) {
    case 'delete':
      return before + after;
    case 'repeat':
      return before + between + between + after;
    case 'insert':
      return before + other + between + after;
    case 'flip':
      return before + String.fromCharCode((text.charCodeAt(from) || 0) ^ (1 << (count % 8))) + text.slice(from + 1);
    case 'end':
      return before;
  }
}

export function writesOf({ requests, raw, damages, cuts }: Conversation, names: Names): Buffer[] {
  const whole = requests.map((one) => textOf(one, names)).join('') + named(raw, names);
  const bytes = Buffer.from(damages.reduce(damaged, whole), 'latin1');
  const places = [...new Set(cuts.map((cut) => Math.floor(cut * bytes.length)))].sort((a, b) => a - b);
  const ends = [...places.filter((place) => place > 0), bytes.length];
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

/** True if answers and requests of a conversation correspond one by one. */
export const isAligned = ({ raw, damages }: Conversation): boolean => raw === '' && damages.length === 0;
