/** Does the work of those commands of `ptf` that open a data folder themselves. They refuse another user's folder. */
import { constants, existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../errors.js';
import type { CommandDeps } from '../operator/cli/command-context.js';
import { OperatorError } from '../operator/cli/node-client.js';
import { makeDataFolder } from '../store/backup/backup-folder.js';
import { refusalOfMarked } from '../store/files/folder-files.js';
import { dataFileOf } from '../store/files/lmdb-file.js';
import { readText, replaceFile } from '../store/files/small-file.js';
import { logFolderOf } from '../store/log/lmdb-log.js';
import { adoptFolder, FolderOwnedError } from '../store/ownership/owner.js';
import { backUpInChild, restoreInChild, verifyAny } from '../workers/backup/backup-processes.js';
import { startProblems } from '../workers/verify/preflight.js';
import { identityOf, loadConfig } from './config.js';
import type { OperatorEnvironment } from './operator-environment.js';

type FolderWork = Pick<
  CommandDeps,
  'verifyFolder' | 'startProblems' | 'keepSecret' | 'backups' | 'adoptFolder' | 'moveData'
>;

/** `uid`: the user of this process; undefined where users have no number. */
export function folderWork(environment: () => OperatorEnvironment, uid = process.getuid?.()): FolderWork {
  /** A node cannot open files that root leaves in its folder, as LMDB does even if it only reads. */
  const refuseForeign = async (dir: string): Promise<void> => {
    const found = await stat(dir).catch(() => undefined);
    if (uid === undefined || found === undefined || found.uid === uid) return;
    const isClosed = await access(dir, constants.W_OK).then(
      () => false,
      () => true,
    );
    if (!isClosed) throw new OperatorError('access_denied', `${dir} is another user's; run as the user of the node`);
  };
  return {
    async verifyFolder(dir, mode, progress) {
      await refuseForeign(dir);
      return verifyAny(dir, mode, progress?.to);
    },
    async startProblems(dir) {
      const { env, hidden } = environment();
      const outcome = loadConfig(env, readText);
      if (!outcome.ok || hidden.length > 0) return [];
      const { cluster, salt, clockAcceptedUntil: acceptedUntil } = outcome.config;
      const marked = cluster === 'none' ? refusalOfMarked(dir) : undefined;
      if (marked !== undefined) return [marked];
      return startProblems(dir, identityOf(outcome.config), salt, { now: Date.now(), acceptedUntil });
    },
    async keepSecret(dir, name, text) {
      await refuseForeign(dir);
      // The node has no access to a folder that root creates within another user's.
      if (uid === 0) await refuseForeign(nearestFolder(dir));
      try {
        makeDataFolder(dir);
      } catch (error) {
        throw new OperatorError('folder_refused', `${dir} cannot be used: ${messageOf(error)}`);
      }
      await replaceFile(join(dir, name), text, { sync: true });
    },
    backups: {
      async backUp(task, onStatus) {
        await refuseForeign(task.dataDir);
        return cancellable((signal) => backUpInChild(task, { onStatus, signal }));
      },
      async restore(task, onStatus) {
        for (const dir of [task.dataDir, task.dir, task.erasuresFrom]) if (dir !== null) await refuseForeign(dir);
        return cancellable((signal) => restoreInChild(task, { onStatus, signal }));
      },
    },
    async adoptFolder(dir) {
      if (!existsSync(dataFileOf(logFolderOf(dir)))) throw new OperatorError('no_store', `${dir} holds no store`);
      await refuseForeign(dir);
      return adoptFolder(dir).catch((error: unknown) => {
        refuseOwned(error);
        throw error;
      });
    },
    /** The client of etcd is loaded only here. */
    async moveData(direction, dir) {
      await refuseForeign(dir);
      const outcome = loadConfig(environment().env, readText);
      if (!outcome.ok || outcome.config.cluster === 'none') {
        const problems = outcome.ok
          ? ['CLUSTER must be etcd']
          : outcome.problems.map(({ variable, text }) => `${variable}: ${text}`);
        throw new OperatorError('wrong_usage', problems.join('; '), 2);
      }
      const { importData, exportData } = await import('./cluster/cluster-data.js');
      const move = direction === 'import' ? importData : exportData;
      return move(outcome.config, dir).catch((error: unknown) => {
        refuseOwned(error);
        throw new OperatorError('move_refused', messageOf(error));
      });
    },
  };
}

function refuseOwned(error: unknown): void {
  if (error instanceof FolderOwnedError) throw new OperatorError('folder_in_use', error.message);
}

function nearestFolder(dir: string): string {
  const path = resolve(dir);
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

/** Signals that ask a process to end: Ctrl-C, a termination request, a closed terminal. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function cancellable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const cancelling = new AbortController();
  const cancel = (): void => cancelling.abort();
  for (const signal of endings) process.on(signal, cancel);
  return work(cancelling.signal).finally(() => {
    for (const signal of endings) process.off(signal, cancel);
  });
}
