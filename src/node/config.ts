/** Turns the environment into a frozen Config, or reports all faults at once. No message contains a secret's value. */
import { parse as parseDotenv } from 'dotenv';
import { distance } from 'fastest-levenshtein';
import { type GroupSettings, type SettingName, settingNames } from '../core/settings.js';
import type { Environment } from '../core/vocabulary.js';
import { limits } from '../limits.js';
import { type Remark, type Variable, variables } from './variables.js';

/** These two variables decide `production` together; each other variable has a field of its own. */
const { environment: environmentRow, nodeEnv: nodeEnvRow, ...rows } = variables;

type Rows = typeof rows;
type Values = { readonly [Key in keyof Rows]: Rows[Key]['fallback'] };

export interface Config extends Values {
  readonly environment: Environment;
  /** True for `ENVIRONMENT=prod` or `NODE_ENV=production`, in any case. */
  readonly production: boolean;
  readonly settingsGiven: readonly SettingName[];
}

export function settingsIn(config: Config): Omit<GroupSettings, 'PRE_TRUSTED_PEERS'> & Partial<GroupSettings> {
  return {
    ...(config.preTrustedPeers === null ? {} : { PRE_TRUSTED_PEERS: config.preTrustedPeers }),
    HALF_LIFE_DAYS: config.halfLifeDays,
    BAN_HALF_LIFE_DAYS: config.banHalfLifeDays,
    PRIOR_BAD_SHARE: config.priorBadShare,
    NEW_PEER_DAYS: config.newPeerDays,
    RETENTION_DAYS: config.retentionDays,
    PEERS_MAX: config.peersMax,
    ERASURE_MODE: config.erasureMode,
    ERASURE_QUOTA_PER_DAY: config.erasureQuotaPerDay,
  };
}

export function identityOf({ groupId, identityMode, environment, playerIdKinds }: Config) {
  return { groupId, identityMode, environment, ...(playerIdKinds === null ? {} : { playerIdKinds }) };
}

export type Environ = Readonly<Record<string, string | undefined>>;

/** Reads a text file. Returns undefined if there is none; throws if it cannot be read. */
export type ReadFile = (path: string) => string | undefined;

export type ConfigOutcome =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly Remark[] }
  | { readonly ok: false; readonly problems: readonly Remark[]; readonly warnings: readonly Remark[] };

/** The variables that are set: a blank variable is unset, and a secret's text may come from its file. */
class Settings {
  readonly problems: Remark[] = [];

  constructor(
    private readonly env: Environ,
    private readonly readFile: ReadFile,
  ) {}

  read<T>(row: Variable<T>): T {
    const name = this.nameOf(row);
    const text = row.secret ? this.secretText(name) : filled(this.env[name])?.trim();
    if (text === undefined) return row.fallback;
    const parsed = row.parse(text);
    if (parsed.ok) return parsed.value;
    this.note(name, parsed.problem);
    return row.fallback;
  }

  /** Returns the name under which a variable is read: its former one if that alone is set. */
  private nameOf({ name, formerName }: Variable<unknown>): string {
    if (formerName === undefined || filled(this.env[name]) !== undefined) return name;
    return filled(this.env[formerName]) === undefined ? name : formerName;
  }

  isSet(row: Variable<unknown>): boolean {
    return (
      filled(this.env[this.nameOf(row)]) !== undefined || (row.secret === true && this.fileOf(row.name) !== undefined)
    );
  }

  note(variable: string, text: string): void {
    this.problems.push({ variable, text });
  }

  private fileOf(name: string): string | undefined {
    return filled(this.env[`${name}_FILE`])?.trim();
  }

