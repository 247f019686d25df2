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

const defaults: Config = {
  settingsGiven: [],
  environment: 'dev',
  production: false,
  host: '127.0.0.1',
  port: 8080,
  dataDir: './snapshots',
  groupId: 'local',
  salt: null,
  publishSaltCheck: true,
  priorBadShare: 0.04,
  newPeerDays: 1,
  identityMode: 'privacy-first',
  playerIdKinds: null,
  peerAuthEnabled: true,
  requestSigning: 'optional',
  registrationMode: 'open',
  sessionSecret: null,
  preTrustedPeers: null,
  peersMax: 10_000,
  halfLifeDays: 30,
  banHalfLifeDays: 180,
  retentionDays: 0,
  weightsIntervalMs: 2_000,
  snapshotEvery: 100_000,
  diskFreeMinMb: 256,
  clockAcceptedUntil: null,
  erasureMode: 'peer',
  erasureQuotaPerDay: 100,
  logLevel: 'info',
  streamIntervalMs: 1_000,
  fastPath: true,
  connectionsMax: 4_096,
  loopbackIsProxy: true,
  rateLimitPeerPerS: 0,
  rateLimitAddressPerS: 0,
  registrationsPerAddressPerHour: 0,
  metricsPort: null,
  dashboardPort: null,
  dashboardHost: '127.0.0.1',
  dashboardProxyHosts: null,
  metricsHost: '127.0.0.1',
  cluster: 'none',
  etcdEndpoints: null,
  etcdCaFile: null,
  etcdCertFile: null,
  etcdKeyFile: null,
  etcdUsername: null,
  etcdPassword: null,
  etcdPrefix: null,
  etcdSnapshotCount: 100_000,
  etcdMaxWals: 5,
  etcdQuotaBytes: 2_147_483_648,
  nodeId: null,
  advertiseUrl: null,
  clusterSecret: null,
  leaseS: 3,
  stalenessMaxMs: 5_000,
  allowStaleReads: false,
};

test('an empty environment gives the defaults of the contract, frozen', () => {
  const config = load({});
  assert.equal(config, defaults);
  assert.ok(Object.isFrozen(config));
});

