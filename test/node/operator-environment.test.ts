/** The files in which `ptf` finds the environment of the node that it operates. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { installed, operatorEnvironment } from '../../src/node/operator-environment.js';

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

test('the settings and files of the unit are those of deploy/ptf.service', () => {
  const unit = readFileSync(new URL('../../../deploy/ptf.service', import.meta.url), 'utf8');
  const { envFile, saltFile, settings } = installed;
  assert.match(unit, `Environment=ENVIRONMENT=${settings.ENVIRONMENT} DATA_DIR=${settings.DATA_DIR} `);
  assert.match(unit, `EnvironmentFile=${envFile}\n`);
  assert.match(unit, `LoadCredential=group-salt:${saltFile}\n`);
});

test.run();
