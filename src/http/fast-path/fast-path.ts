/**
 * Creates the fast path, which answers the four most frequent requests of game servers before node:http and Koa: a
 * third of the time of a read. It holds no rule of the contract and refuses nothing, but passes what is not exactly one
 * of the four, in the plainest HTTP/1.1, to node:http; it accepts nothing that another parser could read differently.
 */
import { isAscii } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { refused } from '../../errors.js';
import { limits } from '../../limits.js';
import type { Endpoints } from '../handlers/endpoints.js';
import { exchangeOf, failureReply, incomingOf, recordAnswer, sendReply, targetOf } from '../request/answering.js';
import { bodyText, parseJson } from '../request/body.js';
import { parseTarget } from '../request/head.js';
import type { Endpoint, Incoming } from '../request/pipeline.js';
import { type Exchange, replyText, wireReply } from '../request/reply.js';
import { type ApiReply, type MaybeAsync, then } from '../request/request.js';
import { answerRaw } from '../server/client-error.js';
import { closeGently } from '../server/node-http.js';
import type { CreateFastPath, FallBack, FastPath, FastPathDeps } from '../server/server.js';
import { HeadParser, type ParsedHead } from './head-parser.js';

export const createFastPath: CreateFastPath = (endpoints, deps) => {
  const routeOf = createFastRoutes(endpoints);
  return {
    ...createConnectionPath(routeOf, deps),
    answer(request, response) {
      const target = targetOf(request);
      if ('code' in target) return false;
      const found = routeOf(request.method ?? '', target.path, request.headers);
      if (found === undefined) return false;
      const { endpoint, captures } = found;
      const { route } = endpoint;
      const answering = { exchange: exchangeOf(request.headers), startedAt: performance.now(), route };
      const finish = (reply: ApiReply) => sendReply(deps, request, response, answering, reply);
      const fail = (error: unknown) => finish(failureReply(deps, answering.exchange, error));
      try {
        const reply = endpoint.answer(incomingOf(request, route, captures, target));
        if (reply instanceof Promise) reply.then(finish).catch(fail);
        else finish(reply);
      } catch (error) {
        fail(error);
      }
      return true;
    },
  };
};

const KEEP = `Connection: keep-alive\r\nKeep-Alive: timeout=${limits.keepAliveTimeoutMs / 1000}\r\n`;
const CLOSE = 'Connection: close\r\n';

/** Answers fast routes; the first other request, or one not whole in one read, passes the connection on for good. */
export function createConnectionPath(routeOf: FastRoutes, deps: FastPathDeps): Omit<FastPath, 'answer'> {
  const open = new Map<Socket, FastConnection>();
  const shared = { routeOf, deps, open };
  return {
    open(socket, fallBack) {
      open.set(socket, new FastConnection(socket, fallBack, shared));
    },
    isIdle: (socket) => open.get(socket)?.isIdle ?? true,
    closeIdle() {
      for (const connection of open.values()) connection.closeIfIdle();
    },
  };
}

interface Shared {
  readonly routeOf: FastRoutes;
  readonly deps: FastPathDeps;
  readonly open: Map<Socket, FastConnection>;
}

/** What the answer needs of a request. Must not reference the bytes of the read, which would stay in memory. */
interface Asked {
  readonly method: ParsedHead['method'];
  readonly fastRoute: FastRoute;
  readonly exchange: Exchange;
  readonly startedAt: number;
}

class FastConnection {
  readonly #heads = new HeadParser();
  readonly #waiting: Buffer[] = [];
  #awaiting = false;
  #answered = false;
  #ended = false;
  #left = false;
  /** Whether the pending output is ASCII, which is written in half the time. */
  #isAscii = true;
  #closing = false;

