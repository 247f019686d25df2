/**
 * Makes a frozen Config of the environment, or reports every fault at once. It is pure: the environment and the reader
 * of files come in as arguments, and no message ever holds the value of a secret.
 */
import { parse as parseDotenv } from 'dotenv';
import type { Environment, ErasureMode, IdentityMode, RegistrationMode } from './core/vocabulary.js';
import { limits } from './limits.js';
import { type LogLevel, type Variable, variables } from './variables.js';

export interface Config {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** As written: relative to the working folder where it is relative. */
  readonly dataDir: string;
  readonly environment: Environment;
  /** `ENVIRONMENT=prod` or `NODE_ENV=production`. */
  readonly production: boolean;
  readonly groupId: string;
  /** At least `limits.saltBytesMin` bytes of UTF-8. Null, outside production only: the node makes one and keeps it. */
  readonly salt: string | null;
  readonly identityMode: IdentityMode;
  readonly peerAuthEnabled: boolean;
  readonly registrationMode: RegistrationMode;
  /** At least `limits.sessionSecretBytesMin` bytes of UTF-8; never null where `registrationMode` is `session`. */
  readonly sessionSecret: string | null;
  readonly weightsIntervalMs: number;
  /** 0 turns decay off. */
  readonly halfLifeDays: number;
  readonly retentionDays: number;
  /** In log records. */
  readonly snapshotEvery: number;
  /** In MB (10^6 bytes); 0 turns the watermark off. */
  readonly diskFreeMinMb: number;
  readonly logLevel: LogLevel;
  readonly peersMax: number;
  readonly erasureMode: ErasureMode;
  /** Erasures per peer in `limits.erasureWindowMs`. */
  readonly erasureQuotaPerDay: number;
  /** Whether the hot requests take the lane in front of Koa. */
  readonly fastLane: boolean;
  /** Connections to the public port at a time. */
  readonly connectionsMax: number;
  /** Requests per second; 0: no limit. */
  readonly rateLimitPeerPerS: number;
  readonly rateLimitAddressPerS: number;
  /** Null: no metrics. 0 picks a free port. */
  readonly metricsPort: number | null;
  readonly metricsHost: string;
  /** Null: no dashboard. 0 picks a free port. */
  readonly dashboardPort: number | null;
  readonly dashboardHost: string;
  /** Null: the set in the log stands. */
  readonly preTrustedPeers: readonly string[] | null;
}

export type Environ = Readonly<Record<string, string | undefined>>;

/** Reads a text file. Undefined: there is none. Throws where there is one that cannot be read. */
export type ReadFile = (path: string) => string | undefined;

/** Something to say about one variable: a fault that refuses the start, or a warning. Holds no secret. */
export interface Remark {
  readonly variable: string;
  readonly text: string;
}

export type ConfigOutcome =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly Remark[] }
  | { readonly ok: false; readonly faults: readonly Remark[] };

/** What is set: a blank variable is unset, and a secret's text may come from its file. */
class Settings {
  readonly faults: Remark[] = [];

  constructor(
    private readonly env: Environ,
    private readonly readFile: ReadFile,
  ) {}

  /** The variable's value; its fallback where it is unset or at fault, and then the fault is noted. */
  read<T>(row: Variable<T>): T {
    const text = row.secret ? this.secretText(row.name) : filled(this.env[row.name])?.trim();
    if (text === undefined) return row.fallback;
    const parsed = row.parse(text);
    if (parsed.ok) return parsed.value;
    this.note(row.name, parsed.fault);
    return row.fallback;
  }

  isSet(row: Variable<unknown>): boolean {
    return filled(this.env[row.name]) !== undefined || (row.secret === true && this.fileOf(row.name) !== undefined);
  }

  note(variable: string, text: string): void {
    this.faults.push({ variable, text });
  }

  private fileOf(name: string): string | undefined {
    return filled(this.env[`${name}_FILE`])?.trim();
  }

  /** Not trimmed but for a file's last line break: the text must be the same for every peer of the group. */
  private secretText(name: string): string | undefined {
    const direct = filled(this.env[name]);
    const path = this.fileOf(name);
    if (path === undefined) return direct;
    if (direct !== undefined) {
      this.note(name, `and ${name}_FILE are both set; keep one`);
      return undefined;
    }
    const text = this.fileText(name, path)?.replace(/\r?\n$/, '');
    if (text !== undefined && filled(text) === undefined) this.note(`${name}_FILE`, 'names a file without content');
    return filled(text);
  }

