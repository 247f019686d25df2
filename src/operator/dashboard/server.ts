/**
 * The dashboard's server, on an address of its own: helmet's headers, the door (a session, and changes from our own page only),
 * then the routes. It opens nothing but its socket; the group and everything else it needs are handed to it.
 */
import { createServer } from 'node:http';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import helmet from 'koa-helmet';
import type { Logger } from 'pino';
import { refused } from '../../errors.js';
import type { GroupApi } from '../../group/api.js';
import type { Clock } from '../../group/ports.js';
import { limits } from '../../limits.js';
import { answersOf } from '../answers.js';
import { serverBounds } from '../server-bounds.js';
import { type Asset, readAssets } from './assets.js';
import type { Traffic } from './history.js';
import { LivePages } from './live.js';
import { addressOf, isOverTls, isOwnPage } from './origin.js';
import type { Pseudonymise } from './player.js';
import { answerWith, type DashboardContext, type DashboardState, dashboardRoutes } from './routes.js';
import { type Sessions, sessionCookie } from './sessions.js';
import { appPage, type SignInNotice, signInPage } from './shell.js';
import { SignIn } from './sign-in.js';
import { Watch } from './watch.js';

export interface DashboardDeps {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly group: GroupApi;
  readonly pseudonymise: Pseudonymise;
  readonly sessions: Sessions;
  /** The hash of the password in force; null where none is set. */
  readonly passwordHash: () => string | null;
  readonly traffic: () => Traffic;
  readonly clock: Clock;
  readonly version: string;
  readonly log: Logger;
}

export interface Dashboard {
  readonly host: string;
  readonly port: number;
  /** Ends the open pages and every connection. */
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

/** Listens, and watches the node from now on. Rejects where the address cannot be had. */
export async function startDashboard(deps: DashboardDeps): Promise<Dashboard> {
  const { group, sessions, clock, version, log } = deps;
  const pages = new LivePages(sessions);
  const answers = answersOf(group, version);
  const watch = new Watch({ group, answers, traffic: deps.traffic, pages, clock, log });
  const signIn = new SignIn(sessions, deps.passwordHash);
  const assets = readAssets();
  const router = dashboardRoutes({ group, pseudonymise: deps.pseudonymise, answers, watch, pages, clock });

  async function enter(ctx: DashboardContext): Promise<void> {
    const form = ctx.request.body as Readonly<Record<string, unknown>> | undefined;
    const operator = String(form?.operator ?? '');
    if (operator.length > limits.operatorNameLength || /\p{Cc}/u.test(operator))
      return turnAway(ctx, { why: 'name' }, operator);
    const signed = await signIn.try({ operator, password: String(form?.password ?? '') }, addressOf(ctx.req));
    if (!signed.ok) {
      log.warn({ why: signed.why }, 'a sign-in to the dashboard failed');
      return turnAway(ctx, signed, operator);
    }
    log.info({ operator: signed.session.operator }, 'signed in to the dashboard');
    setCookie(ctx, signed.token, limits.sessionMs / 1000);
    seeOther(ctx, './');
  }

  function turnAway(ctx: DashboardContext, notice: SignInNotice, operator?: string): void {
    const statuses = { wrong: 401, unset: 503, name: 400, cross_site: 403, too_many: 429 };
    if (notice.why === 'too_many') ctx.set('Retry-After', String(notice.retryAfterS));
    page(ctx, signInPage(group.identity, notice, operator), statuses[notice.why]);
  }

  function leave(ctx: DashboardContext): void {
    sessions.end(ctx.state.session);
    setCookie(ctx, '', 0);
    seeOther(ctx, 'sign-in');
  }

  /** What needs no session: the form to get one, and files that hold nothing of the group. */
  async function open(ctx: DashboardContext, isSignedIn: boolean): Promise<boolean> {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (ctx.path.startsWith('/assets/') && isRead) {
      const asset = assets.get(ctx.path.slice('/assets/'.length));
      if (asset === undefined) answerWith(ctx, refused('route_not_found'));
      else file(ctx, asset);
      return true;
    }
    if (ctx.path !== '/sign-in') return false;
    if (ctx.method === 'POST') await enter(ctx);
    else if (isSignedIn) seeOther(ctx, './');
    else page(ctx, signInPage(group.identity), 200);
    return true;
  }

  const app = new Koa<DashboardState>();
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
      if (status === 413) return answerWith(ctx, refused('payload_too_large'));
      if (status === 400) return answerWith(ctx, refused('malformed_json'));
      log.error({ err: error }, 'a call of the dashboard failed');
      answerWith(ctx, refused('internal_error'));
    }
  });
  // Whether a host is reached over TLS only is for the proxy to say, since it speaks for all of the host's ports.
  app.use(
    helmet({
      contentSecurityPolicy: policy,
      strictTransportSecurity: false,
      referrerPolicy: { policy: 'same-origin' },
      xFrameOptions: { action: 'deny' },
    }),
  );
  app.use(async (ctx, next) => {
    const changes = ctx.method !== 'GET' && ctx.method !== 'HEAD';
    if (!changes || isOwnPage(ctx.req)) return next();
    if (ctx.path === '/sign-in') turnAway(ctx, { why: 'cross_site' });
    else answerWith(ctx, refused('cross_site'));
  });
  app.use(
    bodyParser({
      enableTypes: ['json', 'form'],
      jsonLimit: String(limits.eventBodyBytes),
      formLimit: String(limits.eventBodyBytes),
    }),
  );
  app.use(async (ctx, next) => {
    const session = await sessions.read(ctx.cookies.get(sessionCookie));
    if (await open(ctx, session !== undefined)) return;
    if (session === undefined) {
      const isPage = ctx.path === '/' && (ctx.method === 'GET' || ctx.method === 'HEAD');
      if (isPage) seeOther(ctx, 'sign-in');
      else answerWith(ctx, refused('invalid_session'));
      return;
    }
    ctx.state.session = session;
    await next();
  });
  router.get('/', (ctx) => page(ctx, appPage(group.identity), 200));
  router.post('/sign-out', leave);
  app.use(router.routes());
  app.use((ctx) => answerWith(ctx, refused('route_not_found')));
  app.on('error', (error: unknown) => log.debug({ err: error }, 'a page of the dashboard hung up'));

  const server = createServer(serverBounds, app.callback());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(deps.port, deps.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the dashboard has no address');
  watch.start();
  return {
    host: address.address,
    port: address.port,
    async close() {
      watch.stop();
      pages.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A verification may take minutes; the end of a node does not wait for it.
      const cut = setTimeout(() => server.closeAllConnections(), limits.connectionsCheckingIntervalMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

function page(ctx: Koa.Context | DashboardContext, html: string, status: number): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.set('Cache-Control', 'no-store');
  ctx.body = html;
}

function file(ctx: DashboardContext, { type, bytes, etag }: Asset): void {
  ctx.status = 200;
  ctx.set({ 'Content-Type': type, 'Cache-Control': 'no-cache', ETag: etag });
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = bytes;
}

/** Relative, so that it holds behind a proxy's path prefix. */
function seeOther(ctx: DashboardContext, to: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Location', to);
  ctx.status = 303;
}

/** For the whole host: registration on the public port takes it too. */
function setCookie(ctx: DashboardContext, token: string, maxAgeS: number): void {
  const secure = isOverTls(ctx.req) ? '; Secure' : '';
  ctx.append('Set-Cookie', `${sessionCookie}=${token}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`);
}