  constructor(
    private readonly socket: Socket,
    private readonly fallBack: FallBack,
    private readonly shared: Shared,
  ) {
    socket.setTimeout(limits.keepAliveTimeoutMs);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd).on('timeout', this.#onTimeout);
    socket.on('drain', this.#onDrain).on('close', this.#onClose);
  }

  get isIdle(): boolean {
    return !this.#awaiting && this.socket.writableLength === 0;
  }

  closeIfIdle(): void {
    if (this.isIdle) closeGently(this.socket);
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.#awaiting && !this.socket.writableNeedDrain) {
      this.#onChunk(chunk);
      return;
    }
    this.#waiting.push(chunk);
    this.socket.pause();
  };

  readonly #onDrain = (): void => {
    if (!this.#awaiting) this.#goOn();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    if (!this.#awaiting && this.#waiting.length === 0) this.socket.end();
  };

  readonly #onTimeout = (): void => {
    // A caller that reads slowly has its own bound (`ConnectionGuard`).
    if (this.#awaiting || this.socket.writableLength > 0) return;
    // As node:http does: a connection without any request gets an answer; an idle one between requests is only closed.
    if (this.#answered || this.#ended) closeGently(this.socket);
    else answerRaw(this.shared.deps, this.socket, 'request_timeout');
  };

  readonly #onClose = (): void => {
    this.shared.open.delete(this.socket);
    this.#waiting.length = 0;
  };

  #goOn(): void {
    while (!this.#left && !this.#awaiting && !this.socket.writableNeedDrain) {
      const next = this.#waiting.shift();
      if (next === undefined) {
        if (this.#ended) this.socket.end();
        else this.socket.resume();
        return;
      }
      this.#onChunk(next);
    }
  }

  /** Answers the requests of a chunk, up to one with a pending answer, or until output or turn of the loop are full. */
  #onChunk(chunk: Buffer): void {
    // After the last answer the caller would never see the outcome of further requests.
    if (!this.socket.writable) return;
    const startedAt = performance.now();
    const text = chunk.toString('latin1');
    let at = 0;
    let out = '';
    while (at < chunk.length) {
      const arrival = this.#read(chunk, text, at, startedAt);
      if (arrival === undefined) {
        this.#send(out);
        this.#leave(chunk.subarray(at));
        return;
      }
      const { asked, incoming, end } = arrival;
      at = end;
      const reply = this.#replyTo(asked, incoming);
      if (reply instanceof Promise) {
        this.#send(out);
        this.#await(asked, reply, chunk.subarray(at));
        return;
      }
      out += this.#answer(asked, reply);
      if (this.#closing) break;
      if (at < chunk.length && this.shared.deps.work.isTurnOver) {
        this.#send(out);
        this.#waiting.unshift(chunk.subarray(at));
        this.#awaiting = true;
        setImmediate(() => {
          this.#awaiting = false;
          this.#goOn();
        });
        return;
      }
      if (out.length < limits.answersAheadBytes) continue;
      this.#send(out);
      out = '';
      if (this.socket.writableNeedDrain) {
        this.#waiting.unshift(chunk.subarray(at));
        return;
      }
    }
    this.#send(out);
  }

