/**
 * A TCP proxy that misbehaves on demand: one link of the harness between two processes. It can be cut in both
 * directions or in one, slowed down, and healed again.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * - `open`: bytes pass.
 * - `cut`: connections are reset, and new ones too.
 * - `silent`: bytes are swallowed both ways, and connections stay open: what a lost network looks like.
 * - `to-silent`, `back-silent`: the same one way, towards the target or from it.
 */
export type LinkState = 'open' | 'cut' | 'silent' | 'to-silent' | 'back-silent';

/** Bytes that wait in a slow link; more make the sender wait. */
const waitingMax = 4 * 1024 * 1024;

export class TcpProxy {
  readonly #server: Server;
  readonly #target: { port: number };
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #state: LinkState = 'open';
  #delayMs = 0;

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.#target = { port: targetPort };
    server.on('connection', (socket) => this.#accept(socket));
  }

  /** Listens on a free port, or on `port`, in front of a port on this machine. */
  static async open(targetPort: number, port = 0): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: false }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, targetPort);
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Leads new connections to another port. */
  retarget(port: number): void {
    this.#target.port = port;
  }

  /** A healed link resets what it had swallowed bytes of: TCP would have sent them again, a proxy cannot. */
  set(state: LinkState): void {
    const before = this.#state;
    this.#state = state;
    if (state === 'cut' || (before !== 'open' && state === 'open')) this.#reset();
  }

  /** Each piece of bytes takes so much longer, both ways. */
  slow(ms: number): void {
    this.#delayMs = ms;
  }

  heal(): void {
    this.#delayMs = 0;
    this.set('open');
  }

  async close(): Promise<void> {
    this.#reset();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
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
    const far = connect({ port: this.#target.port, host: '127.0.0.1' });
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

  /** Bytes of one direction, in order. */
  #pipe(from: Socket, to: Socket, silentIn: LinkState): void {
    let waiting = 0;
    let line: Promise<unknown> = Promise.resolve();
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
      line = line
        .then(() => arrives)
        .then(() => {
          waiting -= chunk.length;
          if (waiting <= waitingMax) from.resume();
          send(chunk);
        });
    });
    from.on('end', () => void line.then(() => to.end()));
  }
}
