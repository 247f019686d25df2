/** Opens the interfaces for the operator: the operator's socket and, if configured, the metrics and dashboard ports. */
import type { Pseudonyms } from '../core/hashing/pseudonym.js';
import type { Metrics } from '../http/metrics/metrics.js';
import { startMetricsServer } from '../http/metrics/metrics-server.js';
import { type DashboardDeps, startDashboard } from '../operator/dashboard/dashboard-server.js';
import { startOperatorSocket } from '../operator/protocol/socket-server.js';
import { readPlayerId } from '../player-ids/player-id.js';
import type { Config } from './config.js';
import type { Closers } from './shutdown.js';
import { listeningOrRefuse, socketOrRefuse } from './startup.js';
import { version } from './version.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface OperatorAccessDeps
  extends Pick<DashboardDeps, 'group' | 'sessions' | 'passwordHash' | 'clock' | 'log'> {
  readonly config: Config;
  readonly dir: string;
  readonly closers: Closers;
  readonly metrics: Metrics;
  readonly pseudonyms: Pick<Pseudonyms, 'of'>;
}

export async function openOperatorAccess(deps: OperatorAccessDeps) {
  const { config, dir, closers, metrics, pseudonyms, group, sessions, passwordHash, clock, log } = deps;
  const { metricsHost, metricsPort, dashboardHost, dashboardPort } = config;
  const socket = await socketOrRefuse(startOperatorSocket({ dir, group, version, log }), dir);
  closers.add(() => socket.close());
  const metricsServer =
    metricsPort === null
      ? null
      : await listeningOrRefuse(startMetricsServer(metrics, metricsHost, metricsPort, log), {
          port: 'METRICS_PORT',
          host: 'METRICS_HOST',
        });
  if (metricsServer !== null) closers.add(() => metricsServer.close());
  const pseudonymise = (id: string) => pseudonyms.of(canonicalOrGiven(group.identity.playerIdKinds, id));
  const traffic = () => metrics.traffic();
  const shared = { group, sessions, passwordHash, clock, log };
  const dashboard =
    dashboardPort === null
      ? null
      : await listeningOrRefuse(
          startDashboard({ ...shared, host: dashboardHost, port: dashboardPort, pseudonymise, traffic, version }),
          { port: 'DASHBOARD_PORT', host: 'DASHBOARD_HOST' },
        );
  if (dashboard !== null) {
    closers.add(() => dashboard.close());
    if (passwordHash() === null) log.warn('the dashboard has no password: set one with `ptf dashboard set-password`');
  }
  return { metricsAddress: addressOf(metricsServer), dashboardAddress: addressOf(dashboard) };
}

function addressOf(server: Address | null): Address | null {
  return server === null ? null : { host: server.host, port: server.port };
}

/** Returns the canonical form of an entered player id, if the group has one for it. */
function canonicalOrGiven(kinds: readonly string[] | undefined, playerId: string): string {
  const found = kinds === undefined ? null : readPlayerId(playerId, { kinds });
  return found?.ok ? found.id : playerId;
}
