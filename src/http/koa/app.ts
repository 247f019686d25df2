/**
 * Creates the Koa application, which finds the route of a request, calls its endpoint and sends the reply. Its only
 * rules of the contract are 404, 405 and `OPTIONS`: any other would be missing on the fast path.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from '@koa/router';
import Koa from 'koa';
import type { Route } from '../../contract/routes.js';
import { refused } from '../../errors.js';
import { limits } from '../../limits.js';
import type { HttpDeps } from '../deps.js';
import { brokeOff, exchangeOf, openStream, recordAnswer, send, targetOf } from '../request/answering.js';
import { readJson } from '../request/body.js';
import type { Target } from '../request/head.js';
import { type Exchange, internalErrorReply, refusalReply, wireReply } from '../request/reply.js';
import type { ApiReply } from '../request/request.js';
import type { Endpoints } from './endpoints.js';

interface Answering {
  readonly target: Target;
  route: Route | undefined;
  reply: ApiReply;
}

interface State extends Koa.DefaultState {
  answering: Answering;
}

type FaceContext = Koa.ParameterizedContext<State>;

/** Returns the function that answers one request. `isDraining`: connections must close after their answer. */
export function createApplication(
  endpoints: Endpoints,
  deps: Pick<HttpDeps, 'metrics' | 'log'>,
  isDraining: () => boolean,
): (request: IncomingMessage, response: ServerResponse) => unknown {
  const app = new Koa<State>();
  app.use(async (ctx, next) => {
    ctx.respond = false;
    const startedAt = performance.now();
    const exchange = exchangeOf(ctx.req.headers);
    const answering = await answerOf(ctx, exchange, next);
    if (brokeOff(ctx.req)) return;
    const { route, reply } = answering;
    const wire = wireReply(route, reply, exchange);
    if (reply.stream === undefined || ctx.method === 'HEAD') send(ctx.req, ctx.res, wire, isDraining());
    else openStream(ctx.res, wire, reply.stream);
    const ms = performance.now() - startedAt;
    recordAnswer(deps, { route, reply, method: ctx.method, requestId: exchange.requestId, ms });
  });
  app.use(routerOf(endpoints).routes());
  app.use((ctx) => {
    ctx.state.answering.reply = unmatchedReply(ctx);
  });
  app.on('error', (error: unknown) => {
    // A caller that disconnects is no error of the node, and must not fill the log.
    const level = isConnectionError(error) ? 'debug' : 'error';
    deps.log[level]({ err: error }, 'an answer could not be sent');
  });

  async function answerOf(ctx: FaceContext, exchange: Exchange, next: () => Promise<void>): Promise<Answering> {
    const target = targetOf(ctx.req);
    if ('code' in target) return { target: noTarget, route: undefined, reply: refusalReply(refused(target.code)) };
    const answering: Answering = { target, route: undefined, reply: notFound };
    // The router reads the path from `url`. It would otherwise parse an absolute target again, less strictly.
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

  return app.callback();
}

const notFound = refusalReply(refused('route_not_found'));
const noTarget: Target = { path: '', query: '' };

function routerOf(endpoints: Endpoints): Router<State> {
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const endpoint of Object.values(endpoints)) {
    const { route } = endpoint;
    const bytesMax = route.body?.bytesMax ?? limits.eventBodyBytes;
    router.register(route.path.replace(/\{(\w+)\}/g, ':$1'), [route.method], async (ctx) => {
      const { answering } = ctx.state;
      answering.route = route;
      answering.reply = await endpoint.answer({
        headers: ctx.req.headers,
        captures: ctx.captures ?? [],
        path: answering.target.path,
        query: answering.target.query,
        remote: ctx.req.socket,
        readBody: (reading) => readJson(ctx.req, bytesMax, reading),
      });
    });
  }
  return router;
}

/** Returns 404 for an unknown path, else 204 to `OPTIONS` and 405 to any other method that the path does not accept. */
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

function isConnectionError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNABORTED';
}
