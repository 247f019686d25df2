/**
 * Enforces `connectionBounds` on the connections of the public port: decides which connection must end; the server
 * answers and closes it. Reads no bytes.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getOrMake } from '../../core/get-or-make.js';
import type { Holder } from '../../group/holder.js';
import { limits } from '../../limits.js';
import type { ArrivingBody, BodyAdmission, BodyStart } from '../request/request.js';

/** Every bound that the guard enforces. */
export const connectionBounds = {
  // A caller that reads nothing of its answers: the connection is destroyed. Bytes that the caller sends do not count.
  /** How often connections are checked for unread answers. */
  unreadLookMs: limits.connectionsCheckingIntervalMs,
  unreadMs: limits.unreadTimeoutMs,

  // A request that arrives too late gets 408.
  /** Time for a request that was unread while the node did not read from its connection. */
  headersMs: limits.headersTimeoutMs,
  /** Time for the body of a request whose head arrived late. */
  requestMs: limits.requestTimeoutMs,
  /** Late connections that are ended in a millisecond, and the number of turns in which all of them are ended. */
  endedPerMs: limits.connectionsEndedPerMs,
  endedTurns: limits.connectionsEndedTurns,

  // Requests that wait behind an answer of their connection are counted in places of a fixed size.
  /** The connection is not read while its requests take this many places. */
  placesPerConnection: limits.pipelinedPerConnection,
  /** Places of all connections together. A connection that exceeds them is destroyed. */
  placesMax: limits.pipelinedMax,
  placeBytes: limits.pipelinedPlaceBytes,

  // Bodies of batches: a slow body gets 408, a body without room 503.
  bodyLookMs: limits.arrivingLookMs,
  bodyBytesPerLook: limits.arrivingBytesPerLook,
  bodySlowLooks: limits.arrivingSlowLooks,
  /** Bytes of all bodies together. */
  bodiesBytes: limits.arrivingBytes,
  /** Number of bodies that are admitted at a time during an overload. A body stops counting after `bodyCountsMs`. */
  bodiesInOverload: limits.batchesArriving,
  bodyCountsMs: limits.arrivingMs,
} as const;

export type ConnectionBounds = Readonly<Record<keyof typeof connectionBounds, number>>;

/** Monotonic time in ms, and timers that do not keep the process alive. */
export interface GuardTime {
  now(): number;
  after(ms: number, run: () => void): void;
}

const systemTime: GuardTime = {
  now: () => performance.now(),
  after: (ms, run) => void setTimeout(run, ms).unref(),
};

/** How much of a connection's newest request had arrived at some time. */
export interface Arrived {
  readonly request: { readonly complete: boolean } | undefined;
  readonly complete: boolean;
}

export interface GuardedServer {
  arrivedOn(socket: Duplex): Arrived;
  /** Answers with `code`, if an answer can be sent, and ends the connection. */
  end(socket: Duplex, code: 'overloaded' | 'request_timeout'): void;
}

interface Watched {
  readonly socket: Socket;
  /** Bytes that the kernel accepted in whole writes; since when it accepts no more, null if no bytes wait. */
  sentBytes: number;
  stuckSince: number | null;
  /** When the connection was last resumed. */
  resumedAt: number;
  places: number;
}

type Request = Pick<IncomingMessage, 'socket' | 'headers'>;

interface BodiesOfHolder {
  readonly holder: Holder;
  readonly bodies: Set<BatchBody>;
  bytes: number;
  counted: number;
}

class BatchBody implements ArrivingBody {
  onDrop: () => void = () => undefined;
  readonly of: BodiesOfHolder;
  readonly socket: Socket;
  readonly since: number;
  readonly #guard: ConnectionGuard;
  bytes = 0;
  bytesSeen = 0;
  slowLooks = 0;
  isClosed = false;

  constructor(guard: ConnectionGuard, of: BodiesOfHolder, { socket, now }: BodyStart) {
    this.#guard = guard;
    this.of = of;
    this.socket = socket;
    this.since = now;
  }

  arrived(bytes: number): boolean {
    if (!this.isClosed) this.#guard.countBytes(this, bytes);
    return !this.isClosed;
  }

  end(): void {
    this.#guard.release(this);
  }
}

