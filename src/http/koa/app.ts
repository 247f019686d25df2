/**
 * Creates the Koa application, which finds the route of a request, calls its endpoint and sends the reply. Its only
 * rules of the contract are 404, 405 and `OPTIONS`: any other would be missing on the fast path.
 */
import { Router } from '@koa/router';
import Koa from 'koa';
import type { Route } from '../../contract/routes.js';
import { hasCode, refused } from '../../errors.js';
import type { Endpoints } from '../handlers/endpoints.js';
import { type AnsweringDeps, exchangeOf, failureReply, incomingOf, sendReply, targetOf } from '../request/answering.js';
import type { Target } from '../request/head.js';
import { type Exchange, refusalReply } from '../request/reply.js';
import type { ApiReply } from '../request/request.js';

interface State extends Koa.DefaultState {
  target: Target;
  route: Route | undefined;
  reply: ApiReply;
}

type Context = Koa.ParameterizedContext<State>;

export function createApplication(endpoints: Endpoints, deps: AnsweringDeps) {
  const app = new Koa<State>();
  app.use(async (ctx, next) => {
    ctx.respond = false;
    const startedAt = performance.now();
    const exchange = exchangeOf(ctx.req.headers);
    const reply = await replyOf(ctx, exchange, next);
    sendReply(deps, ctx.req, ctx.res, { exchange, startedAt, route: ctx.state.route }, reply);
  });
  app.use(routerOf(endpoints).routes());
  app.use((ctx) => {
    ctx.state.reply = unmatchedReply(ctx);
  });
  app.on('error', (error: unknown) => {
    // A caller that disconnects is no error of the node, and must not fill the log.
    const level = hasCode(error, 'ECONNRESET', 'EPIPE', 'ECONNABORTED') ? 'debug' : 'error';
    deps.log[level]({ err: error }, 'an answer could not be sent');
  });

  async function replyOf(ctx: Context, exchange: Exchange, next: () => Promise<void>): Promise<ApiReply> {
    const target = targetOf(ctx.req);
    // The bytes after a head of an older version may be meant otherwise than they are read.
    const close = ctx.req.httpVersion === '1.1' ? {} : { headers: { Connection: 'close' } };
    if ('code' in target) return { ...refusalReply(refused(target.code)), ...close };
    // The router reads the path from `url`. It would otherwise parse an absolute target again, less strictly.
    ctx.req.url = target.path;
    ctx.state.target = target;
    try {
      await next();
      return ctx.state.reply;
    } catch (error) {
      return failureReply(deps, exchange, error);
    }
  }

  return app.callback();
}

function routerOf(endpoints: Endpoints): Router<State> {
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const endpoint of Object.values(endpoints)) {
    const { route } = endpoint;
    router.register(route.path.replace(/\{(\w+)\}/g, ':$1'), [route.method], async (ctx) => {
      ctx.state.route = route;
      ctx.state.reply = await endpoint.answer(incomingOf(ctx.req, route, ctx.captures ?? [], ctx.state.target));
    });
  }
  return router;
}

/** Returns 404 for an unknown path, else 204 to `OPTIONS` and 405 to any other method that the path does not accept. */
function unmatchedReply(ctx: Context): ApiReply {
  const { path } = ctx.state.target;
  const layers: readonly { readonly methods: readonly string[] }[] = ctx.matched ?? [];
  const methods =
    path === '*' ? ['GET', 'HEAD', 'POST', 'DELETE'] : [...new Set(layers.flatMap(({ methods }) => methods))];
  if (methods.length === 0) return refusalReply(refused('route_not_found'));
  const headers = { Allow: [...methods, 'OPTIONS'].join(', ') };
  if (ctx.method === 'OPTIONS') return { status: 204, body: undefined, headers };
  return { ...refusalReply(refused('method_not_allowed')), headers };
}
