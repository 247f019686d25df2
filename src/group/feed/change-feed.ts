/**
 * Supplies the verdict stream: while it has readers, asks the replica repeatedly for the changes in the log's files; in
 * a group of several peers at whole intervals, so that the time of a change does not reveal whose event caused it.
 */
import { endOfMinute } from '../../core/evidence/decay.js';
import { limits } from '../../limits.js';
import type { Clock, RandomSource, Timers } from '../ports/clock.js';
import type { GroupPool } from '../ports/pool.js';
import type * as changes from '../verdict-changes.js';

export interface FeedDeps {
  readonly pool: Pick<GroupPool, 'publishChanges' | 'walkChanges' | 'endFeed'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly storedSeq: () => number;
  /** 0 publishes changes as they come. */
  readonly intervalMs: () => number;
  /** Names the log that several nodes share; absent: this node serves its group alone. */
  readonly logTag?: () => string;
  /** ms since this node last knew that it has the whole shared log; absent on a node that serves its group alone. */
  readonly stalenessMs?: () => number;
  readonly onFailure: (what: string, error: unknown) => void;
}

export class VerdictFeed implements changes.VerdictChanges {
  readonly #ring = new ChangeRing(limits.streamRingRows);
  readonly #listeners = new Set<changes.FeedListener>();
  /** Walks in progress, which readers share, and the last one of the queue: the pool gets one at a time. */
  readonly #walks = new Map<string, { readonly walk: Promise<changes.Walked>; readonly wanted: (() => boolean)[] }>();
  #line: Promise<unknown> = Promise.resolve();
  /** Null while there are no readers. */
  #generation: string | null = null;
  #isBegun = false;
  mark: changes.FeedPosition | null = null;
  erasedAt = 0;
  /** Record, time of the values, and time up to which changes are known, of the interval `#interval`. */
  #reach = { upTo: -1, at: 0, asOf: 0 };
  #interval = -1;
  /** Record and time for which the newest piece was requested, and whether more is left. */
  #askedSeq = -1;
  #askedAt = -1;
  #more = true;
  #asking: Promise<boolean> | null = null;
  #heard: Promise<unknown> = Promise.resolve();
  #cancel: () => void = () => undefined;
  #unreadSince = 0;
  #closed = false;

  constructor(private readonly deps: FeedDeps) {}

  get rows(): number {
    return this.#ring.size;
  }

