/** Declares what the dashboard needs, and what a request carries after authentication; sends answers in their forms. */
import type Koa from 'koa';
import type { Logger } from 'pino';
import { errorMembers, errors, type Outcome } from '../../errors.js';
import type { Clock } from '../../group/ports/clock.js';
import type { Traffic } from '../../group/ports/observer.js';
import { retryAfterOf } from '../../group/refusals.js';
import type { AskedNode } from '../../operations/operation.js';
import type { Asset } from './assets.js';
import type { Session, Sessions } from './sessions/sessions.js';
import type { SignInAttempts } from './sessions/sign-in.js';

export interface DashboardDeps extends AskedNode {
  readonly host: string;
  readonly port: number;
  readonly sessions: Sessions;
  /** Hash of the present password; null if none is set. */
  readonly passwordHash: () => string | null;
  readonly attempts: SignInAttempts;
  /** Names under which a proxy on this machine serves the dashboard; none if there is no proxy. */
  readonly proxyHosts: readonly string[];
  readonly traffic: () => Traffic;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface DashboardState extends Koa.DefaultState {
  session: Session;
}

export type DashboardContext = Koa.ParameterizedContext<DashboardState>;

export type DashboardMiddleware = Koa.Middleware<DashboardState>;

export function isRead({ method }: DashboardContext): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Answers a call of the page in the form of the public API: the value itself, or `{error, code}`. */
export function answerWith(ctx: DashboardContext, outcome: Outcome<unknown>): void {
  ctx.set('Cache-Control', 'no-store');
  if (outcome.ok) {
    ctx.status = 200;
    ctx.body = outcome.value;
    return;
  }
  ctx.status = errors[outcome.code].status;
  const retryAfterS = retryAfterOf(outcome);
  if (retryAfterS !== undefined) ctx.set('Retry-After', String(retryAfterS));
  ctx.body = errorMembers(outcome);
}

export function page(ctx: DashboardContext, html: string, status: number): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.set('Cache-Control', 'no-store');
  ctx.body = html;
}

export function file(ctx: DashboardContext, { type, bytes, etag }: Asset): void {
  ctx.status = 200;
  ctx.set({ 'Content-Type': type, 'Cache-Control': 'no-cache', ETag: etag });
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = bytes;
}

/** `to` is relative, so that it works with a path prefix of a proxy. */
export function seeOther(ctx: DashboardContext, to: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Location', to);
  ctx.status = 303;
}
