/** Declares the environment variables. docs/CONFIGURATION.md is made from this, and `.env.example` compared with it. */
import { trustConstants } from '../core/evidence/trust-constants.js';
import {
  type GroupSettings,
  oneOf,
  type Parsed,
  problem,
  type SettingName,
  settingParsers,
  value,
  wholeNumber,
} from '../core/settings.js';
import { environments, identityModes, registrationModes, requestSignings } from '../core/vocabulary.js';
import { DAY_MS, limits } from '../limits.js';
import { isKind, kindsExpected } from '../player-ids/kinds.js';

export const clusterModes = ['none', 'etcd'] as const;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A remark about one variable: a fault that refuses the start, or a warning. Contains no secret. */
export interface Remark {
  readonly variable: string;
  readonly text: string;
}

export interface Variable<T> {
  readonly name: string;
  /** An earlier name, which is still read where `name` is unset. */
  readonly formerName?: string;
  /** Effect of the variable in one line, as docs/CONFIGURATION.md states it. */
  readonly meaning: string;
  readonly fallback: T;
  /** May also come from the file that `<name>_FILE` names; masked wherever the configuration is shown. */
  readonly secret?: true;
  parse(text: string): Parsed<T>;
}

function parseLine(text: string): Parsed<string> {
  return /\p{Cc}/u.test(text) ? problem('must not contain control characters') : value(text);
}

function parseSwitch(text: string): Parsed<boolean> {
  return text === 'true' || text === 'false' ? value(text === 'true') : problem('must be true or false');
}

/**
 * Reads a secret of at least `bytesMin` bytes. Exactly one final line break is removed, since editors and `echo` add
 * it; any other surrounding blank is refused, because the other holders of the secret may not have it. The client
 * follows the same rule (`client/ids/subject.ts`). A byte that is not UTF-8 arrives as U+FFFD and would make a
 * weaker secret, so that it is refused, too.
 */
function secretOf(bytesMin: number): (text: string) => Parsed<string> {
  return (text) => {
    const secret = text.replace(/\r?\n$/, '');
    if (secret !== secret.trim()) {
      return problem('must not begin or end with a blank or a line break; only one final line break is removed');
    }
    if (secret.includes('\uFFFD')) return problem('must be text in UTF-8; write random bytes in base64 or hex');
    const bytes = Buffer.byteLength(secret, 'utf8');
    return bytes >= bytesMin ? value(secret) : problem(`must have at least ${bytesMin} bytes; it has ${bytes}`);
  };
}

function parseGroupId(text: string): Parsed<string> {
  if ([...text].length > limits.peerNameLength) return problem(`must have at most ${limits.peerNameLength} characters`);
  return parseLine(text);
}

function parseDay(text: string): Parsed<number> {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // `Date.parse` reads February 30 as March 2.
  const isDay = !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
  return isDay ? value(at + DAY_MS - 1) : problem('must be a day of the calendar, such as 2026-11-30');
}

function parseKinds(text: string): Parsed<readonly string[]> {
  const kinds = [...new Set(text.split(',').map((kind) => kind.trim()))].filter((kind) => kind !== '');
  if (kinds.length === 0) return problem('names no kind');
  if (kinds.length > limits.playerIdKindsMax) return problem(`must name at most ${limits.playerIdKindsMax} kinds`);
  return kinds.every(isKind) ? value(Object.freeze(kinds)) : problem(kindsExpected);
}

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL';
  const { protocol, pathname, search, hash, username } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return 'must begin with http:// or https://';
  return pathname !== '/' || search !== '' || hash !== '' || username !== ''
    ? 'must contain host and port only'
    : undefined;
}

function parseHosts(text: string): Parsed<readonly string[]> {
  const hosts = text.split(',').map((host) => host.trim().toLowerCase());
  const isNames =
    hosts.length <= limits.dashboardProxyHostsMax && hosts.every((host) => /^[a-z\d.-]{1,253}$/.test(host));
  return isNames ? value(Object.freeze(hosts)) : problem('must be comma-separated host names such as ops.example.com');
}

function parseEndpoints(text: string): Parsed<readonly string[]> {
  const urls = text.split(',').flatMap((url) => url.trim() || []);
  if (urls.length === 0) return problem('names no endpoint');
  if (urls.length > limits.etcdEndpointsMax) return problem(`must name at most ${limits.etcdEndpointsMax} endpoints`);
  const odd = urls.find((url) => urlProblem(url) !== undefined);
  if (odd !== undefined) return problem('must be comma-separated URLs such as http://10.0.0.1:2379');
  const schemes = new Set(urls.map((url) => new URL(url).protocol));
  return schemes.size === 1 ? value(Object.freeze(urls)) : problem('must use either http or https throughout');
}

