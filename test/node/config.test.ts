/** The configuration: contract, "Process interface". Defaults and bounds below are that table's, written out. */

import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { settingNames } from '../../src/core/settings.js';
import { type Config, describeConfig, type Environ, loadConfig, withDotenv } from '../../src/node/config.js';
import { type Remark, type Variable, variables } from '../../src/node/variables.js';

const rows: readonly Variable<unknown>[] = Object.values(variables);
const noFile = (): undefined => undefined;
const salt16 = 'abcdefghijklmnop';
const secret32 = 'session-secret-of-32-bytes-______';
const production = { ENVIRONMENT: 'prod', GROUP_ID: 'g', GROUP_SALT: salt16, REGISTRATION_MODE: 'closed' };

function load(env: Environ, files: Readonly<Record<string, string>> = {}): Config {
  const outcome = loadConfig(env, (path) => files[path]);
  if (!outcome.ok) throw new Error(outcome.problems.map(({ variable, text }) => `${variable}: ${text}`).join('\n'));
  return outcome.config;
}

function faultsOf(env: Environ, files: Readonly<Record<string, string>> = {}): readonly Remark[] {
  const outcome = loadConfig(env, (path) => files[path]);
  return outcome.ok ? [] : outcome.problems;
}

function faulty(env: Environ, files: Readonly<Record<string, string>> = {}): string[] {
  return faultsOf(env, files).map(({ variable }) => variable);
}

const repositoryFile = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');

