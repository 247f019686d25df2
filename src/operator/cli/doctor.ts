/** `ptf doctor` examines everything that a node needs, whether or not it runs, and says what to do. Changes nothing. */
import { once } from 'node:events';
import { access, constants, lstat, readdir, stat, statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { UnreadError } from '../../group/ports/storage.js';
import { limits } from '../../limits.js';
import { verifyValue } from '../../operations/log-operations.js';
import { facts } from '../../operations/text-table.js';
import { type CommandContext, examples, type Rendered } from './command-context.js';
import * as checks from './findings.js';
import { callNode, NoNodeError, OperatorError } from './node-client.js';

export function addDoctor(program: Command, session: CommandContext): void {
  program
    .command('doctor')
    .description('examine configuration, versions, clock, disk, permissions and store, with or without a running node')
    .addHelpText('after', examples('doctor', 'doctor --json --data-dir /var/lib/ptf'))
    .action(async () => session.done(showFindings(await examine(session))));
}

async function examine(session: CommandContext): Promise<checks.Finding[]> {
  const dir = resolve(session.dir());
  const { running, silence } = await statusOf(session);
  const configuration = session.configuration();
  const folder = await folderFacts(dir);
  // A node that serves its group alone has none.
  const cluster = running === null ? null : await session.ask('cluster-status', {}).catch(() => null);
  const isAbsent = running === null && silence === null;
  const foreign = isAbsent && folder.files.length > 0 ? foreignIn(session, dir) : undefined;
  const around = isAbsent ? await surroundingsOf(dir, configuration) : null;
  // A node that starts or joins its cluster changes the store.
  const store = around?.starting === null && foreign === undefined ? await storeOf(session, dir, folder) : null;
  return [
    checks.judgeFolder(dir, foreign),
    ...checks.judgeConfiguration(configuration, running, store?.refusals),
    ...checks.judgeVersions(session.runtime, running),
    ...checks.judgeClock(Date.now(), folder, await isSynchronised()),
    // Their remedies would harm a folder of the system or of another program.
    ...(foreign === undefined ? checks.judgePermissions(folder) : []),
    ...checks.judgeDisk(folder, running?.disk?.free_min ?? configuration.diskFreeMinBytes),
    ...checks.judgeMemory(session.runtime.memoryBytes, running),
    ...(store?.findings ?? []),
    ...(running === null ? [] : [...checks.judgeRunning(running), ...checks.judgeEvidence(running)]),
    ...checks.judgeEtcd(cluster),
    ...(silence === null ? [] : [checks.judgeSilence(silence)]),
    ...(around === null ? [] : checks.judgeAbsence(dir, session.lastLine(dir), around, configuration.signs)),
  ];
}

/** Returns undefined for a folder that this user may not read, which the findings about permissions name. */
function foreignIn(session: CommandContext, dir: string): string | undefined {
  try {
    return session.foreignEntry(dir);
  } catch {
    return undefined;
  }
}

/** Examines the store of a folder without a node. Null if this user must not open it. */
async function storeOf(session: CommandContext, dir: string, { folder, isFolder, uid }: checks.FolderFacts) {
  // Opened by another user, the store would contain files that the node's user cannot open.
  if (folder === null || !isFolder || folder.uid !== uid) return null;
  try {
    const report = await session.verifyFolder(dir, 'start');
    const isGroup = report.ok && report.lastSeq > 0;
    return {
      findings: checks.judgeStore(verifyValue(report)),
      refusals: isGroup ? await session.startProblems(dir) : [],
    };
  } catch (error) {
    if (error instanceof UnreadError) return { findings: [checks.judgeUnread(error.message)], refusals: [] };
    throw error;
  }
}

/** Returns the status of the node; nothing if none runs, and a finding if a running one does not answer. */
async function statusOf(session: CommandContext) {
  try {
    return { running: await session.ask('status', {}), silence: null };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (error.code === 'no_answer') return { running: null, silence: error.message };
    // A folder of another user is reported together with the permissions.
    if (error instanceof NoNodeError || error.code === 'access_denied') return { running: null, silence: null };
    throw error;
  }
}

async function folderFacts(dir: string): Promise<checks.FolderFacts> {
  const folder = await fileFacts(dir, dir);
  // Follows links, as a start does.
  const found = await stat(dir).catch(() => null);
  let there = dir;
  while (there !== dirname(there) && (await stat(there).catch(() => null)) === null) there = dirname(there);
  const { bavail, bsize, files: allFiles, ffree, type } = await statfs(there);
  const files = folder === null ? [] : await filesIn(dir);
  return {
    folder: folder === null || found === null ? folder : { ...folder, mode: found.mode, uid: found.uid },
    isFolder: found?.isDirectory() === true,
    files: files.map(({ file }) => file),
    uid: userInfo().uid,
    above: there,
    mayMake: await succeeds(access(there, constants.W_OK)),
    freeBytes: bavail * bsize,
    freeFiles: allFiles === 0 ? null : ffree,
    fileSystem: type,
    storeBytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

async function filesIn(dir: string): Promise<{ readonly file: checks.FileFacts; readonly bytes: number }[]> {
  const found: { file: checks.FileFacts; bytes: number }[] = [];
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

async function fileFacts(path: string, name: string): Promise<checks.FileFacts | null> {
  const found = await lstat(path).catch(() => null);
  return found === null ? null : { name, mode: found.mode, uid: found.uid, modifiedAt: found.mtimeMs };
}

/** True if systemd-timesyncd keeps the clock; null if it does not run, since another program may keep the clock. */
async function isSynchronised(): Promise<boolean | null> {
  const runs = await fileFacts('/run/systemd/timesync', 'timesync');
  return runs === null ? null : (await fileFacts('/run/systemd/timesync/synchronized', 'synchronized')) !== null;
}

async function surroundingsOf(dir: string, { address, folders }: checks.ConfigurationFacts) {
  const others = [...new Set(folders.map((folder) => resolve(folder)))].filter((folder) => folder !== dir);
  const running = await Promise.all(others.map(isRunning));
  const nodes = others.filter((_, i) => running[i]);
  if (address === null || !(await answers(address))) return { busyAddress: null, starting: null, nodes };
  const busyAddress = `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
  return { busyAddress, starting: await startingOn(busyAddress).catch(() => null), nodes };
}

/** Resolves to why the node on an address does not serve; to null for another process, or rejects for it. */
async function startingOn(address: string): Promise<string | null> {
  const signal = AbortSignal.timeout(limits.doctorConnectMs);
  const answer = await fetch(`http://${address}/api/v1/health`, { signal });
  const { details } = (await answer.json()) as { readonly details?: Readonly<Record<string, string>> };
  const isStarting = details?.role === 'joining' || ['recovering', 'draining'].includes(details?.reason ?? '');
  return (isStarting && details?.reason) || null;
}

function isRunning(folder: string): Promise<boolean> {
  return callNode(folder, 'status', {}).then(
    () => true,
    (error: unknown) => !(error instanceof NoNodeError),
  );
}

function answers({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const socket = connect({ host: local, port, timeout: limits.doctorConnectMs });
  socket.once('timeout', () => socket.destroy(new Error('nobody answers')));
  return succeeds(once(socket, 'connect')).finally(() => socket.destroy());
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

function showFindings(findings: readonly checks.Finding[]): Rendered {
  const failed = findings.filter(({ result }) => result === 'fail').length;
  const value = { ok: failed === 0, checks: findings };
  const rows = findings.flatMap(({ check, result, text, advice }) => {
    const row = [`${result.padEnd(4)}  ${check}`, text] as const;
    return advice === undefined ? [row] : [row, ['', `-> ${advice}`] as const];
  });
  const lines = (width: number): string[] => facts(width, rows);
  if (failed === 0) return { value, lines };
  const error = `${failed} of ${findings.length} findings must be fixed`;
  return { value, lines, fault: { code: 'unhealthy', error } };
}