function parseUrl(text: string): Parsed<string> {
  const found = urlProblem(text);
  return found === undefined ? value(new URL(text).origin) : problem(`${found}; an example is http://10.0.0.1:8080`);
}

function matching(pattern: RegExp, text: string): (text: string) => Parsed<string> {
  return (given) => (pattern.test(given) ? value(given) : problem(text));
}

const parseNodeId = matching(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
  'must be 1 to 63 letters, digits, dots, hyphens or underscores, and must begin with a letter or digit',
);
const parsePrefix = matching(
  new RegExp(`^(?=.{1,${limits.etcdPrefixLength}}$)/(?:[\\w.-]+/)+$`),
  `must be a path such as /ptf/my-group/, of letters, digits, dots, hyphens and underscores, with at most ${limits.etcdPrefixLength} characters`,
);

interface Row<T> {
  means(meaning: string): Variable<T>;
}

/** Typed so that `parse` and `fallback` of one row agree. */
function variable<T>(
  name: string,
  fallback: NoInfer<T>,
  parse: (text: string) => Parsed<T>,
  more: Pick<Variable<T>, 'formerName' | 'secret'> = {},
): Row<T> {
  return { means: (meaning) => Object.freeze({ name, meaning, fallback, parse, ...more }) };
}

function optional<T>(
  name: string,
  parse: (text: string) => Parsed<T>,
  more?: { readonly secret: true },
): Row<T | null> {
  return variable<T | null>(name, null, parse, more);
}

function whole(name: string, fallback: number, min: number, max: number): Row<number> {
  return variable(name, fallback, wholeNumber(min, max));
}

function secret(name: string, bytesMin: number): Row<string | null> {
  return optional(name, secretOf(bytesMin), { secret: true });
}

function flag(name: string, fallback: boolean, formerName?: string): Row<boolean> {
  return variable(name, fallback, parseSwitch, formerName === undefined ? {} : { formerName });
}

/** The row of a setting of the group, which `ptf group set` reads in the same way. */
function setting<Name extends SettingName>(name: Name, fallback: GroupSettings[Name]): Row<GroupSettings[Name]> {
  return variable<GroupSettings[Name]>(name, fallback, settingParsers[name]);
}

const portMax = 65_535;
const countMax = Number.MAX_SAFE_INTEGER;