/** Each variable with its member of the configuration, its default, and another text with the value that it gives. */
const table: readonly (readonly [
  name: string,
  member: keyof Config,
  byDefault: unknown,
  text: string,
  read: unknown,
])[] = [
  ['ENVIRONMENT', 'environment', 'dev', 'staging', 'staging'],
  ['HOST', 'host', '127.0.0.1', '0.0.0.0', '0.0.0.0'],
  ['PORT', 'port', 8080, '0', 0],
  ['DATA_DIR', 'dataDir', './snapshots', '/data', '/data'],
  ['GROUP_ID', 'groupId', 'local', 'arena-eu', 'arena-eu'],
  ['GROUP_SALT', 'salt', null, salt16, salt16],
  ['PUBLISH_SALT_CHECK', 'publishSaltCheck', true, 'false', false],
  ['IDENTITY_MODE', 'identityMode', 'privacy-first', 'privacy-first', 'privacy-first'],
  ['PLAYER_ID_KINDS', 'playerIdKinds', null, ' steam, minecraft-offline,steam', ['steam', 'minecraft-offline']],
  ['PEER_AUTH_ENABLED', 'peerAuthEnabled', true, 'false', false],
  ['REQUEST_SIGNING', 'requestSigning', 'optional', 'off', 'off'],
  ['REGISTRATION_MODE', 'registrationMode', 'open', 'session', 'session'],
  ['SESSION_SECRET', 'sessionSecret', null, secret32, secret32],
  ['PRE_TRUSTED_PEERS', 'preTrustedPeers', null, ' p1, P2 ,P1,', 'p1,p2'],
  ['PEERS_MAX', 'peersMax', 10_000, '7', 7],
  ['PRIOR_BAD_SHARE', 'priorBadShare', 0.04, '.1', 0.1],
  ['NEW_PEER_DAYS', 'newPeerDays', 1, '3', 3],
  ['HALF_LIFE_DAYS', 'halfLifeDays', 30, '0', 0],
  ['BAN_HALF_LIFE_DAYS', 'banHalfLifeDays', 180, '365', 365],
  ['RETENTION_DAYS', 'retentionDays', 0, '90', 90],
  ['WEIGHTS_INTERVAL_MS', 'weightsIntervalMs', 2_000, '50', 50],
  ['SNAPSHOT_EVERY', 'snapshotEvery', 100_000, '1', 1],
  ['CLOCK_ACCEPTED_UNTIL', 'clockAcceptedUntil', null, '2026-11-30', Date.parse('2026-11-30T23:59:59.999Z')],
  ['DISK_FREE_MIN_MB', 'diskFreeMinMb', 256, '0', 0],
  ['ERASURE_MODE', 'erasureMode', 'peer', 'operator', 'operator'],
  ['ERASURE_QUOTA_PER_DAY', 'erasureQuotaPerDay', 100, '0', 0],
  ['LOG_LEVEL', 'logLevel', 'info', 'silent', 'silent'],
  ['STREAM_INTERVAL_MS', 'streamIntervalMs', 1_000, '0', 0],
  ['FAST_PATH', 'fastPath', true, 'false', false],
  ['CONNECTIONS_MAX', 'connectionsMax', 4_096, '50', 50],
  ['LOOPBACK_IS_PROXY', 'loopbackIsProxy', true, 'false', false],
  ['RATE_LIMIT_PEER_PER_S', 'rateLimitPeerPerS', 0, '20', 20],
  ['RATE_LIMIT_ADDRESS_PER_S', 'rateLimitAddressPerS', 0, '30', 30],
  ['REGISTRATIONS_PER_ADDRESS_PER_HOUR', 'registrationsPerAddressPerHour', 0, '20', 20],
  ['METRICS_PORT', 'metricsPort', null, '9090', 9090],
  ['METRICS_HOST', 'metricsHost', '127.0.0.1', '::1', '::1'],
  ['DASHBOARD_PORT', 'dashboardPort', null, '9091', 9091],
  ['DASHBOARD_HOST', 'dashboardHost', '127.0.0.1', '::', '::'],
  ['DASHBOARD_PROXY_HOSTS', 'dashboardProxyHosts', null, 'Ops.example.com, b.c', ['ops.example.com', 'b.c']],
  ['CLUSTER', 'cluster', 'none', 'etcd', 'etcd'],
  ['ETCD_ENDPOINTS', 'etcdEndpoints', null, 'https://a:2379, https://b:1', ['https://a:2379', 'https://b:1']],
  ['ETCD_CA_FILE', 'etcdCaFile', null, '/etc/ca.pem', '/etc/ca.pem'],
  ['ETCD_CERT_FILE', 'etcdCertFile', null, '/etc/cert.pem', '/etc/cert.pem'],
  ['ETCD_KEY_FILE', 'etcdKeyFile', null, '/etc/key.pem', '/etc/key.pem'],
  ['ETCD_USERNAME', 'etcdUsername', null, 'ptf', 'ptf'],
  ['ETCD_PASSWORD', 'etcdPassword', null, 'p', 'p'],
  ['ETCD_PREFIX', 'etcdPrefix', null, '/groups/arena/', '/groups/arena/'],
  ['ETCD_SNAPSHOT_COUNT', 'etcdSnapshotCount', 100_000, '10000', 10_000],
  ['ETCD_MAX_WALS', 'etcdMaxWals', 5, '2', 2],
  ['ETCD_QUOTA_BACKEND_BYTES', 'etcdQuotaBytes', 2_147_483_648, '536870912', 536_870_912],
  ['NODE_ID', 'nodeId', null, 'n-1', 'n-1'],
  ['ADVERTISE_URL', 'advertiseUrl', null, 'http://10.0.0.1:8080/', 'http://10.0.0.1:8080'],
  ['CLUSTER_SECRET', 'clusterSecret', null, secret32, secret32],
  ['LEASE_S', 'leaseS', 3, '2', 2],
  ['STALENESS_MAX_MS', 'stalenessMaxMs', 5_000, '2000', 2_000],
  ['ALLOW_STALE_READS', 'allowStaleReads', false, 'true', true],
];
const membersOf = (at: 2 | 4) => Object.fromEntries(table.map((row) => [row[1], row[at]]));
const defaults = { ...membersOf(2), settingsGiven: [], production: false } as unknown as Config;

test('an empty environment gives the defaults of the contract, frozen', () => {
  const config = load({});
  assert.equal(config, defaults);
  assert.ok(Object.isFrozen(config));
});

test('every variable is read', () => {
  const config = load(Object.fromEntries(table.map(([name, , , text]) => [name, text])));
  assert.equal(config, { ...membersOf(4), settingsGiven: settingNames, production: false });
});

test('a variable is read under its former name too, unless the present one is set', () => {
  assert.is(load({ FAST_LANE: 'false' }).fastPath, false);
  assert.is(load({ FAST_LANE: 'false', FAST_PATH: 'true' }).fastPath, true);
  assert.equal(faulty({ FAST_LANE: 'no' }), ['FAST_LANE']);
});

