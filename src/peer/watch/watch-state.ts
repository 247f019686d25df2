/** Stores the reported bans and pending withdrawals of a watch: event ids and dates, no player id and no line. */
import { bounds } from '../../client/for-peer.js';
import { readSmallFile, replaceSmallFile } from '../config/peer-file.js';
import { wrongUsage } from '../peer-error.js';

export interface StandingBan {
  readonly eventId: string;
  /** ms since 1970; null if the ban is permanent or the list does not state it. */
  readonly expiresAt: number | null;
  /** The first ban of the row that it was reported from. */
  readonly person: string;
  readonly mark: Mark;
}

/** `fresh`: in no accepted list yet. The absence of `rotated` and `doubted` bans lifts nothing. A file has indexes. */
const marks = ['present', 'rotated', 'doubted', 'fresh'] as const;
export type Mark = (typeof marks)[number];

interface StateFile {
  readonly version: 1;
  readonly format: string | null;
  readonly standing: readonly (readonly [
    ban: string,
    eventId: string,
    expiresAt: number | null,
    mark: number,
    /** Only if it is not the ban itself. */
    person?: string,
  ])[];
  readonly lifts: readonly (readonly [ban: string, count: number])[];
  readonly owed: readonly string[];
}

export class WatchState {
  /** Bans by their original event id. */
  readonly standing = new Map<string, StandingBan>();
  /** Number of times that a ban was lifted: a withdrawn event id is never accepted again. */
  readonly lifts = new Map<string, number>();
  readonly owed = new Set<string>();
  /** Event ids that the node refused for good: the file lacks their bans, so that the next start reports them again. */
  readonly refused = new Set<string>();
  format: string | null = null;
  /** How many refusals the file takes into account. */
  #refusedSaved = 0;
  #writing: Promise<void> = Promise.resolve();

  private constructor(private readonly path: string) {}

  static async open(path: string): Promise<WatchState> {
    const state = new WatchState(path);
    const text = await readSmallFile(path, bounds.watchStateBytes);
    if (text === undefined) return state;
    try {
      const { version, format, standing, lifts, owed } = JSON.parse(text) as StateFile;
      if (version !== 1) throw new Error('another version');
      state.format = format;
      for (const [ban, eventId, expiresAt, mark, person = ban] of standing) {
        state.standing.set(ban, { eventId, expiresAt, person, mark: marks[mark]! });
      }
      for (const [ban, count] of lifts) state.lifts.set(ban, count);
      for (const eventId of owed) state.owed.add(eventId);
      return state;
    } catch {
      throw wrongUsage(
        `${path} is not a state file of ptf-peer watch; remove the file to begin anew: no ban is counted twice`,
      );
    }
  }

  eventIdOf(ban: string): string {
    const count = this.lifts.get(ban) ?? 0;
    return count === 0 ? ban : `${ban}.${count}`;
  }

  mark(bans: readonly string[], mark: Mark): void {
    for (const ban of bans) this.standing.set(ban, { ...this.standing.get(ban)!, mark });
  }

  lift(ban: string): void {
    const found = this.standing.get(ban);
    if (found === undefined) return;
    this.standing.delete(ban);
    this.lifts.set(ban, (this.lifts.get(ban) ?? 0) + 1);
    this.owed.add(found.eventId);
  }

  /** Saves the state if the node has refused reports since. */
  async saveRefused(): Promise<void> {
    if (this.refused.size > this.#refusedSaved) await this.save();
  }

  save(): Promise<void> {
    const written = this.#writing.then(() => {
      this.#refusedSaved = this.refused.size;
      const reported = [...this.standing].filter(([, { eventId }]) => !this.refused.has(eventId));
      const file: StateFile = {
        version: 1,
        format: this.format,
        standing: reported.map(([ban, { eventId, expiresAt, person, mark }]) => [
          ban,
          eventId,
          expiresAt,
          marks.indexOf(mark),
          ...(person === ban ? ([] as const) : ([person] as const)),
        ]),
        lifts: [...this.lifts],
        owed: [...this.owed],
      };
      return replaceSmallFile(this.path, `${JSON.stringify(file)}\n`);
    });
    this.#writing = written.catch(() => undefined);
    return written;
  }
}
