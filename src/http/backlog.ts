/**
 * What waits behind an answer of its connection, in all: a caller that pipelines and does not read what comes back, or sends
 * behind an answer that has no end, must not be able to fill the memory. It owns the counts and the pausing of sockets, and answers nothing.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../limits.js';

type Request = Pick<IncomingMessage, 'socket' | 'headers'>;

export class Backlog {
  /** Places that are taken. */
  readonly #waiting = new Map<Socket, number>();
  #total = 0;

  /** Watches a connection for as long as it lives: whoever reads a body, or drops one, lets its socket flow. */
  watch(socket: Socket): void {
    socket.on('resume', () => this.#holdBack(socket));
    socket.once('close', () => this.#forget(socket));
  }

  /**
   * Counts one more request that waits on its connection. A connection with many is not read from until fewer wait. False where
   * all connections together hold as much as the node will: the connection must end.
   */
  add({ socket, headers }: Request): boolean {
    if (this.#total >= limits.pipelinedMax) return false;
    const places = placesOf(headers);
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 0) + places);
    this.#total += places;
    this.#holdBack(socket);
    return true;
  }

  /** One that waited is handled now. */
  take({ socket, headers }: Request): void {
    const before = this.#waiting.get(socket);
    // The connection is gone, and all of its requests with it.
    if (before === undefined) return;
    const after = before - placesOf(headers);
    this.#total -= before - after;
    this.#waiting.set(socket, after);
    const few = limits.pipelinedPerConnection / 2;
    if (before > few && after <= few) socket.resume();
  }

  #forget(socket: Socket): void {
    this.#total -= this.#waiting.get(socket) ?? 0;
    this.#waiting.delete(socket);
  }

  #holdBack(socket: Socket): void {
    // What comes after the last answer is dropped, not kept.
    if (!socket.writable || (this.#waiting.get(socket) ?? 0) < limits.pipelinedPerConnection) return;
    // A socket that is paused already says nothing, and `node:http` may have told its handle to read.
    if (socket.isPaused()) socket.emit('pause');
    else socket.pause();
  }
}

/** Of a body that nobody reads yet, Node holds what one read of the connection brought, at most. */
function placesOf(headers: IncomingMessage['headers']): number {
  const bytes = 'transfer-encoding' in headers ? limits.readBytes : Number(headers['content-length'] ?? 0);
  return 1 + Math.floor(Math.min(bytes, limits.readBytes) / limits.pipelinedPlaceBytes);
}
