/**
 * Ends connections so that their last answer arrives (RFC 9112, section 9.6): the system resets a connection that is
 * closed with bytes unread, or that gets some later, and what was still on its way to the caller is lost with it.
 */
import type { Duplex } from 'node:stream';
import { limits } from '../../limits.js';

/**
 * Sends what waits, `lastWords` after it, and the end of our half; then reads and drops what the caller still sends
 * until it ends its own, for `lingerMs` and `lingerBytes` at most. `ConnectionGuard` ends a caller that does not read.
 * Does nothing where our half has ended before.
 */
export function closeGently(socket: Duplex, lastBytes = '', encoding: 'latin1' | 'utf8' = 'utf8'): void {
  if (!socket.writable) return;
  let dropped = 0;
  // Those of node:http, too: its parser lets go of the socket with them. Nothing that comes now is a request.
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > limits.lingerBytes) socket.destroy();
  });
  socket.once('finish', () => {
    const timer = setTimeout(() => {
      // What came while the event loop was busy is read first.
      setImmediate(() => socket.destroy());
    }, limits.lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
  });
  socket.end(lastBytes, encoding);
  socket.resume();
}
