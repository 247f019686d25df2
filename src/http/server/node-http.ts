/** Creates node:http's server with the contract's bounds, and holds all use of what Node does not document. */
import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { limits, serverBounds } from '../../limits.js';

export function createBoundedServer(connectionsMax: number): Server {
  const server = createServer({
    ...serverBounds,
    connectionsCheckingInterval: limits.lateRequestsLookMs,
    // Requests without Host, and bytes that only a lenient parser accepts, are refused in the contract's form.
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  // The parser silently drops further fields. One more than the bound shows that the bound was exceeded.
  server.maxHeadersCount = limits.headerCount + 1;
  server.maxConnections = connectionsMax + limits.connectionsRefusedAtOnce;
  // A client that has ended its half still waits for its answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Node would destroy idle connections; `drain` closes them gracefully.
  server.closeIdleConnections = () => {};
  server.on('timeout', (socket) => closeGently(socket));
  return server;
}

/** Removes node:http's listener of new connections. The returned function makes a connection one of node:http. */
export function detachConnections(server: Server): (socket: Duplex) => void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
    // node:http calls this to end a connection after its last answer.
    Object.assign(socket, { destroySoon: () => closeGently(socket) });
  };
}

/** Passes bytes that were read before, and the end of the caller's half if it was read too, to node:http. */
export function feedUnread(socket: Duplex, rest: Buffer, isEnded: boolean): void {
  if (rest.length > 0) socket.emit('data', rest);
  if (isEnded) socket.emit('end');
  else socket.resume();
}

/** Pauses a connection of node:http. The event `pause` stops reads that node:http may have started. */
export function pauseReads(socket: Duplex): void {
  if (socket.isPaused()) socket.emit('pause');
  else socket.pause();
}

/**
 * Sends the pending output and `lastBytes`, and ends the sending half. Then drops input until the caller ends its half,
 * for at most `lingerMs` and `lingerBytes`: the system resets a connection that is closed while input is unread, and
 * output that was not sent yet is lost (RFC 9112, section 9.6). `ConnectionGuard` ends a caller that does not read.
 */
export function closeGently(socket: Duplex, lastBytes = '', encoding: 'latin1' | 'utf8' = 'utf8'): void {
  if (!socket.writable) return;
  let dropped = 0;
  // Also removes the listeners of node:http, whose parser then releases the socket.
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > limits.lingerBytes) socket.destroy();
  });
  socket.once('finish', () => {
    const timer = setTimeout(() => {
      // Read first what arrived while the event loop was busy.
      setImmediate(() => socket.destroy());
    }, limits.lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
  });
  socket.end(lastBytes, encoding);
  socket.resume();
}
