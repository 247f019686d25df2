/**
 * Serves one reader of the verdict stream: first the missed changes, at its pace, then each change as it is published.
 * Beyond a bound of unread bytes it is asked to resume, and disconnected.
 */
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { StreamEvents } from '../../contract/verdict-stream.js';
import type { GroupViews } from '../../group/api.js';
import { type FeedPosition, type PublishedPlayer, playersIn, type ResumeFrom } from '../../group/verdict-changes.js';
import { limits } from '../../limits.js';
import * as frames from './frames.js';

export interface ChangeFrames {
  readonly position: number;
  /** Returns the frame with all rows for the readers of a peer; null if authentication is off. */
  readonly changeFor: (peer: number | null) => Buffer;
  readonly rows: number;
}

export type EndReason = StreamEvents['resume']['reason'];

export interface ReaderParts {
  readonly feed: GroupViews['verdicts'];
  readonly marksOf: (subject: string) => frames.RowMarks;
  readonly peer: number | null;
  /** Resolves when this reader may send a further part of what it missed. */
  readonly turn: () => Promise<void>;
  /** Called once. A null reason means that the reader disconnected. */
  readonly onEnd: (reader: StreamReader, reason: EndReason | null) => void;
  readonly onRows: (count: number) => void;
}

export class StreamReader {
  /** The position up to which changes were sent; null before the reader has caught up. */
  #sentTo: number | null = null;
  #isEnded = false;
  /** Time of the last write, by `performance.now()`. */
  #wroteAt = 0;
  #wake: () => void = () => undefined;