test('a blank variable is unset', () => {
  const blank = Object.fromEntries(rows.flatMap(({ name }) => [name, `${name}_FILE`]).map((name) => [name, '  ']));
  assert.equal(load(blank), defaults);
});

test('a value outside of its bounds is an error of its variable', () => {
  const wrong: readonly (readonly [name: string, values: readonly string[]])[] = [
    ['ENVIRONMENT', ['production', 'DEV']],
    ['CLOCK_ACCEPTED_UNTIL', ['true', '2026-13-01', '2026-02-30', '2026-11-30T00:00:00Z']],
    ['PORT', ['-1', '65536', '80a', '1e3', '0x50', '8080.5']],
    ['METRICS_PORT', ['65536']],
    ['GROUP_ID', ['a\u0007b', 'g'.repeat(201)]],
    ['GROUP_SALT', ['fifteen-bytes-x', '\u00e9'.repeat(7)]],
    ['IDENTITY_MODE', ['privacy']],
    [
      'PLAYER_ID_KINDS',
      [',', 'Steam', 'xbl', 'hwid', 'ip', 'two words', Array.from({ length: 17 }, (_, i) => `k${i}`).join()],
    ],
    ['PEER_AUTH_ENABLED', ['no', 'TRUE', '0']],
    ['REGISTRATION_MODE', ['hosted']],
    ['SESSION_SECRET', ['x'.repeat(31)]],
    ['WEIGHTS_INTERVAL_MS', ['49', '3600001']],
    ['HALF_LIFE_DAYS', ['3651', '0.5', '-1']],
    ['BAN_HALF_LIFE_DAYS', ['3651', '0.5', '-1']],
    ['NEW_PEER_DAYS', ['31', '-1', '0.5']],
    ['PRIOR_BAD_SHARE', ['.004', '.31', '1', '-.1', 'x', '4%']],
    ['SNAPSHOT_EVERY', ['0']],
    ['PEERS_MAX', ['0', '65536']],
    ['ERASURE_MODE', ['both']],
    ['ERASURE_QUOTA_PER_DAY', ['-1']],
    ['LOG_LEVEL', ['verbose']],
    ['CLUSTER', ['raft']],
    ['DASHBOARD_PROXY_HOSTS', [',', 'http://ops', 'ops:8081', 'o ps', Array(17).fill('a').join()]],
    [
      'ETCD_ENDPOINTS',
      [',', '10.0.0.1:2379', 'http://a:1/b', 'http://a:1,https://b:1', Array(17).fill('http://a:1').join()],
    ],
    ['ETCD_PREFIX', ['ptf/', '/ptf', '/a b/']],
    ['ETCD_SNAPSHOT_COUNT', ['0', '1e4']],
    ['ETCD_MAX_WALS', ['0', '101']],
    ['ETCD_QUOTA_BACKEND_BYTES', ['0', '67108863', '2 GiB']],
    ['NODE_ID', ['a b', '-a', 'n'.repeat(64)]],
    ['ADVERTISE_URL', ['10.0.0.1', 'ftp://a', 'http://a/b']],
    ['CLUSTER_SECRET', ['x'.repeat(31)]],
    ['LEASE_S', ['1', '61']],
    ['STALENESS_MAX_MS', ['499']],
    ['PRE_TRUSTED_PEERS', [',', 'a b', 'p'.repeat(65), Array.from({ length: 65 }, (_, i) => `p${i}`).join(',')]],
  ];
  for (const [name, values] of wrong) {
    for (const value of values) assert.equal(faulty({ [name]: value }), [name], `${name}=${value}`);
  }
});

test('the least and greatest values are accepted', () => {
  const right: readonly (readonly [name: string, values: readonly string[]])[] = [
    ['PORT', ['0', '65535']],
    ['WEIGHTS_INTERVAL_MS', ['50', '3600000']],
    ['HALF_LIFE_DAYS', ['0', '1', '3650']],
    ['BAN_HALF_LIFE_DAYS', ['0', '1', '3650']],
    ['NEW_PEER_DAYS', ['0', '30']],
    ['PRIOR_BAD_SHARE', ['.005', '0.3', '.04']],
    ['PEERS_MAX', ['1', '65535']],
    ['SESSION_SECRET', ['x'.repeat(32)]],
    // The length of a salt counts in bytes of UTF-8.
    ['GROUP_SALT', ['\u00e9'.repeat(8)]],
  ];
  for (const [name, values] of right) {
    for (const value of values) assert.equal(faulty({ [name]: value }), [], `${name}=${value}`);
  }
});

