/**
 * A small HTTP proxy before the nodes of a group on one machine, for trials: it sends each request to a node that says
 * it is ready, in turn. Production uses a proxy of its own, see deploy/cluster.
 */
import { Agent, createServer, request as httpRequest } from 'node:http';

const checkMs = 500;
const checkTimeoutMs = 1_000;
/** The node takes no larger body. */
const bodyBytesMax = 2 * 1024 * 1024;
/** Errors of a connection before a byte of the request has left. */
const unsent = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);

export class Balancer {
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #ready = new Map();
  #next = 0;
  #timer;

  /** @param {readonly string[]} urls */
  constructor(urls) {
    for (const url of urls) this.#ready.set(url, false);
    this.server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Listens, and begins to ask the nodes whether they are ready. */
  async listen(port, host = '127.0.0.1') {
    await this.#check();
    this.#timer = setInterval(() => void this.#check(), checkMs);
    await new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, resolve);
    });
    return this.server.address().port;
  }

  close() {
    clearInterval(this.#timer);
    this.server.close();
    this.server.closeAllConnections();
    this.#agent.destroy();
  }

  async #check() {
    await Promise.all(
      [...this.#ready.keys()].map(async (url) => {
        let isReady = false;
        try {
          const { status } = await fetch(`${url}/api/v1/ready`, { signal: AbortSignal.timeout(checkTimeoutMs) });
          isReady = status === 200;
        } catch {
          // It is down, or hangs.
        }
        this.#ready.set(url, isReady);
      }),
    );
  }

  /** The nodes to try, the ready ones first and another one of them each time. */
  #order() {
    const all = [...this.#ready];
    const turn = this.#next++;
    const from = (urls) => urls.map((_, index) => urls[(turn + index) % urls.length]);
    const urls = (isReady) => all.filter(([, ready]) => ready === isReady).map(([url]) => url);
    return [...from(urls(true)), ...from(urls(false))];
  }

  async #serve(request, response) {
    const chunks = [];
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

  /** False where another node may be tried: nothing was sent, or a read was not answered. */
  #send(url, request, body, response) {
    return new Promise((resolve) => {
      const { method, headers } = request;
      const sent = httpRequest(url + request.url, { method, headers, agent: this.#agent }, (answer) => {
        response.writeHead(answer.statusCode, answer.rawHeaders);
        answer.pipe(response);
        answer.on('error', () => response.destroy());
        resolve(true);
      });
      response.on('close', () => sent.destroy());
      sent.on('error', (error) => {
        if (response.headersSent || response.destroyed) return resolve(true);
        if (unsent.has(error.code) || method === 'GET' || method === 'HEAD') return resolve(false);
        response.destroy();
        return resolve(true);
      });
      sent.end(body);
    });
  }
}