/** Every variable that the node reads, in the order in which faults are reported. */
export const variables = {
  environment: variable('ENVIRONMENT', 'dev', oneOf(environments)).means(
    '`dev`, `staging` or `prod`: each has its own node, data and keys',
  ),
  nodeEnv: variable('NODE_ENV', '', parseLine).means(
    '`production`, in any letter case, applies the rules of production regardless of `ENVIRONMENT`',
  ),
  host: variable('HOST', '127.0.0.1', parseLine).means('Address that the public port listens on'),
  port: whole('PORT', 8080, 0, portMax).means('Public port; 0 picks a free one and logs it'),
  /** As written; a relative path is relative to the working folder. */
  dataDir: variable('DATA_DIR', './snapshots', parseLine).means("Folder of the node's data; one node per folder"),
  groupId: variable('GROUP_ID', 'local', parseGroupId).means(
    'Federation group that this node serves; required in production',
  ),
  /** Null, outside production only: the node generates one and stores it. */
  salt: secret('GROUP_SALT', limits.saltBytesMin).means(
    `The group's shared salt, ${limits.saltBytesMin} bytes or more; required in production, otherwise generated once and stored in \`DATA_DIR\``,
  ),
  publishSaltCheck: flag('PUBLISH_SALT_CHECK', true).means(
    '`false` omits `salt_check` from `GET /peers`; clients then cannot detect a wrong salt',
  ),
  identityMode: variable('IDENTITY_MODE', 'privacy-first', oneOf(identityModes)).means(
    '`privacy-first` or `high-security`; chosen once per group',
  ),
  playerIdKinds: optional('PLAYER_ID_KINDS', parseKinds).means(
    'Comma-separated kinds of player ids that the group accepts, in canonical form only, such as `steam,minecraft`; if unset, any text is accepted; chosen once per group',
  ),
  peerAuthEnabled: flag('PEER_AUTH_ENABLED', true).means(
    '`false` lets any caller act as any peer; for local trials only, refused in production',
  ),
  requestSigning: variable('REQUEST_SIGNING', 'optional', oneOf(requestSignings)).means(
    '`optional` (a peer with a public key must sign its writes), `required` (every peer must) or `off` (signatures are ignored)',
  ),
  registrationMode: variable('REGISTRATION_MODE', 'open', oneOf(registrationModes)).means(
    '`open`, `session` (a valid `service_session` cookie) or `closed` (the operator adds peers); must be set in production',
  ),
  /** Never null if `registrationMode` is `session`. */
  sessionSecret: secret('SESSION_SECRET', limits.sessionSecretBytesMin).means(
    `Secret that verifies the session cookie, ${limits.sessionSecretBytesMin} bytes or more; required with \`REGISTRATION_MODE=session\``,
  ),
  preTrustedPeers: optional('PRE_TRUSTED_PEERS', settingParsers.PRE_TRUSTED_PEERS).means(
    `Comma-separated peer ids, 1 to ${limits.preTrustedWarnAbove} as a rule; if unset, the set that the operator made stays in force`,
  ),
  peersMax: setting('PEERS_MAX', limits.peersMaxDefault).means(
    'Maximum number of registered peers; beyond it registration answers 503',
  ),
  halfLifeDays: setting('HALF_LIFE_DAYS', limits.halfLifeDaysDefault).means(
    'Half-life of claims (all evidence but bans) in days; 0 disables decay',
  ),
  banHalfLifeDays: setting('BAN_HALF_LIFE_DAYS', limits.banHalfLifeDaysDefault).means(
    'Half-life of standing bans in days; 0 disables their decay',
  ),
  priorBadShare: setting('PRIOR_BAD_SHARE', trustConstants.badSharePrior).means(
    'Share of bad players that scoring assumes before it has evidence',
  ),
  newPeerDays: setting('NEW_PEER_DAYS', trustConstants.newPeerDays).means(
    'Days after which a new peer of an older group counts in full; with 0 it counts in full at once',
  ),
  retentionDays: setting('RETENTION_DAYS', 0).means(
    'Days after which events are deleted from the log; their evidence stays and decays; 0 keeps events forever',
  ),
  weightsIntervalMs: whole(
    'WEIGHTS_INTERVAL_MS',
    limits.weightsIntervalMsDefault,
    limits.weightsIntervalMsMin,
    limits.weightsIntervalMsMax,
  ).means('Minimum time between two computations of peer weights, in ms'),
  snapshotEvery: whole('SNAPSHOT_EVERY', limits.snapshotEveryDefault, 1, countMax).means(
    'Minimum number of log records between two snapshots',
  ),
  /** In MB of 10^6 bytes. */
  diskFreeMinMb: whole('DISK_FREE_MIN_MB', limits.diskFreeMinMbDefault, 0, countMax).means(
    'Free space on the disk of `DATA_DIR`, in MB, below which writes are answered 503 while reads continue; values below 8.4 count as 8.4',
  ),
  /** The last ms of that day, in ms since 1970. */
  clockAcceptedUntil: optional('CLOCK_ACCEPTED_UNTIL', parseDay).means(
    'A day, such as 2026-11-30, up to whose end (UTC) a start accepts a clock that is more than a day ahead of the newest time in `DATA_DIR`',
  ),
  erasureMode: setting('ERASURE_MODE', 'peer').means(
    '`peer` erases a player at the request of any peer; `own` only if the requesting peer is a day old and no other peer reported the player; other requests, and all requests with `operator`, wait for `ptf erase`. The default in production is `own`',
  ),
  erasureQuotaPerDay: setting('ERASURE_QUOTA_PER_DAY', limits.erasureQuotaPerDay).means(
    'Maximum number of erasures per peer in any 24 hours',
  ),
  logLevel: variable('LOG_LEVEL', 'info', oneOf(logLevels)).means(
    `One of ${logLevels.map((level) => `\`${level}\``).join(', ')}`,
  ),
  streamIntervalMs: whole('STREAM_INTERVAL_MS', limits.streamIntervalMsDefault, 0, limits.streamIntervalMsMax).means(
    `Interval in ms at which the verdict stream sends changes in a group of ${limits.streamIntervalPeersMin} active peers or more; 0 sends each change at once`,
  ),
  fastPath: flag('FAST_PATH', true, 'FAST_LANE').means(
    '`false` turns the fast path off, so that Koa answers every request',
  ),
  connectionsMax: whole('CONNECTIONS_MAX', limits.connectionsMaxDefault, 1, limits.connectionsMaxCeiling).means(
    'Maximum number of connections to the public port; a further one replaces an idle connection, or is answered 503 if none is idle',
  ),
  loopbackIsProxy: flag('LOOPBACK_IS_PROXY', true).means(
    '`false` limits connections from this machine to half of `CONNECTIONS_MAX`, as for any other address',
  ),
  rateLimitPeerPerS: whole('RATE_LIMIT_PEER_PER_S', 0, 0, limits.rateLimitPerSecondMax).means(
    "Maximum number of requests per second with one peer's key, where each event of a batch counts as one; beyond it 429; 0 turns the limit off",
  ),
  rateLimitAddressPerS: whole('RATE_LIMIT_ADDRESS_PER_S', 0, 0, limits.rateLimitPerSecondMax).means(
    "Maximum number of requests per second from one network address, which behind a proxy is the proxy's; beyond it 429; 0 turns the limit off",
  ),
  registrationsPerAddressPerHour: whole('REGISTRATIONS_PER_ADDRESS_PER_HOUR', 0, 0, limits.rateLimitPerSecondMax).means(
    'Maximum number of registrations per hour from one address; beyond it 429; 0 turns the limit off; 20 is recommended if registration is open',
  ),
  metricsPort: optional('METRICS_PORT', wholeNumber(0, portMax)).means(
    'Port of the Prometheus metrics; off if unset, 0 picks a free one',
  ),
  metricsHost: variable('METRICS_HOST', '127.0.0.1', parseLine).means('Address that the metrics port listens on'),
  dashboardPort: optional('DASHBOARD_PORT', wholeNumber(0, portMax)).means(
    "Port of the operator's dashboard; off if unset, 0 picks a free one",
  ),
  dashboardHost: variable('DASHBOARD_HOST', '127.0.0.1', parseLine).means('Address that the dashboard listens on'),
  dashboardProxyHosts: optional('DASHBOARD_PROXY_HOSTS', parseHosts).means(
    'Comma-separated host names under which a proxy on this machine serves the dashboard; only then is the proxy believed about the addresses of callers',
  ),
  /** `none`: the node serves its group alone, and the variables below have no effect. */
  cluster: variable('CLUSTER', 'none', oneOf(clusterModes)).means(
    '`none`, or `etcd` if several nodes serve one group, whose log etcd replicates',
  ),
  etcdEndpoints: optional('ETCD_ENDPOINTS', parseEndpoints).means(
    'Comma-separated URLs of the etcd members, such as `http://10.0.0.1:2379`; required with `CLUSTER=etcd`',
  ),
  etcdCaFile: optional('ETCD_CA_FILE', parseLine).means(
    'File of the CA certificates (PEM) that verify the members of etcd, with `https` endpoints',
  ),
  etcdCertFile: optional('ETCD_CERT_FILE', parseLine).means(
    "File of the node's own certificate (PEM) for etcd; requires `ETCD_KEY_FILE`",
  ),
  etcdKeyFile: optional('ETCD_KEY_FILE', parseLine).means("File of that certificate's key (PEM)"),
  etcdUsername: optional('ETCD_USERNAME', parseLine).means(
    'User of etcd if it authenticates clients; requires `ETCD_PASSWORD`',
  ),
  etcdPassword: secret('ETCD_PASSWORD', 1).means("That user's password"),
  /** Null: `/ptf/<group id>/`, with the group id percent-encoded. */
  etcdPrefix: optional('ETCD_PREFIX', parsePrefix).means(
    "Prefix of the group's keys in etcd; `/ptf/<GROUP_ID>/` if unset",
  ),
  etcdSnapshotCount: whole('ETCD_SNAPSHOT_COUNT', limits.walSnapshotEntries, 1, limits.walSnapshotEntriesMax).means(
    "`--snapshot-count` of etcd's members, which determines how much a scrub of their files must write",
  ),
  etcdMaxWals: whole('ETCD_MAX_WALS', limits.walFiles, 1, limits.walFilesMax).means(
    "`--max-wals` of etcd's members, which also determines how much a scrub must write",
  ),
  etcdQuotaBytes: whole(
    'ETCD_QUOTA_BACKEND_BYTES',
    limits.etcdQuotaBytes,
    limits.etcdQuotaBytesMin,
    limits.etcdQuotaBytesMax,
  ).means(
    "`--quota-backend-bytes` of etcd's members; writes are refused before their database is as large, because etcd then stops",
  ),
  nodeId: optional('NODE_ID', parseNodeId).means(
    'Unique name of this node in its group, bound to `DATA_DIR`; required with `CLUSTER=etcd`',
  ),
  advertiseUrl: optional('ADVERTISE_URL', parseUrl).means(
    "URL at which the other nodes reach this node's public port, such as `http://10.0.0.1:8080`; required with `CLUSTER=etcd`",
  ),
  clusterSecret: secret('CLUSTER_SECRET', limits.clusterSecretBytesMin).means(
    `Secret by which the nodes of a group authenticate each other, ${limits.clusterSecretBytesMin} bytes or more; required with \`CLUSTER=etcd\``,
  ),
  leaseS: whole('LEASE_S', limits.leaseSDefault, limits.leaseSMin, limits.leaseSMax).means(
    "Seconds for which the leader's lease holds without a renewal",
  ),
  stalenessMaxMs: whole(
    'STALENESS_MAX_MS',
    limits.stalenessMaxMsDefault,
    limits.stalenessMaxMsMin,
    limits.stalenessMaxMsCeiling,
  ).means('Time in ms since a node last knew that it was up to date, beyond which it answers reads with 503 `stale`'),
  allowStaleReads: flag('ALLOW_STALE_READS', false).means(
    '`true` answers reads of any age; `X-Staleness-Ms` states the age',
  ),
};
