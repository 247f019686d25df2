/** Calls other nodes over the link, by keep-alive connections to their public ports. */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { getOrMake } from '../core/get-or-make.js';
import { messageOf, NamedError } from '../errors.js';
import type { Timers } from '../group/ports/clock.js';
import { limits } from '../limits.js';
import { eachLine } from '../text-lines.js';
import { clientSecurity, LinkAuthority } from './link-security.js';
import { bodyOf } from './link-server.js';

/** The node did not answer, or not with status 200. The request may have been executed, unless `isUnsent`. */
export class LinkError extends NamedError {
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
  /** Sent as JSON, unless it is text. */
  readonly body?: object | string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export class LinkClient {
  readonly #agentOf: (url: string) => LinkAgent;
  readonly #agents = new Map<string, Agent>();
  /** Ends each running call. */
  readonly #running = new Set<(error: Error) => void>();
  isClosed = false;

  constructor(
    secret: string,
    groupId: string,
    private readonly timers: Pick<Timers, 'later'>,
  ) {
    const security = clientSecurity(secret, groupId);
    const authority = new LinkAuthority(secret, groupId);
    this.#agentOf = (url) => new LinkAgent(url, security, authority, timers);
  }

  /** Resolves to the JSON body of the answer. Rejects with `LinkError`, at the latest after `timeoutMs`. */
  async call<T>(call: LinkCall): Promise<T> {
    return JSON.parse((await this.bytes(call)).toString('utf8')) as T;
  }

  async bytes(call: LinkCall): Promise<Buffer> {
    return this.#read(call, (response) => bodyOf(response, limits.linkAnswerBytes));
  }

  /** Calls `use` with each line of the answer as it comes. Rejects as `call` does, also after some lines. */
  lines(call: LinkCall, use: (line: string) => void): Promise<void> {
    return this.#read(call, async (response) => {
      const rest = await eachLine(response.setEncoding('utf8'), use);
      if (rest !== '') use(rest);
    });
  }

  async #read<T>(call: LinkCall, read: (response: IncomingMessage) => Promise<T>): Promise<T> {
    const { response, endWatch } = await this.#open(call);
    const isRefused = response.statusCode !== 200;
    const reading = isRefused ? bodyOf(response, limits.linkAnswerBytes) : read(response);
    const body = await reading.finally(endWatch).catch((error: unknown) => {
      throw new LinkError(`${call.url}: ${messageOf(error)}`, false, { cause: error });
    });
    if (!isRefused) return body as T;
    throw new LinkError(`${call.path}: ${response.statusCode} ${String(body)}`, false);
  }

  close(): void {
    this.isClosed = true;
    for (const end of [...this.#running]) end(new Error('the node is shutting down'));
    for (const agent of this.#agents.values()) agent.destroy();
  }

  /** Resolves to an answer whose body is not read yet. `endWatch` clears the timeout of the call. */
  #open(call: LinkCall): Promise<{ response: IncomingMessage; endWatch(): void }> {
    const { url, method, path, body, timeoutMs, signal } = call;
    if (this.isClosed || signal?.aborted === true)
      return Promise.reject(new LinkError(`${url}: the node is shutting down, or the call was aborted`, true));
    return new Promise((resolve, reject) => {
      const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? '');
      const headers = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) };
      const { hostname, port, protocol } = new URL(url);
      const request: ClientRequest = httpRequest({
        agent: getOrMake(this.#agents, url, () => this.#agentOf(url)),
        host: hostname,
        port: port || (protocol === 'https:' ? 443 : 80),
        method,
        path,
        headers,
      });
      // A request without a connection reports no error when it is destroyed, so the promise is rejected here.
      const end = (error: Error): void => {
        endWatch();
        // Nothing can have been sent before a connection exists.
        const isUnsent = request.socket === null || request.socket.connecting;
        reject(new LinkError(`${url}: ${messageOf(error)}`, isUnsent, { cause: error }));
        request.destroy(error);
      };
      const onAbort = (): void => end(new Error('the call was aborted'));
      const endWait = this.timers.later(() => end(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      const endWatch = (): void => {
        endWait();
        this.#running.delete(end);
        signal?.removeEventListener('abort', onAbort);
      };
      this.#running.add(end);
      signal?.addEventListener('abort', onAbort);
      request.on('response', (response: IncomingMessage) => resolve({ response, endWatch }));
      request.on('error', end);
      request.end(text);
    });
  }
}

class LinkAgent extends Agent {
  constructor(
    private readonly url: string,
    private readonly security: ReturnType<typeof clientSecurity>,
    private readonly authority: LinkAuthority,
    private readonly timers: Pick<Timers, 'later'>,
  ) {
    super({ keepAlive: true, timeout: limits.linkIdleMs });
  }

  override createConnection(_options: object, ready: (error: Error | null, stream: Duplex) => void): null {
    const { hostname, port, protocol } = new URL(this.url);
    const host = hostname.replace(/^\[|\]$/g, '');
    const path = this.authority.make();
    const at = { host, port, servername: host, method: 'CONNECT', path, headers: { Host: path }, agent: false };
    const tunnel = protocol === 'https:' ? httpsRequest(at) : httpRequest(at);
    tunnel.setNoDelay(true);
    // The agent takes the first outcome alone.
    const fail = (error: Error): void => {
      endWait();
      tunnel.destroy();
      // A request that has become a tunnel no longer destroys its socket.
      tunnel.socket?.destroy();
      ready(error, tunnel.socket!);
    };
    const giveUp = (): void => fail(new Error(`no connection within ${limits.linkConnectMs} ms`));
    const endWait = this.timers.later(giveUp, limits.linkConnectMs);
    tunnel.on('error', fail);
    tunnel.once('connect', ({ statusCode, statusMessage }, socket) => {
      if (statusCode !== 200) {
        fail(new Error(`the node refused the link: ${statusCode} ${statusMessage}`));
        return;
      }
      const secured = connectTls({ ...this.security, socket });
      socket.on('error', () => secured.destroy());
      secured.on('error', fail);
      secured.once('secureConnect', () => {
        endWait();
        ready(null, secured);
      });
    });
    tunnel.end();
    return null;
  }
}
