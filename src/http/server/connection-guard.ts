/** Decides by its bounds which connection of the public port must end; the server answers and closes it. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getOrMake } from '../../core/get-or-make.js';
import type { Holder } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';
import type { ArrivingBody, BodyAdmission, BodyStart } from '../request/request.js';
import { systemTime, type TurnTime } from '../room/work-turns.js';
import { pauseReads } from './node-http.js';

export type GuardBounds = Readonly<Record<keyof typeof limits, number>>;

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

interface BatchBody extends ArrivingBody {
  readonly of: BodiesOfHolder;
  readonly socket: Socket;
  readonly since: number;
  bytes: number;
  bytesSeen: number;
  slowLooks: number;
  isClosed: boolean;
}

export class ConnectionGuard implements BodyAdmission {
  readonly #watched = new Map<Duplex, Watched>();
  #places = 0;
  /** Late connections, with what had arrived when reported. A few are ended at a time, so that others are served. */
  #late: (readonly [Watched, Arrived])[] = [];
  readonly #holders = new Map<Holder, BodiesOfHolder>();
  #bodyBytes = 0;
  /** Bodies that count during an overload, oldest first. */
  readonly #counted = new Set<BatchBody>();
  #timers: readonly NodeJS.Timeout[] = [];

  constructor(
    private readonly server: GuardedServer,
    private readonly bounds: GuardBounds = limits,
    private readonly time: Pick<TurnTime, 'now' | 'after'> = systemTime,
  ) {}

  start(): void {
    const { connectionsCheckingIntervalMs, arrivingLookMs } = this.bounds;
    this.#timers = [
      setInterval(() => this.endUnread(), connectionsCheckingIntervalMs).unref(),
      setInterval(() => this.endSlowBodies(), arrivingLookMs).unref(),
    ];
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

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
      watched.resumedAt = this.time.now();
      // A reader of a body, or code that drops a body, resumes the socket.
      this.#pauseIfFull(watched);
    });
  }

  // Unread answers

  endUnread(): void {
    const now = this.time.now();
    for (const watched of this.#watched.values()) {
      const { socket, stuckSince } = watched;
      const sentBytes = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0) {
        watched.stuckSince = null;
      } else if (stuckSince === null || watched.sentBytes !== sentBytes) {
        watched.sentBytes = sentBytes;
        watched.stuckSince = now;
      } else if (now - stuckSince >= this.bounds.unreadTimeoutMs) {
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
    if (watched !== undefined) this.#endSoon(watched, this.server.arrivedOn(socket));
  }

  #endSoon(watched: Watched, then: Arrived): void {
    if (this.#late.push([watched, then]) === 1) this.time.after(1, () => this.#endLate());
  }

  #endLate(): void {
    const { connectionsEndedPerMs, connectionsEndedTurns } = this.bounds;
    const now = this.#late.splice(
      0,
      Math.max(connectionsEndedPerMs, Math.ceil(this.#late.length / connectionsEndedTurns)),
    );
    // Schedule the next turn first, because connections that are added meanwhile rely on it.
    if (this.#late.length > 0) this.time.after(1, () => this.#endLate());
    for (const [watched, then] of now) this.#endIfStillLate(watched, then);
  }

  /** `then` is what had arrived when the request was reported. */
  #endIfStillLate(watched: Watched, then: Arrived): void {
    const { socket } = watched;
    if (socket.destroyed) return;
    const { headersTimeoutMs, requestTimeoutMs } = this.bounds;
    const now = this.server.arrivedOn(socket);
    if (now.request === then.request && now.complete === then.complete) {
      // The rest may have arrived unread, and the time in which the node did not read does not count.
      const isExcused = socket.isPaused() || this.time.now() - watched.resumedAt < headersTimeoutMs;
      if (isExcused) this.time.after(headersTimeoutMs, () => this.#endSoon(watched, then));
      else this.server.end(socket, 'request_timeout');
    } else if (now.request !== undefined && !now.complete) {
      // The head arrived after the report, and the parser makes no second report for the body.
      this.time.after(requestTimeoutMs, () => this.#endSoon(watched, now));
    }
  }

  // Pipelines

  /** Pauses the connection while too many requests wait; false if it must end, as all together have too many. */
  enqueue({ socket, headers }: Request): boolean {
    const watched = this.#watched.get(socket);
    if (watched === undefined || this.#places >= this.bounds.pipelinedMax) return false;
    const places = this.#placesOf(headers);
    watched.places += places;
    this.#places += places;
    this.#pauseIfFull(watched);
    return true;
  }

  dequeue({ socket, headers }: Request): void {
    const watched = this.#watched.get(socket);
    // The requests of a closed connection no longer count.
    if (watched === undefined) return;
    const before = watched.places;
    watched.places -= this.#placesOf(headers);
    this.#places -= before - watched.places;
    const few = this.bounds.pipelinedPerConnection / 2;
    if (before > few && watched.places <= few) socket.resume();
  }

  #pauseIfFull({ socket, places }: Watched): void {
    // After the last answer was sent, further bytes are dropped instead.
    if (!socket.writable || places < this.bounds.pipelinedPerConnection) return;
    pauseReads(socket);
  }

  /** Node buffers at most one read of a body that has no reader yet. */
  #placesOf(headers: Request['headers']): number {
    const bytes = 'transfer-encoding' in headers ? limits.readBytes : Number(headers['content-length'] ?? 0);
    return 1 + Math.floor(Math.min(bytes, limits.readBytes) / this.bounds.pipelinedPlaceBytes);
  }

  // Bodies of batches

  /**
   * Admits the body of a batch; undefined during an overload if too many are in flight: half-read bodies cost the
   * garbage collector tens of milliseconds. A slow body stops counting, so that slow callers cannot keep others out.
   */
  beginBody(start: BodyStart): BatchBody | undefined {
    const { holder, now, overloaded, isFirst } = start;
    const { batchesArriving, arrivingMs } = this.bounds;
    for (const one of this.#counted) {
      if (now - one.since < arrivingMs) break;
      this.#uncount(one);
    }
    const known = this.#holders.get(holder);
    if (overloaded && this.#counted.size >= batchesArriving) {
      const holders = this.#holders.size + (known === undefined ? 1 : 0);
      if ((known?.counted ?? 0) * holders >= batchesArriving || !isFirst) return undefined;
    }
    const of = known ?? getOrMake(this.#holders, holder, () => ({ holder, bodies: new Set(), bytes: 0, counted: 0 }));
    const body: BatchBody = {
      ...{ of, socket: start.socket, since: now, bytes: 0, bytesSeen: 0, slowLooks: 0, isClosed: false },
      onDrop: () => undefined,
      arrived: (more) => {
        if (!body.isClosed) this.#countBytes(body, more);
        return !body.isClosed;
      },
      end: () => this.#release(body),
    };
    this.#counted.add(body);
    of.counted += 1;
    of.bodies.add(body);
    return body;
  }

  /** Counts bytes of a body. Without room, the largest body of the holder with the most bytes is refused. */
  #countBytes(body: BatchBody, bytes: number): void {
    body.bytes += bytes;
    body.of.bytes += bytes;
    this.#bodyBytes += bytes;
    while (this.#bodyBytes > this.bounds.arrivingBytes) this.#dropBody(this.#largestBody(), 'overloaded');
  }

  #release(body: BatchBody): void {
    const { of } = body;
    if (!of.bodies.delete(body)) return;
    body.isClosed = true;
    this.#uncount(body);
    of.bytes -= body.bytes;
    this.#bodyBytes -= body.bytes;
    if (of.bodies.size === 0) this.#holders.delete(of.holder);
  }

  endSlowBodies(): void {
    const { arrivingBytesPerLook, arrivingSlowLooks } = this.bounds;
    for (const { bodies } of this.#holders.values()) {
      for (const body of bodies) {
        const isSlow = body.bytes - body.bytesSeen < arrivingBytesPerLook;
        body.bytesSeen = body.bytes;
        body.slowLooks = isSlow ? body.slowLooks + 1 : 0;
        if (body.slowLooks >= arrivingSlowLooks) this.#dropBody(body, 'request_timeout');
      }
    }
  }

  #uncount(body: BatchBody): void {
    if (this.#counted.delete(body)) body.of.counted -= 1;
  }

  #dropBody(body: BatchBody, code: 'overloaded' | 'request_timeout'): void {
    this.#release(body);
    this.server.end(body.socket, code);
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
