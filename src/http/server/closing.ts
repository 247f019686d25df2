/**
 * Closes connections so that their last answer arrives (RFC 9112, section 9.6). The system resets a connection that is
 * closed while input is unread, or that receives input after it was closed, and output that was not sent yet is lost.
 */
import type { Duplex } from 'node:stream';
import { limits } from '../../limits.js';

/**
 * Sends the pending output and `lastBytes`, and ends the sending half. Then drops input until the caller ends its half,
 * for at most `lingerMs` and `lingerBytes`. `ConnectionGuard` ends a caller that does not read.
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