  /** Returns the text as given; the variable's own `parse` removes a final line break. */
  private secretText(name: string): string | undefined {
    const direct = filled(this.env[name]);
    const path = this.fileOf(name);
    if (path === undefined) return direct;
    if (direct !== undefined) {
      this.note(name, `and ${name}_FILE are both set; keep one`);
      return undefined;
    }
    try {
      const text = this.readFile(path);
      if (text === undefined) this.note(`${name}_FILE`, 'names a file that does not exist');
      else if (filled(text) === undefined) this.note(`${name}_FILE`, 'names a file without content');
      return filled(text);
    } catch {
      this.note(`${name}_FILE`, 'names a file that cannot be read');
      return undefined;
    }
  }
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

/** Adds the `.env` file at `path` to the environment. A blank variable is unset, so that the file's counts. */
export function withDotenv(env: Environ, readFile: ReadFile, path: string): Environ {
  const merged: Record<string, string | undefined> = parseDotenv(readFile(path) ?? '');
  for (const [name, text] of Object.entries(env)) if (filled(text) !== undefined) merged[name] = text;
  return merged;
}

export function loadConfig(env: Environ, readFile: ReadFile): ConfigOutcome {
  const settings = new Settings(env, readFile);
  const environment = settings.read(environmentRow);
  const production = environment === 'prod' || settings.read(nodeEnvRow).toLowerCase() === 'production';
  // TypeScript cannot follow that each value comes from its own row.
  const values = Object.fromEntries(
    Object.entries(rows).map(([key, row]) => [key, settings.read<unknown>(row)]),
  ) as Values;
  // A new key must not be able to erase what others reported.
  const erasureMode = production && !settings.isSet(variables.erasureMode) ? 'own' : values.erasureMode;
  const given = Object.values(variables).filter((row) => settings.isSet(row));
  const settingsGiven = settingNames.filter((setting) => given.some(({ name }) => name === setting));
  const config: Config = { environment, production, ...values, erasureMode, settingsGiven };
  checkTogether(config, settings);
  const unknown = unknownVariables(Object.keys(env).filter((name) => filled(env[name]) !== undefined));
  // A missing required variable may be present under a mistyped name.
  if (settings.problems.length > 0) return { ok: false, problems: settings.problems, warnings: unknown };
  return { ok: true, config: Object.freeze(config), warnings: [...warningsOf(config), ...unknown] };
}

function checkTogether(config: Config, settings: Settings): void {
  if (config.registrationMode === 'session' && !settings.isSet(variables.sessionSecret)) {
    settings.note('SESSION_SECRET', 'is required with REGISTRATION_MODE=session');
  }
  if (config.cluster === 'etcd') checkCluster(config, settings);
  if (config.playerIdKinds !== null && config.identityMode === 'high-security') {
    settings.note('PLAYER_ID_KINDS', 'has no effect with IDENTITY_MODE=high-security, where no raw id is sent');
  }
  if (config.requestSigning === 'required' && !config.peerAuthEnabled) {
    settings.note('REQUEST_SIGNING', 'must not be required with PEER_AUTH_ENABLED=false, since no caller signs then');
  }
  checkPorts(config, settings);
  if (!config.production) return;
  for (const required of [variables.groupId, variables.salt, variables.registrationMode]) {
    if (!settings.isSet(required)) settings.note(required.name, 'is required in production');
  }
  if (!config.peerAuthEnabled) settings.note('PEER_AUTH_ENABLED', 'must not be false in production');
}

/** A listener that finds the port of another one taken would blame another process. */
function checkPorts(config: Config, settings: Settings): void {
  const listeners = [
    { name: 'PORT', port: config.port, host: config.host },
    { name: 'METRICS_PORT', port: config.metricsPort, host: config.metricsHost },
    { name: 'DASHBOARD_PORT', port: config.dashboardPort, host: config.dashboardHost },
  ].filter(({ port }) => port !== null && port !== 0);
  const holds = (host: string, other: string) => host === '::' || (host === '0.0.0.0' && !other.includes(':'));
  for (const { name, port, host } of listeners) {
    const meets = (one: string) => one === host || holds(one, host) || holds(host, one);
    const first = listeners.find((one) => one.port === port && meets(one.host))!.name;
    if (first !== name) settings.note(name, `is the port of ${first} on the same address; choose another`);
  }
}

function checkCluster(config: Config, settings: Settings): void {
  const required = [
    variables.etcdEndpoints,
    variables.nodeId,
    variables.advertiseUrl,
    variables.clusterSecret,
    // Each node would generate a salt of its own.
    variables.salt,
  ];
  for (const row of required) if (!settings.isSet(row)) settings.note(row.name, 'is required with CLUSTER=etcd');
  const pairs = [
    [variables.etcdCertFile, variables.etcdKeyFile],
    [variables.etcdUsername, variables.etcdPassword],
  ] as const;
  for (const [first, second] of pairs) {
    if (settings.isSet(first) === settings.isSet(second)) continue;
    const [set, missing] = settings.isSet(first) ? [first, second] : [second, first];
    settings.note(missing.name, `is required together with ${set.name}`);
  }
  const isPlain = config.etcdEndpoints?.[0]?.startsWith('http:') === true;
  if (isPlain && config.etcdCaFile !== null) settings.note('ETCD_CA_FILE', 'needs https in ETCD_ENDPOINTS');
  if (config.stalenessMaxMs < config.leaseS * 1000) {
    settings.note('STALENESS_MAX_MS', 'must be at least as long as LEASE_S');
  }
}

function warningsOf(config: Config): Remark[] {
  const warnings: Remark[] = [];
  const warn = ({ name }: Variable<unknown>, text: string) => warnings.push({ variable: name, text });
  if (!config.peerAuthEnabled) {
    warn(
      variables.peerAuthEnabled,
      'is false: ANY caller can submit, withdraw and erase AS ANY PEER. For local trials only',
    );
  }
  if (config.production && config.registrationMode === 'open' && config.registrationsPerAddressPerHour === 0) {
    warn(
      variables.registrationsPerAddressPerHour,
      'is 0 while registration is open: one caller can fill the list of peers; set the limit to 20, or close registration',
    );
  }
  if (config.erasureMode === 'peer') {
    warn(
      variables.erasureMode,
      'is peer: any peer can erase any player at once, regardless of who reported the player; the default in production is own',
    );
  }
  const preTrusted = config.preTrustedPeers?.split(',').length ?? 0;
  if (preTrusted > limits.preTrustedWarnAbove) {
    warn(
      variables.preTrustedPeers,
      `names ${preTrusted} peers; more than ${limits.preTrustedWarnAbove} weaken the protection that pre-trust gives`,
    );
  }
  return warnings;
}

/** The configuration for the start-up line. For a secret it only shows whether it is set. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { environment, production, ...others } = config;
  const values: Readonly<Record<string, unknown>> = others;
  const summary = Object.entries(rows).map(([key, { name, secret }]) => {
    const value = values[key];
    return [name.toLowerCase(), secret && value !== null ? '***' : value] as const;
  });
  return { environment, production, ...Object.fromEntries(summary) };
}

/** Prefixes of the project's variables that are rare elsewhere. */
const ownPrefix =
  /^(?:(?:CLUSTER|DASHBOARD|ERASURE|GROUP|METRICS|PEERS?|PTF|REGISTRATIONS?|RETENTION|SNAPSHOT|WEIGHTS)_|(?:(?:BAN_)?HALF_LIFE|PRE_TRUSTED|RATE_LIMIT)(?:_|$))/i;

/** Variables of the project's tests and benches, which start nodes with their own environment. */
const notOfNodes = ['PTF_SHARED_DATA'];

/** Kubernetes and Docker set such variables for services beside the node, such as `dashboard`. */
const serviceLink = /_(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** Shorter names are similar to too many others. */
const LENGTH_MIN = 6;
/** Number of insertions, deletions and replacements up to which two names are similar; swapped letters count as two. */
const DISTANCE_MAX = 2;

const known: readonly string[] = Object.values(variables).flatMap(({ name, formerName, secret }) => [
  name,
  ...(formerName === undefined ? [] : [formerName]),
  ...(secret === true ? [`${name}_FILE`] : []),
]);

/** Finds variables that the node does not read but that were probably meant for it. Never shows a value. */
function unknownVariables(names: readonly string[]): Remark[] {
  return names
    .filter((name) => !known.includes(name) && !notOfNodes.includes(name) && !serviceLink.test(name))
    .sort()
    .flatMap((name) => {
      const likely = closestTo(name.toUpperCase());
      if (likely !== null) return [{ variable: name, text: `is not read by the node; did you mean ${likely}?` }];
      if (!ownPrefix.test(name)) return [];
      return [{ variable: name, text: 'is not read by the node; docs/CONFIGURATION.md lists all variables that are' }];
    });
}

/** Returns the most similar known name; one without a final `_FILE`, or that begins with the name, is similar, too. */
function closestTo(name: string): string | null {
  if (name.length < LENGTH_MIN) return null;
  const isPart = (one: string) => name === `${one}_FILE` || (name.includes('_') && one.startsWith(`${name}_`));
  const [closest] = known
    .map((one) => ({ one, far: isPart(one) ? 0 : distance(name, one) }))
    .sort((p, q) => p.far - q.far);
  return closest !== undefined && closest.far <= DISTANCE_MAX ? closest.one : null;
}