/** A node of a cluster that lacks nothing. */
const member = {
  ...{ CLUSTER: 'etcd', ETCD_ENDPOINTS: 'http://10.0.0.1:2379', NODE_ID: 'n1', ADVERTISE_URL: 'http://10.0.0.1:8080' },
  ...{ CLUSTER_SECRET: secret32, GROUP_SALT: salt16 },
};
const unsigned = { REQUEST_SIGNING: 'required', PEER_AUTH_ENABLED: 'false' };
const unsafe = ['GROUP_ID', 'GROUP_SALT', 'PEER_AUTH_ENABLED', 'REGISTRATION_MODE'];

/** The rules about several variables at once: environments, and the variables that are reported for them. */
const combinations: Readonly<Record<string, readonly (readonly [env: Environ, named: readonly string[]])[]>> = {
  'two ports on one address differ, unless they are free ones': [
    // The default of PORT.
    [{ METRICS_PORT: '8080' }, ['METRICS_PORT']],
    [{ PORT: '1', METRICS_PORT: '1', DASHBOARD_PORT: '1' }, ['DASHBOARD_PORT', 'METRICS_PORT']],
    [{ METRICS_PORT: '9', DASHBOARD_PORT: '9', LEASE_S: '0' }, ['DASHBOARD_PORT', 'LEASE_S']],
    [{ HOST: '0.0.0.0', METRICS_PORT: '8080' }, ['METRICS_PORT']],
    [{ HOST: '::', METRICS_PORT: '8080' }, ['METRICS_PORT']],
    [{ DASHBOARD_HOST: '0.0.0.0', DASHBOARD_PORT: '8080' }, ['DASHBOARD_PORT']],
    [{ METRICS_HOST: '127.0.0.2', METRICS_PORT: '8080', DASHBOARD_HOST: '127.0.0.3', DASHBOARD_PORT: '8080' }, []],
    [{ PORT: '0', METRICS_PORT: '0', DASHBOARD_PORT: '0' }, []],
  ],
  'all faults are reported at once': [
    [{ PORT: 'x', HALF_LIFE_DAYS: 'y', LOG_LEVEL: 'z' }, ['HALF_LIFE_DAYS', 'LOG_LEVEL', 'PORT']],
  ],
  'production requires a group, a salt, a registration mode and authentication': [
    [{ ENVIRONMENT: 'prod', PEER_AUTH_ENABLED: 'false' }, unsafe],
    [{ NODE_ENV: 'production', PEER_AUTH_ENABLED: 'false' }, unsafe],
  ],
  'a cluster requires its members, names, the salt and its secret, and pairs of credentials': [
    [{ CLUSTER: 'etcd' }, ['ADVERTISE_URL', 'CLUSTER_SECRET', 'ETCD_ENDPOINTS', 'GROUP_SALT', 'NODE_ID']],
    [member, []],
    [{ ...member, ETCD_CERT_FILE: '/cert.pem' }, ['ETCD_KEY_FILE']],
    [{ ...member, ETCD_PASSWORD: 'p' }, ['ETCD_USERNAME']],
    [{ ...member, ETCD_CA_FILE: '/ca.pem' }, ['ETCD_CA_FILE']],
    [{ ...member, STALENESS_MAX_MS: '2999' }, ['STALENESS_MAX_MS']],
  ],
  'signatures cannot be required of callers who have no keys': [
    [unsigned, ['REQUEST_SIGNING']],
    [{ ...unsigned, REQUEST_SIGNING: 'optional' }, []],
    [{ REQUEST_SIGNING: 'required' }, []],
  ],
  'registration by session requires its secret': [
    [{ REGISTRATION_MODE: 'session' }, ['SESSION_SECRET']],
    [{ REGISTRATION_MODE: 'session', SESSION_SECRET: 'short' }, ['SESSION_SECRET']],
    [{ REGISTRATION_MODE: 'session', SESSION_SECRET: secret32 }, []],
  ],
  'kinds of player ids are an error where no raw id travels': [
    [{ IDENTITY_MODE: 'high-security', PLAYER_ID_KINDS: 'steam' }, ['PLAYER_ID_KINDS']],
  ],
};

