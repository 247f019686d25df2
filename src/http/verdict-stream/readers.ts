/** All readers of the verdict stream: how many there may be, what they are told together, and when the node ends them. */
import type { Writable } from 'node:stream';
import type { ToldRow } from '../../core/told-table.js';
import { type Refusal, refused } from '../../errors.js';
import type { PeerView } from '../../group/api.js';
import type { ToldMark } from '../../group/verdict-feed.js';
import { limits } from '../../limits.js';
import { timeText } from '../bodies.js';
import type { FaceDeps } from '../deps.js';
import { changeFrame, goneFrame, goneRow, helloFrame } from './frames.js';
import { StreamReader } from './reader.js';
import { Spread } from './spread.js';

/** Who reads. */
export interface ReaderOpening {
  /** As sent; empty for none. */
  readonly lastEventId: string;
  /** Null where authentication is off. */
  readonly peer: PeerView | null;
  /** Of the key that `peer` was known by. */
  readonly keyDigest: string;
}

/** No peer acts with authentication off: all readers count together. */
const NO_PEER = -1;

export class StreamReaders {
  readonly #deps: Pick<FaceDeps, 'group' | 'clock' | 'metrics'>;
  readonly #readers = new Map<StreamReader, ReaderOpening>();
  readonly #byPeer = new Map<number, number>();
  readonly #spread = new Spread();
  #deafen: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deps: Pick<FaceDeps, 'group' | 'clock' | 'metrics'>) {
    this.#deps = deps;
  }

  /** Why no further reader of this peer is taken; undefined where one is. */
  refusal(peer: PeerView | null): Refusal | undefined {
    if (this.#isClosed) return refused('dependency_unavailable', { details: { reason: 'draining' } });
    const ofPeer = this.#byPeer.get(peer?.index ?? NO_PEER) ?? 0;
    const isFull = this.#readers.size >= limits.streamReadersMax;
    if (!isFull && (peer === null || ofPeer < limits.streamReadersPerPeer)) return undefined;
    const text = isFull ? 'this node has as many readers as it takes' : 'this peer has as many readers as it may';
    return refused('overloaded', { text });
  }

  /** Takes an answer whose head has gone out; it ends when the reader goes or the node ends it. */
  open(to: Writable, opening: ReaderOpening): void {
    const { group, metrics } = this.#deps;
    const refusal = this.refusal(opening.peer);
    const reader = new StreamReader(to, {
      feed: group.verdicts,
      onEnd: (ended, reason) => this.#ended(ended, reason),
      onRows: (count) => metrics.streamTold(count),
    });
    this.#readers.set(reader, opening);
    this.#count(opening.peer, 1);
    if (this.#readers.size === 1) this.#listen();
    if (refusal === undefined) void reader.start(this.#hello(), opening.lastEventId);
    else reader.end(this.#isClosed ? 'draining' : 'limit');
  }

  /** Takes no further readers, and ends those that there are. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers.keys()) reader.end('draining');
  }

  #listen(): void {
    this.#deafen = this.#deps.group.verdicts.listen({
      told: (rows, mark) => this.#told(rows, mark),
      forgotten: () => {
        for (const reader of this.#readers.keys()) reader.end('rebuilt');
      },
    });
    this.#timer = setInterval(() => this.#beat(), limits.streamBeatMs).unref();
  }

  async #told(rows: readonly ToldRow[], mark: ToldMark | null): Promise<void> {
    const gone = rows.filter(({ text }) => text === null).map(({ subject }) => goneRow(subject));
    if (gone.length > 0) {
      // At once: what such a reader is sent next may be newer.
      const frame = Buffer.from(goneFrame(gone, mark?.asOf ?? this.#deps.clock.now()));
      for (const reader of this.#readers.keys()) reader.goneMeanwhile(frame);
    }
    for (const reader of this.#readers.keys()) reader.begin();
    if (mark === null || rows.length === 0) return;
    const texts = rows.map(({ subject, text }) => text ?? goneRow(subject));
    const change = Buffer.from(changeFrame(texts.join(','), true, mark));
    const told = this.#spread.tell({ position: mark.position, change, rows: rows.length }, this.#readers.keys());
    // An erasure waits for this.
    if (gone.length > 0) this.#spread.flush();
    await told;
  }

  #beat(): void {
    const { group } = this.#deps;
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
    this.#count(opening.peer, -1);
    this.#deps.metrics.streamEnded(reason ?? 'left');
    if (this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#deafen();
  }

  #count(peer: PeerView | null, change: 1 | -1): void {
    const index = peer?.index ?? NO_PEER;
    const count = (this.#byPeer.get(index) ?? 0) + change;
    if (count === 0) this.#byPeer.delete(index);
    else this.#byPeer.set(index, count);
    this.#deps.metrics.streamReaders(this.#readers.size);
  }

  #hello(): string {
    const { group, clock } = this.#deps;
    return helloFrame({
      version: 1,
      group_id: group.identity.groupId,
      identity_mode: group.identity.identityMode,
      now: timeText(clock.now()),
      heartbeat_ms: limits.streamHeartbeatMs,
      score_step: limits.streamScoreStep,
      confidence_step: limits.streamConfidenceStep,
    });
  }
}
