/** Defines the routes of the dashboard that require a session. Each answers with a value or a refusal. */
import { Router } from '@koa/router';
import { granted, type Outcome, refused } from '../../errors.js';
import { limits } from '../../limits.js';
import { type Ask, isOperationName, operations } from '../../operations/table.js';
import { auditPages, type ChainReport, verifyChain } from '../protocol/audit-chain.js';
import { answerWith, type DashboardDeps, type DashboardState } from './context.js';
import type { DashboardUpdates } from './dashboard-updates.js';
import type { Session } from './sessions/sessions.js';
import type { SessionValue, WeightHistoryValue } from './wire.js';

export function dashboardRoutes(
  { group, clock }: DashboardDeps,
  ask: Ask,
  watch: DashboardUpdates,
): Router<DashboardState> {
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
    const found: Outcome<WeightHistoryValue> =
      peer === undefined ? refused('unknown_peer') : granted(watch.weights.value(peer, clock.now()));
    answerWith(ctx, found);
  });

  router.post('/audit-check', async (ctx) => answerWith(ctx, await checkedChain(ask)));

  router.post('/commands/:name', async (ctx) => {
    const name = ctx.params.name ?? '';
    const found = isOperationName(name) && operations[name].dashboard === true ? name : undefined;
    if (found === undefined) return answerWith(ctx, refused('route_not_found'));
    const by = 'by' in operations[found].request.properties ? { by: signatureOf(ctx.state.session) } : {};
    answerWith(ctx, await ask(found, { ...asObject(ctx.request.body), ...by }));
  });

  return router;
}

/** Name of the signed-in operator in the audit log; the operator's own statement, like `--by` of the command. */
function signatureOf({ operator }: Session): string {
  return operator === null ? 'dashboard' : `${operator} (dashboard)`;
}

function asObject(body: unknown): object {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
}

/** Recomputes the chain of the whole audit log, page by page. */
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
