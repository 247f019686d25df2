/** The public port: node:http with the contract's bounds around the Koa application, its failures, and its end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { limits } from '../limits.js';
import { isAnswerable } from './answering.js';
import { createApplication } from './app.js';
import { Backlog } from './backlog.js';
import { answerRaw, parserFailureCode, type RawCode } from './client-error.js';
import { closeGently } from './closing.js';
import type { FaceDeps } from './deps.js';
import { createEndpoints } from './endpoints.js';
import { createHotShapes } from './hot-shapes.js';
import { createLane } from './lane.js';
import { LateRequests } from './late-requests.js';
import { createSocketLane } from './socket-lane.js';
import { UnreadWatch } from './unread.js';
import { StreamReaders } from './verdict-stream/readers.js';

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
/** What a request that is still arriving gets of that. */
const arrivalMs = drainMs - limits.lingerMs - limits.connectionsCheckingIntervalMs;

export function createHttpFace(deps: FaceDeps): HttpFace {
  let draining = false;
  /** Every open connection, with the newest of its requests. */
  const sockets = new Map<Duplex, UnderWay | undefined>();
  const failed = new WeakSet<Duplex>();
  /** Requests whose callers wait for 100 before they send the body. */
  const awaited = new WeakSet<IncomingMessage>();
  const backlog = new Backlog();
  const unread = new UnreadWatch();
  const late = new LateRequests(
    (socket) => {
      const request = sockets.get(socket)?.request;
      return { request, complete: request?.complete === true };
    },
    (socket) => refuse({}, 'request_timeout', socket),
  );
  const { connectionsMax } = deps.settings;
  const readers = new StreamReaders(deps);
  const endpoints = createEndpoints(deps, readers);
  const isDraining = (): boolean => draining;
  const shapes = createHotShapes(endpoints);
  const socketLane = deps.settings.fastLane ? createSocketLane(shapes, deps, isDraining) : null;
  const lane = deps.settings.fastLane ? createLane(shapes, deps, isDraining) : null;
  const application = createApplication(endpoints, deps, isDraining);

  const server: Server = createServer({
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
  server.maxConnections = connectionsMax + limits.connectionsTurnedAway;
  // A client that has said all it had to say still waits for its answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Node would destroy what rests: `drain` does it gently.
  server.closeIdleConnections = () => {};
  server.on('timeout', (socket) => closeGently(socket));

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (!isAnswerable(request)) return;
    // In its turn: Node would put the head of the answer in front of what waits. A body that is too long by its own account is
    // refused before it is sent.
    if (awaited.has(request) && Number(request.headers['content-length'] ?? 0) <= limits.batchBodyBytes) {
      response.writeContinue();
    }
    if (lane === null || !lane(request, response)) application.handle(request, response);
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    // Node gives it its socket once the answer before it has gone out.
    const before = response.socket === null ? sockets.get(socket)?.response : undefined;
    sockets.set(socket, { request, response, before });
    // Node's parser drops what stands behind a wish for another protocol.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (before === undefined) {
      handle(request, response);
      return;
    }
    if (!backlog.add(socket)) {
      socket.destroy();
      return;
    }
    // RFC 9112, section 9.3.2: what follows a write in a pipeline must find it done. If it did not arrive whole, there is
    // nothing to do.
    before.once('finish', () => {
      backlog.take(socket);
      if (request.complete || !failed.has(socket)) handle(request, response);
    });
  };
  server.on('request', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('checkContinue', (request, response) => {
    awaited.add(request);
    onRequest(request, response);
  });
  // No tunnels: refused like what does not parse, behind what was asked before it.
  const tunnel = Object.assign(new Error('a tunnel was asked for'), { code: 'HPE_INVALID_METHOD' });
  server.on('connect', (_request, socket) => server.emit('clientError', tunnel, socket));
  // What node:http itself does with a connection is put off until a lane in front lets it go.
  const takeOver = server.listeners('connection');
  server.removeAllListeners('connection');
  const handOver = (socket: Socket, rest: Buffer): void => {
    for (const listener of takeOver) listener.call(server, socket);
    // By which node:http ends a connection behind its last answer.
    socket.destroySoon = () => closeGently(socket);
    sockets.set(socket, undefined);
    late.add(socket);
    backlog.watch(socket);
    socket.once('close', () => sockets.delete(socket));
    if (rest.length > 0) socket.emit('data', rest);
  };
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    // For life: node:http takes its own away where a tunnel is asked for, and a caller that hangs up then would end the process.
    socket.on('error', () => socket.destroy());
    unread.add(socket);
    socket.once('close', () => {
      connections -= 1;
    });
    if (connections > connectionsMax) {
      answerRaw(socket, 'overloaded');
    } else if (socketLane === null) {
      handOver(socket, Buffer.alloc(0));
    } else {
      socketLane.open(socket, (rest) => handOver(socket, rest));
    }
  });
  server.on('clientError', (failure: Error & { code?: string }, socket) => {
    const code = parserFailureCode(failure);
    if (code === 'request_timeout') late.told(socket);
    else refuse(failure, code, socket);
  });
  const refuse = (failure: { readonly code?: string }, code: RawCode | undefined, socket: Duplex): void => {
    // Our half has ended: the rest of the connection is nobody's.
    if (socket.writableEnded) return;
    const last = sockets.get(socket);
    // What follows a request that asked to close is nobody's: the answer under way ends the connection.
    if (failed.has(socket) || failure.code === 'HPE_CLOSED_CONNECTION') return;
    failed.add(socket);
    if (code === undefined) {
      socket.destroy();
      return;
    }
    // An answer that ends the connection is the last one, whatever follows its request.
    if (last?.request.complete && !last.response.shouldKeepAlive) return;
    if (last === undefined || last.response.writableFinished) {
      answerRaw(socket, code);
    } else if (last.request.complete || last.response.writableEnded) {
      // The fault is in what was sent after it: what was accepted is answered first.
      // In front of Node's own listener, which closes the connection of a caller that has said all it had to say.
      last.response.prependOnceListener('finish', () => answerRaw(socket, code));
    } else if (isWaiting(last)) {
      last.before?.prependOnceListener('finish', () => answerRaw(socket, code, last.request.headers));
    } else if (last.response.headersSent) {
      closeGently(socket);
    } else {
      answerRaw(socket, code, last.request.headers);
    }
  };

  async function listen(host: string, port: number): Promise<{ host: string; port: number }> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    unread.start();
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no address');
    return { host: address.address, port: address.port };
  }

  /** Closes what has nothing accepted under way; a request that is still arriving may do so until `arrivingOver`. */
  function sweep(socket: Duplex, arrivingOver: boolean): void {
    const last = sockets.get(socket);
    if (last === undefined || last.response.writableFinished) {
      closeGently(socket);
    } else if (last.request.complete || isWaiting(last)) {
      // Its answer, or the one before it, closes the connection.
    } else if (last.response.headersSent) {
      closeGently(socket);
    } else if (arrivingOver && !failed.has(socket)) {
      failed.add(socket);
      answerRaw(socket, 'request_timeout', last.request.headers);
    }
  }

  async function drain(): Promise<void> {
    draining = true;
    readers.close();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const startedAt = performance.now();
    const sweeping = setInterval(() => {
      const goneMs = performance.now() - startedAt;
      for (const socket of sockets.keys()) sweep(socket, goneMs >= arrivalMs);
      socketLane?.closeIdle();
      if (goneMs >= drainMs) unread.giveUp();
    }, limits.connectionsCheckingIntervalMs);
    await closed;
    clearInterval(sweeping);
    unread.stop();
  }

  return { listen, drain };
}

/** Whether a request's handling has not begun, because an answer before it has not gone out. */
function isWaiting({ before }: UnderWay): boolean {
  return before !== undefined && !before.writableFinished;
}
