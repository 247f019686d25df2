/** Declares the environment variables. docs/CONFIGURATION.md is made from this, and `.env.example` compared with it. */
import { trustConstants } from '../core/evidence/trust-constants.js';
import { oneOf, type Parsed, problem, settingParsers, value, wholeNumber } from '../core/settings.js';
import {
  type Environment,
  type ErasureMode,
  environments,
  type IdentityMode,
  identityModes,
  type RegistrationMode,
  type RequestSigning,
  registrationModes,
  requestSignings,
} from '../core/vocabulary.js';
import { DAY_MS, limits } from '../limits.js';
import { isKind } from '../player-ids/kinds.js';

export const clusterModes = ['none', 'etcd'] as const;
export type ClusterMode = (typeof clusterModes)[number];

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
 * follows the same rule (`client/ids/secret-text.ts`). A byte that is not UTF-8 arrives as U+FFFD and would make a
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
  return kinds.every(isKind)
    ? value(Object.freeze(kinds))
    : problem('must list kinds such as steam, minecraft, minecraft-offline, xbox, eos or discord, in lower case');
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

/** Typed so that `parse` and `fallback` of one row agree. */
function variable<T>(row: Variable<T>): Variable<T> {
  return Object.freeze(row);
}

const portMax = 65_535;
const countMax = Number.MAX_SAFE_INTEGER;

