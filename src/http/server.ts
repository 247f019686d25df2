/** The public port: node:http with the contract's bounds around the Koa application, its failures, and its end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { limits } from '../limits.js';
import { createApplication } from './app.js';
import { answerRaw, parserFailureCode } from './client-error.js';
import type { FaceDeps } from './deps.js';

export interface HttpFace {
  /** Resolves with the address in use; `port` 0 picks a free one. Rejects where the address cannot be had. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Stops accepting, answers what has arrived in full, and resolves once every connection is closed. */
  drain(): Promise<void>;
}

/** The newest request of a connection and its answer. */
interface UnderWay {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export function createHttpFace(deps: FaceDeps): HttpFace {
  let draining = false;
  const sockets = new Set<Socket>();
  const newest = new WeakMap<Duplex, UnderWay>();
  const failed = new WeakSet<Duplex>();
  const application = createApplication(deps, () => draining);

  const server: Server = createServer({
    maxHeaderSize: limits.parserHeadBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
    // Both are refused in the contract's form instead.
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  // The parser drops what is beyond in silence: one more shows that there was one more.
  server.maxHeadersCount = limits.headerCount + 1;
  // A client that has said all it had to say still waits for its answer.
  Object.assign(server, { httpAllowHalfOpen: true });

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    newest.set(request.socket, { request, response });
    application.handle(request, response);
  };
  server.on('request', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('checkContinue', (request, response) => {
    // A body that is too long by its own account is refused before it is sent.
    if (Number(request.headers['content-length'] ?? 0) <= limits.batchBodyBytes) response.writeContinue();
    onRequest(request, response);
  });
  server.on('connect', (_request, socket) => answerRaw(socket, 'invalid_parameter'));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('clientError', (failure: Error & { code?: string }, socket) => {
    if (failed.has(socket)) return;
    failed.add(socket);
    const code = parserFailureCode(failure);
    if (code === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    const last = newest.get(socket);
    if (last === undefined || last.response.writableFinished) {
      answerRaw(socket, code);
    } else if (last.request.complete || last.response.writableEnded) {
      // The fault is in what was sent after it: what was accepted is answered first.
      last.response.once('finish', () => answerRaw(socket, code));
    } else if (last.response.headersSent) {
      socket.destroy();
    } else {
      answerRaw(socket, code);
    }
  });

  async function listen(host: string, port: number): Promise<{ host: string; port: number }> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no address');
    return { host: address.address, port: address.port };
  }

  function isIdle(socket: Socket): boolean {
    const last = newest.get(socket);
    return last === undefined || last.response.writableFinished;
  }

  async function drain(): Promise<void> {
    draining = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Requests on their way get a moment to arrive; whoever is silent or still sending after it had nothing accepted.
    const sweep = setInterval(() => {
      for (const socket of sockets) {
        if (isIdle(socket) || newest.get(socket)?.request.complete === false) socket.destroy();
      }
    }, limits.connectionsCheckingIntervalMs);
    await closed;
    clearInterval(sweep);
  }

  return { listen, drain };
}