test('every variable is read', () => {
  const config = load({
    ENVIRONMENT: 'staging',
    HOST: '0.0.0.0',
    PORT: '0',
    DATA_DIR: '/data',
    GROUP_ID: 'arena-eu',
    GROUP_SALT: salt16,
    PUBLISH_SALT_CHECK: 'false',
    IDENTITY_MODE: 'privacy-first',
    PLAYER_ID_KINDS: ' steam, minecraft-offline,steam,discord',
    PEER_AUTH_ENABLED: 'false',
    REQUEST_SIGNING: 'off',
    REGISTRATION_MODE: 'session',
    SESSION_SECRET: secret32,
    PRE_TRUSTED_PEERS: ' p1, P2 ,P1,',
    PEERS_MAX: '7',
    PRIOR_BAD_SHARE: '.1',
    NEW_PEER_DAYS: '3',
    HALF_LIFE_DAYS: '0',
    BAN_HALF_LIFE_DAYS: '365',
    RETENTION_DAYS: '90',
    WEIGHTS_INTERVAL_MS: '50',
    SNAPSHOT_EVERY: '1',
    CLOCK_ACCEPTED_UNTIL: '2026-11-30',
    DISK_FREE_MIN_MB: '0',
    ERASURE_MODE: 'operator',
    ERASURE_QUOTA_PER_DAY: '0',
    LOG_LEVEL: 'silent',
    STREAM_INTERVAL_MS: '0',
    FAST_PATH: 'false',
    CONNECTIONS_MAX: '50',
    LOOPBACK_IS_PROXY: 'false',
    RATE_LIMIT_PEER_PER_S: '20',
    RATE_LIMIT_ADDRESS_PER_S: '30',
    REGISTRATIONS_PER_ADDRESS_PER_HOUR: '20',
    METRICS_PORT: '9090',
    METRICS_HOST: '::1',
    DASHBOARD_PORT: '9091',
    DASHBOARD_HOST: '::',
    DASHBOARD_PROXY_HOSTS: 'Ops.example.com, ops2.example.com',
    CLUSTER: 'etcd',
    ETCD_ENDPOINTS: 'https://10.0.0.1:2379, https://10.0.0.2:2379',
    ETCD_CA_FILE: '/etc/ca.pem',
    ETCD_CERT_FILE: '/etc/cert.pem',
    ETCD_KEY_FILE: '/etc/key.pem',
    ETCD_USERNAME: 'ptf',
    ETCD_PASSWORD: 'p',
    ETCD_PREFIX: '/groups/arena/',
    ETCD_SNAPSHOT_COUNT: '10000',
    ETCD_MAX_WALS: '2',
    ETCD_QUOTA_BACKEND_BYTES: '536870912',
    NODE_ID: 'n-1',
    ADVERTISE_URL: 'http://10.0.0.1:8080/',
    CLUSTER_SECRET: secret32,
    LEASE_S: '2',
    STALENESS_MAX_MS: '2000',
    ALLOW_STALE_READS: 'true',
  });
  assert.equal(config, {
    settingsGiven: settingNames,
    environment: 'staging',
    production: false,
    host: '0.0.0.0',
    port: 0,
    dataDir: '/data',
    groupId: 'arena-eu',
    salt: salt16,
    publishSaltCheck: false,
    identityMode: 'privacy-first',
    playerIdKinds: ['steam', 'minecraft-offline', 'discord'],
    peerAuthEnabled: false,
    requestSigning: 'off',
    registrationMode: 'session',
    sessionSecret: secret32,
    preTrustedPeers: 'p1,p2',
    peersMax: 7,
    priorBadShare: 0.1,
    newPeerDays: 3,
    halfLifeDays: 0,
    banHalfLifeDays: 365,
    retentionDays: 90,
    weightsIntervalMs: 50,
    snapshotEvery: 1,
    diskFreeMinMb: 0,
    clockAcceptedUntil: Date.parse('2026-11-30T23:59:59.999Z'),
    erasureMode: 'operator',
    erasureQuotaPerDay: 0,
    logLevel: 'silent',
    streamIntervalMs: 0,
    fastPath: false,
    connectionsMax: 50,
    loopbackIsProxy: false,
    rateLimitPeerPerS: 20,
    rateLimitAddressPerS: 30,
    registrationsPerAddressPerHour: 20,
    metricsPort: 9090,
    metricsHost: '::1',
    dashboardPort: 9091,
    dashboardHost: '::',
    dashboardProxyHosts: ['ops.example.com', 'ops2.example.com'],
    cluster: 'etcd',
    etcdEndpoints: ['https://10.0.0.1:2379', 'https://10.0.0.2:2379'],
    etcdCaFile: '/etc/ca.pem',
    etcdCertFile: '/etc/cert.pem',
    etcdKeyFile: '/etc/key.pem',
    etcdUsername: 'ptf',
    etcdPassword: 'p',
    etcdPrefix: '/groups/arena/',
    etcdSnapshotCount: 10_000,
    etcdMaxWals: 2,
    etcdQuotaBytes: 536_870_912,
    nodeId: 'n-1',
    advertiseUrl: 'http://10.0.0.1:8080',
    clusterSecret: secret32,
    leaseS: 2,
    stalenessMaxMs: 2_000,
    allowStaleReads: true,
  });
});