  private fileText(name: string, path: string): string | undefined {
    try {
      const text = this.readFile(path);
      if (text === undefined) this.note(`${name}_FILE`, 'names a file that does not exist');
      return text;
    } catch {
      this.note(`${name}_FILE`, 'names a file that cannot be read');
      return undefined;
    }
  }
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

/**
 * The variables that count: those of the environment, and beneath them those of the `.env` file at `path`, where there
 * is one. A variable that is blank in the environment is unset, so the file's value counts. Throws as `readFile` does.
 */
export function withDotenv(env: Environ, readFile: ReadFile, path: string): Environ {
  const merged: Record<string, string | undefined> = parseDotenv(readFile(path) ?? '');
  for (const [name, text] of Object.entries(env)) if (filled(text) !== undefined) merged[name] = text;
  return merged;
}

/** The configuration that `env` asks for, with warnings; or all of its faults, each naming its variable. */
export function loadConfig(env: Environ, readFile: ReadFile): ConfigOutcome {
  const settings = new Settings(env, readFile);
  const environment = settings.read(variables.environment);
  const config: Config = {
    environment,
    production: environment === 'prod' || settings.read(variables.nodeEnv) === 'production',
    host: settings.read(variables.host),
    port: settings.read(variables.port),
    dataDir: settings.read(variables.dataDir),
    groupId: settings.read(variables.groupId),
    salt: settings.read(variables.salt),
    identityMode: settings.read(variables.identityMode),
    peerAuthEnabled: settings.read(variables.peerAuthEnabled),
    registrationMode: settings.read(variables.registrationMode),
    sessionSecret: settings.read(variables.sessionSecret),
    preTrustedPeers: settings.read(variables.preTrustedPeers),
    peersMax: settings.read(variables.peersMax),
    halfLifeDays: settings.read(variables.halfLifeDays),
    retentionDays: settings.read(variables.retentionDays),
    weightsIntervalMs: settings.read(variables.weightsIntervalMs),
    snapshotEvery: settings.read(variables.snapshotEvery),
    diskFreeMinMb: settings.read(variables.diskFreeMinMb),
    erasureMode: settings.read(variables.erasureMode),
    erasureQuotaPerDay: settings.read(variables.erasureQuotaPerDay),
    logLevel: settings.read(variables.logLevel),
    fastLane: settings.read(variables.fastLane),
    connectionsMax: settings.read(variables.connectionsMax),
    rateLimitPeerPerS: settings.read(variables.rateLimitPeerPerS),
    rateLimitAddressPerS: settings.read(variables.rateLimitAddressPerS),
    metricsPort: settings.read(variables.metricsPort),
    metricsHost: settings.read(variables.metricsHost),
    dashboardPort: settings.read(variables.dashboardPort),
    dashboardHost: settings.read(variables.dashboardHost),
  };
  checkTogether(config, settings);
  if (settings.faults.length > 0) return { ok: false, faults: settings.faults };
  return { ok: true, config: Object.freeze(config), warnings: warningsOf(config) };
}

/** The rules that tie one variable to another. */
function checkTogether(config: Config, settings: Settings): void {
  if (config.registrationMode === 'session' && !settings.isSet(variables.sessionSecret)) {
    settings.note(variables.sessionSecret.name, 'is required with REGISTRATION_MODE=session');
  }
  if (!config.production) return;
  for (const required of [variables.groupId, variables.salt, variables.registrationMode]) {
    if (!settings.isSet(required)) settings.note(required.name, 'is required in production');
  }
  if (!config.peerAuthEnabled) settings.note(variables.peerAuthEnabled.name, 'must not be false in production');
}

function warningsOf(config: Config): Remark[] {
  const warnings: Remark[] = [];
  if (!config.peerAuthEnabled) {
    const text = 'is false: ANY caller can submit, withdraw and erase AS ANY PEER. For local trials only';
    warnings.push({ variable: variables.peerAuthEnabled.name, text });
  }
  const preTrusted = config.preTrustedPeers?.length ?? 0;
  if (preTrusted > limits.preTrustedWarnAbove) {
    const text = `names ${preTrusted} peers; more than ${limits.preTrustedWarnAbove} weaken what pre-trust is for`;
    warnings.push({ variable: variables.preTrustedPeers.name, text });
  }
  return warnings;
}

/** The configuration for the start-up line, under the log's names. A secret shows only whether it is set. */
export function describeConfig(config: Config): Record<string, unknown> {
  return {
    environment: config.environment,
    production: config.production,
    host: config.host,
    port: config.port,
    data_dir: config.dataDir,
    group_id: config.groupId,
    group_salt: masked(config.salt),
    identity_mode: config.identityMode,
    peer_auth_enabled: config.peerAuthEnabled,
    registration_mode: config.registrationMode,
    session_secret: masked(config.sessionSecret),
    pre_trusted_peers: config.preTrustedPeers,
    peers_max: config.peersMax,
    half_life_days: config.halfLifeDays,
    retention_days: config.retentionDays,
    weights_interval_ms: config.weightsIntervalMs,
    snapshot_every: config.snapshotEvery,
    disk_free_min_mb: config.diskFreeMinMb,
    erasure_mode: config.erasureMode,
    erasure_quota_per_day: config.erasureQuotaPerDay,
    log_level: config.logLevel,
    fast_lane: config.fastLane,
    connections_max: config.connectionsMax,
    rate_limit_peer_per_s: config.rateLimitPeerPerS,
    rate_limit_address_per_s: config.rateLimitAddressPerS,
    metrics_port: config.metricsPort,
    metrics_host: config.metricsHost,
    dashboard_port: config.dashboardPort,
    dashboard_host: config.dashboardHost,
  };
}

function masked(secret: string | null): string | null {
  return secret === null ? null : '***';
}