export class ConnectionGuard implements BodyAdmission {
  readonly #server: GuardedServer;
  readonly #bounds: ConnectionBounds;
  readonly #time: GuardTime;
  readonly #watched = new Map<Duplex, Watched>();
  #places = 0;
  /**
   * Late connections, with what had arrived when they were reported. A few are ended at a time, so that others are
   * served.
   */
  #late: (readonly [Watched, Arrived])[] = [];
  readonly #holders = new Map<Holder, BodiesOfHolder>();
  #bodyBytes = 0;
  /** Bodies that count during an overload, oldest first. */
  readonly #counted = new Set<BatchBody>();
  #timers: readonly NodeJS.Timeout[] = [];

  constructor(server: GuardedServer, bounds: ConnectionBounds = connectionBounds, time: GuardTime = systemTime) {
    this.#server = server;
    this.#bounds = bounds;
    this.#time = time;
  }

  start(): void {
    const { unreadLookMs, bodyLookMs } = this.#bounds;
    this.#timers = [
      setInterval(() => this.endUnread(), unreadLookMs).unref(),
      setInterval(() => this.endSlowBodies(), bodyLookMs).unref(),
    ];
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** Watches a connection until it closes. */
  watch(socket: Socket): void {
    const watched = { socket, sentBytes: 0, stuckSince: null, resumedAt: Number.NEGATIVE_INFINITY, places: 0 };
    this.#watched.set(socket, watched);
    socket.once('close', () => {
      this.#watched.delete(socket);
      this.#places -= watched.places;
    });
  }

  watchParsed(socket: Socket): void {
    const watched = this.#watched.get(socket);
    if (watched === undefined) return;
    socket.on('resume', () => {
      watched.resumedAt = this.#time.now();
      // A reader of a body, or code that drops a body, resumes the socket.
      this.#pauseIfFull(watched);
    });
  }

  // Unread answers

