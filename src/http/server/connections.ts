/**
 * Bounds the connections, of one address and in all. At the bound of all it closes an idle one: first one of the
 * address with the most, if that exceeds its share, else the longest idle one.
 */
import type { Socket } from 'node:net';
import { limits } from '../../limits.js';
import { addressKeyOf } from '../../validation/address-key.js';
import { Holdings } from '../room/holdings.js';

export interface ConnectionBounds {
  readonly max: number;
  readonly perAddressMax: number;
  /** Loopback connections belong to a proxy, which stands for many callers: `perAddressMax` does not apply to them. */
  readonly loopbackIsProxy: boolean;
}

interface Connection {
  readonly socket: Socket;
  /** The address under which the connection is counted; null if it is not counted. */
  readonly address: string | null;
  /** Bytes that had arrived when the connection was put at the end of the queue. */
  bytesRead: number;
  chances: number;
}

export class Connections {
  /** The longest idle ones come first, apart from those that were active since they were queued. */
  readonly #queue = new Set<Connection>();
  readonly #perAddress = new Holdings<string, Connection>();
  /** Connections of a proxy, which counts as one address. */
  #uncounted = 0;

  constructor(
    private readonly bounds: ConnectionBounds,
    private readonly isIdle: (socket: Socket) => boolean,
  ) {}

  /** Admits a connection, and closes an idle one for it. Returns false if no room can be made. */
  admit(socket: Socket): boolean {
    const { max, perAddressMax } = this.bounds;
    const address = this.#countedAddress(socket);
    const ofAddress = address === null ? undefined : this.#perAddress.of(address);
    if (ofAddress !== undefined && ofAddress.size >= perAddressMax && !this.#evictFrom(ofAddress)) return false;
    if (this.#queue.size >= max && !this.#makeRoom(address)) return false;
    const connection = { socket, address, bytesRead: socket.bytesRead, chances: 0 };
    this.#queue.add(connection);
    if (address === null) this.#uncounted++;
    else this.#perAddress.add(address, connection);
    socket.once('close', () => this.#remove(connection));
    return true;
  }

  #remove(connection: Connection): void {
    const { address } = connection;
    // An evicted connection is already removed and closes later.
    if (!this.#queue.delete(connection)) return;
    if (address === null) this.#uncounted--;
    else this.#perAddress.delete(address, connection);
  }

  #makeRoom(address: string | null): boolean {
    const { largest } = this.#perAddress;
    if (largest !== undefined && this.#perAddress.countOf(largest) > this.#shareWith(address)) {
      if (this.#evictFrom(this.#perAddress.of(largest)!)) return true;
      // Other addresses have fewer connections and do not yield to it.
      if (largest === address) return false;
    }
    return this.#evictFrom(this.#queue);
  }

  /** Returns the share of each address if all of them want more, with `address` among them. */
  #shareWith(address: string | null): number {
    const isNew = address === null ? this.#uncounted === 0 : this.#perAddress.countOf(address) === 0;
    const addresses = this.#perAddress.holders + (this.#uncounted > 0 ? 1 : 0) + (isNew ? 1 : 0);
    return this.bounds.max / addresses;
  }

  /** Closes the first idle connection without chances left, which activity renews; else the first idle one. */
  #evictFrom(queue: ReadonlySet<Connection>): boolean {
    let fallback: Connection | undefined;
    let looks = Math.min(queue.size, limits.evictionLooks);
    // The iteration of a set also visits connections that are added meanwhile, so the bound ends the loop.
    for (const connection of queue) {
      if (looks-- === 0) break;
      const { socket } = connection;
      const isIdle = this.isIdle(socket);
      const wasActive = socket.bytesRead !== connection.bytesRead;
      if (isIdle && !wasActive && connection.chances === 0) return this.#evict(connection);
      if (isIdle) fallback ??= connection;
      connection.bytesRead = socket.bytesRead;
      connection.chances = wasActive ? limits.evictionChances : Math.max(0, connection.chances - 1);
      this.#putLast(connection);
    }
    return fallback !== undefined && this.#evict(fallback);
  }

  #putLast(connection: Connection): void {
    this.#queue.delete(connection);
    this.#queue.add(connection);
    if (connection.address !== null) this.#perAddress.putLast(connection.address, connection);
  }

  #evict(connection: Connection): true {
    // The place is free immediately, although the event `close` comes later.
    this.#remove(connection);
    connection.socket.destroy();
    return true;
  }

  #countedAddress(socket: Socket): string | null {
    const address = addressKeyOf(socket.remoteAddress);
    const isLoopback = address.startsWith('127.') || address === addressKeyOf('::1');
    return isLoopback && this.bounds.loopbackIsProxy ? null : address;
  }
}
