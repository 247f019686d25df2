/**
 * A small HTTP proxy in front of the nodes of a group on one machine, for trials: it sends each request to the next
 * ready node. Production uses a proxy of its own, see deploy/cluster.
 */
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const checkMs = 500;
const checkTimeoutMs = 1_000;
/** The node takes no larger body. */
const bodyBytesMax = 2 * 1024 * 1024;
/** Errors of a connection before a byte of the request has left. */
const unsent = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);

export class Balancer {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #ready = new Map<string, boolean>();
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(urls: readonly string[]) {
    for (const url of urls) this.#ready.set(url, false);
  }

  /** Listens on the loopback address, and begins to ask the nodes whether they are ready. Resolves to the port. */
  async listen(port: number): Promise<number> {
    await this.#check();
    this.#timer = setInterval(() => void this.#check(), checkMs);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
        const isTaken = code === 'EADDRINUSE';
        const text = `port ${port} is in use by another process; stop it, or give another one with --port`;
        reject(new Error(isTaken ? text : message));
      });
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  async #check(): Promise<void> {
    await Promise.all(
      [...this.#ready.keys()].map(async (url) => {
        let isReady = false;
        try {
          const { status } = await fetch(`${url}/api/v1/ready`, { signal: AbortSignal.timeout(checkTimeoutMs) });
          isReady = status === 200;
        } catch {
          // The node is down or does not answer.
        }
        this.#ready.set(url, isReady);
      }),
    );
  }

  /** Returns the nodes to try: the ready ones first, beginning with another one each time. */
  #order(): string[] {
    const all = [...this.#ready];
    const turn = this.#next++;
    const from = (urls: readonly string[]) => urls.map((_, index) => urls[(turn + index) % urls.length]!);
    const urls = (isReady: boolean) => all.filter(([, ready]) => ready === isReady).map(([url]) => url);
    return [...from(urls(true)), ...from(urls(false))];
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) {
        response.writeHead(413).end();
        return;
      }
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks);
    for (const url of this.#order()) {
      if (await this.#send(url, request, body, response)) return;
    }
    const answer = JSON.stringify({ error: 'no node answers', code: 'dependency_unavailable' });
    response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '1' }).end(answer);
  }

  /** Resolves to false if another node may be tried: nothing was sent, or a read was not answered. */
  #send(url: string, request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<boolean> {
    return new Promise((resolve) => {
      const { method = 'GET', headers } = request;
      const sent = httpRequest(url + request.url, { method, headers, agent: this.#agent }, (answer) => {
        response.writeHead(answer.statusCode!, answer.rawHeaders);
        answer.pipe(response);
        answer.on('error', () => response.destroy());
        resolve(true);
      });
      response.on('close', () => sent.destroy());
      sent.on('error', (error: NodeJS.ErrnoException) => {
        if (response.headersSent || response.destroyed) return resolve(true);
        if (unsent.has(error.code ?? '') || method === 'GET' || method === 'HEAD') return resolve(false);
        response.destroy();
        return resolve(true);
      });
      sent.end(body);
    });
  }
}
