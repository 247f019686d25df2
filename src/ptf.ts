#!/usr/bin/env node
/** Runs the operator command `ptf` as a process; its commands are in `operator/`. */
import { constants, existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { messageOf } from './errors.js';
import type { GroupIdentity, VerifyReport } from './group/api.js';
import type { VerifyMode } from './group/recovery/verification.js';
import { limits } from './limits.js';
import { type Config, loadConfig } from './node/config.js';
import { installed, type OperatorEnvironment, operatorEnvironment } from './node/operator-environment.js';
import { variables } from './node/variables.js';
import { version } from './node/version.js';
import { runCommand } from './operator/cli/command.js';
import type { BackupCommands, MovedData } from './operator/cli/command-context.js';
import type { ConfigurationFacts } from './operator/cli/findings.js';
import { OperatorError } from './operator/cli/node-client.js';
import { foreignEntry, makeDataFolder } from './store/backup/backup-folder.js';
import { refusalOfMarked } from './store/files/folder-files.js';
import { dataFileOf } from './store/files/lmdb-file.js';
import { readText, replaceFile } from './store/files/small-file.js';
import { logFolderOf } from './store/log/lmdb-log.js';
import { adoptFolder, FolderOwnedError } from './store/ownership/owner.js';
import { readLastLine } from './store/ownership/owner-record.js';
import { lineFrom, type Progress, terminalOf } from './terminal.js';
import { backUpInChild, restoreInChild, verifyAny } from './workers/backup/backup-processes.js';
import { startProblems } from './workers/verify/preflight.js';

function environment(): OperatorEnvironment {
  try {
    return operatorEnvironment(process.env, readText);
  } catch (error) {
    const text = `PTF_ENV_FILE or .env cannot be read: ${messageOf(error)}; name the folder with --data-dir`;
    throw new OperatorError('wrong_usage', text, 2);
  }
}

/** `DATA_DIR` as the node reads it. */
function defaultDir(): string {
  const { name, fallback } = variables.dataDir;
  const text = environment().env[name]?.trim();
  return text === undefined || text === '' ? fallback : text;
}

function configuration(): ConfigurationFacts {
  const { env, hidden } = environment();
  const outcome = loadConfig(hidden.includes(installed.saltFile) ? { ...env, GROUP_SALT: anySalt } : env, readText);
  const found = outcome.ok ? outcome : loadConfig({}, readText);
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
    signs: signs(),
  };
}

/** Stands for a salt that this user may not read. */
const anySalt = 'x'.repeat(limits.keyBytes);
const composeFiles = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];

function signs(): (readonly [text: string, advice: string])[] {
  const compose = composeFiles.find((name) => existsSync(name));
  const found: (readonly [text: string, advice: string])[] = [];
  if (existsSync(installed.unit)) {
    found.push([`${installed.unit} is installed`, 'systemctl status ptf and journalctl -u ptf show its node']);
  }
  if (compose !== undefined) {
    found.push([`${resolve(compose)} describes a project`, 'docker compose exec node ptf doctor examines its node']);
  }
  return found;
}

function identityOf({ groupId, identityMode, environment: name, playerIdKinds }: Config): GroupIdentity {
  const kinds = playerIdKinds === null ? {} : { playerIdKinds };
  return { groupId, identityMode, environment: name, ...kinds };
}

/** Returns why a node with this environment would not start on a folder; nothing if the environment is invalid. */
async function startProblemsOf(dir: string): Promise<readonly string[]> {
  const { env, hidden } = environment();
  const outcome = loadConfig(env, readText);
  if (!outcome.ok || hidden.length > 0) return [];
  const { cluster, salt, clockAcceptedUntil: acceptedUntil } = outcome.config;
  const marked = cluster === 'none' ? refusalOfMarked(dir) : undefined;
  if (marked !== undefined) return [marked];
  return startProblems(dir, identityOf(outcome.config), salt, { now: Date.now(), acceptedUntil });
}

async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return /^y(es)?$/i.test((await lineFrom(lines, `${question} [y/N] `)).trim());
}

async function input(charactersMax: number): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.length > charactersMax) break;
  }
  return text;
}