for (const [rule, cases] of Object.entries(combinations)) {
  test(rule, () => {
    for (const [env, named] of cases) assert.equal(faulty(env).sort(), named, JSON.stringify(env));
  });
}

test('NODE_ENV=production, in any letters, brings the rules of production and leaves the environment alone', () => {
  for (const name of ['production', 'Production', 'PRODUCTION', ' production ']) {
    const config = load({ ...production, ENVIRONMENT: 'staging', NODE_ENV: name });
    assert.equal([config.production, config.environment, config.peerAuthEnabled], [true, 'staging', true], name);
  }
  assert.equal([load(production).production, load({ NODE_ENV: 'test' }).production], [true, false]);
});

test('a secret loses one final line break, from its file and from the environment alike', () => {
  const files = { '/run/salt': `${salt16}\r\n`, '/run/session': `${secret32}\n` };
  const config = load({ ...production, GROUP_SALT: '', GROUP_SALT_FILE: '/run/salt' }, files);
  assert.is(config.salt, salt16);
  assert.is(load({ GROUP_SALT: `${salt16}\n` }).salt, salt16);
  assert.is(load({ REGISTRATION_MODE: 'session', SESSION_SECRET_FILE: '/run/session' }, files).sessionSecret, secret32);
});

test('a secret together with its file is an error, and so is a file without content', () => {
  const files = { '/salt': salt16, '/blank': ' \n', '/short': 'short' };
  assert.equal(faulty({ GROUP_SALT: salt16, GROUP_SALT_FILE: '/salt' }, files), ['GROUP_SALT']);
  assert.equal(faulty({ GROUP_SALT_FILE: '/absent' }, files), ['GROUP_SALT_FILE']);
  assert.equal(faulty({ GROUP_SALT_FILE: '/blank' }, files), ['GROUP_SALT_FILE']);
  assert.equal(faulty({ GROUP_SALT_FILE: '/short' }, files), ['GROUP_SALT']);
  const unreadable = loadConfig({ SESSION_SECRET_FILE: '/x' }, () => {
    throw new Error('EACCES');
  });
  assert.equal(unreadable.ok ? [] : unreadable.problems.map(({ variable }) => variable), ['SESSION_SECRET_FILE']);
});

test('a secret that is not UTF-8 is an error, since its decoded text differs from the original', () => {
  const files = {
    '/random': Buffer.from('ff00fe80c1d2e3f4a5b6c7d8e9fa0b1c2d3eff80ff80ff80ff80ff80ff80ff80', 'hex').toString(),
  };
  assert.equal(faulty({ GROUP_SALT_FILE: '/random' }, files), ['GROUP_SALT']);
  assert.equal(faulty({ SESSION_SECRET_FILE: '/random' }, files), ['SESSION_SECRET']);
  assert.equal(faulty({ GROUP_SALT: files['/random'] }), ['GROUP_SALT']);
  assert.is(load({ GROUP_SALT: 'sälzig und 😀 lang' }).salt, 'sälzig und 😀 lang');
});

test('neither an error nor the description of a configuration contains a secret', () => {
  const short = 'hunter2';
  const faults = faultsOf({ GROUP_SALT: short, SESSION_SECRET: short, PORT: 'x' });
  assert.is(faults.length, 3);
  assert.not.ok(JSON.stringify(faults).includes(short));
  const secrets = rows.filter(({ secret }) => secret).map(({ name }) => name);
  assert.equal(secrets.sort(), ['CLUSTER_SECRET', 'ETCD_PASSWORD', 'GROUP_SALT', 'SESSION_SECRET']);
  const shown = describeConfig(load(Object.fromEntries(secrets.map((name) => [name, secret32]))));
  for (const name of secrets) assert.is(shown[name.toLowerCase()], '***');
  assert.not.ok(JSON.stringify(shown).includes(secret32));
  assert.is(describeConfig(defaults).group_salt, null);
});

