/** The public port: node:http with the contract's bounds around the Koa application, its failures, and its end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { limits } from '../../limits.js';
import type { FaceDeps } from '../deps.js';
import { type Application, createApplication } from '../koa/app.js';
import { createEndpoints } from '../koa/endpoints.js';
import { hasForeignExpectation, isAnswerable } from '../request/answering.js';
import { StreamReaders } from '../verdict-stream/readers.js';
import { answerRaw, parserFailureCode, type RawCode } from './client-error.js';
import { closeGently } from './closing.js';
import { ConnectionGuard } from './connection-guard.js';
import { Connections } from './connections.js';
import type { CreateFastPath, FastPath } from './fast-path-port.js';

export interface HttpFace {
  /** Resolves with the address in use; `port` 0 picks a free one. Rejects where the address cannot be had. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Stops accepting, answers what arrives in full within a moment, and resolves once every connection is closed. */
  drain(): Promise<void>;
}

/** The newest request of a connection and its answer. */
interface UnderWay {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The answer that goes out first, where this request was sent before it: a pipeline. */
  readonly before: ServerResponse | undefined;
}

/** What callers get to take their answers at the end of the node, so that a last snapshot has its time after it. */
const drainMs = limits.shutdownMs - limits.shutdownSnapshotMs;
/** What a request that is still arriving gets of that; the last look comes one interval later. */
const arrivalMs = drainMs - limits.lingerMs - 2 * limits.connectionsCheckingIntervalMs;

/** `createFastPath` is null where Koa answers everything. */
export function createHttpFace(deps: FaceDeps, createFastPath: CreateFastPath | null): HttpFace {
  return new HttpServerFace(deps, createFastPath);
}

/**
 * Each connection and its requests. The fast path, where there is one, has a connection first, and node:http after it.
 */
