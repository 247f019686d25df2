/** Stores the sidecar's allow list on disk: subject hashes, dates and notes; raw player ids never reach the file. */
import { AllowList, type AllowListEntry, isSubjectHash } from '../../client/entry.js';
import { bounds, isRecord, jsonIn } from '../../client/for-peer.js';
import { readSmallFile, replaceSmallFile } from '../config/peer-file.js';
import { wrongUsage } from '../peer-error.js';

export class AllowFile {
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly path: string,
    readonly list: AllowList,
  ) {}

  /** Reads the file; an empty list if there is none. Throws `wrong_usage` for a file that it did not write. */
  static async open(path: string): Promise<AllowFile> {
    const text = await readSmallFile(path, bounds.allowFileBytes);
    const entries = text === undefined ? [] : jsonIn(text);
    if (Array.isArray(entries) && entries.every(isEntry)) return new AllowFile(path, new AllowList(entries));
    throw wrongUsage(`${path} is not an allow list of ptf-peer; restore it, or remove it to begin an empty one`);
  }

  /** Lets a player pass until a future date; resolves once that is on disk. */
  add(subject: string, until: number, note: string): Promise<void> {
    return this.#inOrder(() => this.#change((list) => list.add(subject, until, note)));
  }

  /** Resolves with true if the player was on the list, once the new list is on disk. */
  remove(subject: string): Promise<boolean> {
    return this.#inOrder(async () => {
      const isThere = this.list.has(subject);
      if (isThere) await this.#change((list) => list.remove(subject));
      return isThere;
    });
  }

  /** Makes one change at a time, so that the newest list is the last one written. */
  #inOrder<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#writing.then(change);
    this.#writing = changed.catch(() => undefined);
    return changed;
  }

  /** Changes the list in memory once the change is on disk. */
  async #change(edit: (list: AllowList) => void): Promise<void> {
    const next = new AllowList(this.list.entries());
    edit(next);
    await replaceSmallFile(this.path, `${JSON.stringify(next.entries())}\n`);
    edit(this.list);
  }
}

function isEntry(value: unknown): value is AllowListEntry {
  if (!isRecord(value)) return false;
  const { playerId, until, note } = value;
  return (
    typeof playerId === 'string' && isSubjectHash(playerId) && typeof until === 'number' && typeof note === 'string'
  );
}