  listen(listener: changes.FeedListener): () => void {
    this.#listeners.add(listener);
    if (this.#generation === null && !this.#closed) this.#begin();
    return () => {
      this.#listeners.delete(listener);
      this.#unreadSince = this.deps.timers.elapsed();
    };
  }

  recent(position: number): changes.PublishedPlayer[] | null {
    return this.#ring.after(position);
  }

  walk(generation: string, from: number, since: changes.ResumeFrom, isWanted = () => true) {
    const key = JSON.stringify([generation, from, since]);
    const shared = this.#walks.get(key);
    shared?.wanted.push(isWanted);
    if (shared !== undefined) return shared.walk;
    const wanted = [isWanted];
    const walk = this.#line
      .then(() => {
        if (wanted.some((isStill) => isStill())) return this.deps.pool.walkChanges({ generation, from, since });
        this.#walks.delete(key);
        return null;
      })
      .catch((error: unknown) => {
        if (!this.#closed) this.deps.onFailure('sending missed changes to a reader', error);
        return null;
      })
      .finally(() => this.#walks.delete(key));
    this.#line = walk;
    this.#walks.set(key, { walk, wanted });
    return walk;
  }

  /** Resolves once every erasure in the files is published and no change in memory names an erased player. */
  async publishErasures(): Promise<void> {
    while (this.#generation !== null && !this.#closed) {
      if (this.#asking !== null) await this.#asking;
      else if (!(await this.#ask(true))) return;
    }
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #begin(): void {
    this.#generation = Buffer.from(this.deps.random.bytes(6)).toString('hex');
    this.#isBegun = false;
    this.mark = null;
    this.#more = true;
    this.#interval = -1;
    this.erasedAt = 0;
    this.#ring.clear(0);
    this.#plan(0);
  }

  #plan(ms: number): void {
    this.#cancel();
    if (!this.#closed) this.#cancel = this.deps.timers.later(() => void this.#tick(), ms);
  }

  async #tick(): Promise<void> {
    const { elapsed } = this.deps.timers;
    if (this.#listeners.size === 0 && elapsed() - this.#unreadSince >= limits.streamLingerMs) return this.#end();
    try {
      await (this.#asking ?? this.#askIfMoved());
      await this.#heard;
    } catch (error) {
      if (!this.#closed) this.deps.onFailure('publishing changes to readers of the stream', error);
      this.#plan(limits.workRetryMs);
      return;
    }
    this.#plan(this.#more ? limits.streamPaceMs : this.#pauseMs);
  }

  /** ms until there may be changes to publish: until the next interval begins. */
  get #pauseMs(): number {
    const intervalMs = this.deps.intervalMs();
    if (intervalMs === 0) return limits.streamTickMs;
    return Math.max(limits.streamPaceMs, intervalMs - (this.deps.timers.elapsed() % intervalMs));
  }

  /** Returns what may be published now: all in the files, or what they held at the first check of this interval. */
  #reached() {
    const ms = this.deps.intervalMs();
    const interval = ms === 0 ? -1 : Math.floor(this.deps.timers.elapsed() / ms);
    if (interval === -1 || interval !== this.#interval) this.#reach = this.#reachNow();
    this.#interval = interval;
    return this.#reach;
  }

  /** A node that is cut off from its cluster keeps the time up to which it knew every change. */
  #reachNow() {
    const { clock, storedSeq, stalenessMs = () => 0 } = this.deps;
    const now = clock.now();
    // Whole ms, because the id of an event holds it.
    const asOf = Math.min(now, Math.max(this.#reach.asOf, Math.floor(now - stalenessMs())));
    return { upTo: storedSeq(), at: endOfMinute(now), asOf };
  }

  async #askIfMoved(): Promise<void> {
    const { upTo, at, asOf } = this.#reached();
    const isMoved = this.#askedSeq !== upTo || this.#askedAt !== at;
    if (isMoved || this.#more || this.mark === null) await this.#ask(false);
    else this.mark = { ...this.mark, asOf };
  }

  /** Publishes one piece, or only its erased players. Resolves to true if erased ones remain. */
  #ask(erasedOnly: boolean): Promise<boolean> {
    this.#asking = this.#askPiece(erasedOnly).finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askPiece(erasedOnly: boolean): Promise<boolean> {
    const { pool, logTag } = this.deps;
    const generation = this.#generation!;
    const { upTo, at, asOf } = erasedOnly ? this.#reachNow() : this.#reached();
    const shared = logTag && ({ isShared: true } as const);
    const piece = await pool.publishChanges({ generation, upTo, at, asOf, erasedOnly, ...shared });
    const { rows, position } = piece;
    // All readers have left, and the table was cleared. Erasures are requested again once there are readers.
    if (generation !== this.#generation) return true;
    if (piece.isFirst && this.#isBegun) {
      // The replica was replaced, and its table was lost with it.
      this.#begin();
      for (const listener of this.#listeners) listener.forgotten();
      return false;
    }
    this.#isBegun = true;
    if (!erasedOnly) {
      this.#askedSeq = upTo;
      this.#askedAt = at;
      this.#more = piece.more;
    }
    if (rows.some(({ player }) => player === null)) this.erasedAt = position;
    const isWhole = !erasedOnly && this.mark === null && piece.upTo !== null;
    if (erasedOnly) this.mark = this.mark && { ...this.mark, position };
    else if (piece.upTo !== null) {
      this.mark = { generation, position, ...piece.upTo, ...(logTag && { logTag: logTag() }) };
    }
    // Before the first mark no reader has a position to resume from.
    if (this.mark === null) this.#ring.clear(position);
    else this.#ring.add(position, rows);
    if (rows.length > 0 || isWhole) {
      this.#heard = Promise.all([...this.#listeners].map((listener) => listener.publish(rows, this.mark)));
    }
    return piece.moreErased;
  }

  async #end(): Promise<void> {
    this.#generation = null;
    this.mark = null;
    this.#ring.clear(0);
    await this.deps.pool.endFeed().catch((error: unknown) => {
      if (!this.#closed) this.deps.onFailure('clearing the table of the stream', error);
    });
  }
}

/** The newest change of each player in memory, for readers that resume after a short disconnection. */
export class ChangeRing {
  /** The oldest change first. */
  readonly #changes = new Map<string, { readonly position: number; readonly player: changes.PublishedPlayer }>();
  /** Visits each entry once, since a new iterator would skip the places of all deleted ones. */
  #oldest = this.#changes.entries();
  /** All changes after this position are in the ring. */
  #from = 0;

  constructor(private readonly playersMax: number) {}

  get size(): number {
    return this.#changes.size;
  }

  /** `position` is not below earlier ones. */
  add(position: number, rows: readonly changes.ChangeRow[]): void {
    for (const { subject, player } of rows) {
      this.#changes.delete(subject);
      if (player === null) continue;
      this.#changes.set(subject, { position, player });
      if (this.#changes.size <= this.playersMax) continue;
      const [oldest, { position: from }] = this.#oldest.next().value!;
      this.#from = from;
      this.#changes.delete(oldest);
    }
  }

  /** Oldest first; null if the ring does not reach back that far. */
  after(position: number): changes.PublishedPlayer[] | null {
    if (position < this.#from) return null;
    const players: changes.PublishedPlayer[] = [];
    for (const change of this.#changes.values()) if (change.position > position) players.push(change.player);
    return players;
  }

  clear(position: number): void {
    this.#changes.clear();
    this.#oldest = this.#changes.entries();
    this.#from = position;
  }
}