test('kinds of player ids are an error where no raw id travels', () => {
  const outcome = loadConfig({ IDENTITY_MODE: 'high-security', PLAYER_ID_KINDS: 'steam' }, () => undefined);
  assert.not(outcome.ok);
  if (!outcome.ok)
    assert.equal(
      outcome.problems.map(({ variable }) => variable),
      ['PLAYER_ID_KINDS'],
    );
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
    ['GROUP_SALT', ['fifteen-bytes-x']],
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

test('two ports on one address differ, unless they are free ones', () => {
  assert.equal(faulty({ METRICS_PORT: '8080' }), ['METRICS_PORT'], 'the default of PORT');
  assert.equal(faulty({ PORT: '1', METRICS_PORT: '1', DASHBOARD_PORT: '1' }), ['METRICS_PORT', 'DASHBOARD_PORT']);
  assert.equal(faulty({ METRICS_PORT: '9', DASHBOARD_PORT: '9', LEASE_S: '0' }), ['LEASE_S', 'DASHBOARD_PORT']);
  for (const HOST of ['0.0.0.0', '::']) assert.equal(faulty({ HOST, METRICS_PORT: '8080' }), ['METRICS_PORT']);
  assert.equal(faulty({ DASHBOARD_HOST: '0.0.0.0', DASHBOARD_PORT: '8080' }), ['DASHBOARD_PORT']);
  load({ METRICS_HOST: '127.0.0.2', METRICS_PORT: '8080', DASHBOARD_HOST: '127.0.0.3', DASHBOARD_PORT: '8080' });
  load({ PORT: '0', METRICS_PORT: '0', DASHBOARD_PORT: '0' });
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
  ];
  for (const [name, values] of right) {
    for (const value of values) assert.equal(faulty({ [name]: value }), [], `${name}=${value}`);
  }
});

test('the length of a salt counts in bytes of UTF-8', () => {
  // U+00E9 takes two bytes: eight of them make 16.
  assert.equal(faulty({ GROUP_SALT: '\u00e9'.repeat(8) }), []);
  assert.equal(faulty({ GROUP_SALT: '\u00e9'.repeat(7) }), ['GROUP_SALT']);
});

test('all faults are reported at once', () => {
  assert.equal(faulty({ PORT: 'x', HALF_LIFE_DAYS: 'y', LOG_LEVEL: 'z' }).sort(), [
    'HALF_LIFE_DAYS',
    'LOG_LEVEL',
    'PORT',
  ]);
});

test('production requires a group, a salt, a registration mode and authentication', () => {
  for (const env of [{ ENVIRONMENT: 'prod' }, { NODE_ENV: 'production' }]) {
    assert.equal(faulty({ ...env, PEER_AUTH_ENABLED: 'false' }).sort(), [
      'GROUP_ID',
      'GROUP_SALT',
      'PEER_AUTH_ENABLED',
      'REGISTRATION_MODE',
    ]);
  }
  const config = load(production);
  assert.is(config.production, true);
  assert.is(config.peerAuthEnabled, true);
});

test('NODE_ENV=production is understood in capital letters too', () => {
  for (const name of ['Production', 'PRODUCTION', ' production ']) {
    assert.is(load({ ...production, ENVIRONMENT: 'staging', NODE_ENV: name }).production, true, name);
  }
});

test('NODE_ENV=production brings the rules of production and leaves the environment alone', () => {
  const config = load({ ...production, ENVIRONMENT: 'staging', NODE_ENV: 'production' });
  assert.is(config.production, true);
  assert.is(config.environment, 'staging');
  assert.is(load({ NODE_ENV: 'test' }).production, false);
});

test('a cluster requires its members, names, the salt and its secret, and pairs of credentials', () => {
  const required = ['ADVERTISE_URL', 'CLUSTER_SECRET', 'ETCD_ENDPOINTS', 'GROUP_SALT', 'NODE_ID'];
  assert.equal(faulty({ CLUSTER: 'etcd' }).sort(), required);
  const env = {
    CLUSTER: 'etcd',
    ETCD_ENDPOINTS: 'http://10.0.0.1:2379',
    NODE_ID: 'n1',
    ADVERTISE_URL: 'http://10.0.0.1:8080',
    CLUSTER_SECRET: secret32,
    GROUP_SALT: salt16,
  };
  assert.equal(faulty(env), []);
  assert.equal(faulty({ ...env, ETCD_CERT_FILE: '/cert.pem' }), ['ETCD_KEY_FILE']);
  assert.equal(faulty({ ...env, ETCD_PASSWORD: 'p' }), ['ETCD_USERNAME']);
  assert.equal(faulty({ ...env, ETCD_CA_FILE: '/ca.pem' }), ['ETCD_CA_FILE']);
  assert.equal(faulty({ ...env, STALENESS_MAX_MS: '2999' }), ['STALENESS_MAX_MS']);
});

test('signatures cannot be required of callers who have no keys', () => {
  const unsigned = { REQUEST_SIGNING: 'required', PEER_AUTH_ENABLED: 'false' };
  assert.equal(faulty(unsigned), ['REQUEST_SIGNING']);
  assert.equal(
    [faulty({ ...unsigned, REQUEST_SIGNING: 'optional' }), faulty({ REQUEST_SIGNING: 'required' })],
    [[], []],
  );
});

test('registration by session requires its secret', () => {
  assert.equal(faulty({ REGISTRATION_MODE: 'session' }), ['SESSION_SECRET']);
  assert.equal(faulty({ REGISTRATION_MODE: 'session', SESSION_SECRET: 'short' }), ['SESSION_SECRET']);
  assert.equal(faulty({ REGISTRATION_MODE: 'session', SESSION_SECRET: secret32 }), []);
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

test('authentication that is off and more than three pre-trusted peers give a warning each', () => {
  const warned = (env: Environ): string[] => {
    const outcome = loadConfig(env, noFile);
    const warned = outcome.ok ? outcome.warnings.map(({ variable }) => variable) : ['faulty'];
    return warned.filter((variable) => variable !== 'ERASURE_MODE');
  };
  assert.equal(warned({}), []);
  assert.equal(warned({ PRE_TRUSTED_PEERS: 'a,b,c' }), []);
  assert.equal(warned({ PEER_AUTH_ENABLED: 'false', PRE_TRUSTED_PEERS: 'a,b,c,d' }), [
    'PEER_AUTH_ENABLED',
    'PRE_TRUSTED_PEERS',
  ]);
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

test('an open registration in production without a limit is warned about', () => {
  const open = { ...production, REGISTRATION_MODE: 'open' };
  const warned = (env: Environ) => loadConfig(env, () => undefined).warnings.map(({ variable }) => variable);
  assert.equal(warned(open), ['REGISTRATIONS_PER_ADDRESS_PER_HOUR']);
  assert.equal(warned({ ...open, REGISTRATIONS_PER_ADDRESS_PER_HOUR: '20' }), []);
  assert.equal(warned({ ...open, REGISTRATION_MODE: 'closed' }), []);
});

test('erasures of any peer are warned about, and in production they are not the default', () => {
  const warned = (env: Environ) => loadConfig(env, () => undefined).warnings.map(({ variable }) => variable);
  assert.equal(warned({}), ['ERASURE_MODE']);
  assert.equal(warned({ ERASURE_MODE: 'own' }), []);
  assert.is(load({}).erasureMode, 'peer');
  assert.is(load(production).erasureMode, 'own');
  assert.is(load({ ...production, ERASURE_MODE: 'peer' }).erasureMode, 'peer');
  assert.is(load({ ...production, ERASURE_MODE: 'operator' }).erasureMode, 'operator');
});

/** The text of each warning about a variable that the node does not read, by its name. */
function strangers(env: Environ): Record<string, string> {
  const { warnings } = loadConfig({ ERASURE_MODE: 'own', ...env }, () => undefined);
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
  const wanted = Object.entries(meant).map(([name, likely]) => [
    name,
    `is not read by the node; did you mean ${likely}?`,
  ]);
  assert.equal(found, Object.fromEntries(wanted));
});

test('a variable with a prefix of the project is warned about though nothing is close to it', () => {
  const names = ['GROUP_COLOUR', 'HALF_LIFE_IN_WEEKS', 'PRE_TRUSTED_NAMES', 'PTF_NONSENSE', 'REGISTRATIONS_PER_DAY'];
  const text = 'is not read by the node; docs/CONFIGURATION.md lists all variables that are';
  const wanted = Object.fromEntries(names.map((name) => [name, text]));
  assert.equal(strangers(Object.fromEntries(names.map((name) => [name, '1']))), wanted);
});

test('a mistyped variable is reported beside the error that it causes', () => {
  const outcome = loadConfig({ ...production, GROUP_SALT: '', GROUP_SLAT: salt16 }, () => undefined);
  assert.not.ok(outcome.ok);
  assert.equal(outcome.ok ? [] : outcome.problems.map(({ variable }) => variable), ['GROUP_SALT']);
  assert.equal(
    outcome.warnings.map(({ variable }) => variable),
    ['GROUP_SLAT'],
  );
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
