/** `ptf doctor`: looks at everything that a node needs, whether it runs or not, and says what to do. Changes nothing. */
import { lstat, readdir, stat, statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { DiskFullError } from '../group/ports.js';
import { verifyValue } from './answers.js';
import { NoNodeError, OperatorError } from './client.js';
import {
  type FileFacts,
  type Finding,
  type FolderFacts,
  judgeClock,
  judgeConfiguration,
  judgeDisk,
  judgeMemory,
  judgePermissions,
  judgeRunning,
  judgeStore,
  judgeUnread,
  judgeVersions,
} from './findings.js';
import type { StatusValue } from './protocol.js';
import { examples, type Session } from './session.js';
import type { Shown } from './shown.js';
import { facts } from './table.js';

export function addDoctor(program: Command, session: Session): void {
  program
    .command('doctor')
    .description('look at configuration, versions, clock, disk, permissions and store, with or without a node running')
    .addHelpText('after', examples('doctor', 'doctor --json --data-dir /var/lib/ptf'))
    .action(async () => session.done(showFindings(await examine(session))));
}

async function examine(session: Session): Promise<Finding[]> {
  const dir = resolve(session.dir());
  const running = await statusOf(session);
  const configuration = session.configuration();
  const folder = await folderFacts(dir);
  return [
    ...judgeConfiguration(configuration, running),
    ...judgeVersions(session.runtime, running),
    ...judgeClock(Date.now(), folder, await isSynchronised()),
    ...judgePermissions(folder),
    ...judgeDisk(folder, running?.disk?.free_min ?? configuration.diskFreeMinBytes),
    ...judgeMemory(session.runtime.memoryBytes, running),
    ...(running === null ? await storeFindings(session, dir, folder) : judgeRunning(running)),
  ];
}

async function storeFindings(session: Session, dir: string, { folder, uid }: FolderFacts): Promise<Finding[]> {
  // As another user, a look into the store would leave files that the node's user cannot open.
  if (folder === null || folder.uid !== uid) return [];
  try {
    return judgeStore(verifyValue(await session.verifyFolder(dir, 'start')));
  } catch (error) {
    if (error instanceof DiskFullError) return [judgeUnread(error.message)];
    throw error;
  }
}

/** Null where no node runs. */
async function statusOf(session: Session): Promise<StatusValue | null> {
  try {
    return await session.ask('status', {});
  } catch (error) {
    // A folder of another user is a finding, and comes with the permissions.
    if (error instanceof NoNodeError || (error instanceof OperatorError && error.code === 'access_denied')) return null;
    throw error;
  }
}

/** What can be seen of the data folder; of the nearest folder above it where there is none yet. */
async function folderFacts(dir: string): Promise<FolderFacts> {
  const folder = await fileFacts(dir, dir);
  let there = dir;
  while (there !== dirname(there) && (await fileFacts(there, there)) === null) there = dirname(there);
  const { bavail, bsize, files: allFiles, ffree, type } = await statfs(there);
  const files = folder === null ? [] : await filesIn(dir);
  return {
    folder,
    files: files.map(({ file }) => file),
    uid: userInfo().uid,
    freeBytes: bavail * bsize,
    freeFiles: allFiles === 0 ? null : ffree,
    fileSystem: type,
    storeBytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Everything in the data folder and one level below, as far as this user may look. */
async function filesIn(dir: string): Promise<{ readonly file: FileFacts; readonly bytes: number }[]> {
  const found: { file: FileFacts; bytes: number }[] = [];
  const look = async (name: string, deeper: boolean): Promise<void> => {
    const path = join(dir, name);
    const file = await fileFacts(path, name);
    if (file === null) return;
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    const inner = deeper ? await readdir(path).catch(() => []) : [];
    found.push({ file, bytes: inner.length > 0 ? 0 : size });
    for (const below of inner) await look(join(name, below), false);
  };
  for (const name of await readdir(dir).catch(() => [])) await look(name, true);
  return found;
}

async function fileFacts(path: string, name: string): Promise<FileFacts | null> {
  const found = await lstat(path).catch(() => null);
  return found === null ? null : { name, mode: found.mode, uid: found.uid, modifiedAt: found.mtimeMs };
}

/** What systemd-timesyncd says; null where it does not run, so that something else may keep the clock. */
async function isSynchronised(): Promise<boolean | null> {
  const runs = await fileFacts('/run/systemd/timesync', 'timesync');
  return runs === null ? null : (await fileFacts('/run/systemd/timesync/synchronized', 'synchronized')) !== null;
}

function showFindings(findings: readonly Finding[]): Shown {
  const failed = findings.filter(({ result }) => result === 'fail').length;
  const value = { ok: failed === 0, checks: findings };
  const lines = (width: number): string[] =>
    facts(
      findings.flatMap(({ check, result, text, advice }) => {
        const row = [`${result.padEnd(4)}  ${check}`, text] as const;
        return advice === undefined ? [row] : [row, ['', `-> ${advice}`] as const];
      }),
      width,
    );
  if (failed === 0) return { value, lines };
  const error = `${failed} of ${findings.length} findings must be mended`;
  return { value, lines, fault: { code: 'unhealthy', error } };
}
