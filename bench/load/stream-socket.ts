/**
 * Reads the verdict stream on a bare socket and parses as little as possible, so that a thousand readers fit into one
 * process.
 */
import { connect, type Socket } from 'node:net';

export class StreamSocket {
  readonly #socket: Socket;
  /** Resolves once the reader has caught up. */
  readonly live: Promise<void>;
  bytes = 0;
  isOpen = true;
  #wanted: { readonly text: string; readonly resolve: () => void } | null = null;

  constructor(port: number, apiKey: string, onLive: () => void) {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET /api/v1/verdicts/stream HTTP/1.1\r\nhost: x\r\nx-peer-api-key: ${apiKey}\r\n\r\n`);
    });
    this.#socket = socket;
    let isLive = false;
    this.live = new Promise((resolve, reject) => {
      socket.on('data', (chunk: Buffer) => {
        this.bytes += chunk.length;
        if (!isLive && chunk.includes('event: heartbeat')) {
          isLive = true;
          onLive();
          resolve();
        }
        if (this.#wanted !== null && chunk.includes(this.#wanted.text)) {
          this.#wanted.resolve();
          this.#wanted = null;
        }
      });
      socket.on('close', () => {
        this.isOpen = false;
        reject(new Error('the server closed the connection of a reader'));
      });
    });
    this.live.catch(() => undefined);
    socket.on('error', () => undefined);
  }

  /** Resolves once a change of this subject hash is received. */
  hears(subjectHash: string): Promise<void> {
    return new Promise((resolve) => {
      this.#wanted = { text: subjectHash, resolve };
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
