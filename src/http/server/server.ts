/** Owns the public port: node:http, the fast path and Koa, and a shutdown that drops no accepted request. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { limits } from '../../limits.js';
import { listening } from '../../listening.js';
import type { HttpDeps } from '../deps.js';
import { createEndpoints, type Endpoints } from '../handlers/endpoints.js';
import { createApplication } from '../koa/app.js';
import { type AnsweringDeps, hasForeignExpectation } from '../request/answering.js';
import { isAnswerable } from '../request/body.js';
import { ReadTurns } from '../room/read-turns.js';
import { WorkTurns } from '../room/work-turns.js';
import { StreamReaders } from '../verdict-stream/readers.js';
import { answerRaw, parserFailureCode, type RawCode } from './client-error.js';
import { ConnectionGuard } from './connection-guard.js';
import { Connections } from './connections.js';
import { closeGently, createBoundedServer, detachConnections, feedUnread } from './node-http.js';

interface UnderWay {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The answer that is sent first, if this request was pipelined behind it. */
  readonly before: ServerResponse | undefined;
}

/** Time for callers to read their answers at shutdown. Leaves time for a last snapshot. */
const drainMs = limits.shutdownMs - limits.shutdownSnapshotMs;
/** The part of that time for requests that are still arriving. The last check comes one interval later. */
const arrivalMs = drainMs - limits.lingerMs - 2 * limits.connectionsCheckingIntervalMs;

