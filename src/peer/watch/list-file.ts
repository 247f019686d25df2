/** Reads a list while programs change it: text read while the file did not change, its rotations, its whole lines. */
import type { Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { bounds } from '../../client/for-peer.js';
import { codeOf } from '../config/peer-file.js';
import { wrongUsage } from '../peer-error.js';
import { unreachable } from '../sources/decode.js';

type Signature = Pick<Stats, 'ino' | 'size' | 'mtimeMs'>;

export interface ListText {
  readonly bytes: Buffer;
  /** How long the file has been unchanged, in ms, as far as this process saw. */
  readonly stillMs: number;
  /** True if the previous file was moved away or copied and truncated, so that its bans are missing here. */
  readonly isRotated: boolean;
}

export class ListFile {
  #last: Signature | null = null;
  /** Time at which the file was first seen in its present state. */
  #since = 0;
  #bytes: Buffer | null = null;
  /** Set from a rotation until the list after it was accepted: the file may be empty in between. */
  #isRotated = false;
  #isAccepted = false;

  constructor(
    private readonly path: string,
    private readonly elapsedMs: () => number,
  ) {}

  /** Returns the file as it is now; null if it is missing or being written. Rejects if it cannot be read. */
  async look(): Promise<ListText | null> {
    const found = await signatureOf(this.path);
    if (found === null) return null;
    if (found.size > bounds.listBytes) throw wrongUsage(`${this.path} is larger than ${bounds.listBytes} bytes`);
    if (this.#bytes !== null && this.#last !== null && isSame(found, this.#last)) {
      return { bytes: this.#bytes, stillMs: this.elapsedMs() - this.#since, isRotated: this.#isRotated };
    }
    const bytes = await readFile(this.path).catch(unlessMissing(this.path));
    const after = await signatureOf(this.path);
    // The file changed while it was read.
    if (bytes === null || after === null || !isSame(found, after) || bytes.byteLength !== found.size) return null;
    const before = this.#last === null || this.#bytes === null ? null : { ...this.#last, content: this.#bytes };
    const isRotation = before !== null && (await isRotated(this.path, before, found, bytes));
    this.#isRotated = isRotation || (this.#isRotated && !this.#isAccepted);
    this.#isAccepted = false;
    this.#last = found;
    this.#bytes = bytes;
    this.#since = this.elapsedMs();
    return { bytes, stillMs: 0, isRotated: this.#isRotated };
  }

  /** Notes that the file as last seen was processed as a whole. */
  accept(): void {
    this.#isAccepted = true;
  }
}

/** Null if nothing can be read yet. `isWhole`: a ban that is missing in the text is missing in the file. */
export function wholeTextOf(text: string, isEnded: boolean) {
  if (isEnded) return { text, isWhole: true };
  const end = text.lastIndexOf('\n') + 1;
  return text === '' ? null : { text: text.slice(0, end), isWhole: end === text.length };
}

/** Returns the handler of a failed read: null if the file is missing. */
function unlessMissing(path: string) {
  return (error: unknown): null => {
    const code = codeOf(error);
    if (code === 'ENOENT') return null;
    throw unreachable(`${path} cannot be read: ${code ?? String(error)}`);
  };
}

function signatureOf(path: string): Promise<Signature | null> {
  return stat(path).catch(unlessMissing(path));
}

function isSame(one: Signature, other: Signature): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs;
}

/** A list that was moved away has its inode elsewhere in the folder; of one that was truncated there is a copy. */
async function isRotated(
  path: string,
  before: Signature & { readonly content: Buffer },
  now: Signature,
  content: Buffer,
): Promise<boolean> {
  const wasMoved = before.ino !== now.ino;
  if (!wasMoved && content.subarray(0, before.size).equals(before.content)) return false;
  const [folder, name] = [dirname(path), basename(path)];
  for (const other of (await readdir(folder).catch(unlessMissing(folder))) ?? []) {
    if (other === name) continue;
    const found = await signatureOf(join(folder, other)).catch(() => null);
    if (found === null) continue;
    if (wasMoved && found.ino === before.ino) return true;
    const mayBeCopy = !wasMoved && other.startsWith(name) && found.size === before.size;
    const copy = mayBeCopy ? await readFile(join(folder, other)).catch(() => null) : null;
    if (copy?.equals(before.content) === true) return true;
  }
  return false;
}
