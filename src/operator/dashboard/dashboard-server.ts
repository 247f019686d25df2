/** Starts the dashboard's server on an address of its own, with helmet's headers, authentication and the routes. */
import { createServer } from 'node:http';
import { Router } from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import helmet from 'koa-helmet';
import type { Logger } from 'pino';
import { granted, type Outcome, refused } from '../../errors.js';
import { limits, serverBounds } from '../../limits.js';
import { listening } from '../../listening.js';
import { type Ask, asksOf, isOperationName, operations } from '../../operations/table.js';
import { auditPages, type ChainReport, verifyChain } from '../protocol/audit-chain.js';
import { closeServer } from '../protocol/socket-server.js';
import { readAssets } from './assets.js';
import { Authentication } from './authentication.js';
import { answerWith, type DashboardDeps, type DashboardMiddleware, type DashboardState, page } from './context.js';
import { DashboardUpdates } from './dashboard-updates.js';
import { appPage } from './shell.js';
import type { SessionValue } from './wire.js';

const policy = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    requireTrustedTypesFor: ["'script'"],
  },
};

export async function startDashboard(deps: DashboardDeps) {
  const { group, log } = deps;
  const ask = asksOf(deps);
  const watch = new DashboardUpdates(deps, ask);
  const authentication = new Authentication(deps, readAssets());
  const router = dashboardRoutes(deps, ask, watch);
  router.get('/', (ctx) => page(ctx, appPage(group.identity), 200));
  router.post('/sign-out', (ctx) => authentication.leave(ctx));
  const server = createServer(serverBounds, createApp(authentication, router, log).callback());
  const address = await listening(server, deps.host, deps.port);
  watch.start();
  return {
    ...address,
    async close() {
      watch.stop();
      await closeServer(server);
    },
  };
}

function createApp(authentication: Authentication, router: Router<DashboardState>, log: Logger): Koa<DashboardState> {
  const app = new Koa<DashboardState>();
  app.use(failuresAnswered(log));
  // Only the proxy can say whether a host is reached over TLS alone, since that applies to all of the host's ports.
  app.use(
    helmet({
      contentSecurityPolicy: policy,
      strictTransportSecurity: false,
      referrerPolicy: { policy: 'same-origin' },
      xFrameOptions: { action: 'deny' },
    }),
  );
  app.use(authentication.fromOwnPage);
  app.use(
    bodyParser({
      enableTypes: ['json', 'form'],
      jsonLimit: String(limits.eventBodyBytes),
      formLimit: String(limits.eventBodyBytes),
    }),
  );
  app.use(authentication.withSession);
  app.use(router.routes());
  app.use((ctx) => answerWith(ctx, refused('route_not_found')));
  app.on('error', (error: unknown) => log.debug({ err: error }, 'the connection to a page of the dashboard was lost'));
  return app;
}

function failuresAnswered(log: Logger): DashboardMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
      if (status === 413) return answerWith(ctx, refused('payload_too_large'));
      if (status === 400) return answerWith(ctx, refused('malformed_json'));
      log.error({ err: error }, 'a call of the dashboard failed');
      answerWith(ctx, refused('internal_error'));
    }
  };
}

function dashboardRoutes({ group, clock }: DashboardDeps, ask: Ask, watch: DashboardUpdates): Router<DashboardState> {
  const router = new Router<DashboardState>({ sensitive: true, strict: true });

  router.get('/session', (ctx) => {
    const { operator, expiresAt } = ctx.state.session;
    const { groupId, environment } = group.identity;
    const value: SessionValue = {
      operator,
      expires_at: new Date(expiresAt).toISOString(),
      group_id: groupId,
      environment,
      clustered: group.clusterOperations !== null,
    };
    answerWith(ctx, granted(value));
  });

  router.get('/overview', async (ctx) => answerWith(ctx, await watch.overview()));

  router.get('/history', (ctx) => answerWith(ctx, granted(watch.pace.value())));

  router.get('/changes', (ctx) => answerWith(ctx, granted({ data: watch.changes.value() })));

  router.get('/peers/:id/history', (ctx) => {
    const peer = group.peerById(ctx.params.id ?? '');
    answerWith(ctx, peer === undefined ? refused('unknown_peer') : granted(watch.weights.value(peer, clock.now())));
  });

  router.post('/audit-check', async (ctx) => answerWith(ctx, await checkedChain(ask)));

  router.post('/commands/:name', async (ctx) => {
    const name = ctx.params.name ?? '';
    const found = isOperationName(name) && operations[name].dashboard === true ? name : undefined;
    if (found === undefined) return answerWith(ctx, refused('route_not_found'));
    // The operator's own statement, like `--by` of the command.
    const { operator } = ctx.state.session;
    const by = operator === null ? 'dashboard' : `${operator} (dashboard)`;
    const signature = 'by' in operations[found].request.properties ? { by } : {};
    answerWith(ctx, await ask(found, { ...asObject(ctx.request.body), ...signature }));
  });

  return router;
}

function asObject(body: unknown): object {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
}

async function checkedChain(ask: Ask): Promise<Outcome<ChainReport>> {
  let failed: Outcome<never> | undefined;
  const pages = auditPages(async (after) => {
    const page = await ask('audit-page', { after, limit: limits.pageMax });
    if (page.ok) return page.value;
    failed = page;
    return { data: [], next_after: null };
  });
  const report = await verifyChain(pages);
  return failed ?? granted(report);
}
