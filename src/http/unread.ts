/** Ends connections whose caller takes nothing of what it is sent. What it sends meanwhile is no sign of life. */
import type { Socket } from 'node:net';
import { limits } from '../limits.js';

interface Mark {
  /** Bytes that the kernel has taken in whole writes. */
  readonly taken: number;
  /** By `performance.now()`. */
  readonly since: number;
}

export class UnreadWatch {
  readonly #marks = new Map<Socket, Mark>();
  readonly #sockets = new Set<Socket>();
  #timer: NodeJS.Timeout | undefined;

  /** Watches a connection until it closes. */
  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#marks.delete(socket);
    });
  }

  /** Ends every connection that something is still to be sent on. */
  giveUp(): void {
    for (const socket of this.#sockets) if (socket.writableLength > 0) socket.destroy();
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(performance.now()), limits.connectionsCheckingIntervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    for (const socket of this.#sockets) {
      const taken = socket.bytesWritten - socket.writableLength;
      const mark = this.#marks.get(socket);
      if (socket.writableLength === 0) this.#marks.delete(socket);
      else if (mark?.taken !== taken) this.#marks.set(socket, { taken, since: now });
      else if (now - mark.since >= limits.unreadTimeoutMs) socket.destroy();
    }
  }
}