/** A node cannot open files that root leaves in its folder, as LMDB does even if it only reads. */
async function refuseForeign(dir: string): Promise<void> {
  const found = await stat(dir).catch(() => undefined);
  if (process.getuid === undefined || found === undefined || found.uid === process.getuid()) return;
  const isClosed = await access(dir, constants.W_OK).then(
    () => false,
    () => true,
  );
  if (!isClosed) throw new OperatorError('access_denied', `${dir} is another user's; run as the user of the node`);
}

function nearestFolder(dir: string): string {
  const path = resolve(dir);
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

async function keepSecret(dir: string, name: string, text: string): Promise<void> {
  await refuseForeign(dir);
  // The node has no access to a folder that root creates within another user's.
  if (process.getuid?.() === 0) await refuseForeign(nearestFolder(dir));
  try {
    makeDataFolder(dir);
  } catch (error) {
    throw new OperatorError('folder_refused', `${dir} cannot be used: ${messageOf(error)}`);
  }
  await replaceFile(join(dir, name), text, { sync: true });
}

async function adopt(dir: string): Promise<'adopted' | 'free'> {
  if (!existsSync(dataFileOf(logFolderOf(dir)))) throw new OperatorError('no_store', `${dir} holds no store`);
  await refuseForeign(dir);
  try {
    return await adoptFolder(dir);
  } catch (error) {
    if (error instanceof FolderOwnedError) throw new OperatorError('folder_in_use', error.message);
    throw error;
  }
}

/** The client of etcd is loaded only here. */
async function moveData(direction: 'import' | 'export', dir: string): Promise<MovedData> {
  await refuseForeign(dir);
  const outcome = loadConfig(environment().env, readText);
  if (!outcome.ok || outcome.config.cluster === 'none') {
    const problems = outcome.ok
      ? ['CLUSTER must be etcd']
      : outcome.problems.map(({ variable, text }) => `${variable}: ${text}`);
    throw new OperatorError('wrong_usage', problems.join('; '), 2);
  }
  const { importData, exportData } = await import('./node/cluster/cluster-data.js');
  try {
    return await (direction === 'import' ? importData : exportData)(outcome.config, dir);
  } catch (error) {
    if (error instanceof FolderOwnedError) throw new OperatorError('folder_in_use', error.message);
    throw new OperatorError('move_refused', messageOf(error));
  }
}

async function verifyFolder(dir: string, mode: VerifyMode, progress?: Progress): Promise<VerifyReport> {
  await refuseForeign(dir);
  return verifyAny(dir, mode, progress?.to);
}

const backups: BackupCommands = {
  async backUp(task, onStatus) {
    await refuseForeign(task.dataDir);
    return cancellable((signal) => backUpInChild(task, { onStatus, signal }));
  },
  async restore(task, onStatus) {
    for (const dir of [task.dataDir, task.dir, task.erasuresFrom]) if (dir !== null) await refuseForeign(dir);
    return cancellable((signal) => restoreInChild(task, { onStatus, signal }));
  },
};

/** Signals that ask a process to end: Ctrl-C, a termination request, a closed terminal. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function cancellable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const cancelling = new AbortController();
  const cancel = (): void => cancelling.abort();
  for (const signal of endings) process.on(signal, cancel);
  try {
    return await work(cancelling.signal);
  } finally {
    for (const signal of endings) process.off(signal, cancel);
  }
}

let isLost = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of the output, such as `head`, has closed the stream.
  if (error.code === 'EPIPE' || isLost) return;
  isLost = true;
  process.exitCode = 1;
  const done = 'a change that was asked for is made all the same; rotate a key that was to be shown';
  process.stderr.write(`ptf: the output could not be written: ${error.message}; ${done} (output_failed)\n`);
});
// There is no terminal left to print to.
process.stderr.on('error', () => undefined);

const code = await runCommand(process.argv.slice(2), {
  terminal: {
    ...terminalOf(process),
    stream: (text) => new Promise((written) => process.stdout.write(text, (error) => written(!error))),
    confirm: process.stdin.isTTY ? confirm : null,
    input,
  },
  defaultDir,
  configuration,
  lastLine: readLastLine,
  runtime: {
    node: process.version,
    platform: process.platform,
    version,
    // Without a limit, `constrainedMemory` is 0 or larger than the memory.
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
  },
  foreignEntry,
  verifyFolder,
  startProblems: startProblemsOf,
  backups,
  keepSecret,
  adoptFolder: adopt,
  moveData,
});
if (!isLost) process.exitCode = code;
