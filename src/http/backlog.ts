/**
 * How many requests wait behind an answer of their connection, in all: a caller that pipelines and does not read what comes
 * back must not be able to fill the memory. It owns the counts and the pausing of sockets, and answers nothing.
 */
import type { Socket } from 'node:net';
import { limits } from '../limits.js';

export class Backlog {
  readonly #waiting = new Map<Socket, number>();
  #total = 0;

  /** Watches a connection for as long as it lives: whoever reads a body, or drops one, lets its socket flow. */
  watch(socket: Socket): void {
    socket.on('resume', () => this.#holdBack(socket));
    socket.once('close', () => this.#forget(socket));
  }

  /**
   * Counts one more request that waits on a connection. A connection with many is not read from until fewer wait. False where
   * all connections together hold as many as the node will: the connection must end.
   */
  add(socket: Socket): boolean {
    if (this.#total >= limits.pipelinedMax) return false;
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    this.#waiting.set(socket, waiting);
    this.#total += 1;
    this.#holdBack(socket);
    return true;
  }

  /** One that waited is handled now. */
  take(socket: Socket): void {
    const waiting = this.#waiting.get(socket);
    // The connection is gone, and all of its requests with it.
    if (waiting === undefined) return;
    this.#total -= 1;
    this.#waiting.set(socket, waiting - 1);
    if (waiting - 1 === limits.pipelinedPerConnection / 2) socket.resume();
  }

  #forget(socket: Socket): void {
    this.#total -= this.#waiting.get(socket) ?? 0;
    this.#waiting.delete(socket);
  }

  #holdBack(socket: Socket): void {
    // What comes behind the last answer is dropped, not kept.
    if (!socket.writable || (this.#waiting.get(socket) ?? 0) < limits.pipelinedPerConnection) return;
    // A socket that is paused already says nothing, and `node:http` may have told its handle to read.
    if (socket.isPaused()) socket.emit('pause');
    else socket.pause();
  }
}
