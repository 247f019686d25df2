/** Checks that changes come from the dashboard's own page, and sessions; serves the sign-in and the public files. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { refused } from '../../errors.js';
import { limits } from '../../limits.js';
import { addressKeyOf } from '../../validation/address-key.js';
import { peerName } from '../../validation/identifiers.js';
import type { Asset } from './assets.js';
import {
  answerWith,
  type DashboardContext,
  type DashboardDeps,
  type DashboardMiddleware,
  file,
  isRead,
  page,
  seeOther,
} from './context.js';
import { sessionCookie } from './sessions/sessions.js';
import { SignIn } from './sessions/sign-in.js';
import { type SignInNotice, signInPage } from './shell.js';

const foreignHost =
  'Host must be an IP address, localhost, the DASHBOARD_HOST, or one of the DASHBOARD_PROXY_HOSTS of the node';
/** The name is optional. One that hides a character could pass for another operator's in the audit log. */
const operatorName = new RegExp(`^$|${peerName.pattern}`, 'u');

export class Authentication {
  readonly #signIn: SignIn;
  readonly #names: readonly string[];

  constructor(
    private readonly deps: DashboardDeps,
    private readonly assets: ReadonlyMap<string, Asset>,
  ) {
    this.#signIn = new SignIn(deps.sessions, deps.passwordHash, deps.attempts);
    this.#names = [deps.host.toLowerCase(), ...deps.proxyHosts];
  }

  /** Refuses requests under a foreign name, and changes that do not come from the dashboard's own page. */
  readonly fromOwnPage: DashboardMiddleware = async (ctx, next) => {
    if (!isOwnHost(ctx.req, this.#names)) return answerWith(ctx, refused('cross_site', { text: foreignHost }));
    if (isRead(ctx) || isOwnPage(ctx.req)) return next();
    if (ctx.path === '/sign-in') this.#turnAway(ctx, { why: 'cross_site' });
    else answerWith(ctx, refused('cross_site'));
  };

  readonly withSession: DashboardMiddleware = async (ctx, next) => {
    const session = await this.deps.sessions.read(ctx.cookies.get(sessionCookie));
    if (await this.#answerOpen(ctx, session !== undefined)) return;
    if (session === undefined) {
      if (ctx.path === '/' && isRead(ctx)) seeOther(ctx, 'sign-in');
      else answerWith(ctx, refused('invalid_session'));
      return;
    }
    ctx.state.session = session;
    await next();
  };

  leave(ctx: DashboardContext): void {
    this.deps.sessions.end(ctx.state.session);
    setCookie(ctx, '', 0);
    seeOther(ctx, 'sign-in');
  }

  /** Answers without a session: the sign-in form, and files that contain nothing of the group. */
  async #answerOpen(ctx: DashboardContext, isSignedIn: boolean): Promise<boolean> {
    if (ctx.path.startsWith('/assets/') && isRead(ctx)) {
      const asset = this.assets.get(ctx.path.slice('/assets/'.length));
      if (asset === undefined) answerWith(ctx, refused('route_not_found'));
      else file(ctx, asset);
      return true;
    }
    if (ctx.path !== '/sign-in') return false;
    if (ctx.method === 'POST') await this.#enter(ctx);
    else if (isSignedIn) seeOther(ctx, './');
    else page(ctx, signInPage(this.deps.group.identity, 'ended' in ctx.query ? { why: 'ended' } : undefined), 200);
    return true;
  }

  async #enter(ctx: DashboardContext): Promise<void> {
    const form = ctx.request.body as Readonly<Record<string, unknown>> | undefined;
    const operator = String(form?.operator ?? '').trim();
    if (operator.length > limits.operatorNameLength || !operatorName.test(operator))
      return this.#turnAway(ctx, { why: 'name' }, operator);
    const signed = await this.#signIn.try(
      { operator, password: String(form?.password ?? '') },
      addressOf(ctx.req, this.deps.proxyHosts.length > 0),
    );
    if (!signed.ok) {
      this.deps.log.warn({ why: signed.why }, 'a sign-in to the dashboard failed');
      return this.#turnAway(ctx, signed, operator);
    }
    this.deps.log.info({ operator: signed.session.operator }, 'signed in to the dashboard');
    setCookie(ctx, signed.token, limits.sessionMs / 1000);
    seeOther(ctx, './');
  }

  #turnAway(ctx: DashboardContext, notice: SignInNotice, operator?: string): void {
    const statuses = { ended: 401, wrong: 401, unset: 503, name: 400, cross_site: 403, too_many: 429 };
    if (notice.why === 'too_many') ctx.set('Retry-After', String(notice.retryAfterS));
    page(ctx, signInPage(this.deps.group.identity, notice, operator), statuses[notice.why]);
  }
}

/** The cookie is valid for the whole host, because registration on the public port uses it, too. */
function setCookie(ctx: DashboardContext, token: string, maxAgeS: number): void {
  const secure = isOverTls(ctx.req) ? '; Secure' : '';
  ctx.append('Set-Cookie', `${sessionCookie}=${token}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`);
}

/**
 * True if `Host` names this dashboard: by an IP address, as `localhost`, or by one of its names. Any other may be that
 * of an attacker's page, which resolves to this machine.
 */
export function isOwnHost({ headers }: Pick<IncomingMessage, 'headers'>, names: readonly string[]): boolean {
  const name = originOf(`http://${headers.host}`)?.hostname ?? '';
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || name === 'localhost' || names.includes(name);
}

/**
 * True if the dashboard's own page sent a change. Browsers state it: in `Sec-Fetch-Site` over TLS or from this machine,
 * else in `Origin`. A request with neither does not come from an operator's browser.
 */
export function isOwnPage({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const origin = originOf(headers.origin);
  return origin !== undefined && origin.host === headers.host;
}

/** True if the browser uses TLS: it sends its scheme, and proxies forward theirs. */
export function isOverTls({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return originOf(headers.origin)?.protocol === 'https:' || headers['x-forwarded-proto'] === 'https';
}

/**
 * Returns the key under which sign-in attempts are counted. A configured proxy runs on this machine and appends the
 * caller's address to `X-Forwarded-For`; the header is ignored from elsewhere.
 */
export function addressOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>, hasProxy: boolean): string {
  const own = socket.remoteAddress ?? '';
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-1)?.trim() ?? '';
  const isLoopback = own === '::1' || /^(?:::ffff:)?127\./.test(own);
  return addressKeyOf(hasProxy && isLoopback && forwarded !== '' ? forwarded : own);
}

function originOf(text: string | undefined): URL | undefined {
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
}
