/**
 * The table of open connections. When the bound is reached it closes the connection that has been idle the longest, so that callers who only hold
 * connections keep no working caller out, and it bounds what one address holds. It reads no bytes and answers nothing.
 */
import type { Socket } from 'node:net';
import { limits } from '../limits.js';
import { addressKeyOf } from './rate-limits.js';

export interface ConnectionBounds {
  /** Connections at a time. */
  readonly max: number;
  /** Connections of one address at a time. */
  readonly perAddressMax: number;
  /** Whether connections from a loopback address are a proxy's, which stands for many callers: `perAddressMax` does not hold for them. */
  readonly loopbackIsProxy: boolean;
}

interface Connection {
  readonly socket: Socket;
  /** Whose connections are counted together; null where they are not counted. */
  readonly address: string | null;
  /** Bytes that had arrived when the connection was put at the end of the queue. */
  bytesRead: number;
}

export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #isIdle: (socket: Socket) => boolean;
  /** The longest idle come first, but for those that were active since they were put here. */
  readonly #queue = new Set<Connection>();
  readonly #perAddress = new Map<string, Set<Connection>>();

  /** `isIdle`: whether no request of a connection is under way. */
  constructor(bounds: ConnectionBounds, isIdle: (socket: Socket) => boolean) {
    this.#bounds = bounds;
    this.#isIdle = isIdle;
  }

  /** Takes a new connection, closing an idle one where there is no room. False where nothing can make room: it must be refused. */
  admit(socket: Socket): boolean {
    const { max, perAddressMax } = this.#bounds;
    const address = this.#countedAddress(socket);
    const ofAddress = address === null ? undefined : this.#perAddress.get(address);
    if (ofAddress !== undefined && ofAddress.size >= perAddressMax && !this.#evictFrom(ofAddress)) return false;
    if (this.#queue.size >= max && !this.#evictFrom(this.#queue)) return false;
    this.#add({ socket, address, bytesRead: socket.bytesRead });
    return true;
  }

  #add(connection: Connection): void {
    const { socket, address } = connection;
    this.#queue.add(connection);
    if (address !== null) {
      const ofAddress = this.#perAddress.get(address) ?? new Set();
      this.#perAddress.set(address, ofAddress.add(connection));
    }
    socket.once('close', () => this.#remove(connection));
  }

  #remove(connection: Connection): void {
    const { address } = connection;
    this.#queue.delete(connection);
    if (address === null) return;
    const ofAddress = this.#perAddress.get(address);
    ofAddress?.delete(connection);
    if (ofAddress?.size === 0) this.#perAddress.delete(address);
  }

  /**
   * Closes the first connection that is idle and was so since it was put in its place. One that was active meanwhile gets a second chance at the
   * end. Where all that were looked at were active, the first idle one among them goes.
   */
  #evictFrom(queue: Set<Connection>): boolean {
    let fallback: Connection | undefined;
    let looks = Math.min(queue.size, limits.evictionLooks);
    // A set that changes goes on with what was added: the bound ends the loop.
    for (const connection of queue) {
      if (looks-- === 0) break;
      const { socket } = connection;
      const isIdle = this.#isIdle(socket);
      if (isIdle && socket.bytesRead === connection.bytesRead) return this.#evict(connection);
      if (isIdle) fallback ??= connection;
      connection.bytesRead = socket.bytesRead;
      queue.delete(connection);
      queue.add(connection);
    }
    return fallback !== undefined && this.#evict(fallback);
  }

  #evict(connection: Connection): true {
    // Its place is free at once; `close` comes later.
    this.#remove(connection);
    connection.socket.destroy();
    return true;
  }

  #countedAddress(socket: Socket): string | null {
    const address = addressKeyOf(socket.remoteAddress);
    const isLoopback = address.startsWith('127.') || address === addressKeyOf('::1');
    return isLoopback && this.#bounds.loopbackIsProxy ? null : address;
  }
}
