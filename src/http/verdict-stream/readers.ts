/** Owns all readers of the verdict stream: bounds their number, builds the frames that they share, and ends readers. */
import type { Writable } from 'node:stream';
import { getOrMake } from '../../core/get-or-make.js';
import { type Refusal, refused } from '../../errors.js';
import type { PeerView, RefusedErasure } from '../../group/api.js';
import type { Holder } from '../../group/ports/pool.js';
import type { ChangeRow, FeedPosition } from '../../group/verdict-changes.js';
import { limits } from '../../limits.js';
import { timeText } from '../bodies/bodies.js';
import type { HttpDeps } from '../deps.js';
import { Holdings } from '../room/holdings.js';
import type { ReadTurns } from '../room/read-turns.js';
import { changeFrame, erasedFrame, erasedRow, helloFrame, marksFor, playerRow } from './frames.js';
import { type ChangeFrames, StreamReader } from './stream-reader.js';

export interface ReaderOpening {
  /** As sent; empty for none. */
  readonly lastEventId: string;
  readonly peer: PeerView | null;
  readonly holder: Holder;
  readonly keyDigest: string;
}

export class StreamReaders {
  readonly #readers = new Map<StreamReader, ReaderOpening>();
  readonly #held = new Holdings<Holder, StreamReader>();
  readonly #spread = new Spread();
  #deafen: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    private readonly deps: Pick<HttpDeps, 'node' | 'clock' | 'metrics'>,
    private readonly turns: Pick<ReadTurns, 'next'>,
  ) {}

  /** Returns why a further reader of this holder is refused; undefined if it is admitted. */
  refusal({ peer, holder }: Pick<ReaderOpening, 'peer' | 'holder'>): Refusal | undefined {
    if (this.#isClosed) return refused('dependency_unavailable', { details: { reason: 'draining' } });
    const held = this.#held.countOf(holder);
    const mayHaveMore = peer === null || held < limits.streamReadersPerPeer;
    if (mayHaveMore && (!this.#isFull || held + 1 < this.#ofLargest.size)) return undefined;
    return refused('overloaded', { text: `this ${this.#isFull ? 'node' : 'peer'} has reached its limit of readers` });
  }

  open(to: Writable, opening: ReaderOpening): void {
    const { node, metrics } = this.deps;
    const refusal = this.refusal(opening);
    // Room for a holder with fewer readers: the oldest reader of the holder with the most is asked to resume.
    if (refusal === undefined && this.#isFull) [...this.#ofLargest][0]?.end('limit');
    const peer = opening.peer?.index ?? null;
    const reader = new StreamReader(to, {
      feed: node.group.verdicts,
      marksOf: (subject) =>
        marksFor(peer, peer === null ? [] : node.group.disputedFor(subject), node.group.refusedErasures(subject)),
      peer,
      turn: () => this.turns.next(opening.holder),
      onEnd: (ended, reason) => this.#ended(ended, reason),
      onRows: (count) => metrics.streamSynced(count),
    });
    this.#readers.set(reader, opening);
    this.#held.add(opening.holder, reader);
    metrics.streamReaders(this.#readers.size);
    if (this.#readers.size === 1) this.#listen();
    if (refusal === undefined) void reader.start(this.#hello(), opening.lastEventId);
    else reader.end(this.#isClosed ? 'draining' : 'limit');
  }

  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers.keys()) reader.end('draining');
  }

  get #isFull(): boolean {
    return this.#readers.size >= limits.streamReadersMax;
  }

  get #ofLargest(): ReadonlySet<StreamReader> {
    const { largest } = this.#held;
    return (largest === undefined ? undefined : this.#held.of(largest)) ?? new Set();
  }

  #listen(): void {
    this.#deafen = this.deps.node.group.verdicts.listen({
      publish: (rows, mark) => this.#publish(rows, mark),
      forgotten: () => {
        for (const reader of this.#readers.keys()) reader.end('rebuilt');
      },
    });
    this.#timer = setInterval(() => this.#beat(), limits.streamBeatMs).unref();
  }

  async #publish(rows: readonly ChangeRow[], mark: FeedPosition | null): Promise<void> {
    const erased = rows.filter(({ player }) => player === null);
    if (erased.length > 0) {
      // Sent at once, because the next frame to a reader that is catching up may be newer.
      const asOf = mark?.asOf ?? this.deps.clock.now();
      const erasedFor = framesByPeer(erased, (texts) => erasedFrame(texts, asOf));
      for (const reader of this.#readers.keys()) reader.erasedMeanwhile(erasedFor);
    }
    for (const reader of this.#readers.keys()) reader.begin();
    if (mark === null || rows.length === 0) return;
    const { group } = this.deps.node;
    const marked = rows.map((row) => {
      return { disputed: group.disputedFor(row.subject), refused: group.refusedErasures(row.subject), ...row };
    });
    const changeFor = framesByPeer(marked, (texts) => changeFrame(texts.join(','), true, mark));
    const sent = this.#spread.send({ position: mark.position, changeFor, rows: rows.length }, this.#readers.keys());
    // The erasure waits until all readers have these frames.
    if (erased.length > 0) this.#spread.flush();
    await sent;
  }

  #beat(): void {
    const { group } = this.deps.node;
    const now = performance.now();
    for (const [reader, { peer, keyDigest }] of this.#readers) {
      if (peer !== null && group.peerByKeyDigest(keyDigest)?.status !== 'active') reader.end('credentials');
      else reader.beat(now);
    }
  }

  #ended(reader: StreamReader, reason: string | null): void {
    const opening = this.#readers.get(reader);
    if (opening === undefined) return;
    this.#readers.delete(reader);
    this.#held.delete(opening.holder, reader);
    this.deps.metrics.streamReaders(this.#readers.size);
    this.deps.metrics.streamEnded(reason ?? 'left');
    if (this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#deafen();
  }

  #hello(): string {
    const { node, clock } = this.deps;
    return helloFrame({
      version: 1,
      group_id: node.identity.groupId,
      identity_mode: node.identity.identityMode,
      now: timeText(clock.now()),
      heartbeat_ms: limits.streamHeartbeatMs,
      score_step: limits.streamScoreStep,
      confidence_step: limits.streamConfidenceStep,
    });
  }
}

/** A change, with the peers that must see the player as disputed, or learn of a refused erasure. */
interface MarkedRow extends ChangeRow {
  readonly disputed?: readonly number[];
  readonly refused?: readonly RefusedErasure[];
}

/** One frame for all readers, and one for each peer that lost events or sees a mark. Empty without rows. */
function framesByPeer(rows: readonly MarkedRow[], frameOf: (texts: readonly string[]) => string) {
  const special = new Set(rows.flatMap(({ peers = [], disputed = [] }) => [...peers, ...disputed]));
  for (const { refused = [] } of rows) for (const { peers } of refused) for (const peer of peers) special.add(peer);
  const made = new Map<number | null, Buffer>();
  return (peer: number | null): Buffer => {
    const reader = peer !== null && special.has(peer) ? peer : null;
    return getOrMake(made, reader, () => {
      const texts = rows.flatMap((row) => rowText(row, reader));
      return texts.length === 0 ? Buffer.alloc(0) : Buffer.from(frameOf(texts));
    });
  };
}

function rowText(
  { subject, player, peers, quiet, disputed = [], refused = [] }: MarkedRow,
  reader: number | null,
): string | [] {
  const isOwn = reader !== null && peers?.includes(reader) === true;
  if (player === null) return erasedRow(subject, isOwn);
  if (quiet && !isOwn) return [];
  return playerRow(player, marksFor(reader, disputed, refused));
}

interface Piece {
  readonly frames: ChangeFrames;
  readonly left: Iterator<StreamReader>;
  readonly done: () => void;
}

/** Sends frames to a slice of the readers at a time, so that other requests run in between; to each in order. */
export class Spread {
  readonly #pieces: Piece[] = [];
  #isScheduled = false;

  /** Resolves once each reader has the frames, readers that join meanwhile included. */
  send(frames: ChangeFrames, readers: Iterable<StreamReader>): Promise<void> {
    return new Promise((done) => {
      this.#pieces.push({ frames, left: readers[Symbol.iterator](), done });
      this.#schedule();
    });
  }

  flush(): void {
    this.#run(Number.POSITIVE_INFINITY);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#pieces.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#run(performance.now() + limits.streamSliceMs);
      this.#schedule();
    });
  }

  #run(until: number): void {
    for (let piece = this.#pieces[0]; piece !== undefined; piece = this.#pieces[0]) {
      for (let next = piece.left.next(); !next.done; next = piece.left.next()) {
        next.value.send(piece.frames);
        if (performance.now() > until) return;
      }
      this.#pieces.shift();
      piece.done();
    }
  }
}