  #read(chunk: Buffer, text: string, at: number, startedAt: number) {
    const head = this.#heads.read(text, at);
    if (head === undefined) return undefined;
    const { method, headers } = head;
    const end = head.end + head.contentLength;
    if (end > chunk.length) return undefined;
    const target = parseTarget(head.url);
    if (target === undefined) return undefined;
    const fastRoute = this.shared.routeOf(method, target.path, headers);
    if (fastRoute === undefined) return undefined;
    const bytes = chunk.subarray(head.end, end);
    const asked: Asked = { method, fastRoute, exchange: exchangeOf(headers), startedAt };
    const incoming: Incoming = {
      headers,
      captures: fastRoute.captures,
      path: target.path,
      query: target.query,
      remote: this.socket,
      readBody: ({ arriving, check, inTurn, use }) => {
        // The whole body has arrived already.
        arriving?.end();
        return then(inTurn(bytes.length), (refusal) => {
          const late = refusal ?? (this.socket.writable ? check?.([bytes]) : refused('malformed_json'));
          // An ASCII body is cut from the text of the read, which saves half a microsecond per event.
          return use(late ?? parseJson(isAscii(bytes) ? text.slice(head.end, end) : bodyText(bytes)));
        });
      },
    };
    return { asked, incoming, end };
  }

  #replyTo({ fastRoute, exchange }: Asked, incoming: Incoming): MaybeAsync<ApiReply> {
    try {
      return fastRoute.endpoint.answer(incoming);
    } catch (error) {
      return failureReply(this.shared.deps, exchange, error);
    }
  }

  #await(asked: Asked, reply: Promise<ApiReply>, rest: Buffer): void {
    this.#awaiting = true;
    if (rest.length > 0) this.#waiting.unshift(rest);
    reply.then(
      (late) => this.#answerLate(asked, late),
      (error: unknown) => this.#answerLate(asked, failureReply(this.shared.deps, asked.exchange, error)),
    );
  }

  #answerLate(asked: Asked, reply: ApiReply): void {
    this.#awaiting = false;
    this.#send(this.#answer(asked, reply));
    if (this.#waiting.length > 0 || this.#ended || this.socket.isPaused()) this.#goOn();
  }

  #answer({ method, fastRoute, exchange, startedAt }: Asked, reply: ApiReply): string {
    const { deps } = this.shared;
    const { route } = fastRoute.endpoint;
    const wire = wireReply(route, reply, exchange);
    const ms = performance.now() - startedAt;
    recordAnswer(deps, { route, reply, method, requestId: exchange.requestId, ms });
    this.#closing = deps.isDraining();
    if (wire.length !== undefined && wire.length !== wire.payload.length) this.#isAscii = false;
    return replyText(wire, httpDate(), this.#closing ? CLOSE : KEEP);
  }

  #send(text: string): void {
    if (text === '' || !this.socket.writable) return;
    this.#answered = true;
    const encoding = this.#isAscii ? 'latin1' : 'utf8';
    this.#isAscii = true;
    if (this.#closing) closeGently(this.socket, text, encoding);
    else this.socket.write(text, encoding);
  }

  #leave(rest: Buffer): void {
    const socket = this.socket;
    socket.setTimeout(0);
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onTimeout);
    socket.off('drain', this.#onDrain).off('close', this.#onClose);
    this.shared.open.delete(this.socket);
    this.#left = true;
    this.fallBack(Buffer.concat([rest, ...this.#waiting.splice(0)]), this.#ended);
  }
}

let dateSecond = 0;
let dateText = '';

/** Returns the date field from the wall clock (RFC 9110, section 6.6.1), not from the group's clock. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

interface FastRoute {
  readonly endpoint: Endpoint;
  readonly captures: readonly string[];
}

type FastRoutes = (method: string, path: string, headers: IncomingHttpHeaders) => FastRoute | undefined;

const playersPath = '/api/v1/players/';
const scorePath = '/trust-score';

function createFastRoutes({ getTrustScore, getTrustScores, submitEvent, submitEvents }: Endpoints): FastRoutes {
  const match: FastRoute = { endpoint: getTrustScores, captures: [] };
  const posts = new Map<string, FastRoute>(
    [submitEvent, submitEvents].map((endpoint) => [endpoint.route.path, { endpoint, captures: [] }]),
  );
  return (method, path, headers) => {
    if (method === 'POST') {
      const route = posts.get(path);
      return route !== undefined && hasPlainBody(headers, route) ? route : undefined;
    }
    if (method !== 'GET') return undefined;
    if (path === getTrustScores.route.path) return match;
    if (!path.startsWith(playersPath) || !path.endsWith(scorePath)) return undefined;
    const id = path.slice(playersPath.length, -scorePath.length);
    return id === '' || id.includes('/') ? undefined : { endpoint: getTrustScore, captures: [id] };
  };
}

function hasPlainBody(headers: IncomingHttpHeaders, { endpoint }: FastRoute): boolean {
  const length = headers['content-length'];
  if (length === undefined || Number(length) > endpoint.route.body!.bytesMax || Number(length) === 0) return false;
  return (
    headers['content-type'] === 'application/json' &&
    headers['content-encoding'] === undefined &&
    headers.expect === undefined
  );
}