test('the description names every variable but NODE_ENV', () => {
  const names = rows.map(({ name }) => name.toLowerCase()).filter((name) => name !== 'node_env');
  assert.equal(Object.keys(describeConfig(defaults)).sort(), [...names, 'production'].sort());
});

test('the environment wins over the .env file, unless it is blank there', () => {
  const file = 'PORT=1\nHOST=1.1.1.1 # a note\nGROUP_ID="from file"\n';
  const env = withDotenv({ PORT: '2', HOST: '' }, (path) => (path === '.env' ? file : undefined), '.env');
  assert.equal(env, { PORT: '2', HOST: '1.1.1.1', GROUP_ID: 'from file' });
  assert.equal(withDotenv({ PORT: '2' }, noFile, '.env'), { PORT: '2' });
});

test('.env.example names every variable, holds the defaults, and turns authentication off for local trials', () => {
  const text = repositoryFile('.env.example');
  for (const { name, secret } of rows) {
    for (const line of secret ? [name, `${name}_FILE`] : [name]) {
      assert.match(text, new RegExp(`^${line}=`, 'm'), `${line} stands in .env.example`);
    }
  }
  const env = withDotenv({}, () => text, '.env');
  const settingsGiven = settingNames.filter((name) => name !== 'PRE_TRUSTED_PEERS');
  assert.equal(load(env), { ...defaults, peerAuthEnabled: false, settingsGiven });
  const known = new Set(rows.flatMap(({ name }) => [name, `${name}_FILE`]));
  assert.equal(
    Object.keys(env).filter((name) => !known.has(name)),
    [],
  );
});

test('docs/CONFIGURATION.md has a row for every variable, with its default and its meaning, and no other', () => {
  const lines = repositoryFile('docs/CONFIGURATION.md').split('\n');
  assert.is(lines.filter((line) => line.startsWith('| `')).length, rows.length);
  for (const { name, fallback, meaning, secret } of rows) {
    const names = secret ? `\`${name}\` or \`${name}_FILE\`` : `\`${name}\``;
    const byDefault = fallback === null || fallback === '' ? '' : `\`${fallback}\``;
    const row = lines.find((line) => line.startsWith(`| \`${name}\``));
    assert.is(row, `| ${names} | ${byDefault} | ${meaning} |`);
  }
});

const own = { ERASURE_MODE: 'own' };
const openly = { ...production, REGISTRATION_MODE: 'open' };

/** Environments, and the variables that are warned about in them. */
const warnings: typeof combinations = {
  'authentication that is off and more than three pre-trusted peers give a warning each': [
    [{ ...own, PRE_TRUSTED_PEERS: 'a,b,c' }, []],
    [{ ...own, PRE_TRUSTED_PEERS: 'a,b,c,d', PEER_AUTH_ENABLED: 'false' }, ['PEER_AUTH_ENABLED', 'PRE_TRUSTED_PEERS']],
  ],
  'an open registration in production without a limit is warned about': [
    [openly, ['REGISTRATIONS_PER_ADDRESS_PER_HOUR']],
    [{ ...openly, REGISTRATIONS_PER_ADDRESS_PER_HOUR: '20' }, []],
    [{ ...openly, REGISTRATION_MODE: 'closed' }, []],
  ],
  'erasures of any peer are warned about': [
    [{}, ['ERASURE_MODE']],
    [own, []],
  ],
};

for (const [rule, cases] of Object.entries(warnings)) {
  test(rule, () => {
    for (const [env, named] of cases) {
      const outcome = loadConfig(env, noFile);
      assert.equal([outcome.ok, outcome.warnings.map(({ variable }) => variable)], [true, named], JSON.stringify(env));
    }
  });
}

test('in production erasures of any peer are not the default', () => {
  const modes = [production, { ...production, ERASURE_MODE: 'peer' }, { ...production, ERASURE_MODE: 'operator' }];
  assert.equal(
    modes.map((env) => load(env).erasureMode),
    ['own', 'peer', 'operator'],
  );
});

/** The text of each warning about a variable that the node does not read, by its name. */
function strangers(env: Environ): Record<string, string> {
  const { warnings } = loadConfig({ ERASURE_MODE: 'own', ...env }, noFile);
  return Object.fromEntries(warnings.map(({ variable, text }) => [variable, text]));
}

