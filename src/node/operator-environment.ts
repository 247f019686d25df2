/**
 * Finds the node's environment for `ptf`: in `PTF_ENV_FILE`, in `.env` here, or where deploy's unit has it. Reads from
 * it what the commands need: the data folder, and the configuration that the doctor examines.
 */
import { resolve } from 'node:path';
import { limits } from '../limits.js';
import type { ConfigurationFacts } from '../operator/cli/findings.js';
import { type Environ, identityOf, loadConfig, type ReadFile, withDotenv } from './config.js';
import { variables } from './variables.js';

/** The files of the installed unit, and the settings that the unit itself makes. */
export const installed = {
  unit: '/etc/systemd/system/ptf.service',
  envFile: '/etc/ptf/ptf.env',
  saltFile: '/etc/ptf/group-salt',
  settings: { ENVIRONMENT: 'prod', DATA_DIR: '/var/lib/ptf' },
};

export type OperatorEnvironment = ReturnType<typeof operatorEnvironment>;

/** Throws if `PTF_ENV_FILE` or `.env` cannot be read. Leaves out `PTF_ENV_FILE`, which is not meant for the node. */
export function operatorEnvironment(
  env: Environ,
  readFile: ReadFile,
  { envFile, saltFile, settings }: Omit<typeof installed, 'unit'> = installed,
): { readonly env: Environ; readonly hidden: readonly string[] } {
  const named = env.PTF_ENV_FILE?.trim() ?? '';
  if (named !== '') {
    if (readFile(named) === undefined) throw new Error(`PTF_ENV_FILE: there is no file ${named}`);
    return { env: withDotenv({ ...env, PTF_ENV_FILE: undefined }, readFile, named), hidden: [] };
  }
  if (readFile('.env') !== undefined) return { env: withDotenv(env, readFile, '.env'), hidden: [] };
  const hidden: string[] = [];
  const readOrHide: ReadFile = (path) => {
    try {
      return readFile(path);
    } catch {
      hidden.push(path);
      return undefined;
    }
  };
  if (readOrHide(envFile) === undefined && hidden.length === 0) return { env, hidden };
  const found = withDotenv(env, hidden.length > 0 ? () => undefined : readFile, envFile);
  const hasSalt = [found.GROUP_SALT, found.GROUP_SALT_FILE].some((text) => text !== undefined && text.trim() !== '');
  const salt = hasSalt || readOrHide(saltFile) === undefined ? {} : { GROUP_SALT_FILE: saltFile };
  return { env: { ...settings, ...salt, ...found }, hidden };
}

/** `DATA_DIR` as the node reads it. */
export function dataDirOf({ env }: OperatorEnvironment): string {
  const { name, fallback } = variables.dataDir;
  const text = env[name]?.trim();
  return text === undefined || text === '' ? fallback : text;
}

/** Stands for a salt that this user may not read. */
const anySalt = 'x'.repeat(limits.keyBytes);
const composeFiles = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];

/** What `ptf doctor` examines of an environment; `isThere` tells whether there is a file. */
export function configurationOf(
  { env, hidden }: OperatorEnvironment,
  readFile: ReadFile,
  isThere: (path: string) => boolean,
): ConfigurationFacts {
  const outcome = loadConfig(hidden.includes(installed.saltFile) ? { ...env, GROUP_SALT: anySalt } : env, readFile);
  const found = outcome.ok ? outcome : loadConfig({}, readFile);
  if (!found.ok) throw new Error('the default settings are invalid');
  const { config } = found;
  const isHidden = hidden.includes(installed.envFile);
  return {
    // The settings that this user may not read would be missing.
    faults: outcome.ok || isHidden ? [] : outcome.problems,
    warnings: [
      ...outcome.warnings,
      ...hidden.map((path) => ({ variable: path, text: 'cannot be read by this user, and was not examined' })),
    ],
    production: config.production,
    group: identityOf(config),
    diskFreeMinBytes: Math.max(config.diskFreeMinMb * 1e6, limits.commitFreeBytes),
    address: config.port === 0 ? null : { host: config.host, port: config.port },
    folders: [variables.dataDir.fallback, installed.settings.DATA_DIR],
    signs: signs(isThere),
  };
}

function signs(isThere: (path: string) => boolean): ConfigurationFacts['signs'] {
  const compose = composeFiles.find(isThere);
  const found: [text: string, advice: string][] = [];
  if (isThere(installed.unit)) {
    found.push([`${installed.unit} is installed`, 'systemctl status ptf and journalctl -u ptf show its node']);
  }
  if (compose !== undefined) {
    found.push([`${resolve(compose)} describes a project`, 'docker compose exec node ptf doctor examines its node']);
  }
  return found;
}
