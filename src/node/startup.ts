/** Prepares and checks a node's start. If a check fails, the start is refused with a reason for the operator. */
import { randomBytes } from 'node:crypto';
import { accessSync, constants, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { UnknownRecordError } from '../core/records/record-codec.js';
import { type GroupSettings, type SettingName, settingNames } from '../core/settings.js';
import type { Environment } from '../core/vocabulary.js';
import { hasCode, messageOf, NamedError } from '../errors.js';
import type { Group } from '../group/group.js';
import type { Clock } from '../group/ports/clock.js';
import { SharedLogUnavailableError } from '../group/ports/shared-log.js';
import { DamagedError, type LogWriter, type SnapshotStore, UnreadError } from '../group/ports/storage.js';
import { isOfMixedReleases } from '../group/record-format.js';
import { type Formation, formationProblems, formGroup } from '../group/recovery/formation.js';
import { lastSeqOf, type Recovered, recover } from '../group/recovery/recovery.js';
import { limits } from '../limits.js';
import { makeDataFolder } from '../store/backup/backup-folder.js';
import { refusalOfTarget } from '../store/backup/restore-folder.js';
import { refusalOfMarked, saltFile, storedSalt } from '../store/files/folder-files.js';
import { dataFileOf, isThere } from '../store/files/lmdb-file.js';
import { replaceFile } from '../store/files/small-file.js';
import { logFolderOf } from '../store/log/lmdb-log.js';
import { HiddenCommitError } from '../store/log/log-environment.js';
import { FolderOwnedError } from '../store/ownership/owner.js';
import { verifyInChild } from '../workers/verify/verify-runner.js';
import { type Config, settingsIn } from './config.js';
import { random } from './system.js';

/** The node must not run in this state; the message gives the operator the reason. Nothing was changed. */
export class StartRefusedError extends NamedError {}

/** This node's log is too old, or is not the log of the group: the node closes, starts again, and then rejoins. */
export class RejoinError extends NamedError {}

/** The node was stopped while its start waited. The start has closed what it opened. */
export class StartEndedError extends NamedError {}

const refusals = [DamagedError, UnreadError, FolderOwnedError, HiddenCommitError, UnknownRecordError];

export function refuseStart(error: unknown): never {
  if (error instanceof Error && refusals.some((kind) => error instanceof kind))
    throw new StartRefusedError(error.message);
  throw error;
}

/** `prefix`: of the variables that hold the port and the address, such as `METRICS_`. */
export function listeningOrRefuse<T>(listening: Promise<T>, prefix = ''): Promise<T> {
  return listening.catch((error: NodeJS.ErrnoException & { port?: number; address?: string }) => {
    const { code = '', message, port, address } = error;
    const [portName, hostName] = [`${prefix}PORT`, `${prefix}HOST`];
    const noAddress = `${hostName}: this machine has no such address (${code})`;
    const problems: Readonly<Record<string, string>> = {
      EADDRINUSE: `${portName}: port ${port} of ${address} is in use by another process; stop it, or set ${portName} to another port`,
      EACCES: `${portName}: this user may not listen on port ${port}; set ${portName} to a port from 1024`,
      EADDRNOTAVAIL: noAddress,
      ENOTFOUND: noAddress,
      EAI_AGAIN: noAddress,
    };
    throw new StartRefusedError(problems[code] ?? `${portName}, ${hostName}: cannot listen: ${message}`);
  });
}

export function prepareFolder(dir: string): void {
  try {
    makeDataFolder(dir);
    refuseInaccessible(dir);
  } catch (error) {
    throw new StartRefusedError(`DATA_DIR: ${dir} cannot be used: ${folderProblem(error)}`);
  }
}

function folderProblem(error: unknown): string {
  const { code = '', path } = error as NodeJS.ErrnoException;
  const noAccess = `this user has no access to ${path}; make the node's user its owner (chown -R), or set another folder`;
  const problems: Readonly<Record<string, string>> = {
    EACCES: noAccess,
    EPERM: noAccess,
    EROFS: 'its file system is read-only; set another folder',
    ENOENT: 'it cannot be created there; set another folder',
    ENOTDIR: 'a part of its path is a file; set another folder',
  };
  return problems[code] ?? messageOf(error);
}

/** Files that this user cannot read and write would crash LMDB, which would look like damage. */
function refuseInaccessible(dir: string): void {
  const names = readdirSync(dir).filter((name) => /^(?:log|head\.json|owner-\d+\.json|snapshot-\d+)$/.test(name));
  for (const path of names.flatMap((name) => [name, join(name, 'data.mdb'), join(name, 'lock.mdb')])) {
    try {
      accessSync(join(dir, path), constants.R_OK | constants.W_OK);
    } catch (error) {
      // A missing file is reported by the code that reads it.
      if (hasCode(error, 'EACCES')) throw error;
    }
  }
}

export function refuseUnfit(dir: string, { cluster }: Pick<Config, 'cluster'>): void {
  const why = refusalOfTarget(dir) ?? (cluster === 'none' ? refusalOfMarked(dir) : undefined);
  if (why !== undefined) throw new StartRefusedError(why);
}

export async function saltOf(config: Config, dir: string, isNew: boolean): Promise<string> {
  const stored = storedSalt(dir, config.salt);
  if (stored.ok) return stored.salt;
  if (!isNew) throw new StartRefusedError(stored.fault);
  const made = randomBytes(limits.keyBytes).toString('base64url');
  // Stored before anything is hashed with it: a log without its salt is useless.
  await replaceFile(saltFile(dir), `${made}\n`, { sync: true });
  return made;
}

/** Reads the store in another process, whose crash must not be the node's. Resolves with its newest record. */
export async function verifyFolder(dir: string, log: Logger): Promise<number> {
  const report = await verifyInChild(dir, 'start');
  for (const { seq, fault } of report.snapshots)
    if (fault !== undefined) log.error({ seq, fault }, 'a snapshot cannot be used');
  if (report.ok) return report.lastSeq;
  for (const problem of report.faults) log.error({ fault: problem }, 'the store is damaged');
  throw new StartRefusedError(`the store in ${dir} is damaged; nothing was changed: ${report.faults.join('; ')}`);
}

/** Returns the newest record of a folder's log, 0 if there is none, null if the store is damaged. Changes nothing. */
export async function lastSeqOfFolder(dir: string, log: Logger): Promise<number | null> {
  if (!isThere(dataFileOf(logFolderOf(dir)))) return 0;
  const report = await verifyInChild(dir, 'start');
  for (const fault of report.faults) log.error({ fault }, 'the store is damaged');
  return report.ok ? report.lastSeq : null;
}

export async function recoverOrForm(
  { formation, clock }: { readonly formation: Formation; readonly clock: Clock },
  writer: LogWriter,
  snapshots: SnapshotStore,
  log: Logger,
): Promise<Pick<Recovered, 'follower' | 'snapshotSeq'>> {
  const started = performance.now();
  const recovered = recover(writer, snapshots, formation.salt, lastSeqOf(writer));
  if (recovered === null) return { follower: await formGroup(formation, writer, clock, random), snapshotSeq: 0 };
  const problems = formationProblems(formation, recovered.follower.state.formed);
  if (problems.length > 0) throw new StartRefusedError(problems.join('; '));
  for (const problem of recovered.problems) log.error({ fault: problem }, 'a snapshot was not used');
  const { lastSeq, peers, subjects } = recovered.follower.state;
  const counts = { peers: peers.size, players: subjects.size };
  const ms = Math.round(performance.now() - started);
  log.info({ last_seq: lastSeq, snapshot_seq: recovered.snapshotSeq, ...counts, ms }, 'recovered');
  return recovered;
}

/** Refuses a start with an impossible clock, by `clockProblem`. Local trials, which may pause, only warn. */
export function refuseClock(problem: string | null, environment: Environment, log: Logger): void {
  if (problem === null) return;
  const text = `${problem}: correct the clock; if the clock is right and the node was only stopped for a long time, set CLOCK_ACCEPTED_UNTIL to today`;
  if (environment !== 'dev') throw new StartRefusedError(text);
  log.warn(`${text}; outside of dev this start would be refused`);
}

/** `logged`: the settings in the log of a cluster, which stay as they are; null if the node serves its group alone. */
export async function applyConfiguration(
  config: Config,
  group: Group,
  logged: Partial<GroupSettings> | null,
): Promise<void> {
  const own = settingsIn(config);
  /** Resolves to false while a node of an older release cannot read the records: they come once all are upgraded. */
  const apply = async (command: Parameters<Group['configure']>[0], prefix = ''): Promise<boolean> => {
    const outcome = await group.configure(command);
    if (outcome.ok) return true;
    if (isOfMixedReleases(outcome)) return false;
    // A leader whose shared log is silent leads again later, and need not leave the cluster.
    const isPassing = logged !== null && outcome.code === 'dependency_unavailable';
    throw new (isPassing ? SharedLogUnavailableError : StartRefusedError)(`${prefix}${outcome.text ?? outcome.code}`);
  };
  const applySetting = async (name: SettingName): Promise<boolean> => {
    const value = own[name];
    if (value === undefined || logged?.[name] !== undefined) return true;
    return apply({ type: 'setting', name, value, by: 'configuration' }, `${name}: `);
  };
  // The likeliest refusal comes first. A half-life is refused while the clock is behind, and the peers stay set.
  await applySetting('PRE_TRUSTED_PEERS');
  await applySetting('HALF_LIFE_DAYS');
  if (!(await apply({ type: 'scoring' }))) return;
  await applySetting('BAN_HALF_LIFE_DAYS');
  if (logged === null) return;
  for (const name of settingNames) if (!(await applySetting(name))) return;
}

/** Returns whether the log of a cluster has every setting that its first leader writes into it. */
export function hasSettings(logged: Partial<GroupSettings>): boolean {
  // The peers of a new group have no ids yet.
  return settingNames.every((name) => name === 'PRE_TRUSTED_PEERS' || logged[name] !== undefined);
}

/** Returns how the variables of a node differ from the settings in the log of its cluster; null if they do not. */
export function settingsProblem(config: Config, logged: Partial<GroupSettings>): string | null {
  const own = settingsIn(config);
  const problems = config.settingsGiven
    .filter((name) => logged[name] !== undefined && sorted(logged[name]) !== sorted(own[name]))
    .map(
      (name) =>
        `${name} is ${own[name]}, and the group has ${logged[name]}: set that or leave ${name} unset, or change the group with ptf group set ${name} ${own[name]}`,
    );
  return problems.length === 0 ? null : problems.join('; ');
}

/** The order of peer ids means nothing. */
function sorted(setting: string | number | undefined): string {
  return String(setting).split(',').sort().join();
}