/** Every variable that the node reads, in the order in which faults are reported. */
export const variables = {
  environment: variable<Environment>({
    name: 'ENVIRONMENT',
    meaning: '`dev`, `staging` or `prod`: each has its own node, data and keys',
    fallback: 'dev',
    parse: oneOf(environments),
  }),
  nodeEnv: variable<string>({
    name: 'NODE_ENV',
    meaning: '`production`, in any letter case, applies the rules of production regardless of `ENVIRONMENT`',
    fallback: '',
    parse: parseLine,
  }),
  host: variable<string>({
    name: 'HOST',
    meaning: 'Address that the public port listens on',
    fallback: '127.0.0.1',
    parse: parseLine,
  }),
  port: variable<number>({
    name: 'PORT',
    meaning: 'Public port; 0 picks a free one and logs it',
    fallback: 8080,
    parse: wholeNumber(0, portMax),
  }),
  /** As written; a relative path is relative to the working folder. */
  dataDir: variable<string>({
    name: 'DATA_DIR',
    meaning: "Folder of the node's data; one node per folder",
    fallback: './snapshots',
    parse: parseLine,
  }),
  groupId: variable<string>({
    name: 'GROUP_ID',
    meaning: 'Federation group that this node serves; required in production',
    fallback: 'local',
    parse: parseGroupId,
  }),
  /** Null, outside production only: the node generates one and stores it. */
  salt: variable<string | null>({
    name: 'GROUP_SALT',
    meaning: `The group's shared salt, ${limits.saltBytesMin} bytes or more; required in production, otherwise generated once and stored in \`DATA_DIR\``,
    fallback: null,
    secret: true,
    parse: secretOf(limits.saltBytesMin),
  }),
  publishSaltCheck: variable<boolean>({
    name: 'PUBLISH_SALT_CHECK',
    meaning: '`false` omits `salt_check` from `GET /peers`; clients then cannot detect a wrong salt',
    fallback: true,
    parse: parseSwitch,
  }),
  identityMode: variable<IdentityMode>({
    name: 'IDENTITY_MODE',
    meaning: '`privacy-first` or `high-security`; chosen once per group',
    fallback: 'privacy-first',
    parse: oneOf(identityModes),
  }),
  playerIdKinds: variable<readonly string[] | null>({
    name: 'PLAYER_ID_KINDS',
    meaning:
      'Comma-separated kinds of player ids that the group accepts, in canonical form only, such as `steam,minecraft`; if unset, any text is accepted; chosen once per group',
    fallback: null,
    parse: parseKinds,
  }),
  peerAuthEnabled: variable<boolean>({
    name: 'PEER_AUTH_ENABLED',
    meaning: '`false` lets any caller act as any peer; for local trials only, refused in production',
    fallback: true,
    parse: parseSwitch,
  }),
  requestSigning: variable<RequestSigning>({
    name: 'REQUEST_SIGNING',
    meaning:
      '`optional` (a peer with a public key must sign its writes), `required` (every peer must) or `off` (signatures are ignored)',
    fallback: 'optional',
    parse: oneOf(requestSignings),
  }),
  registrationMode: variable<RegistrationMode>({
    name: 'REGISTRATION_MODE',
    meaning:
      '`open`, `session` (a valid `service_session` cookie) or `closed` (the operator adds peers); must be set in production',
    fallback: 'open',
    parse: oneOf(registrationModes),
  }),
  /** Never null if `registrationMode` is `session`. */
  sessionSecret: variable<string | null>({
    name: 'SESSION_SECRET',
    meaning: `Secret that verifies the session cookie, ${limits.sessionSecretBytesMin} bytes or more; required with \`REGISTRATION_MODE=session\``,
    fallback: null,
    secret: true,
    parse: secretOf(limits.sessionSecretBytesMin),
  }),
  preTrustedPeers: variable<string | null>({
    name: 'PRE_TRUSTED_PEERS',
    meaning: `Comma-separated peer ids, 1 to ${limits.preTrustedWarnAbove} as a rule; if unset, the set that the operator made stays in force`,
    fallback: null,
    parse: settingParsers.PRE_TRUSTED_PEERS,
  }),
  peersMax: variable<number>({
    name: 'PEERS_MAX',
    meaning: 'Maximum number of registered peers; beyond it registration answers 503',
    fallback: limits.peersMaxDefault,
    parse: settingParsers.PEERS_MAX,
  }),
  halfLifeDays: variable<number>({
    name: 'HALF_LIFE_DAYS',
    meaning: 'Half-life of claims (all evidence but bans) in days; 0 disables decay',
    fallback: limits.halfLifeDaysDefault,
    parse: settingParsers.HALF_LIFE_DAYS,
  }),
  banHalfLifeDays: variable<number>({
    name: 'BAN_HALF_LIFE_DAYS',
    meaning: 'Half-life of standing bans in days; 0 disables their decay',
    fallback: limits.banHalfLifeDaysDefault,
    parse: settingParsers.BAN_HALF_LIFE_DAYS,
  }),
  priorBadShare: variable<number>({
    name: 'PRIOR_BAD_SHARE',
    meaning: 'Share of bad players that scoring assumes before it has evidence',
    fallback: trustConstants.badSharePrior,
    parse: settingParsers.PRIOR_BAD_SHARE,
  }),
  newPeerDays: variable<number>({
    name: 'NEW_PEER_DAYS',
    meaning: 'Days after which a new peer of an older group counts in full; with 0 it counts in full at once',
    fallback: trustConstants.newPeerDays,
    parse: settingParsers.NEW_PEER_DAYS,
  }),
  retentionDays: variable<number>({
    name: 'RETENTION_DAYS',
    meaning:
      'Days after which events are deleted from the log; their evidence stays and decays; 0 keeps events forever',
    fallback: 0,
    parse: settingParsers.RETENTION_DAYS,
  }),
  weightsIntervalMs: variable<number>({
    name: 'WEIGHTS_INTERVAL_MS',
    meaning: 'Minimum time between two computations of peer weights, in ms',
    fallback: limits.weightsIntervalMsDefault,
    parse: wholeNumber(limits.weightsIntervalMsMin, limits.weightsIntervalMsMax),
  }),
  snapshotEvery: variable<number>({
    name: 'SNAPSHOT_EVERY',
    meaning: 'Minimum number of log records between two snapshots',
    fallback: limits.snapshotEveryDefault,
    parse: wholeNumber(1, countMax),
  }),
  /** In MB of 10^6 bytes. */
  diskFreeMinMb: variable<number>({
    name: 'DISK_FREE_MIN_MB',
    meaning:
      'Free space on the disk of `DATA_DIR`, in MB, below which writes are answered 503 while reads continue; values below 8.4 count as 8.4',
    fallback: limits.diskFreeMinMbDefault,
    parse: wholeNumber(0, countMax),
  }),
  /** The last ms of that day, in ms since 1970. */
  clockAcceptedUntil: variable<number | null>({
    name: 'CLOCK_ACCEPTED_UNTIL',
    meaning:
      'A day, such as 2026-11-30, up to whose end (UTC) a start accepts a clock that is more than a day ahead of the newest time in `DATA_DIR`',
    fallback: null,
    parse: parseDay,
  }),
  erasureMode: variable<ErasureMode>({
    name: 'ERASURE_MODE',
    meaning:
      '`peer` erases a player at the request of any peer; `own` only if the requesting peer is a day old and no other peer reported the player; other requests, and all requests with `operator`, wait for `ptf erase`. The default in production is `own`',
    fallback: 'peer',
    parse: settingParsers.ERASURE_MODE,
  }),
  erasureQuotaPerDay: variable<number>({
    name: 'ERASURE_QUOTA_PER_DAY',
    meaning: 'Maximum number of erasures per peer in any 24 hours',
    fallback: limits.erasureQuotaPerDay,
    parse: settingParsers.ERASURE_QUOTA_PER_DAY,
  }),
  logLevel: variable<LogLevel>({
    name: 'LOG_LEVEL',
    meaning: `One of ${logLevels.map((level) => `\`${level}\``).join(', ')}`,
    fallback: 'info',
    parse: oneOf(logLevels),
  }),
  streamIntervalMs: variable<number>({
    name: 'STREAM_INTERVAL_MS',
    meaning: `Interval in ms at which the verdict stream sends changes in a group of ${limits.streamIntervalPeersMin} active peers or more; 0 sends each change at once`,
    fallback: limits.streamIntervalMsDefault,
    parse: wholeNumber(0, limits.streamIntervalMsMax),
  }),
  fastPath: variable<boolean>({
    name: 'FAST_PATH',
    formerName: 'FAST_LANE',
    meaning: '`false` turns the fast path off, so that Koa answers every request',
    fallback: true,
    parse: parseSwitch,
  }),
  connectionsMax: variable<number>({
    name: 'CONNECTIONS_MAX',
    meaning:
      'Maximum number of connections to the public port; a further one replaces an idle connection, or is answered 503 if none is idle',
    fallback: limits.connectionsMaxDefault,
    parse: wholeNumber(1, limits.connectionsMaxCeiling),
  }),
  loopbackIsProxy: variable<boolean>({
    name: 'LOOPBACK_IS_PROXY',
    meaning: '`false` limits connections from this machine to half of `CONNECTIONS_MAX`, as for any other address',
    fallback: true,
    parse: parseSwitch,
  }),
  rateLimitPeerPerS: variable<number>({
    name: 'RATE_LIMIT_PEER_PER_S',
    meaning:
      "Maximum number of requests per second with one peer's key, where each event of a batch counts as one; beyond it 429; 0 turns the limit off",
    fallback: 0,
    parse: wholeNumber(0, limits.rateLimitPerSecondMax),
  }),
  rateLimitAddressPerS: variable<number>({
    name: 'RATE_LIMIT_ADDRESS_PER_S',
    meaning:
      "Maximum number of requests per second from one network address, which behind a proxy is the proxy's; beyond it 429; 0 turns the limit off",
    fallback: 0,
    parse: wholeNumber(0, limits.rateLimitPerSecondMax),
  }),
  registrationsPerAddressPerHour: variable<number>({
    name: 'REGISTRATIONS_PER_ADDRESS_PER_HOUR',
    meaning:
      'Maximum number of registrations per hour from one address; beyond it 429; 0 turns the limit off; 20 is recommended if registration is open',
    fallback: 0,
    parse: wholeNumber(0, limits.rateLimitPerSecondMax),
  }),
  metricsPort: variable<number | null>({
    name: 'METRICS_PORT',
    meaning: 'Port of the Prometheus metrics; off if unset, 0 picks a free one',
    fallback: null,
    parse: wholeNumber(0, portMax),
  }),
  metricsHost: variable<string>({
    name: 'METRICS_HOST',
    meaning: 'Address that the metrics port listens on',
    fallback: '127.0.0.1',
    parse: parseLine,
  }),
  dashboardPort: variable<number | null>({
    name: 'DASHBOARD_PORT',
    meaning: "Port of the operator's dashboard; off if unset, 0 picks a free one",
    fallback: null,
    parse: wholeNumber(0, portMax),
  }),
  dashboardHost: variable<string>({
    name: 'DASHBOARD_HOST',
    meaning: 'Address that the dashboard listens on',
    fallback: '127.0.0.1',
    parse: parseLine,
  }),
  dashboardProxyHosts: variable<readonly string[] | null>({
    name: 'DASHBOARD_PROXY_HOSTS',
    meaning:
      'Comma-separated host names under which a proxy on this machine serves the dashboard; only then is the proxy believed about the addresses of callers',
    fallback: null,
    parse: parseHosts,
  }),
  /** `none`: the node serves its group alone, and the variables below have no effect. */
  cluster: variable<ClusterMode>({
    name: 'CLUSTER',
    meaning: '`none`, or `etcd` if several nodes serve one group, whose log etcd replicates',
    fallback: 'none',
    parse: oneOf(clusterModes),
  }),
  etcdEndpoints: variable<readonly string[] | null>({
    name: 'ETCD_ENDPOINTS',
    meaning: 'Comma-separated URLs of the etcd members, such as `http://10.0.0.1:2379`; required with `CLUSTER=etcd`',
    fallback: null,
    parse: parseEndpoints,
  }),
  etcdCaFile: variable<string | null>({
    name: 'ETCD_CA_FILE',
    meaning: 'File of the CA certificates (PEM) that verify the members of etcd, with `https` endpoints',
    fallback: null,
    parse: parseLine,
  }),
  etcdCertFile: variable<string | null>({
    name: 'ETCD_CERT_FILE',
    meaning: "File of the node's own certificate (PEM) for etcd; requires `ETCD_KEY_FILE`",
    fallback: null,
    parse: parseLine,
  }),
  etcdKeyFile: variable<string | null>({
    name: 'ETCD_KEY_FILE',
    meaning: "File of that certificate's key (PEM)",
    fallback: null,
    parse: parseLine,
  }),
  etcdUsername: variable<string | null>({
    name: 'ETCD_USERNAME',
    meaning: 'User of etcd if it authenticates clients; requires `ETCD_PASSWORD`',
    fallback: null,
    parse: parseLine,
  }),
  etcdPassword: variable<string | null>({
    name: 'ETCD_PASSWORD',
    meaning: "That user's password",
    fallback: null,
    secret: true,
    parse: secretOf(1),
  }),
  /** Null: `/ptf/<group id>/`, with the group id percent-encoded. */
  etcdPrefix: variable<string | null>({
    name: 'ETCD_PREFIX',
    meaning: "Prefix of the group's keys in etcd; `/ptf/<GROUP_ID>/` if unset",
    fallback: null,
    parse: parsePrefix,
  }),
  etcdSnapshotCount: variable<number>({
    name: 'ETCD_SNAPSHOT_COUNT',
    meaning: "`--snapshot-count` of etcd's members, which determines how much a scrub of their files must write",
    fallback: limits.walSnapshotEntries,
    parse: wholeNumber(1, limits.walSnapshotEntriesMax),
  }),
  etcdMaxWals: variable<number>({
    name: 'ETCD_MAX_WALS',
    meaning: "`--max-wals` of etcd's members, which also determines how much a scrub must write",
    fallback: limits.walFiles,
    parse: wholeNumber(1, limits.walFilesMax),
  }),
  etcdQuotaBytes: variable<number>({
    name: 'ETCD_QUOTA_BACKEND_BYTES',
    meaning:
      "`--quota-backend-bytes` of etcd's members; writes are refused before their database is as large, because etcd then stops",
    fallback: limits.etcdQuotaBytes,
    parse: wholeNumber(limits.etcdQuotaBytesMin, limits.etcdQuotaBytesMax),
  }),
  nodeId: variable<string | null>({
    name: 'NODE_ID',
    meaning: 'Unique name of this node in its group, bound to `DATA_DIR`; required with `CLUSTER=etcd`',
    fallback: null,
    parse: parseNodeId,
  }),
  advertiseUrl: variable<string | null>({
    name: 'ADVERTISE_URL',
    meaning:
      "URL at which the other nodes reach this node's public port, such as `http://10.0.0.1:8080`; required with `CLUSTER=etcd`",
    fallback: null,
    parse: parseUrl,
  }),
  clusterSecret: variable<string | null>({
    name: 'CLUSTER_SECRET',
    meaning: `Secret by which the nodes of a group authenticate each other, ${limits.clusterSecretBytesMin} bytes or more; required with \`CLUSTER=etcd\``,
    fallback: null,
    secret: true,
    parse: secretOf(limits.clusterSecretBytesMin),
  }),
  leaseS: variable<number>({
    name: 'LEASE_S',
    meaning: "Seconds for which the leader's lease holds without a renewal",
    fallback: limits.leaseSDefault,
    parse: wholeNumber(limits.leaseSMin, limits.leaseSMax),
  }),
  stalenessMaxMs: variable<number>({
    name: 'STALENESS_MAX_MS',
    meaning: 'Time in ms since a node last knew that it was up to date, beyond which it answers reads with 503 `stale`',
    fallback: limits.stalenessMaxMsDefault,
    parse: wholeNumber(limits.stalenessMaxMsMin, limits.stalenessMaxMsCeiling),
  }),
  allowStaleReads: variable<boolean>({
    name: 'ALLOW_STALE_READS',
    meaning: '`true` answers reads of any age; `X-Staleness-Ms` states the age',
    fallback: false,
    parse: parseSwitch,
  }),
};
