/**
 * The Koa application: it finds the route, runs the pipeline and sends what comes back. It holds no rule of the contract but
 * 404, 405 and `OPTIONS`, which follow from the table of routes; the rest would be a rule only one lane knows.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from '@koa/router';
import Koa from 'koa';
import { refused } from '../errors.js';
import { limits } from '../limits.js';
import { apiKeyOf } from './auth.js';
import { createBodyReader } from './body.js';
import { type OperationId, type Route, routes } from './contract/routes.js';
import type { FaceDeps } from './deps.js';
import { docsHandlers } from './handlers/docs.js';
import { eventHandlers } from './handlers/events.js';
import { healthHandlers } from './handlers/health.js';
import { peerHandlers } from './handlers/peers.js';
import { playerHandlers } from './handlers/players.js';
import { subjectHandlers } from './handlers/subjects.js';
import { headFault, isRequestId, parseTarget, type Target } from './head.js';
import { createEndpoint, type Endpoint } from './pipeline.js';
import { type Exchange, internalErrorReply, refusalReply, type WireReply, wantsProblem, wireReply } from './reply.js';
import type { ApiReply, Handlers } from './request.js';

/** One answer in the making, carried through Koa's state. */
interface Answering {
  readonly target: Target;
  route: Route | undefined;
  reply: ApiReply;
}

interface State extends Koa.DefaultState {
  answering: Answering;
}

type FaceContext = Koa.ParameterizedContext<State>;

