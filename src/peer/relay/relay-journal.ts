/** Records the deliveries of a relay on disk, as synced lines with subject hashes, rewritten when they have grown. */
import { type FileHandle, open, truncate } from 'node:fs/promises';
import { isSubjectHash, TrustError, type Verdict } from '../../client/entry.js';
import { bounds, isRecord, jsonIn } from '../../client/for-peer.js';
import { readSmallFile, replaceSmallFile } from '../config/peer-file.js';
import { wrongUsage } from '../peer-error.js';

/** A line: an event id of the stream, or a delivered verdict; null if the player is neutral or was removed. */
type Line = { readonly id: string } | { readonly s: string; readonly v: Verdict | null };

const advice =
  'restore it, or remove it and start with --all: each verdict that is not neutral is sent, and no change to neutral';

export class RelayJournal {
  /** Verdicts as streamed, by subject hash, for the table to keep current. Players without an entry are neutral. */
  readonly verdicts = new Map<string, Verdict>();
  /** The event id from which the stream continues; empty if nothing was delivered yet. */
  lastEventId = '';
  /** Number of deliveries since the last id, by subject hash; it distinguishes equal changes of one player. */
  readonly #since = new Map<string, number>();
  #handle: FileHandle | null = null;
  #lines = 0;
  /** Size of the file before an append that has not succeeded, and may have left half a line; else null. */
  #tornAt: number | null = null;

  /** The path is in a folder that exists and that the process has acquired. */
  private constructor(private readonly path: string) {}

  /** Cuts off a last line that a kill tore. Rejects with `wrong_usage` if another line is damaged. */
  static async open(path: string): Promise<RelayJournal> {
    const journal = new RelayJournal(path);
    const text = (await readSmallFile(path, bounds.relayStateBytes)) ?? '';
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    for (const [index, part] of whole.split('\n').slice(0, -1).entries()) {
      const line = lineOf(part);
      if (line === null) throw wrongUsage(`${path} is damaged in line ${index + 1}: ${advice}`);
      journal.#count(line);
      if ('s' in line) setVerdict(journal.verdicts, line.s, line.v);
    }
    if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));
    return journal;
  }

  deliveredSinceId(subject: string): number {
    return this.#since.get(subject) ?? 0;
  }

  /** Records the delivery of a change; resolves once it is on disk. */
  async delivered(subject: string, verdict: Verdict | null): Promise<void> {
    // A change that is not on disk is delivered again, with the same id.
    await written(this.#append({ s: subject, v: verdict }));
  }

  /** Records that everything up to this id is delivered; resolves once it is on disk. `isFirst`: the journal begins. */
  async reached(id: string, isFirst = false): Promise<void> {
    if (id === this.lastEventId) return;
    const isLong = this.#lines >= bounds.relayJournalLines && this.#lines >= 2 * this.verdicts.size;
    await written(isFirst || isLong ? this.#rewrite({ id }) : this.#append({ id }));
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }

  async #append(line: Line): Promise<void> {
    this.#handle ??= await open(this.path, 'a', 0o600);
    if (this.#tornAt !== null) await this.#handle.truncate(this.#tornAt);
    this.#tornAt = (await this.#handle.stat()).size;
    // Writes the whole line, unlike write.
    await this.#handle.appendFile(`${JSON.stringify(line)}\n`);
    await this.#handle.datasync();
    this.#tornAt = null;
    this.#count(line);
  }

  async #rewrite(last: Line): Promise<void> {
    await this.close();
    // If the rewrite fails, either file may stand there.
    if (this.#tornAt !== null) await truncate(this.path, this.#tornAt);
    this.#tornAt = null;
    const lines: Line[] = [...Array.from(this.verdicts, ([s, v]) => ({ s, v })), last];
    await replaceSmallFile(this.path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    this.#lines = this.verdicts.size;
    this.#count(last);
  }

  #count(line: Line): void {
    this.#lines++;
    if ('s' in line) {
      this.#since.set(line.s, this.deliveredSinceId(line.s) + 1);
    } else {
      this.lastEventId = line.id;
      this.#since.clear();
    }
  }
}

/** Rejects with `spool_failed` if the disk fails: the stream takes any other error for one of the node. */
function written(work: Promise<void>): Promise<void> {
  return work.catch((cause) => {
    throw new TrustError('spool_failed', 'the journal could not be written', { cause });
  });
}

/** Sets the verdict of a player; a neutral one has no entry. */
export function setVerdict(verdicts: Map<string, Verdict>, subject: string, verdict: Verdict | null): void {
  if (verdict === null || verdict === 'neutral') verdicts.delete(subject);
  else verdicts.set(subject, verdict);
}

const verdictNames: readonly unknown[] = ['trusted', 'neutral', 'suspicious', 'untrusted', null];

function lineOf(text: string): Line | null {
  const value = jsonIn(text);
  if (!isRecord(value)) return null;
  const { id, s, v } = value;
  if (typeof id === 'string') return { id };
  if (typeof s !== 'string' || !isSubjectHash(s) || !verdictNames.includes(v)) return null;
  return { s, v: v as Verdict | null };
}