test('a mistyped variable is warned about with the likely name, and without its value', () => {
  const meant = {
    DASHBOARD_PROT: 'DASHBOARD_PORT',
    GROUP_SLAT: 'GROUP_SALT',
    GROUP_SLAT_FILE: 'GROUP_SALT_FILE',
    HALFLIFE_DAYS: 'HALF_LIFE_DAYS',
    LOGLEVEL: 'LOG_LEVEL',
    METRIC_PORT: 'METRICS_PORT',
    PEERS_AUTH_ENABLED: 'PEER_AUTH_ENABLED',
    dashboard_port: 'DASHBOARD_PORT',
    GROUP_ID_FILE: 'GROUP_ID',
    BAN_HALF_LIFE: 'BAN_HALF_LIFE_DAYS',
    ERASURE_QUOTA: 'ERASURE_QUOTA_PER_DAY',
    PEER_AUTH: 'PEER_AUTH_ENABLED',
    PRE_TRUSTED: 'PRE_TRUSTED_PEERS',
  };
  const found = strangers(Object.fromEntries(Object.keys(meant).map((name) => [name, 'hunter2hunter2hunter2'])));
  const text = (likely: string) => `is not read by the node; did you mean ${likely}?`;
  const wanted = Object.entries(meant).map(([name, likely]) => [name, text(likely)]);
  assert.equal(found, Object.fromEntries(wanted));
});

test('a variable with a prefix of the project is warned about though nothing is close to it', () => {
  const names = ['GROUP_COLOUR', 'HALF_LIFE_IN_WEEKS', 'PRE_TRUSTED_NAMES', 'PTF_NONSENSE', 'REGISTRATIONS_PER_DAY'];
  const text = 'is not read by the node; docs/CONFIGURATION.md lists all variables that are';
  const wanted = Object.fromEntries(names.map((name) => [name, text]));
  assert.equal(strangers(Object.fromEntries(names.map((name) => [name, '1']))), wanted);
});

test('a mistyped variable is reported beside the error that it causes', () => {
  const env = { ...production, GROUP_SALT: '', GROUP_SLAT: salt16 };
  assert.equal([faulty(env), Object.keys(strangers(env))], [['GROUP_SALT'], ['GROUP_SLAT']]);
});

test('the variables of shells, CI, systemd, containers and tools raise no false alarm', () => {
  const names = (
    'CI COLORTERM DBUS_SESSION_BUS_ADDRESS DEBIAN_FRONTEND DISPLAY EDITOR GITHUB_ACTIONS GITHUB_TOKEN GROUPS HISTFILE HOME HOSTNAME HOSTTYPE ' +
    'HTTPS_PROXY HTTP_PROXY INIT_CWD INVOCATION_ID JOURNAL_STREAM KUBERNETES_PORT KUBERNETES_PORT_443_TCP KUBERNETES_SERVICE_HOST ' +
    'KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS LANG LC_ALL LISTEN_FDS LOGNAME LS_COLORS MAIL MEMORY_PRESSURE_WATCH ' +
    'METRICS_SERVICE_HOST METRICS_SERVICE_PORT METRICS_PORT_9090_TCP METRICS_PORT_9090_TCP_ADDR DASHBOARD_SERVICE_PORT_HTTP NODE ' +
    'NODE_EXTRA_CA_CERTS NODE_OPTIONS NODE_PATH NODE_VERSION NO_COLOR NOTIFY_SOCKET NPM_CONFIG_CACHE OLDPWD PAGER PATH POSTGRES_HOST ' +
    'PS1 PTF_SHARED_DATA PWD REDIS_PORT REDIS_PORT_6379_TCP SESSION_MANAGER SHELL SHLVL SSH_AUTH_SOCK SSH_CONNECTION STATE_DIRECTORY ' +
    'SUDO_USER SYSTEMD_EXEC_PID TERM TMPDIR TZ USER WATCHDOG_PID WATCHDOG_USEC XDG_RUNTIME_DIR YARN_VERSION npm_lifecycle_event ' +
    'npm_package_name npm_config_user_agent _'
  ).split(' ');
  assert.equal(strangers(Object.fromEntries(names.map((name) => [name, '1']))), {});
});

test.run();
