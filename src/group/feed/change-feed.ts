/**
 * What feeds the verdict stream: as long as somebody reads, the replica is asked again and again what there is to tell
 * of the durable log. In a group of several peers it is asked at whole intervals only, so that the moment of a change
 * does not tell whose event it was. Here stand only the newest changes, to resume from; the rest is walked in the pool,
 * a piece at a time.
 */

import { limits } from '../../limits.js';
import { endOfMinute } from '../as-of.js';
import type { Clock, Timers } from '../ports/clock.js';
import type { GroupPool } from '../ports/pool.js';
import type { RandomSource } from '../ports/random.js';
import type { ChangeWalk, FeedListener, FeedPosition, VerdictChanges } from '../verdict-changes.js';
import { ChangeRing } from './change-ring.js';

export interface FeedDeps {
  readonly pool: Pick<GroupPool, 'publishChanges' | 'walkChanges' | 'endFeed'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly durableSeq: () => number;
  /** The interval, in ms; 0: changes are told as they come. */
  readonly intervalMs: () => number;
  /** Something failed that will be tried again. */
  readonly onFailure: (what: string, error: unknown) => void;
}

export class VerdictFeed implements VerdictChanges {
  readonly #deps: FeedDeps;
  readonly #ring = new ChangeRing(limits.streamRingRows);
  readonly #listeners = new Set<FeedListener>();
  /** Walks under way that others may share, and the end of their line: the pool gets one at a time. */
  readonly #walks = new Map<string, Promise<ChangeWalk | null>>();
  #line: Promise<unknown> = Promise.resolve();
  /** Null while nobody reads. */
  #generation: string | null = null;
  #isBegun = false;
  #mark: FeedPosition | null = null;
  #erasedAt = 0;
  /** What is told within the interval `#interval`: nothing that is newer. */
  #reach = { upTo: -1, asOf: 0 };
  #interval = -1;
  /** What the newest piece was asked for, and whether it left something. */
  #askedSeq = -1;
  #askedAt = -1;
  #more = true;
  #asking: Promise<boolean> | null = null;
  /** Resolves when listeners have what was told last. */
  #heard: Promise<unknown> = Promise.resolve();
  #cancel: () => void = () => undefined;
  /** By `timers.elapsed()`. */
  #unreadSince = 0;
  #closed = false;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  get mark(): FeedPosition | null {
    return this.#mark;
  }

  get erasedAt(): number {
    return this.#erasedAt;
  }

  /** Players of which changes are kept here. */
  get rows(): number {
    return this.#ring.size;
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    if (this.#generation === null && !this.#closed) this.#begin();
    return () => {
      this.#listeners.delete(listener);
      this.#unreadSince = this.#deps.timers.elapsed();
    };
  }

  recent(position: number): string[] | null {
    return this.#ring.after(position);
  }

  walk(generation: string, from: number, since: number): Promise<ChangeWalk | null> {
    const key = `${generation} ${from} ${since}`;
    const shared = this.#walks.get(key);
    if (shared !== undefined) return shared;
    const walk = this.#line
      .then(() => this.#deps.pool.walkChanges({ generation, from, since }))
      .catch((error: unknown) => {
        if (!this.#closed) this.#deps.onFailure('telling a reader what it missed', error);
        return null;
      })
      .finally(() => this.#walks.delete(key));
    this.#line = walk;
    this.#walks.set(key, walk);
    return walk;
  }

  /** Resolves once every erasure that is durable was told, and nothing here names an erased player. */
  async publishErasures(): Promise<void> {
    while (this.#generation !== null && !this.#closed) {
      if (this.#asking !== null) await this.#asking;
      else if (!(await this.#ask(true))) return;
    }
  }

  /** Asks for nothing more. */
  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #begin(): void {
    this.#generation = Buffer.from(this.#deps.random.bytes(6)).toString('hex');
    this.#isBegun = false;
    this.#mark = null;
    this.#more = true;
    this.#interval = -1;
    this.#erasedAt = 0;
    this.#ring.clear(0);
    this.#plan(0);
  }

  #plan(ms: number): void {
    this.#cancel();
    if (!this.#closed) this.#cancel = this.#deps.timers.later(() => void this.#tick(), ms);
  }

  async #tick(): Promise<void> {
    const { elapsed } = this.#deps.timers;
    if (this.#listeners.size === 0 && elapsed() - this.#unreadSince >= limits.streamLingerMs) {
      await this.#end();
      return;
    }
    try {
      await (this.#asking ?? this.#askIfMoved());
      await this.#heard;
    } catch (error) {
      if (!this.#closed) this.#deps.onFailure('telling readers of the stream', error);
      this.#plan(limits.workRetryMs);
      return;
    }
    this.#plan(this.#more ? limits.streamPaceMs : this.#pauseMs);
  }

  /** ms until there may be something to tell: until the next interval begins. */
  get #pauseMs(): number {
    const intervalMs = this.#deps.intervalMs();
    if (intervalMs === 0) return limits.streamTickMs;
    return Math.max(limits.streamPaceMs, intervalMs - (this.#deps.timers.elapsed() % intervalMs));
  }

  /** What may be told now: all that is durable, or that was when this interval was first looked at. */
  #reached(): { readonly upTo: number; readonly asOf: number } {
    const { clock, durableSeq, intervalMs, timers } = this.#deps;
    const ms = intervalMs();
    const interval = ms === 0 ? -1 : Math.floor(timers.elapsed() / ms);
    if (interval === -1 || interval !== this.#interval) this.#reach = { upTo: durableSeq(), asOf: clock.now() };
    this.#interval = interval;
    return this.#reach;
  }

  async #askIfMoved(): Promise<void> {
    const { upTo, asOf } = this.#reached();
    const isSame = this.#askedSeq === upTo && this.#askedAt === endOfMinute(asOf);
    if (!isSame || this.#more || this.#mark === null) await this.#ask(false);
    else this.#mark = { ...this.#mark, asOf };
  }

  /** One piece; true where erased players are still to be told. `erasedOnly`: these alone, at once. */
  #ask(erasedOnly: boolean): Promise<boolean> {
    const asking = this.#askPiece(erasedOnly).finally(() => {
      this.#asking = null;
    });
    this.#asking = asking;
    return asking;
  }

  async #askPiece(erasedOnly: boolean): Promise<boolean> {
    const { pool, clock, durableSeq } = this.#deps;
    const generation = this.#generation!;
    const { upTo, asOf } = erasedOnly ? { upTo: durableSeq(), asOf: clock.now() } : this.#reached();
    const at = endOfMinute(asOf);
    const {
      isFirst,
      rows,
      position,
      upTo: publishedUpTo,
      more,
      moreErased,
    } = await pool.publishChanges({ generation, upTo, at, asOf, erasedOnly });
    // Nobody read any more, and what was told is forgotten; erasures are asked for once more where somebody reads
    // again.
    if (generation !== this.#generation) return true;
    if (isFirst && this.#isBegun) {
      // The replica was replaced, and with it went what it had told.
      this.#begin();
      for (const listener of this.#listeners) listener.forgotten();
      return false;
    }
    this.#isBegun = true;
    if (!erasedOnly) {
      this.#askedSeq = upTo;
      this.#askedAt = at;
      this.#more = more;
    }
    if (rows.some(({ text }) => text === null)) this.#erasedAt = position;
    const isWhole = !erasedOnly && this.#mark === null && publishedUpTo !== null;
    if (erasedOnly) this.#mark = this.#mark && { ...this.#mark, position };
    else if (publishedUpTo !== null) this.#mark = { generation, position, ...publishedUpTo };
    // Before that nobody has a position to resume from.
    if (this.#mark === null) this.#ring.clear(position);
    else this.#ring.add(position, rows);
    if (rows.length > 0 || isWhole) {
      this.#heard = Promise.all([...this.#listeners].map((listener) => listener.publish(rows, this.#mark)));
    }
    return moreErased;
  }

  async #end(): Promise<void> {
    this.#generation = null;
    this.#mark = null;
    this.#ring.clear(0);
    await this.#deps.pool.endFeed().catch((error: unknown) => {
      if (!this.#closed) this.#deps.onFailure('forgetting what the stream told', error);
    });
  }
}
