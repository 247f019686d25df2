/**
 * One reader of the verdict stream: first what it missed, at the pace at which it reads, then each change as it is
 * told. What it leaves unread is bounded: it is told to resume, and cut off.
 */
import type { Writable } from 'node:stream';
import type { ResumeData } from '../../contract/verdict-stream.js';
import type { GroupApi } from '../../group/api.js';
import type { FeedPosition } from '../../group/verdict-changes.js';
import { limits } from '../../limits.js';
import { changeFrame, comment, heartbeatFrame, placeOf, resetFrame, resumeFrame, snapshotFrame } from './frames.js';

/** Something that was told, as frames that all readers share. */
export interface ChangeFrames {
  readonly position: number;
  /** With all of its rows, as the readers of a peer get it; null where authentication is off. */
  readonly changeFor: (peer: number | null) => Buffer;
  readonly rows: number;
}

export type EndReason = ResumeData['reason'];

export interface ReaderParts {
  readonly feed: GroupApi['verdicts'];
  /** Number of the peer that reads; null where authentication is off. */
  readonly peer: number | null;
  /** Called once; null: the reader went by itself. */
  readonly onEnd: (reader: StreamReader, reason: EndReason | null) => void;
  readonly onRows: (count: number) => void;
}

export class StreamReader {
  readonly #to: Writable;
  readonly #parts: ReaderParts;
  /** The position up to which it was told, and is told on from; null before it has caught up. */
  #sentTo: number | null = null;
  #isEnded = false;
  /** Of `performance.now()`. */
  #wroteAt = 0;
  #wake: () => void = () => undefined;

  constructor(to: Writable, parts: ReaderParts) {
    this.#to = to;
    this.#parts = parts;
    to.on('drain', () => this.#wake());
    to.on('close', () => this.#end(null));
    // Whoever hangs up is no fault of ours; `close` follows.
    to.on('error', () => undefined);
  }

  /** `lastEventId`: as sent, empty for none. */
  async start(hello: string, lastEventId: string): Promise<void> {
    this.#write(hello);
    await this.#catchUp(lastEventId);
  }

  send({ position, changeFor, rows }: ChangeFrames): void {
    if (this.#isEnded || this.#sentTo === null || position <= this.#sentTo) return;
    this.#sentTo = position;
    this.#write(changeFor(this.#parts.peer));
    this.#parts.onRows(rows);
  }

  /** Erased players, for a reader that is still catching up. */
  erasedMeanwhile(erasedFor: (peer: number | null) => Buffer): void {
    if (this.#sentTo === null) this.#write(erasedFor(this.#parts.peer));
  }

  /** Everything was told once: catching up may begin. */
  begin(): void {
    this.#wake();
  }

  /** Breaks a silence of the node. `now`: of `performance.now()`. */
  beat(now: number): void {
    if (this.#isEnded || now - this.#wroteAt < limits.streamHeartbeatMs - limits.streamBeatMs) return;
    const { mark } = this.#parts.feed;
    // What is on its way to all readers may not have come to this one: it would resume after it.
    const isSent = this.#sentTo !== null && mark !== null && mark.position <= this.#sentTo;
    if (isSent) this.#write(heartbeatFrame(mark));
    else if (!this.#to.writableNeedDrain) this.#write(comment);
  }

  /** Tells the reader to resume on another connection, as far as it still reads. */
  end(reason: EndReason): void {
    if (this.#isEnded) return;
    this.#end(reason);
    const timer = setTimeout(() => this.#to.destroy(), limits.streamEndMs).unref();
    this.#to.once('close', () => clearTimeout(timer));
    this.#to.end(resumeFrame(reason));
  }

  #end(reason: EndReason | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#parts.onEnd(this, reason);
    this.#wake();
  }

  async #catchUp(lastEventId: string): Promise<void> {
    const { feed } = this.#parts;
    while (feed.mark === null && !this.#isEnded) await this.#woken();
    if (this.#isEnded || feed.mark === null) return;
    let since = this.#resumed(lastEventId, feed.mark);
    for (;;) {
      const recent = since === null ? null : feed.recent(since);
      if (recent !== null && recent.length <= limits.streamAtOnceRows) {
        this.#goLive(recent, feed.mark);
        return;
      }
      const mark: FeedPosition = feed.mark;
      if (!(await this.#walk(mark, since))) return;
      since = mark.position;
    }
  }

  /** The position to go on from; null: from the start. */
  #resumed(id: string, mark: FeedPosition): number | null {
    if (id === '') return null;
    const place = placeOf(id);
    const isKnown = place?.generation === mark.generation && place.position <= mark.position;
    // Erased players are named to whoever listens at that moment, and kept nowhere.
    if (isKnown && place.position >= this.#parts.feed.erasedAt) return place.position;
    this.#write(resetFrame(isKnown ? 'too_old' : 'unknown_id'));
    return null;
  }

  /**
   * Sends what was told after `since` (null: everything), so that `mark` holds once the last frame is read. False where
   * it is over.
   */
  async #walk(mark: FeedPosition, since: number | null): Promise<boolean> {
    const { feed } = this.#parts;
    let from: number | null = 0;
    while (from !== null) {
      while (this.#to.writableNeedDrain && !this.#isEnded) await this.#woken();
      if (this.#isEnded) return false;
      const piece = await feed.walk(mark.generation, from, since ?? 0);
      if (this.#isEnded) return false;
      if (piece === null) {
        this.end('rebuilt');
        return false;
      }
      // Read before what this reader was told already: it would bring back what is gone.
      if (piece.position < Math.max(mark.position, feed.erasedAt)) continue;
      from = piece.next;
      if (piece.count === 0 && from !== null) continue;
      const isLast = from === null;
      this.#write(since === null ? snapshotFrame(piece.text, isLast, mark) : changeFrame(piece.text, isLast, mark));
      this.#parts.onRows(piece.count);
    }
    return !this.#isEnded;
  }

  #goLive(rows: readonly string[], mark: FeedPosition): void {
    for (let from = 0; from < rows.length; from += limits.streamFrameRows) {
      const to = from + limits.streamFrameRows;
      this.#write(changeFrame(rows.slice(from, to).join(','), to >= rows.length, mark));
    }
    this.#parts.onRows(rows.length);
    this.#write(heartbeatFrame(mark));
    this.#sentTo = mark.position;
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #write(frames: string | Buffer): void {
    if (this.#isEnded) return;
    this.#wroteAt = performance.now();
    this.#to.write(frames);
    if (this.#to.writableLength > limits.streamUnreadBytes) this.end('slow_reader');
  }
}
