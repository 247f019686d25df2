/** Starts the dashboard's server on an address of its own, with helmet's headers, authentication and the routes. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Router } from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import helmet from 'koa-helmet';
import type { Logger } from 'pino';
import { refused } from '../../errors.js';
import { limits, serverBounds } from '../../limits.js';
import { asksOf } from '../../operations/table.js';
import { closeServer } from '../protocol/close-server.js';
import { readAssets } from './assets.js';
import { Authentication } from './authentication.js';
import { answerWith, type DashboardDeps, type DashboardMiddleware, type DashboardState, page } from './context.js';
import { dashboardRoutes } from './dashboard-routes.js';
import { DashboardUpdates } from './dashboard-updates.js';
import { appPage } from './shell.js';

export interface Dashboard {
  readonly host: string;
  readonly port: number;
  /** Closes every connection. */
  close(): Promise<void>;
}

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

/** Listens and starts to watch the node. Rejects if the address is not available. */
export async function startDashboard(deps: DashboardDeps): Promise<Dashboard> {
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

async function listening(server: Server, host: string, port: number): Promise<Pick<Dashboard, 'host' | 'port'>> {
  const up = once(server, 'listening');
  server.listen(port, host);
  await up;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the dashboard has no address');
  return { host: address.address, port: address.port };
}