export interface Application {
  /** Answers one request. Never rejects. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/** `isDraining`: true once connections are to be closed after their answer. */
export function createApplication(deps: FaceDeps, isDraining: () => boolean): Application {
  const handlers: Handlers = {
    ...healthHandlers(deps),
    ...peerHandlers(deps),
    ...eventHandlers(deps),
    ...playerHandlers(deps),
    ...subjectHandlers(deps),
    ...docsHandlers(deps.version),
  };
  const app = new Koa<State>();
  app.use(async (ctx, next) => {
    ctx.respond = false;
    const startedAt = performance.now();
    const exchange = exchangeOf(ctx.req);
    const answering = await answerOf(ctx, exchange, next);
    send(ctx.req, ctx.res, wireReply(answering.route, answering.reply, exchange), isDraining());
    record(answering, exchange, ctx.method, performance.now() - startedAt);
  });
  app.use(routerOf(handlers, deps).routes());
  app.use((ctx) => {
    ctx.state.answering.reply = unmatchedReply(ctx);
  });
  app.on('error', (error: unknown) => {
    // A caller that hangs up is no fault of ours, and must not be able to fill the log.
    const level = isConnectionFault(error) ? 'debug' : 'error';
    deps.log[level]({ err: error }, 'an answer could not be sent');
  });

  async function answerOf(ctx: FaceContext, exchange: Exchange, next: () => Promise<void>): Promise<Answering> {
    const target = targetOf(ctx.req);
    if ('code' in target) return { target: noTarget, route: undefined, reply: refusalReply(refused(target.code)) };
    const answering: Answering = { target, route: undefined, reply: notFound };
    // The router reads the path from here; an absolute target would otherwise be parsed a second time, less strictly.
    ctx.req.url = target.query === '' ? target.path : `${target.path}?${target.query}`;
    ctx.state.answering = answering;
    try {
      await next();
    } catch (error) {
      deps.log.error({ err: error, request_id: exchange.requestId }, 'a request failed');
      answering.reply = internalErrorReply(exchange.requestId);
    }
    return answering;
  }

  function record({ route, reply }: Answering, exchange: Exchange, method: string, ms: number): void {
    const template = route?.path ?? 'none';
    deps.metrics.requestAnswered(template, knownMethod(method), reply.status, reply.error?.code ?? '', ms);
    deps.log.debug({ route: template, status: reply.status, ms, request_id: exchange.requestId }, 'answered');
  }

  return { handle: app.callback() };
}

const notFound = refusalReply(refused('route_not_found'));
const noTarget: Target = { path: '', query: '' };

/** The target of a request, or the code of its head's fault. */
function targetOf(
  request: IncomingMessage,
): Target | { readonly code: 'uri_too_long' | 'headers_too_large' | 'invalid_parameter' } {
  const url = request.url ?? '';
  const fault = headFault(url, request.rawHeaders);
  if (fault !== undefined) return { code: fault };
  // RFC 9112, section 3.2: a request of HTTP/1.1 without Host is malformed. Node would refuse it without a body.
  if (request.headers.host === undefined && request.httpVersion === '1.1') return { code: 'invalid_parameter' };
  if (url === '*' && request.method === 'OPTIONS') return { path: '*', query: '' };
  return parseTarget(url) ?? { code: 'invalid_parameter' };
}

function exchangeOf({ headers }: IncomingMessage): Exchange {
  const given = headers['x-request-id'];
  const offered = Array.isArray(given) ? given[0] : given;
  return {
    requestId: isRequestId(offered) ? offered : randomUUID(),
    problem: wantsProblem(headers.accept),
    keySent: apiKeyOf(headers['x-peer-api-key']) !== undefined,
    ifNoneMatch: headers['if-none-match'],
  };
}

function routerOf(handlers: Handlers, deps: FaceDeps): Router<State> {
  const router = new Router<State>({ sensitive: true, strict: true });
  const mount = <Id extends OperationId>(id: Id): void => {
    const endpoint: Endpoint = createEndpoint(id, handlers[id], deps);
    const { route } = endpoint;
    const read = createBodyReader(route.body?.bytesMax ?? limits.eventBodyBytes);
    router.register(route.path.replace(/\{(\w+)\}/g, ':$1'), [route.method], async (ctx) => {
      const { answering } = ctx.state;
      answering.route = route;
      answering.reply = await endpoint.answer({
        headers: ctx.req.headers,
        captures: ctx.captures ?? [],
        query: answering.target.query,
        readBody: () => read(ctx),
      });
    });
  };
  for (const id of Object.keys(routes) as OperationId[]) mount(id);
  return router;
}

/** 404 for an unknown path, else 204 to `OPTIONS` and 405 to what the path does not take. */
function unmatchedReply(ctx: FaceContext): ApiReply {
  const { path } = ctx.state.answering.target;
  const methods = path === '*' ? ['GET', 'HEAD', 'POST', 'DELETE'] : methodsOf(ctx.matched ?? []);
  if (methods.length === 0) return notFound;
  const headers = { Allow: [...methods, 'OPTIONS'].join(', ') };
  if (ctx.method === 'OPTIONS') return { status: 204, body: undefined, headers };
  return { ...refusalReply(refused('method_not_allowed')), headers };
}

function methodsOf(layers: readonly { readonly methods: readonly string[] }[]): string[] {
  return [...new Set(layers.flatMap((layer) => layer.methods))];
}

function isConnectionFault(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNABORTED';
}

/** A label is one of few: a caller may invent methods. */
function knownMethod(method: string): string {
  return ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'].includes(method) ? method : 'other';
}

function send(request: IncomingMessage, response: ServerResponse, reply: WireReply, closing: boolean): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(reply.status, closing ? { ...reply.headers, Connection: 'close' } : reply.headers);
  if (reply.headers.Connection === 'close' && !request.complete) {
    endAfterRequest(request, response, reply.payload);
  } else {
    response.end(reply.payload);
  }
}

/**
 * Sends the whole answer but keeps the connection until the caller has stopped sending: closing it at once would reset
 * it, and the caller could lose the answer that says why.
 */
function endAfterRequest(request: IncomingMessage, response: ServerResponse, payload: string | Uint8Array): void {
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, limits.keepAliveTimeoutMs).unref();
  response.write(payload);
  request.once('end', end).once('close', end).resume();
}
