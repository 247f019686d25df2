/**
 * Batches whose bodies are on their way in. What they hold counts as it arrives and is bounded in all: when there is no room, the largest
 * body of the holder with the most bytes is refused. A body that arrives too slowly ends. While the node is overloaded only so many are
 * taken in at a time: the rest is refused by its head, and its body dropped piece by piece, since bodies that lie about half read make the
 * garbage collector work for tens of milliseconds. One that takes long no longer counts, or slow callers could keep the others out.
 */
import type { Socket } from 'node:net';
import { getOrMake } from '../core/get-or-make.js';
import type { Holder } from '../group/holder.js';
import { limits } from '../limits.js';

/** Answers a request whose body is not read to its end, and ends its connection. */
export type EndBody = (socket: Socket, code: 'overloaded' | 'request_timeout') => void;

/** A batch whose head has arrived. */
export interface Beginning {
  readonly holder: Holder;
  readonly socket: Socket;
  /** Events that it may hold. */
  readonly events: number;
  /** By `performance.now()`. */
  readonly now: number;
  /** Whether the node is overloaded. */
  readonly overloaded: boolean;
  /** Whether the holder comes before others in an overload. */
  readonly isFirst: boolean;
}

/** The bodies of one holder. */
interface OfHolder {
  readonly holder: Holder;
  readonly bodies: Set<ArrivingBatch>;
  bytes: number;
  /** Bodies that count while the node is overloaded. */
  counted: number;
}

/** A batch whose body is on its way in. */
export class ArrivingBatch {
  /** Frees what was read of the body. Set by whoever reads it. */
  onDrop: () => void = () => undefined;
  readonly #all: ArrivingBatches;
  readonly of: OfHolder;
  readonly socket: Socket;
  /** Events that it may hold. */
  readonly events: number;
  /** By `performance.now()`. */
  readonly since: number;
  bytes = 0;
  /** Of `bytes`, at the last look. */
  bytesSeen = 0;
  /** Looks in a row that found too few new bytes. */
  slowLooks = 0;
  /** Whether nothing more of the body is taken. */
  isOver = false;

  constructor(all: ArrivingBatches, of: OfHolder, { socket, events, now }: Beginning) {
    this.#all = all;
    this.of = of;
    this.socket = socket;
    this.events = events;
    this.since = now;
  }

  /** So many more bytes of the body are held. False where it is over: they are not to be kept. */
  arrived(bytes: number): boolean {
    if (!this.isOver) this.#all.hold(this, bytes);
    return !this.isOver;
  }

  /** The body is there, or will never be. */
  end(): void {
    this.#all.release(this);
  }
}

export class ArrivingBatches {
  readonly #endBody: EndBody;
  readonly #holders = new Map<Holder, OfHolder>();
  #bytes = 0;
  /** Bodies that count while the node is overloaded, oldest first. */
  readonly #counted = new Set<ArrivingBatch>();
  #timer: NodeJS.Timeout | undefined;

  constructor(endBody: EndBody) {
    this.#endBody = endBody;
  }

  start(): void {
    this.#timer = setInterval(() => this.look(), limits.arrivingLookMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** One more, or undefined where there are too many. */
  begin(beginning: Beginning): ArrivingBatch | undefined {
    const { holder, now, overloaded, isFirst } = beginning;
    for (const one of this.#counted) {
      if (now - one.since < limits.arrivingMs) break;
      this.#uncount(one);
    }
    const known = this.#holders.get(holder);
    if (overloaded && this.#counted.size >= limits.batchesArriving) {
      const holders = this.#holders.size + (known === undefined ? 1 : 0);
      if ((known?.counted ?? 0) * holders >= limits.batchesArriving || !isFirst) return undefined;
    }
    const of = known ?? getOrMake(this.#holders, holder, () => ({ holder, bodies: new Set(), bytes: 0, counted: 0 }));
    const arriving = new ArrivingBatch(this, of, beginning);
    this.#counted.add(arriving);
    of.counted += 1;
    of.bodies.add(arriving);
    return arriving;
  }

  /** Counts bytes of a body; where there is no room for them, a body is refused. */
  hold(arriving: ArrivingBatch, bytes: number): void {
    arriving.bytes += bytes;
    arriving.of.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > limits.arrivingBytes) this.#drop(this.#largest(), 'overloaded');
  }

  release(arriving: ArrivingBatch): void {
    const { of } = arriving;
    if (!of.bodies.delete(arriving)) return;
    arriving.isOver = true;
    this.#uncount(arriving);
    of.bytes -= arriving.bytes;
    this.#bytes -= arriving.bytes;
    if (of.bodies.size === 0) this.#holders.delete(of.holder);
  }

  /** Ends the bodies that were too slow at several looks in a row. */
  look(): void {
    for (const { bodies } of this.#holders.values()) {
      for (const body of bodies) {
        const isSlow = body.bytes - body.bytesSeen < limits.arrivingBytesPerLook;
        body.bytesSeen = body.bytes;
        body.slowLooks = isSlow ? body.slowLooks + 1 : 0;
        if (body.slowLooks >= limits.arrivingSlowLooks) this.#drop(body, 'request_timeout');
      }
    }
  }

  #uncount(arriving: ArrivingBatch): void {
    if (this.#counted.delete(arriving)) arriving.of.counted -= 1;
  }

  #drop(body: ArrivingBatch, code: Parameters<EndBody>[1]): void {
    this.release(body);
    this.#endBody(body.socket, code);
    body.onDrop();
  }

  /** The largest body of the holder with the most bytes. */
  #largest(): ArrivingBatch {
    let most: OfHolder | undefined;
    for (const of of this.#holders.values()) if (of.bytes > (most?.bytes ?? 0)) most = of;
    let largest: ArrivingBatch | undefined;
    for (const body of most?.bodies ?? []) if (body.bytes > (largest?.bytes ?? 0)) largest = body;
    if (largest === undefined) throw new Error('the bytes of bodies on their way in do not add up');
    return largest;
  }
}
