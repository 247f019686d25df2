/** The end of the link between nodes that asks: connections to other nodes' public ports, kept alive. */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { messageOf } from '../errors.js';
import { limits } from '../limits.js';
import { clientSecurity, LINK_AUTHORITY } from './link-security.js';

/** Another node did not answer. What was asked may have been done. */
export class LinkError extends Error {
  override readonly name = 'LinkError';
  /** Nothing was sent: it was not done. */
  readonly isUnsent: boolean;

  constructor(message: string, isUnsent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isUnsent = isUnsent;
  }
}

export interface LinkCall {
  /** Origin of the node's public port. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly timeoutMs: number;
}

export class LinkClient {
  readonly #secret: string;
  readonly #groupId: string;
  readonly #agents = new Map<string, Agent>();

  constructor(secret: string, groupId: string) {
    this.#secret = secret;
    this.#groupId = groupId;
  }

  /** The answer's JSON. Rejects with `LinkError`. */
  async call<T>(call: LinkCall): Promise<T> {
    const { response, text } = await this.#text(call);
    if (response.statusCode !== 200) throw new LinkError(`${call.path}: ${response.statusCode} ${text}`, false);
    return JSON.parse(text) as T;
  }

  /** The answer's body in pieces, each at most `timeoutMs` after the one before. Rejects with `LinkError`. */
  async *stream(call: LinkCall): AsyncGenerator<Buffer> {
    const response = await this.#open(call);
    try {
      if (response.statusCode !== 200) throw new LinkError(`${call.path}: ${response.statusCode}`, false);
      response.setTimeout(call.timeoutMs, () => response.destroy(new Error('the node fell silent')));
      for await (const chunk of response as AsyncIterable<Buffer>) yield chunk;
    } finally {
      response.destroy();
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #text(call: LinkCall): Promise<{ readonly response: IncomingMessage; readonly text: string }> {
    const response = await this.#open(call);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch (error) {
      throw new LinkError(`${call.url}: ${messageOf(error)}`, false, { cause: error });
    }
    return { response, text: Buffer.concat(chunks).toString('utf8') };
  }

  #open({ url, method, path, body, timeoutMs }: LinkCall): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const headers = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) };
      const { hostname, port, protocol } = new URL(url);
      const request: ClientRequest = httpRequest(
        {
          agent: this.#agentOf(url),
          host: hostname,
          port: port || (protocol === 'https:' ? 443 : 80),
          method,
          path,
          headers,
        },
        resolve,
      );
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      timer.unref();
      request.on('response', (response: IncomingMessage) => response.once('close', () => clearTimeout(timer)));
      request.on('error', (error) => {
        clearTimeout(timer);
        // Before there is a connection nothing can have been sent.
        const isUnsent = request.socket === null || (request.socket.connecting ?? false);
        reject(new LinkError(`${url}: ${messageOf(error)}`, isUnsent, { cause: error }));
      });
      request.end(text);
    });
  }

  #agentOf(url: string): Agent {
    const known = this.#agents.get(url);
    if (known !== undefined) return known;
    const agent = new LinkAgent(url, clientSecurity(this.#secret, this.#groupId));
    this.#agents.set(url, agent);
    return agent;
  }
}

/** Connections to one node. */
class LinkAgent extends Agent {
  readonly #url: URL;
  readonly #security: ReturnType<typeof clientSecurity>;

  constructor(url: string, security: ReturnType<typeof clientSecurity>) {
    super({ keepAlive: true, maxSockets: limits.linkSocketsMax, timeout: limits.linkIdleMs });
    this.#url = new URL(url);
    this.#security = security;
  }

  override createConnection(_options: object, ready: (error: Error | null, stream: Duplex) => void): Duplex | null {
    const { hostname, port, protocol } = this.#url;
    const host = hostname.replace(/^\[|\]$/g, '');
    const isSecured = protocol === 'https:';
    const at = { host, port: Number(port || (isSecured ? 443 : 80)) };
    const outer: Socket = isSecured ? connectTls({ ...at, servername: host }) : connectTcp(at);
    outer.setNoDelay(true);
    const fail = (error: Error): void => {
      outer.destroy();
      ready(error, outer);
    };
    const timer = setTimeout(() => fail(new Error('no connection in time')), limits.linkConnectMs);
    timer.unref();
    outer.once('error', fail);
    outer.once('close', () => clearTimeout(timer));
    outer.write(`CONNECT ${LINK_AUTHORITY} HTTP/1.1\r\nHost: ${LINK_AUTHORITY}\r\n\r\n`);
    let head = '';
    const onData = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      if (!head.endsWith('\r\n\r\n') && head.length < limits.linkHeadBytes) return;
      outer.off('data', onData);
      outer.pause();
      if (!head.startsWith('HTTP/1.1 200 ')) {
        fail(new Error(`the node refused the link: ${head.split('\r\n')[0]}`));
        return;
      }
      const secured = connectTls({ ...this.#security, socket: outer });
      secured.once('error', fail);
      secured.once('secureConnect', () => {
        clearTimeout(timer);
        outer.off('error', fail);
        outer.on('error', () => secured.destroy());
        secured.off('error', fail);
        ready(null, secured);
      });
    };
    outer.on('data', onData);
    return null;
  }
}
