/** The files in which `ptf` finds the environment of the node that it operates, and what it reads from them. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../src/limits.js';
import { configurationOf, dataDirOf, installed, operatorEnvironment } from '../../src/node/operator-environment.js';

const paths = {
  envFile: '/unit/env',
  saltFile: '/unit/salt',
  settings: { ENVIRONMENT: 'prod', DATA_DIR: '/var/lib/ptf' },
} as const;

/** The environment beside files with these texts; null: a file that this user may not read. */
function found(files: Readonly<Record<string, string | null>>, env: Readonly<Record<string, string>> = {}) {
  const readFile = (path: string) => {
    if (files[path] === null) throw new Error(`EACCES: ${path}`);
    return files[path];
  };
  return operatorEnvironment(env, readFile, paths);
}

test('without a file the environment is that of the command', () => {
  assert.equal(found({}, { PORT: '1' }), { env: { PORT: '1' }, hidden: [] });
});

test('the installed unit gives its settings, its file and its salt; the command comes first', () => {
  const files = { '/unit/env': 'GROUP_ID=arena\nPORT=2', '/unit/salt': 'salt' };
  const unit = {
    ENVIRONMENT: 'prod',
    DATA_DIR: '/var/lib/ptf',
    GROUP_SALT_FILE: '/unit/salt',
    GROUP_ID: 'arena',
    PORT: '2',
  };
  assert.equal(found(files), { env: unit, hidden: [] });
  assert.equal(found(files, { DATA_DIR: '/other' }).env, { ...unit, DATA_DIR: '/other' });
  assert.is(found({ ...files, '/unit/env': 'GROUP_SALT=own' }).env.GROUP_SALT_FILE, undefined);
});

test('files of the unit that this user may not read are named, and its settings are used', () => {
  const both = found({ '/unit/env': null, '/unit/salt': null });
  assert.equal(both, { env: paths.settings, hidden: ['/unit/env', '/unit/salt'] });
  assert.equal(found({ '/unit/env': 'PORT=2', '/unit/salt': null }).hidden, ['/unit/salt']);
});

test('PTF_ENV_FILE comes before .env, and .env before the unit', () => {
  const files = { '/named': 'PORT=1', '.env': 'PORT=2', '/unit/env': 'PORT=3' };
  assert.is(found(files, { PTF_ENV_FILE: '/named' }).env.PORT, '1');
  assert.equal(found(files).env, { PORT: '2' });
  assert.throws(() => found(files, { PTF_ENV_FILE: '/missing' }), /PTF_ENV_FILE: there is no file \/missing/);
  assert.throws(() => found({ '.env': null }), /EACCES/);
});

test('the name of the file is no variable that was meant for the node', () => {
  const files = { '/named': 'GROUP_ID=arena' };
  const readFile = (path: string) => files[path as '/named'];
  const { warnings } = configurationOf(found(files, { PTF_ENV_FILE: '/named' }), readFile, () => false);
  assert.equal(
    warnings.filter(({ variable }) => variable === 'PTF_ENV_FILE'),
    [],
  );
});

test('the settings and files of the unit are those of deploy/ptf.service', () => {
  const unit = readFileSync(new URL('../../../deploy/ptf.service', import.meta.url), 'utf8');
  const { envFile, saltFile, settings } = installed;
  assert.match(unit, `Environment=ENVIRONMENT=${settings.ENVIRONMENT} DATA_DIR=${settings.DATA_DIR} `);
  assert.match(unit, `EnvironmentFile=${envFile}\n`);
  assert.match(unit, `LoadCredential=group-salt:${saltFile}\n`);
});

test('the data folder is DATA_DIR, or the default where that is unset or blank', () => {
  const dirs = ['', '  ', ' /data '].map((text) => dataDirOf(found({}, { DATA_DIR: text })));
  assert.equal([dataDirOf(found({})), ...dirs], ['./snapshots', './snapshots', './snapshots', '/data']);
});

/** What the doctor examines in this environment, where these files are. */
function examined(env: Readonly<Record<string, string>>, hidden: readonly string[] = [], files: string[] = []) {
  return configurationOf(
    { env, hidden },
    () => undefined,
    (path) => files.includes(path),
  );
}

test('the configuration to examine is that of the environment, and of the defaults where that is invalid', () => {
  const { faults, warnings, ...facts } = examined({
    ERASURE_MODE: 'own',
    DISK_FREE_MIN_MB: '900',
    PORT: '7',
    HOST: '::1',
    PLAYER_ID_KINDS: 'steam',
    GROUP_ID: 'arena',
  });
  const group = { groupId: 'arena', identityMode: 'privacy-first', environment: 'dev' };
  assert.equal([faults, warnings], [[], []]);
  assert.equal(facts, {
    production: false,
    group: { ...group, playerIdKinds: ['steam'] },
    diskFreeMinBytes: 900e6,
    address: { host: '::1', port: 7 },
    folders: ['./snapshots', '/var/lib/ptf'],
    signs: [],
  });
  const other = examined({ DISK_FREE_MIN_MB: '0', PORT: '0', GROUP_ID: 'arena' });
  assert.equal([other.address, other.diskFreeMinBytes, other.group], [null, limits.commitFreeBytes, group]);
  const invalid = examined({ PORT: 'x', GROUP_ID: 'arena' });
  assert.equal(
    [invalid.faults.map(({ variable }) => variable), invalid.group.groupId, invalid.address?.port],
    [['PORT'], 'local', 8080],
  );
});

test('a file that this user may not read is a warning, and no setting is missed for it', () => {
  const env = { ENVIRONMENT: 'prod', GROUP_ID: 'arena' };
  const variables = (facts: ReturnType<typeof examined>) =>
    [facts.faults, facts.warnings].map((remarks) => remarks.map(({ variable }) => variable));
  const missed = variables(examined(env))[0]!;
  assert.ok(missed.includes('GROUP_SALT'));
  const withoutSalt = examined(env, [installed.saltFile]);
  assert.equal(variables(withoutSalt), [missed.filter((variable) => variable !== 'GROUP_SALT'), [installed.saltFile]]);
  assert.equal(variables(examined(env, [installed.envFile])), [[], [installed.envFile]]);
});

test('the unit and a compose file are signs of a node that ptf cannot ask', () => {
  const texts = (...files: string[]) => examined({}, [], files).signs.map(([text]) => text);
  assert.equal(texts('compose.json'), []);
  assert.equal(texts(installed.unit), [`${installed.unit} is installed`]);
  for (const name of ['compose.yaml', 'docker-compose.yml']) {
    assert.equal(texts(name), [`${resolve(name)} describes a project`]);
  }
});

test.run();