  /** Destroys connections whose caller has read nothing for too long. */
  endUnread(): void {
    const now = this.#time.now();
    for (const watched of this.#watched.values()) {
      const { socket, stuckSince } = watched;
      const sentBytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0) {
        watched.stuckSince = null;
      } else if (stuckSince === null || watched.sentBytes !== sentBytes) {
        watched.sentBytes = sentBytes;
        watched.stuckSince = now;
      } else if (now - stuckSince >= this.#bounds.unreadMs) {
        socket.destroy();
      }
    }
  }

  dropUnread(): void {
    for (const { socket } of this.#watched.values()) if (socket.writableLength > 0) socket.destroy();
  }

  // Late requests

  /** Handles a report that a request is late. Node reports each once, and all late ones in one turn. */
  reportLate(socket: Duplex): void {
    const watched = this.#watched.get(socket);
    if (watched !== undefined) this.#endSoon(watched, this.#server.arrivedOn(socket));
  }

  #endSoon(watched: Watched, then: Arrived): void {
    if (this.#late.push([watched, then]) === 1) this.#time.after(1, () => this.#endLate());
  }

  #endLate(): void {
    const { endedPerMs, endedTurns } = this.#bounds;
    const now = this.#late.splice(0, Math.max(endedPerMs, Math.ceil(this.#late.length / endedTurns)));
    // Schedule the next turn first, because connections that are added meanwhile rely on it.
    if (this.#late.length > 0) this.#time.after(1, () => this.#endLate());
    for (const [watched, then] of now) this.#endIfStillLate(watched, then);
  }

  /** `then` is what had arrived when the request was reported. */
  #endIfStillLate(watched: Watched, then: Arrived): void {
    const { socket } = watched;
    if (socket.destroyed) return;
    const { headersMs, requestMs } = this.#bounds;
    const now = this.#server.arrivedOn(socket);
    if (now.request === then.request && now.complete === then.complete) {
      // The rest of the request may have arrived without being read. The time in which the node did not read does not
      // count.
      const isExcused = socket.isPaused() || this.#time.now() - watched.resumedAt < headersMs;
      if (isExcused) this.#time.after(headersMs, () => this.#endSoon(watched, then));
      else this.#server.end(socket, 'request_timeout');
    } else if (now.request !== undefined && !now.complete) {
      // The head arrived after the report, and the parser makes no second report for the body.
      this.#time.after(requestMs, () => this.#endSoon(watched, now));
    }
  }

  // Pipelines

  /**
   * Counts a request that waits for the answer before it, and pauses the connection while too many wait. Returns false
   * if the connection must end, because all connections together have too many.
   */
  enqueue({ socket, headers }: Request): boolean {
    const watched = this.#watched.get(socket);
    if (watched === undefined || this.#places >= this.#bounds.placesMax) return false;
    const places = this.#placesOf(headers);
    watched.places += places;
    this.#places += places;
    this.#pauseIfFull(watched);
    return true;
  }

  /** Stops counting a request as waiting, because it is handled now. */
  dequeue({ socket, headers }: Request): void {
    const watched = this.#watched.get(socket);
    // The requests of a closed connection no longer count.
    if (watched === undefined) return;
    const before = watched.places;
    watched.places -= this.#placesOf(headers);
    this.#places -= before - watched.places;
    const few = this.#bounds.placesPerConnection / 2;
    if (before > few && watched.places <= few) socket.resume();
  }

  #pauseIfFull({ socket, places }: Watched): void {
    // After the last answer was sent, further bytes are dropped instead.
    if (!socket.writable || places < this.#bounds.placesPerConnection) return;
    // A paused socket emits nothing when it is paused again, but the event `pause` stops reads that node:http may have
    // started.
    if (socket.isPaused()) socket.emit('pause');
    else socket.pause();
  }

  /** Node buffers at most one read of a body that has no reader yet. */
  #placesOf(headers: Request['headers']): number {
    const bytes = 'transfer-encoding' in headers ? limits.readBytes : Number(headers['content-length'] ?? 0);
    return 1 + Math.floor(Math.min(bytes, limits.readBytes) / this.#bounds.placeBytes);
  }

  // Bodies of batches

  /**
   * Admits the body of a batch; undefined during an overload if too many are in flight: half-read bodies cost the
   * garbage collector tens of milliseconds. A body that takes long stops counting, so that slow callers cannot keep
   * others out.
   */
  beginBody(start: BodyStart): BatchBody | undefined {
    const { holder, now, overloaded, isFirst } = start;
    const { bodiesInOverload, bodyCountsMs } = this.#bounds;
    for (const one of this.#counted) {
      if (now - one.since < bodyCountsMs) break;
      this.#uncount(one);
    }
    const known = this.#holders.get(holder);
    if (overloaded && this.#counted.size >= bodiesInOverload) {
      const holders = this.#holders.size + (known === undefined ? 1 : 0);
      if ((known?.counted ?? 0) * holders >= bodiesInOverload || !isFirst) return undefined;
    }
    const of = known ?? getOrMake(this.#holders, holder, () => ({ holder, bodies: new Set(), bytes: 0, counted: 0 }));
    const body = new BatchBody(this, of, start);
    this.#counted.add(body);
    of.counted += 1;
    of.bodies.add(body);
    return body;
  }

  /** Counts bytes of a body. Without room, the largest body of the holder with the most bytes is refused. */
  countBytes(body: BatchBody, bytes: number): void {
    body.bytes += bytes;
    body.of.bytes += bytes;
    this.#bodyBytes += bytes;
    while (this.#bodyBytes > this.#bounds.bodiesBytes) this.#dropBody(this.#largestBody(), 'overloaded');
  }

  release(body: BatchBody): void {
    const { of } = body;
    if (!of.bodies.delete(body)) return;
    body.isClosed = true;
    this.#uncount(body);
    of.bytes -= body.bytes;
    this.#bodyBytes -= body.bytes;
    if (of.bodies.size === 0) this.#holders.delete(of.holder);
  }

  /** Ends bodies that were too slow at several consecutive checks. */
  endSlowBodies(): void {
    const { bodyBytesPerLook, bodySlowLooks } = this.#bounds;
    for (const { bodies } of this.#holders.values()) {
      for (const body of bodies) {
        const isSlow = body.bytes - body.bytesSeen < bodyBytesPerLook;
        body.bytesSeen = body.bytes;
        body.slowLooks = isSlow ? body.slowLooks + 1 : 0;
        if (body.slowLooks >= bodySlowLooks) this.#dropBody(body, 'request_timeout');
      }
    }
  }

  #uncount(body: BatchBody): void {
    if (this.#counted.delete(body)) body.of.counted -= 1;
  }

  #dropBody(body: BatchBody, code: 'overloaded' | 'request_timeout'): void {
    this.release(body);
    this.#server.end(body.socket, code);
    body.onDrop();
  }

  #largestBody(): BatchBody {
    let most: BodiesOfHolder | undefined;
    for (const of of this.#holders.values()) if (of.bytes > (most?.bytes ?? 0)) most = of;
    let largest: BatchBody | undefined;
    for (const body of most?.bodies ?? []) if (body.bytes > (largest?.bytes ?? 0)) largest = body;
    if (largest === undefined) throw new Error('the bytes of bodies on their way in do not add up');
    return largest;
  }
}