  constructor(
    private readonly to: Writable,
    private readonly parts: ReaderParts,
  ) {
    to.on('drain', () => this.#wake());
    to.on('close', () => this.#end(null));
    // A disconnecting reader is no error of the node; `close` follows.
    to.on('error', () => undefined);
  }

  /** `lastEventId` is as sent; empty for none. */
  async start(hello: string, lastEventId: string): Promise<void> {
    this.#write(hello);
    const { feed } = this.parts;
    while (feed.mark === null && !this.#isEnded) await this.#woken();
    if (this.#isEnded || feed.mark === null) return;
    const elsewhere = feed.mark.logTag === undefined ? undefined : await this.#placeElsewhere(lastEventId, feed.mark);
    if (this.#isEnded || feed.mark === null) return;
    let since: ResumeFrom | null = elsewhere ?? this.#resumed(lastEventId, feed.mark);
    for (;;) {
      await this.parts.turn();
      if (this.#isEnded || feed.mark === null) return;
      const recent = typeof since === 'number' ? feed.recent(since) : null;
      if (recent !== null && recent.length <= limits.streamAtOnceRows) {
        this.#goLive(recent, feed.mark);
        return;
      }
      const mark: FeedPosition = feed.mark;
      const walked = await this.#walk(mark, since);
      if (walked === 'ended') return;
      if (walked === 'forgotten') this.#write(frames.resetFrame('too_old'));
      since = walked === 'forgotten' ? null : mark.position;
    }
  }

  send({ position, changeFor, rows }: ChangeFrames): void {
    if (this.#isEnded || this.#sentTo === null || position <= this.#sentTo) return;
    this.#sentTo = position;
    this.#write(changeFor(this.parts.peer));
    this.parts.onRows(rows);
  }

  /** Sends erased players to a reader that is still catching up. */
  erasedMeanwhile(erasedFor: (peer: number | null) => Buffer): void {
    if (this.#sentTo === null) this.#write(erasedFor(this.parts.peer));
  }

  begin(): void {
    this.#wake();
  }

  beat(now: number): void {
    if (this.#isEnded || now - this.#wroteAt < limits.streamHeartbeatMs - limits.streamBeatMs) return;
    const { mark } = this.parts.feed;
    // A change that is still being sent may not have reached this reader, which would resume after that change.
    const isSent = this.#sentTo !== null && mark !== null && mark.position <= this.#sentTo;
    if (isSent) this.#write(frames.heartbeatFrame(mark));
    else if (!this.to.writableNeedDrain) this.#write(frames.comment);
  }

  end(reason: EndReason): void {
    if (this.#isEnded) return;
    this.#end(reason);
    const timer = setTimeout(() => this.to.destroy(), limits.streamEndMs).unref();
    this.to.once('close', () => clearTimeout(timer));
    this.to.end(frames.resumeFrame(reason));
  }

  #end(reason: EndReason | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.parts.onEnd(this, reason);
    this.#wake();
  }

  /** The position in an event id of another node of the cluster; undefined if it is none, or not reached in time. */
  async #placeElsewhere(id: string, mark: FeedPosition) {
    const place = frames.placeOf(id);
    if (place?.logTag === undefined || place.logTag !== mark.logTag) return undefined;
    if (place.generation === mark.generation || !(await this.#reached(place.seq))) return undefined;
    return { seq: place.seq, asOf: place.asOf };
  }

  #resumed(id: string, mark: FeedPosition): number | null {
    if (id === '') return null;
    const place = frames.placeOf(id);
    const isKnown = place?.generation === mark.generation && place.position <= mark.position;
    // Erased players are sent only to connected readers and are not stored.
    if (isKnown && place.position >= this.parts.feed.erasedAt) return place.position;
    this.#write(frames.resetFrame(isKnown ? 'too_old' : 'unknown_id'));
    return null;
  }

  /** Waits until this node, perhaps behind the other, has published all up to `seq`; false if that takes too long. */
  async #reached(seq: number): Promise<boolean> {
    const { feed } = this.parts;
    const endMs = performance.now() + limits.streamBehindMs;
    const isReached = () => feed.mark !== null && feed.mark.seq >= seq;
    while (!isReached() && !this.#isEnded && performance.now() < endMs) await delay(limits.streamBehindLookMs);
    return isReached();
  }

  /**
   * Sends the changes after `since` (null: everything), so that `mark` is valid once the last frame is read.
   * `forgotten`: nothing was sent, because this node no longer knows those changes.
   */
  async #walk(mark: FeedPosition, since: ResumeFrom | null): Promise<'sent' | 'ended' | 'forgotten'> {
    const { feed } = this.parts;
    let from: number | null = 0;
    while (from !== null) {
      while (this.to.writableNeedDrain && !this.#isEnded) await this.#woken();
      if (this.#isEnded) return 'ended';
      const piece = await feed.walk(mark.generation, from, since ?? 0, () => !this.#isEnded);
      await this.parts.turn();
      if (this.#isEnded) return 'ended';
      if (piece === 'forgotten') return piece;
      if (piece === null) {
        this.end('rebuilt');
        return 'ended';
      }
      // This piece was read before changes that the reader already has. It would restore an erased player.
      if (piece.position < Math.max(mark.position, feed.erasedAt)) continue;
      from = piece.next;
      const players = playersIn(piece.players);
      if (players.length === 0 && from !== null) continue;
      const isLast = from === null;
      const text = this.#rowsOf(players);
      this.#write(since === null ? frames.snapshotFrame(text, isLast, mark) : frames.changeFrame(text, isLast, mark));
      this.parts.onRows(players.length);
    }
    return this.#isEnded ? 'ended' : 'sent';
  }

  #goLive(players: readonly PublishedPlayer[], mark: FeedPosition): void {
    for (let from = 0; from < players.length; from += limits.streamFrameRows) {
      const to = from + limits.streamFrameRows;
      this.#write(frames.changeFrame(this.#rowsOf(players.slice(from, to)), to >= players.length, mark));
    }
    this.parts.onRows(players.length);
    this.#write(frames.heartbeatFrame(mark));
    this.#sentTo = mark.position;
  }

  #rowsOf(players: readonly PublishedPlayer[]): string {
    return players.map((player) => frames.playerRow(player, this.parts.marksOf(player.subject))).join(',');
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #write(frames: string | Buffer): void {
    if (this.#isEnded || frames.length === 0) return;
    this.#wroteAt = performance.now();
    this.to.write(frames);
    if (this.to.writableLength > limits.streamUnreadBytes) this.end('slow_reader');
  }
}
