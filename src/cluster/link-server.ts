/** Serves the link between nodes: HTTP/1.1 in TLS in a tunnel through the public port. */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { messageOf, NamedError } from '../errors.js';
import { limits } from '../limits.js';
import { LinkAuthority, serverSecurity } from './link-security.js';

export interface LinkRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  /** Resolves once the answer is sent, or the connection is lost. */
  readonly sent: Promise<void>;
}

/** Resolves to the body of the answer: a stream or bytes, sent as they are, or a value, sent as JSON. */
export type LinkHandler = (request: LinkRequest) => Promise<object>;

/** The path is unknown, the parameters are invalid, or the node has not what they name. The answer is 404. */
export class LinkRefusedError extends NamedError {}

export class LinkServer {
  readonly #http: Server;
  readonly #tls: TlsServer;
  readonly #authority: LinkAuthority;
  readonly #sockets = new Set<Duplex>();
  /** The address of each connection whose handshake has not ended, by its address and port. */
  readonly #handshakes = new Map<string, string>();
  #isOpen = true;

  constructor(secret: string, groupId: string, handle: LinkHandler, onFailure: (error: unknown) => void) {
    this.#http = createHttpServer({ keepAliveTimeout: limits.linkIdleMs, requestTimeout: 0 }, (request, response) => {
      answer(request, response, handle).catch((error: unknown) => {
        if (!(error instanceof LinkRefusedError)) onFailure(error);
        if (response.headersSent) response.destroy();
        else send(response, error instanceof LinkRefusedError ? 404 : 500, { error: messageOf(error) });
      });
    });
    this.#authority = new LinkAuthority(secret, groupId);
    this.#tls = createTlsServer({ ...serverSecurity(secret, groupId), handshakeTimeout: limits.linkHandshakeMs });
    this.#tls.on('secureConnection', (socket) => {
      this.#handshakes.delete(nameOf(socket));
      this.#http.emit('connection', socket);
    });
    // The other end lacks the secret, or left, or took too long.
    this.#tls.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  /** Takes over a connection that requested a tunnel. False, and left alone, without the secret or room. */
  tunnel(authority: string, socket: Duplex, head: Buffer): boolean {
    if (!this.#isOpen || !this.#authority.accepts(authority) || !this.#hasRoom(socket)) return false;
    const name = nameOf(socket);
    this.#handshakes.set(name, addressOf(socket));
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#handshakes.delete(name);
      this.#sockets.delete(socket);
    });
    socket.on('error', () => socket.destroy());
    // The connection closes once the other end closes its half.
    socket.allowHalfOpen = false;
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    this.#tls.emit('connection', socket);
    return true;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Connections before the end of their handshake do not take the room of those that have proved the secret. */
  #hasRoom(socket: Duplex): boolean {
    const { size } = this.#handshakes;
    if (size >= limits.linkHandshakesMax || this.#sockets.size - size >= limits.linkConnectionsMax) return false;
    const address = addressOf(socket);
    const ofAddress = [...this.#handshakes.values()].filter((other) => other === address);
    return ofAddress.length < limits.linkHandshakesPerAddressMax;
  }
}

function addressOf(socket: Duplex): string {
  return (socket as Socket).remoteAddress ?? '';
}

function nameOf(socket: Duplex): string {
  return `${addressOf(socket)} ${(socket as Socket).remotePort}`;
}

async function answer(request: IncomingMessage, response: ServerResponse, handle: LinkHandler): Promise<void> {
  const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://link');
  const sent = new Promise<void>((resolve) => response.once('close', resolve));
  const body = await bodyOf(request, limits.linkBodyBytes);
  send(response, 200, await handle({ method: request.method ?? '', path, query, body, sent }));
}

/** Reads the body of a request or of an answer, with at most `bytesMax` bytes. */
export async function bodyOf(message: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new LinkRefusedError(`the body must have at most ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, status: number, body: object): void {
  // The other node may have disappeared without closing the connection. A stream may have nothing to send for longer.
  response.setTimeout(limits.linkSilentMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
  if (body instanceof Readable) {
    body.pipe(response);
    return;
  }
  const isBytes = body instanceof Uint8Array;
  const bytes = isBytes ? body : Buffer.from(JSON.stringify(body));
  const type = isBytes ? 'application/octet-stream' : 'application/json';
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': bytes.length });
  response.end(bytes);
}
