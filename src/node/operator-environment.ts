/** Finds the node's environment for `ptf`: in `PTF_ENV_FILE`, in `.env` here, or where deploy's unit has it. */
import { type Environ, type ReadFile, withDotenv } from './config.js';

/** The files of the installed unit, and the settings that the unit itself makes. */
export const installed = {
  unit: '/etc/systemd/system/ptf.service',
  envFile: '/etc/ptf/ptf.env',
  saltFile: '/etc/ptf/group-salt',
  settings: { ENVIRONMENT: 'prod', DATA_DIR: '/var/lib/ptf' },
};

export type OperatorEnvironment = ReturnType<typeof operatorEnvironment>;

/** Throws if `PTF_ENV_FILE` or `.env` cannot be read. */
export function operatorEnvironment(
  env: Environ,
  readFile: ReadFile,
  { envFile, saltFile, settings }: Omit<typeof installed, 'unit'> = installed,
): { readonly env: Environ; readonly hidden: readonly string[] } {
  const named = env.PTF_ENV_FILE?.trim() ?? '';
  if (named !== '') {
    if (readFile(named) === undefined) throw new Error(`PTF_ENV_FILE: there is no file ${named}`);
    return { env: withDotenv(env, readFile, named), hidden: [] };
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
  const isInstalled = readOrHide(envFile) !== undefined || hidden.length > 0;
  if (!isInstalled) return { env, hidden };
  const found = withDotenv(env, hidden.length > 0 ? () => undefined : readFile, envFile);
  const hasSalt = [found.GROUP_SALT, found.GROUP_SALT_FILE].some((text) => text !== undefined && text.trim() !== '');
  const salt = hasSalt || readOrHide(saltFile) === undefined ? {} : { GROUP_SALT_FILE: saltFile };
  return { env: { ...settings, ...salt, ...found }, hidden };
}
