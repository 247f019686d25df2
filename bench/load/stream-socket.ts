/**
 * A reader of the verdict stream on a bare socket, which looks at as little of it as it can: a thousand of them fit
 * into one process.
 */
import { connect, type Socket } from 'node:net';

export class StreamSocket {
  readonly #socket: Socket;
  /** Resolves once it has caught up. */
  readonly live: Promise<void>;
  bytes = 0;
  isOpen = true;
  #isLive = false;
  #wanted: { readonly text: string; readonly resolve: () => void } | null = null;

  constructor(port: number, apiKey: string, onLive: () => void) {
    let resolve: () => void = () => undefined;
    let reject: (error: Error) => void = () => undefined;
    this.live = new Promise((onResolve, onReject) => {
      resolve = onResolve;
      reject = onReject;
    });
    this.live.catch(() => undefined);
    this.#socket = connect(port, '127.0.0.1', () => {
      this.#socket.write(`GET /api/v1/verdicts/stream HTTP/1.1\r\nhost: x\r\nx-peer-api-key: ${apiKey}\r\n\r\n`);
    });
    this.#socket.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      if (!this.#isLive && chunk.includes('event: heartbeat')) {
        this.#isLive = true;
        onLive();
        resolve();
      }
      if (this.#wanted !== null && chunk.includes(this.#wanted.text)) {
        this.#wanted.resolve();
        this.#wanted = null;
      }
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      this.isOpen = false;
      reject(new Error('a reader was cut off'));
    });
  }

  /** Resolves once this subject hash was told. */
  hears(subjectHash: string): Promise<void> {
    return new Promise((resolve) => {
      this.#wanted = { text: subjectHash, resolve };
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
