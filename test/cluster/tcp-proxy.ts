/**
 * A TCP proxy with faults: one link of the harness between two processes. It can be cut in both directions or in one,
 * slowed down, and healed.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * - `open`: forwards bytes.
 * - `cut`: resets connections, also new ones.
 * - `silent`: drops bytes in both directions and leaves connections open, like a network partition.
 * - `to-silent`, `back-silent`: drops bytes in one direction, to the target or from it.
 */
export type LinkState = 'open' | 'cut' | 'silent' | 'to-silent' | 'back-silent';

/** The most bytes that a slow link buffers before it pauses the sender. */
const waitingMax = 4 * 1024 * 1024;
const retryMs = 50;

export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #state: LinkState = 'open';
  #delayMs = 0;

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.port = (server.address() as { readonly port: number }).port;
    this.#targetPort = targetPort;
    server.on('connection', (socket) => this.#accept(socket));
  }

  /** Listens on a free port in front of a port on this machine. */
  static async open(targetPort: number): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: false }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, targetPort);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Sets the state. Healing resets all connections, because the proxy cannot send the dropped bytes again. */
  set(state: LinkState): void {
    const before = this.#state;
    this.#state = state;
    if (state === 'cut' || (before !== 'open' && state === 'open')) this.#reset();
  }

  /** Delays each piece of bytes in both directions. */
  slow(ms: number): void {
    this.#delayMs = ms;
  }

  /** Refuses connections, like the machine of a process that is gone. */
  refuse(): void {
    this.#reset();
    this.#server.close();
  }

  /** Listens again at the same port, unless it does. */
  async listen(): Promise<void> {
    while (!this.#server.listening) {
      this.#server.listen(this.port, '127.0.0.1');
      // A connection of this machine may use the port for a moment.
      await once(this.#server, 'listening').catch(() => delay(retryMs));
    }
  }

  heal(): void {
    this.#delayMs = 0;
    this.set('open');
  }

  async close(): Promise<void> {
    this.#reset();
    const isListening = this.#server.listening;
    this.#server.close();
    if (isListening) await once(this.#server, 'close');
  }

  #reset(): void {
    for (const [near, far] of this.#pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  #accept(near: Socket): void {
    if (this.#state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ port: this.#targetPort, host: '127.0.0.1' });
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
    this.#pipe(near, far, 'to-silent');
    this.#pipe(far, near, 'back-silent');
  }

  /** Forwards the bytes of one direction in order. */
  #pipe(from: Socket, to: Socket, silentIn: LinkState): void {
    let waiting = 0;
    let sent: Promise<unknown> = Promise.resolve();
    const send = (chunk: Buffer) => {
      if (this.#state === 'silent' || this.#state === silentIn || to.destroyed) return;
      if (!to.write(chunk)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    };
    from.on('data', (chunk) => {
      if (this.#delayMs === 0 && waiting === 0) {
        send(chunk);
        return;
      }
      waiting += chunk.length;
      if (waiting > waitingMax) from.pause();
      const arrives = delay(this.#delayMs, undefined, { ref: false });
      sent = sent
        .then(() => arrives)
        .then(() => {
          waiting -= chunk.length;
          if (waiting <= waitingMax) from.resume();
          send(chunk);
        });
    });
    from.on('end', () => void sent.then(() => to.end()));
  }
}
