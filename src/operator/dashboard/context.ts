/**
 * Declares the data that a request to the dashboard carries after authentication, and sends answers in their different
 * forms.
 */
import type Koa from 'koa';
import { errors, type Outcome } from '../../errors.js';
import { retryAfterOf } from '../../group/retry-after.js';
import type { Asset } from './assets.js';
import type { Session } from './sessions/sessions.js';

export interface DashboardState extends Koa.DefaultState {
  /** Set by the authentication. */
  session: Session;
}

export type DashboardContext = Koa.ParameterizedContext<DashboardState>;

export type DashboardMiddleware = Koa.Middleware<DashboardState>;

export function isRead({ method }: DashboardContext): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Answers a call of the page in the form of the public API: the value itself, or `{error, code}`. */
export function answerWith(ctx: DashboardContext, outcome: Outcome<unknown>, status = 200): void {
  ctx.set('Cache-Control', 'no-store');
  if (outcome.ok) {
    ctx.status = status;
    ctx.body = outcome.value;
    return;
  }
  const { status: refusal, text } = errors[outcome.code];
  ctx.status = refusal;
  const retryAfterS = retryAfterOf(outcome);
  if (retryAfterS !== undefined) ctx.set('Retry-After', String(retryAfterS));
  ctx.body = {
    error: outcome.text ?? text,
    code: outcome.code,
    ...(outcome.details === undefined ? {} : { details: outcome.details }),
  };
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
