/** Opens the interfaces for the operator: the operator's socket and, if configured, the metrics and dashboard ports. */
import type { Logger } from 'pino';
import type { Pseudonyms } from '../core/hashing/pseudonym.js';
import { messageOf } from '../errors.js';
import type { OperatorApi } from '../group/api.js';
import type { Clock } from '../group/ports/clock.js';
import { type Metrics, startMetricsServer } from '../http/metrics/metrics.js';
import type { AskedNode } from '../operations/operation.js';
import { facts } from '../operations/text-table.js';
import { startDashboard } from '../operator/dashboard/dashboard-server.js';
import type { Sessions } from '../operator/dashboard/sessions/sessions.js';
import { SignInAttempts } from '../operator/dashboard/sessions/sign-in.js';
import { startOperatorSocket } from '../operator/protocol/socket-server.js';
import { readPlayerId } from '../player-ids/player-id.js';
import type { Config } from './config.js';
import type { Closers } from './shutdown.js';
import { listeningOrRefuse, StartRefusedError } from './startup.js';
import { version } from './version.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface OperatorAccessDeps {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly dir: string;
  readonly closers: Closers;
  readonly group: OperatorApi;
  readonly metrics: Metrics;
  readonly pseudonyms: Pick<Pseudonyms, 'of'>;
  /** Hash of the dashboard's password, as stored in the folder now; null if there is none. */
  readonly passwordHash: () => string | null;
  readonly sessions: Sessions;
}

export async function openOperatorAccess(deps: OperatorAccessDeps) {
  const { config, log, clock, dir, closers, group, metrics, pseudonyms, passwordHash, sessions } = deps;
  const { metricsHost, metricsPort, dashboardHost, dashboardPort, dashboardProxyHosts } = config;
  const attempts = new SignInAttempts();
  const asked: AskedNode = {
    group,
    version,
    pseudonymise: (playerId) => pseudonyms.of(canonicalOrGiven(group.identity.playerIdKinds, playerId)),
    unlockDashboard: () => attempts.unlock(),
  };
  const socket = await startOperatorSocket({ dir, log, ...asked }).catch((error: unknown) => {
    throw new StartRefusedError(`DATA_DIR: ${dir} cannot be used: the operator's socket: ${messageOf(error)}`);
  });
  closers.add(() => socket.close());
  const opened = async (starting: Promise<Address & { close(): Promise<void> }>, prefix: string): Promise<Address> => {
    const { host, port, close } = await listeningOrRefuse(starting, prefix);
    closers.add(close);
    return { host, port };
  };
  const metricsAddress =
    metricsPort === null ? null : await opened(startMetricsServer(metrics, metricsHost, metricsPort, log), 'METRICS_');
  if (dashboardPort === null) return { metricsAddress, dashboardAddress: null };
  const dashboard = startDashboard({
    host: dashboardHost,
    port: dashboardPort,
    ...asked,
    sessions,
    passwordHash,
    attempts,
    proxyHosts: dashboardProxyHosts ?? [],
    traffic: () => metrics.traffic(),
    clock,
    log,
  });
  const dashboardAddress = await opened(dashboard, 'DASHBOARD_');
  if (passwordHash() === null) log.warn('the dashboard has no password: set one with `ptf dashboard set-password`');
  return { metricsAddress, dashboardAddress };
}

function canonicalOrGiven(kinds: readonly string[] | undefined, playerId: string): string {
  const found = kinds === undefined ? null : readPlayerId(playerId, { kinds });
  return found?.ok ? found.id : playerId;
}

export function urlOf({ host, port }: Address): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`;
}

export function readyText(address: Address, dashboard: Address | null, dir: string): string {
  const url = urlOf(address);
  const lines = facts(Number.POSITIVE_INFINITY, [
    ['ready', url],
    ['docs', `${url}/docs`],
    ...(dashboard === null ? [] : [['dashboard', urlOf(dashboard)] as const]),
    ['data folder', dir],
  ]);
  return `${lines.join('\n')}\n`;
}
