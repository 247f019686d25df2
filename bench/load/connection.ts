/**
 * A kept-alive HTTP/1.1 connection with one request in flight, written for speed: a request is prepared text or bytes,
 * an answer is a status. Bodies are counted and discarded.
 */
import { connect, type Socket } from 'node:net';

/** Stands for a connection that ended before the answer was complete, in place of a status. */
export const noAnswer = 0;

const lengthField = /content-length: *(\d+)/i;
const chunkedField = /transfer-encoding: *chunked/i;
const closeField = /connection: *close/i;
const againField = /retry-after: *\d+/i;
/** `Retry-After` is looked up from this status on; looking it up in every answer would slow all of them. */
const refusedFrom = 400;
const headEnd = '\r\n\r\n';
const lastChunk = '0\r\n\r\n';

/** Shared by all connections, because received bytes are read before the next read. */
const readBuffer = Buffer.allocUnsafeSlow(256 * 1024);

enum Phase {
  idle,
  head,
  counted,
  chunked,
}

export class Connection {
  /** Called once per request with the answer's status, or `noAnswer`. May send the next request at once. */
  onAnswer: (connection: Connection, status: number) => void = () => undefined;
  /** Set by the driver of the connection: when the request was due (ms), and its kind. */
  startedMs = 0;
  kind = 0;
  /** Whether the last answer had a `Retry-After`. */
  saysWhenAgain = false;

  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;
  #phase = Phase.idle;
  /** Bytes of the body that have not arrived yet. */
  #left = 0;
  #status = noAnswer;
  #closes = false;
  /** The received part of an incomplete head or chunked body. */
  #pieces = '';

  /** `number` distinguishes the connection from the others of a load. */
  constructor(
    host: string,
    port: number,
    readonly number = 0,
  ) {
    this.#host = host;
    this.#port = port;
  }

  /** Connects before the first request, if not connected. Rejects if nothing listens. */
  open(): Promise<void> {
    if (this.#socket !== undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const socket = this.#connect();
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
  }

  /**
   * Sends a whole request, head and body. A text is encoded as latin1; bytes must not change afterwards. Reconnects if
   * the server closed the connection.
   */
  send(request: string | Uint8Array): void {
    this.#phase = Phase.head;
    const socket = this.#socket ?? this.#connect();
    if (typeof request === 'string') socket.write(request, 'latin1');
    else socket.write(request);
  }

  get busy(): boolean {
    return this.#phase !== Phase.idle;
  }

  close(): void {
    this.#phase = Phase.idle;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect(): Socket {
    const socket = connect({
      host: this.#host,
      port: this.#port,
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (bytes) => {
          this.#read(bytes);
          return true;
        },
      },
    });
    // Every error is followed by `close`.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#closed(socket));
    this.#socket = socket;
    return socket;
  }

  #closed(socket: Socket): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    if (this.#phase !== Phase.idle) this.#finish(noAnswer);
  }

  #read(bytes: number): void {
    switch (this.#phase) {
      case Phase.head:
        this.#readHead(bytes);
        return;
      case Phase.counted:
        this.#left -= bytes;
        if (this.#left <= 0) this.#finish(this.#status);
        return;
      case Phase.chunked:
        this.#readChunks(readBuffer.toString('latin1', 0, bytes));
        return;
      case Phase.idle:
        return;
    }
  }

  #readHead(bytes: number): void {
    const text = this.#pieces + readBuffer.toString('latin1', 0, Math.min(bytes, 4096));
    const end = text.indexOf(headEnd);
    if (end < 0) {
      this.#pieces = text;
      return;
    }
    const bodyBytes = this.#pieces.length + bytes - end - headEnd.length;
    const head = text.slice(0, end);
    this.#pieces = '';
    this.#status = Number(head.slice(9, 12));
    this.#closes = closeField.test(head);
    this.saysWhenAgain = this.#status >= refusedFrom && againField.test(head);
    const length = lengthField.exec(head);
    if (length !== null) {
      this.#left = Number(length[1]) - bodyBytes;
      if (this.#left <= 0) this.#finish(this.#status);
      else this.#phase = Phase.counted;
    } else if (chunkedField.test(head)) {
      this.#phase = Phase.chunked;
      this.#readChunks(readBuffer.toString('latin1', bytes - bodyBytes, bytes));
    } else {
      this.#finish(this.#status);
    }
  }

  #readChunks(text: string): void {
    this.#pieces = (this.#pieces + text).slice(-lastChunk.length);
    if (this.#pieces !== lastChunk) return;
    this.#pieces = '';
    this.#finish(this.#status);
  }

  #finish(status: number): void {
    this.#phase = Phase.idle;
    this.#pieces = '';
    if (this.#closes) this.close();
    this.#closes = false;
    this.onAnswer(this, status);
  }
}