class HttpServerFace implements HttpFace {
  readonly #deps: FaceDeps;
  readonly #connections: Connections;
  readonly #server: Server;
  readonly #readers: StreamReaders;
  readonly #fastPath: FastPath | null;
  readonly #application: Application;
  /** Every open connection, with the newest of its requests. */
  readonly #sockets = new Map<Duplex, UnderWay | undefined>();
  /** Connections that are not of this server any more. */
  readonly #tunnels = new WeakSet<Duplex>();
  readonly #failed = new WeakSet<Duplex>();
  /** Requests whose callers wait for 100 before they send the body. */
  readonly #awaited = new WeakSet<IncomingMessage>();
  readonly #guard = new ConnectionGuard({
    arrivedOn: (socket) => {
      const request = this.#sockets.get(socket)?.request;
      return { request, complete: request?.complete === true };
    },
    end: (socket, code) => this.#refuse({}, code, socket),
  });
  /** Connections since the start. */
  #accepted = 0;
  #draining = false;

  constructor(deps: FaceDeps, createFastPath: CreateFastPath | null) {
    const { connectionsMax, loopbackIsProxy } = deps.settings;
    const isDraining = (): boolean => this.#draining;
    this.#deps = deps;
    const perAddressMax = Math.ceil(connectionsMax * limits.connectionsAddressShare);
    const bounds = { max: connectionsMax, perAddressMax, loopbackIsProxy };
    this.#connections = new Connections(bounds, (socket) => this.#isIdle(socket));
    this.#readers = new StreamReaders(deps);
    const endpoints = createEndpoints(deps, this.#readers, this.#guard);
    this.#fastPath = createFastPath?.(endpoints, deps, isDraining) ?? null;
    this.#application = createApplication(endpoints, deps, isDraining);
    this.#server = createBoundedServer(connectionsMax);
    this.#hear(this.#server);
  }

  async listen(host: string, port: number): Promise<{ host: string; port: number }> {
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.#guard.start();
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no address');
    return { host: address.address, port: address.port };
  }

  async drain(): Promise<void> {
    this.#draining = true;
    this.#readers.close();
    const startedAt = performance.now();
    await this.#acceptLast(startedAt + limits.acceptLastMs);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    let looksTooLate = 0;
    const sweeping = setInterval(() => {
      const closedMs = performance.now() - startedAt;
      // A process that stood still has read nothing meanwhile: what lies in the kernel is read between two looks.
      if (closedMs >= arrivalMs) looksTooLate++;
      for (const socket of this.#sockets.keys()) this.#sweep(socket, looksTooLate > 1);
      this.#fastPath?.closeIdle();
      if (closedMs >= drainMs) this.#guard.dropUnread();
    }, limits.connectionsCheckingIntervalMs);
    await closed;
    clearInterval(sweeping);
    this.#guard.stop();
  }

  /** Takes the connections that the system has taken already, one in a turn of the event loop: it would reset them. */
  async #acceptLast(endMs: number): Promise<void> {
    let before: number;
    do {
      before = this.#accepted;
      // Between two of them the event loop looks for connections.
      await turnOfLoop();
      await turnOfLoop();
    } while (this.#accepted > before && performance.now() < endMs);
  }

  #hear(server: Server): void {
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => this.#onRequest(request, response);
    server.on('request', onRequest);
    server.on('checkExpectation', onRequest);
    server.on('checkContinue', (request, response) => {
      this.#awaited.add(request);
      this.#onRequest(request, response);
    });
    // No tunnels but to the other nodes: refused like what does not parse, after what was asked before it.
    const tunnel = Object.assign(new Error('a tunnel was asked for'), { code: 'HPE_INVALID_METHOD' });
    server.on('connect', (request, socket, head) => {
      if (this.#sockets.get(socket) === undefined && this.#deps.tunnel?.(request.url ?? '', socket, head) === true) {
        this.#tunnels.add(socket);
        this.#sockets.delete(socket);
      } else server.emit('clientError', tunnel, socket);
    });
    server.on('clientError', (failure: Error & { code?: string }, socket) => {
      const code = parserFailureCode(failure);
      if (code === 'request_timeout') this.#guard.reportLate(socket);
      else this.#refuse(failure, code, socket);
    });
    // What node:http itself does with a connection is put off until the fast path hands it over.
    const useNodeHttp = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      this.#onConnection(socket, (rest) => {
        for (const listener of useNodeHttp) listener.call(server, socket);
        this.#feedUnread(socket, rest);
      });
    });
  }

  /** `takeOver` makes it a connection of node:http, which has `rest` to read first. */
  #onConnection(socket: Socket, useNodeHttp: (rest: Buffer) => void): void {
    this.#accepted += 1;
    // For life: node:http takes its own away where a tunnel is asked for, and a caller that hangs up then would end the
    // process.
    socket.on('error', () => socket.destroy());
    this.#guard.watch(socket);
    if (!this.#connections.admit(socket)) {
      answerRaw(this.#deps, socket, 'overloaded');
    } else if (this.#fastPath === null) {
      useNodeHttp(Buffer.alloc(0));
    } else {
      this.#fastPath.open(socket, useNodeHttp);
    }
  }

  /**
   * Whether no request of a connection is under way. One whose head has not arrived in full is none, and one that waits
   * for a body that no route reads counts as none: else anybody could hold a connection by announcing such a body.
   */
  #isIdle(socket: Socket): boolean {
    if (this.#tunnels.has(socket)) return false;
    if (!this.#sockets.has(socket)) return this.#fastPath?.isIdle(socket) ?? true;
    const last = this.#sockets.get(socket);
    if (last === undefined || last.response.writableFinished) return true;
    return !isWaiting(last) && !last.request.complete && !last.response.headersSent && hasUnreadBody(last.request);
  }

  /** Looks after a connection that is node:http's from here on. */
  #feedUnread(socket: Socket, rest: Buffer): void {
    // By which node:http ends a connection after its last answer.
    socket.destroySoon = () => closeGently(socket);
    this.#sockets.set(socket, undefined);
    this.#guard.watchParsed(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    if (rest.length > 0) socket.emit('data', rest);
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // Behind a refusal, what was read along with it is nobody's.
    if (this.#failed.has(socket)) return;
    // Node gives it its socket once the answer before it has gone out.
    const before = response.socket === null ? this.#sockets.get(socket)?.response : undefined;
    this.#sockets.set(socket, { request, response, before });
    // A list of codings that ends in `chunked` is one for the parser, and may be another for a proxy.
    if (hasForeignCoding(request)) {
      this.#refuse({}, 'invalid_parameter', socket);
      return;
    }
    // Node's parser drops what stands after a wish for another protocol.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (before === undefined) {
      this.#handle(request, response);
      return;
    }
    if (!this.#guard.enqueue(request)) {
      socket.destroy();
      return;
    }
    // RFC 9112, section 9.3.2: what follows a write in a pipeline must find it done.
    before.once('finish', () => {
      this.#guard.dequeue(request);
      if (before.shouldKeepAlive) this.#handle(request, response);
    });
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    if (!isAnswerable(request)) return;
    const hasBody = hasUnreadBody(request);
    const isExpected = !hasForeignExpectation(request);
    // In its turn: Node would put the head of the answer in front of what waits. A body that a route reads and that is
    // too long by its own account is refused before it is sent.
    if (
      this.#awaited.has(request) &&
      isExpected &&
      (hasBody || Number(request.headers['content-length'] ?? 0) <= limits.batchBodyBytes)
    ) {
      response.writeContinue();
    }
    // A caller whose expectation is refused may wait for the refusal with its body.
    if (!hasBody || !isExpected) {
      if (request.headers['transfer-encoding'] === undefined) this.#answer(request, response);
      // Chunks that are none are found where they came with the head, whichever way answers faster.
      else setImmediate(() => this.#answerUnlessFailed(request, response));
      return;
    }
    // Answered only once all of it has proved to be a request: else it would be carried out, and then answered 400 as
    // well.
    request.once('end', () => this.#answer(request, response));
    request.resume();
  }

  #answerUnlessFailed(request: IncomingMessage, response: ServerResponse): void {
    // A fault behind a request that is whole is not its own.
    if (request.complete || !this.#failed.has(request.socket)) this.#answer(request, response);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.#fastPath?.answer(request, response) !== true) this.#application.handle(request, response);
  }

  /** Ends a connection whose bytes are no request: with `code` where there is one, after what was accepted before. */
  #refuse(failure: { readonly code?: string }, code: RawCode | undefined, socket: Duplex): void {
    // Our half has ended: the rest of the connection is nobody's.
    if (socket.writableEnded) return;
    const last = this.#sockets.get(socket);
    // What follows a request that asked to close is nobody's: the answer under way ends the connection.
    if (this.#failed.has(socket) || failure.code === 'HPE_CLOSED_CONNECTION') return;
    this.#failed.add(socket);
    if (code === undefined) {
      socket.destroy();
      return;
    }
    // An answer that ends the connection is the last one, whatever follows its request.
    if (last?.request.complete && !last.response.shouldKeepAlive) return;
    if (last === undefined || last.response.writableFinished) {
      answerRaw(this.#deps, socket, code);
    } else if (last.request.complete || last.response.writableEnded) {
      // The fault is in what was sent after it: what was accepted is answered first.
      // In front of Node's own listener, which closes the connection of a caller that has said all it had to say.
      last.response.prependOnceListener('finish', () => {
        if (last.response.shouldKeepAlive) answerRaw(this.#deps, socket, code);
      });
    } else if (isWaiting(last)) {
      const { before, request } = last;
      before.prependOnceListener('finish', () => {
        if (before.shouldKeepAlive) answerRaw(this.#deps, socket, code, request.headers);
      });
    } else if (last.response.headersSent) {
      closeGently(socket);
    } else {
      answerRaw(this.#deps, socket, code, last.request.headers);
    }
  }

  /** Closes what has nothing accepted under way; a request that is still arriving may do so until `arrivingOver`. */
  #sweep(socket: Duplex, arrivingOver: boolean): void {
    const last = this.#sockets.get(socket);
    if (last === undefined || last.response.writableFinished) {
      closeGently(socket);
    } else if (last.request.complete || isWaiting(last)) {
      // Its answer, or the one before it, closes the connection.
    } else if (last.response.headersSent) {
      closeGently(socket);
    } else if (arrivingOver && !this.#failed.has(socket)) {
      this.#failed.add(socket);
      answerRaw(this.#deps, socket, 'request_timeout', last.request.headers);
    }
  }
}

/** node:http with the contract's bounds; it answers nothing yet. */
function createBoundedServer(connectionsMax: number): Server {
  const server = createServer({
    maxHeaderSize: limits.parserHeadBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.lateRequestsLookMs,
    // Both are refused in the contract's form instead.
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  // The parser drops what is beyond in silence: one more shows that there was one more.
  server.maxHeadersCount = limits.headerCount + 1;
  server.maxConnections = connectionsMax + limits.connectionsRefusedAtOnce;
  // A client that has said all it had to say still waits for its answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Node would destroy what rests: `drain` does it gently.
  server.closeIdleConnections = () => {};
  server.on('timeout', (socket) => closeGently(socket));
  return server;
}

/** Whether a body may be there that no route reads: only `POST` takes one. */
function hasUnreadBody({ method, headers }: IncomingMessage): boolean {
  return method !== 'POST' && ('transfer-encoding' in headers || 'content-length' in headers);
}

/** Whether the body is coded in another way than by a single `chunked` (RFC 9112, section 6.1). */
function hasForeignCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && coding.trim().toLowerCase() !== 'chunked';
}

/** Whether a request's handling has not begun, because an answer before it has not gone out. */
function isWaiting(one: UnderWay): one is UnderWay & { readonly before: ServerResponse } {
  const { before } = one;
  return before !== undefined && !before.writableFinished;
}