/** A connection belongs to the fast path first, if there is one, and then to node:http or, as a tunnel, to the link. */
export class ApiServer {
  readonly #connections: Connections;
  readonly #server: Server;
  readonly #adopt: (socket: Duplex) => void;
  readonly #readers: StreamReaders;
  readonly #fastPath: FastPath | null;
  readonly #application: ReturnType<typeof createApplication>;
  readonly #sockets = new Map<Duplex, UnderWay | undefined>();
  readonly #tunnels = new WeakSet<Duplex>();
  readonly #failed = new WeakSet<Duplex>();
  /** Requests whose callers wait for status 100 before they send the body. */
  readonly #awaited = new WeakSet<IncomingMessage>();
  readonly #guard = new ConnectionGuard({
    arrivedOn: (socket) => {
      const request = this.#sockets.get(socket)?.request;
      return { request, complete: request?.complete === true };
    },
    end: (socket, code) => this.#refuse({}, code, socket),
  });
  #accepted = 0;
  #tunnelsRefused = { second: 0, count: 0 };
  readonly #work = new WorkTurns(() => this.#accepted);
  #draining = false;

  /** `createFastPath` is null if Koa answers everything. */
  constructor(
    private readonly deps: HttpDeps,
    createFastPath: CreateFastPath | null,
  ) {
    const { connectionsMax, loopbackIsProxy } = deps.settings;
    const answering = { metrics: deps.metrics, log: deps.log, isDraining: () => this.#draining };
    const perAddressMax = Math.ceil(connectionsMax * limits.connectionsAddressShare);
    const bounds = { max: connectionsMax, perAddressMax, loopbackIsProxy };
    this.#connections = new Connections(bounds, (socket) => this.#isIdle(socket));
    const turns = new ReadTurns();
    this.#readers = new StreamReaders(deps, turns);
    const endpoints = createEndpoints(deps, this.#readers, this.#guard, turns, this.#work);
    this.#fastPath = createFastPath?.(endpoints, { ...answering, work: this.#work }) ?? null;
    this.#application = createApplication(endpoints, answering);
    this.#server = createBoundedServer(connectionsMax);
    this.#adopt = detachConnections(this.#server);
    this.#listenTo(this.#server);
  }

  /** Resolves with the address in use; `port` 0 picks a free one. Rejects if the address is unavailable. */
  async listen(host: string, port: number): Promise<{ host: string; port: number }> {
    const address = await listening(this.#server, host, port);
    this.#guard.start();
    return address;
  }

  /** Stops accepting, answers what arrives within a short time, and resolves once all is closed. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#readers.close();
    this.#work.endThrottling();
    const startedAt = performance.now();
    await this.#acceptLast(startedAt + limits.acceptLastMs);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    let looksTooLate = 0;
    const sweeping = setInterval(() => {
      const closedMs = performance.now() - startedAt;
      // A process that was suspended gets one more check, to read what the kernel has buffered.
      if (closedMs >= arrivalMs) looksTooLate++;
      for (const socket of this.#sockets.keys()) this.#sweep(socket, looksTooLate > 1);
      this.#fastPath?.closeIdle();
      if (closedMs >= drainMs) this.#guard.dropUnread();
    }, limits.connectionsCheckingIntervalMs);
    await closed;
    clearInterval(sweeping);
    this.#guard.stop();
  }

  /** Accepts, one per turn of the loop, the connections that the system has accepted and would otherwise reset. */
  async #acceptLast(endMs: number): Promise<void> {
    let before: number;
    do {
      before = this.#accepted;
      // The event loop accepts connections between the two turns.
      await turnOfLoop();
      await turnOfLoop();
    } while (this.#accepted > before && performance.now() < endMs);
  }

  #listenTo(server: Server): void {
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => this.#onRequest(request, response);
    server.on('request', onRequest);
    server.on('checkExpectation', onRequest);
    server.on('checkContinue', (request, response) => {
      this.#awaited.add(request);
      this.#onRequest(request, response);
    });
    // Tunnels, except those to other nodes, are refused like bytes that do not parse, after all earlier requests.
    const tunnel = Object.assign(new Error('a tunnel was asked for'), { code: 'HPE_INVALID_METHOD' });
    server.on('connect', (request, socket, head) => {
      if (this.#sockets.get(socket) !== undefined) server.emit('clientError', tunnel, socket);
      else if (this.#opensTunnel(request.url ?? '', socket, head)) this.#sockets.delete(socket);
      else this.#refuseTunnel(socket as Socket);
    });
    server.on('clientError', (failure: Error & { code?: string }, socket) => {
      const code = parserFailureCode(failure);
      if (code === 'request_timeout') this.#guard.reportLate(socket);
      else this.#refuse(failure, code, socket);
    });
    server.on('connection', (socket) => this.#onConnection(socket));
  }

  #onConnection(socket: Socket): void {
    this.#accepted += 1;
    // node:http removes its own listener for a tunnel, and a caller that disconnects then would end the process.
    socket.on('error', () => socket.destroy());
    this.#guard.watch(socket);
    if (!this.#connections.admit(socket)) answerRaw(this.deps, socket, 'overloaded');
    else if (this.#fastPath === null) this.#useNodeHttp(socket, Buffer.alloc(0), false);
    else this.#fastPath.open(socket, (rest, isEnded) => this.#leaveFastPath(socket, rest, isEnded));
  }

  #opensTunnel(authority: string, socket: Duplex, rest: Buffer): boolean {
    const isOpen = this.deps.tunnel?.(authority, socket, rest) === true;
    if (isOpen) this.#tunnels.add(socket);
    return isOpen;
  }

  /** Beyond so many a second in all, resets the connection, which takes half the time of an answer. */
  #refuseTunnel(socket: Socket): void {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#tunnelsRefused.second) this.#tunnelsRefused = { second, count: 0 };
    const isAnswered = this.#tunnelsRefused.count++ < limits.tunnelsAnsweredPerS;
    // A reset could lose the answers to earlier requests.
    if (isAnswered || socket.bytesWritten > 0) answerRaw(this.deps, socket, 'invalid_parameter');
    else {
      this.deps.metrics.requestAnswered('none', 'other', 400, 'invalid_parameter', 0);
      socket.resetAndDestroy();
    }
  }

  /** Tunnels skip node:http, since strangers may ask for them often, and its refusal takes half as long again. */
  #leaveFastPath(socket: Socket, rest: Buffer, isEnded: boolean): void {
    const asked = isEnded ? undefined : tunnelAskedFor(rest);
    if (asked === undefined) {
      this.#useNodeHttp(socket, rest, isEnded);
      return;
    }
    socket.pause();
    if (!this.#opensTunnel(asked.authority, socket, rest.subarray(asked.headLength))) this.#refuseTunnel(socket);
  }

  #useNodeHttp(socket: Socket, rest: Buffer, isEnded: boolean): void {
    this.#adopt(socket);
    this.#sockets.set(socket, undefined);
    this.#guard.watchParsed(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    feedUnread(socket, rest, isEnded);
  }

  /**
   * Returns whether a connection has no request in progress. An incomplete head is none, nor is a request that waits
   * for a body that no route reads: else a caller could hold a connection by announcing such a body.
   */
  #isIdle(socket: Socket): boolean {
    if (this.#tunnels.has(socket)) return false;
    if (!this.#sockets.has(socket)) return this.#fastPath?.isIdle(socket) ?? true;
    const last = this.#sockets.get(socket);
    if (last === undefined || last.response.writableFinished) return true;
    return !isWaiting(last) && !last.request.complete && !last.response.headersSent && hasUnreadBody(last.request);
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // Ignore requests that were read together with a refused one.
    if (this.#failed.has(socket)) return;
    // Node assigns the socket to a response once the previous answer has been sent.
    const before = response.socket === null ? this.#sockets.get(socket)?.response : undefined;
    this.#sockets.set(socket, { request, response, before });
    // A list of codings that ends in `chunked` is one coding for the parser, and may be another for a proxy.
    if (hasForeignCoding(request)) {
      this.#refuse({}, 'invalid_parameter', socket);
      return;
    }
    // Node's parser drops the bytes after a request for another protocol.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (before === undefined) {
      this.#handle(request, response);
      return;
    }
    if (!this.#guard.enqueue(request)) {
      socket.destroy();
      return;
    }
    // RFC 9112, section 9.3.2: a request that follows a write in a pipeline must see the write done.
    before.once('finish', () => {
      this.#guard.dequeue(request);
      if (!before.shouldKeepAlive) return;
      if (this.#work.isTurnOver) setImmediate(() => this.#handle(request, response));
      else this.#handle(request, response);
    });
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    if (!isAnswerable(request)) return;
    const hasBody = hasUnreadBody(request);
    const isExpected = !hasForeignExpectation(request);
    // The status 100 waits for the request's turn: Node would write it before pending answers. A declared length above
    // the bound is refused before the body is sent.
    if (
      this.#awaited.has(request) &&
      isExpected &&
      (hasBody || Number(request.headers['content-length'] ?? 0) <= limits.batchBodyBytes)
    ) {
      response.writeContinue();
    }
    // A caller whose expectation is refused may wait for the refusal before it sends its body.
    if (!hasBody || !isExpected) {
      if (request.headers['transfer-encoding'] === undefined) this.#answer(request, response);
      // A fault in chunks that came with the head is found first, whichever path answers faster.
      else setImmediate(() => this.#answerUnlessFailed(request, response));
      return;
    }
    // Otherwise it would be carried out and then answered with 400 too, if further bytes are no request.
    request.once('end', () => this.#answer(request, response));
    request.resume();
  }

  #answerUnlessFailed(request: IncomingMessage, response: ServerResponse): void {
    // A fault in the bytes after a complete request does not belong to that request.
    if (request.complete || !this.#failed.has(request.socket)) this.#answer(request, response);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.#fastPath?.answer(request, response) !== true) this.#application(request, response);
  }

  /** Ends a connection whose bytes are no request, after the answers to accepted requests; with `code` if given. */
  #refuse(failure: { readonly code?: string }, code: RawCode | undefined, socket: Duplex): void {
    // The sending half has ended, so the rest of the connection is ignored.
    if (socket.writableEnded) return;
    const last = this.#sockets.get(socket);
    // Bytes after a request that asked to close are ignored. The pending answer ends the connection.
    if (this.#failed.has(socket) || failure.code === 'HPE_CLOSED_CONNECTION') return;
    this.#failed.add(socket);
    if (code === undefined) {
      socket.destroy();
      return;
    }
    // An answer that ends the connection is the last one, even if more bytes follow its request.
    if (last?.request.complete && !last.response.shouldKeepAlive) return;
    if (last === undefined || last.response.writableFinished) {
      answerRaw(this.deps, socket, code);
    } else if (last.request.complete || last.response.writableEnded) {
      // The fault follows an accepted request, which is answered first. This listener must precede the one of Node,
      // which closes the connection of a caller that has ended its half.
      last.response.prependOnceListener('finish', () => {
        if (last.response.shouldKeepAlive) answerRaw(this.deps, socket, code);
      });
    } else if (isWaiting(last)) {
      const { before, request } = last;
      before.prependOnceListener('finish', () => {
        if (before.shouldKeepAlive) answerRaw(this.deps, socket, code, request.headers);
      });
    } else if (last.response.headersSent) {
      closeGently(socket);
    } else {
      answerRaw(this.deps, socket, code, last.request.headers);
    }
  }

  /** Closes a connection without an accepted request. One that is arriving may go on until `arrivingOver`. */
  #sweep(socket: Duplex, arrivingOver: boolean): void {
    const last = this.#sockets.get(socket);
    if (last === undefined || last.response.writableFinished) {
      closeGently(socket);
    } else if (last.request.complete || isWaiting(last)) {
      // The pending answer closes the connection.
    } else if (last.response.headersSent) {
      closeGently(socket);
    } else if (arrivingOver && !this.#failed.has(socket)) {
      this.#failed.add(socket);
      answerRaw(this.deps, socket, 'request_timeout', last.request.headers);
    }
  }
}

/** Returns the authority if the bytes begin with the whole head of a request for a tunnel, and are not many. */
function tunnelAskedFor(bytes: Buffer): { readonly authority: string; readonly headLength: number } | undefined {
  if (bytes.length > limits.linkHeadBytes) return undefined;
  const [head, authority] = /^CONNECT (\S+) HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(bytes.toString('latin1')) ?? [];
  return head === undefined || authority === undefined ? undefined : { authority, headLength: head.length };
}

/** Returns whether a body may follow that no route reads. Only `POST` accepts one. */
function hasUnreadBody({ method, headers }: IncomingMessage): boolean {
  return method !== 'POST' && ('transfer-encoding' in headers || 'content-length' in headers);
}

/** Returns whether the body has another coding than a single `chunked` (RFC 9112, section 6.1). */
function hasForeignCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && coding.trim().toLowerCase() !== 'chunked';
}

function isWaiting(one: UnderWay): one is UnderWay & { readonly before: ServerResponse } {
  const { before } = one;
  return before !== undefined && !before.writableFinished;
}

export type FallBack = (unread: Buffer, isEnded: boolean) => void;

export interface FastPath {
  /** Opens a connection. `fallBack` passes it on; its next reader begins with `unread`, and the end if it was read. */
  open(socket: Socket, fallBack: FallBack): void;
  /** Returns whether a connection of the fast path has no request in progress. True for any other connection. */
  isIdle(socket: Socket): boolean;
  /** Closes its connections without a request in progress. The others close with their answer. */
  closeIdle(): void;
  /** Answers a request that node:http has parsed. Returns false, without any effect, if it is not its own. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
}

export type FastPathDeps = AnsweringDeps & { readonly work: Pick<WorkTurns, 'isTurnOver'> };

export type CreateFastPath = (endpoints: Endpoints, deps: FastPathDeps) => FastPath;
