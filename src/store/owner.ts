/**
 * Who owns a data folder. The owner record lives in the log's own environment, so that every commit can be made on condition
 * that it still stands; its epoch grows by compare-and-set, so that of two starters exactly one wins.
 */

import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DamagedError, OwnerLostError } from '../group/ports.js';
import { limits } from '../limits.js';
import { removeDoubleWriteBuffer } from './double-write-buffer.js';
import { checkEnvironmentFile, dataFileOf, newestTxnOf } from './environment-file.js';
import { logFolderOf } from './lmdb-log.js';
import { LmdbLogWriter, type LogOwnership } from './lmdb-log-writer.js';
import {
  formLogEnvironment,
  frame,
  keyOfSeq,
  type LogEnvironment,
  namedDamage,
  newestSeqOf,
  OWNER_KEY,
  openLogEnvironment,
  removeHalfFormed,
  unknownOutcome,
} from './log-environment.js';
import { openElsewhere } from './open-elsewhere.js';
import { hasOpen, type ProcessIdentity, processStartOf, readText, runs, thisProcess } from './process-identity.js';
import { repeatedly } from './repeatedly.js';

/** As stored, under a version whose whole part is `epoch`. */
interface OwnerRecord {
  readonly epoch: number;
  readonly pid: number;
  readonly process_start: string | null;
  readonly boot_id: string | null;
  readonly pid_namespace: string | null;
  /** ISO 8601; for people only. */
  readonly claimed_at: string;
  /** True once the owner closed the folder in good order. */
  readonly released: boolean;
}

interface StoredOwner extends OwnerRecord {
  readonly version: number;
}

/** So many versions has an epoch: a power of two, so that they are exact beside epochs below 2^33. */
const CLAIMS = 2 ** 20;

/** Looks at a log whose newest commit others hide. */
const LOOKS = 10;

/** Another node owns the folder and lives, or took it a moment before. */
export class FolderOwnedError extends Error {
  override readonly name = 'FolderOwnedError';
}

/** How often an owner beats and how long a silent one is watched, in ms. */
export interface OwnerTimes {
  readonly heartbeatMs: number;
  readonly ownerSilentMs: number;
}

/**
 * Makes this process the owner of the data folder `dir` (created with mode 0700), with an epoch one above the last owner's.
 * Rejects with `FolderOwnedError` where the owner lives, and with `DamagedError` where the log's file is cut. An owner that
 * cannot be looked up is watched for `ownerSilentMs` first. `onLost` is told of an `OwnerLostError` within a heartbeat once another
 * owner took over, as from one that was paused: what this one knows is old from there on, written or not.
 */
export async function claimFolder(
  dir: string,
  identity: ProcessIdentity = thisProcess(),
  times: OwnerTimes = limits,
  onLost: (error: OwnerLostError) => void = () => undefined,
): Promise<LmdbLogWriter> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const logFolder = logFolderOf(dir);
  await formLogEnvironment(logFolder);
  checkEnvironmentFile(dataFileOf(logFolder));
  let environment = openedLog(logFolder);
  let stopHeart: LogOwnership['stop'] = async () => undefined;
  try {
    let claimed: StoredOwner;
    for (let look = 1; ; look += 1) {
      const before = readOwner(environment);
      if (before !== undefined && (await lives(before, identity, dir, times))) throw owned(dir, before, identity);
      claimed = claimOf(recordOf(identity, (before?.epoch ?? 0) + 1));
      const put = putOwner(environment, claimed, before?.version, () => takeOver(environment, before?.epoch ?? 0));
      if (put === 'done') break;
      if (put === 'refused') throw owned(dir, readOwner(environment), identity);
      if (look === LOOKS)
        throw new Error(`${dataFileOf(logFolder)}: other processes that open it hide its newest commit`);
      // To open it is what brings the number back.
      await environment.root.close();
      environment = openedLog(logFolder);
    }
    const { epoch, version } = claimed;
    stopHeart = startHeart(dir, claimed, environment, times.heartbeatMs, onLost);
    const writer = new LmdbLogWriter(environment, {
      epoch,
      version,
      stop: stopHeart,
      async release() {
        // Only while it is still one's own: the condition is its version. Where it cannot be, the next start looks whether this process lives.
        putOwner(environment, { ...claimed, released: true }, version);
      },
      showNewest: () => openElsewhere(dir),
    });
    await writer.tidy();
    removeHalfFormed(logFolder);
    return writer;
  } catch (error) {
    await stopHeart();
    await environment.root.close();
    throw namedDamage(error, logFolder);
  }
}

function openedLog(folder: string): LogEnvironment {
  try {
    return openLogEnvironment(folder);
  } catch (error) {
    throw namedDamage(error, folder);
  }
}

/**
 * Rejects with `FolderOwnedError` where a node runs on the data folder `dir`, which holds a log, and with `DamagedError` where
 * its file is cut. Changes nothing.
 */
export async function refuseLiving(
  dir: string,
  identity: ProcessIdentity = thisProcess(),
  times: OwnerTimes = limits,
): Promise<void> {
  const owner = await withEnvironment(dir, readOwner);
  if (owner !== undefined && (await lives(owner, identity, dir, times))) throw owned(dir, owner, identity);
}

/** The epoch of the newest owner of the data folder `dir`, which holds a log; 0 where it never had one. */
export async function epochOf(dir: string): Promise<number> {
  return (await withEnvironment(dir, readOwner))?.epoch ?? 0;
}

/** Makes epochs of the new data folder `dir` go on from those of another: the next owner's will be `epoch` + 1. */
export async function passEpochOn(dir: string, epoch: number): Promise<void> {
  if (epoch === 0) return;
  await formLogEnvironment(logFolderOf(dir));
  const environment = openLogEnvironment(logFolderOf(dir));
  try {
    const put = putOwner(environment, claimOf({ ...recordOf(thisProcess(), epoch), released: true }), undefined);
    if (put !== 'done') throw new Error(`${dir} got an owner of another process while it was made`);
  } finally {
    await environment.root.close();
  }
}

async function withEnvironment<T>(dir: string, read: (environment: LogEnvironment) => T): Promise<T> {
  const logFolder = logFolderOf(dir);
  checkEnvironmentFile(dataFileOf(logFolder));
  const environment = openLogEnvironment(logFolder);
  try {
    return read(environment);
  } finally {
    await environment.root.close();
  }
}

/** No two claims have one version: a commit of the owner before may hide a claim, and the next one then has its epoch again. */
function claimOf(record: OwnerRecord): StoredOwner {
  return { ...record, version: record.epoch + randomInt(1, CLAIMS) / CLAIMS };
}

/**
 * Puts a record in the place of the one of `versionBefore`, undefined for none, and whatever `also` puts; 'refused' where another is there. A process that opens the log takes
 * the number of its newest commit, which LMDB keeps for all of them, back to what it read a moment before, and what is committed then takes the place
 * of what was: 'hidden' where that is so, and nothing was put.
 */
function putOwner(
  environment: LogEnvironment,
  { version, ...record }: StoredOwner,
  versionBefore: number | undefined,
  also: () => void = () => undefined,
): 'done' | 'refused' | 'hidden' {
  const { root, meta, path } = environment;
  try {
    return root.transactionSync(() => {
      // From here on nobody else commits.
      if (newestTxnOf(dataFileOf(path)) >= root.getWriteTxnId()) return 'hidden';
      if (meta.getEntry(OWNER_KEY)?.version !== versionBefore) return 'refused';
      meta.putSync(OWNER_KEY, Buffer.from(JSON.stringify(record)), version);
      also();
      return 'done';
    });
  } catch (error) {
    if (error instanceof DamagedError) throw error;
    return unknownOutcome(path)(error);
  }
}

/** Appends the batch that a power cut took back from the owner of `epoch`, an earlier build, within the claim's transaction. */
function takeOver(environment: LogEnvironment, epoch: number): void {
  const lost = removeDoubleWriteBuffer(environment, epoch, newestSeqOf(environment.log));
  if (lost !== undefined) environment.log.putSync(keyOfSeq(lost.firstSeq), frame(lost.bytes), { append: true });
}

function readOwner(environment: LogEnvironment): StoredOwner | undefined {
  try {
    const entry = environment.meta.getEntry(OWNER_KEY);
    return entry === undefined ? undefined : ownerOf(entry, environment.path);
  } finally {
    environment.root.resetReadTxn();
  }
}

function ownerOf({ value, version }: { value: Uint8Array; version?: number }, path: string): StoredOwner {
  let owner: OwnerRecord;
  try {
    owner = JSON.parse(Buffer.from(value).toString('utf8')) as OwnerRecord;
  } catch (error) {
    throw new DamagedError(`${dataFileOf(path)}: the owner's record cannot be read`, { cause: error });
  }
  // Nobody could take over, and the folder would look as if it were in use.
  if (version === undefined || owner.epoch !== Math.floor(version))
    throw new DamagedError(`${dataFileOf(path)}: the owner's record and its version differ`);
  return { ...owner, version };
}

function recordOf(identity: ProcessIdentity, epoch: number): OwnerRecord {
  return {
    epoch,
    pid: identity.pid,
    process_start: identity.processStart,
    boot_id: identity.bootId,
    pid_namespace: identity.pidNamespace,
    claimed_at: new Date().toISOString(),
    released: false,
  };
}

function owned(dir: string, owner: OwnerRecord | undefined, identity: ProcessIdentity): FolderOwnedError {
  const who = owner === undefined ? 'another process' : `process ${owner.pid} (since ${owner.claimed_at})`;
  if (owner !== undefined && isCopy(dir, owner, identity) === true) {
    return new FolderOwnedError(
      `the data folder ${dir} is a copy of the folder of a running node, ${who}; to make it a folder of its own, run: ptf adopt --data-dir ${dir}`,
    );
  }
  return new FolderOwnedError(
    `the data folder ${dir} is in use by ${who}; one node per folder. If it is a copy of that node's folder, run: ptf adopt --data-dir ${dir}`,
  );
}

/**
 * Whether the folder's owner, which lives, works on another folder than this one; null where that cannot be seen. In another container, or on
 * another host, its number names another process here.
 */
function isCopy(dir: string, owner: OwnerRecord, identity: ProcessIdentity): boolean | null {
  if (!canLookUp(owner, identity)) return null;
  const open = hasOpen(owner.pid, dataFileOf(logFolderOf(dir)));
  return open === null ? null : !open;
}

/**
 * Makes a copied data folder, whose owner runs on the original, one without an owner, so that a node may claim it. Rejects with `FolderOwnedError`
 * where the owner works on this very folder, or that cannot be seen. Changes nothing where the folder has no living owner.
 */
export async function adoptFolder(
  dir: string,
  identity: ProcessIdentity = thisProcess(),
  times: OwnerTimes = limits,
): Promise<'adopted' | 'free'> {
  const logFolder = logFolderOf(dir);
  checkEnvironmentFile(dataFileOf(logFolder));
  const owner = await withEnvironment(dir, readOwner);
  if (owner === undefined || !(await lives(owner, identity, dir, times))) return 'free';
  if (isCopy(dir, owner, identity) !== true) {
    throw new FolderOwnedError(
      `the data folder ${dir} is in use by process ${owner.pid} (since ${owner.claimed_at}), or it cannot be seen that it is not; stop that node first, or run as its user`,
    );
  }
  const put = await withEnvironment(dir, (environment) =>
    putOwner(environment, claimOf({ ...owner, released: true }), owner.version),
  );
  if (put !== 'done') throw new FolderOwnedError(`the data folder ${dir} got another owner meanwhile; try again`);
  return 'adopted';
}

/** Whether the owner's number names the same process here: one boot of one machine, one namespace. */
function canLookUp(owner: OwnerRecord, identity: ProcessIdentity): boolean {
  return (
    owner.boot_id !== null &&
    owner.boot_id === identity.bootId &&
    owner.pid_namespace !== null &&
    owner.pid_namespace === identity.pidNamespace
  );
}

async function lives(owner: OwnerRecord, identity: ProcessIdentity, dir: string, times: OwnerTimes): Promise<boolean> {
  if (owner.released) return false;
  if (canLookUp(owner, identity))
    return owner.process_start !== null && processStartOf(owner.pid) === owner.process_start;
  const hasNoProc = owner.boot_id === null && identity.bootId === null;
  if (hasNoProc && !runs(owner.pid)) return false;
  return beats(dir, owner.epoch, times);
}

/** Watches whether the owner's heartbeat changes; what it says does not matter, so clocks do not either. */
async function beats(dir: string, epoch: number, times: OwnerTimes): Promise<boolean> {
  const looks = Math.ceil(times.ownerSilentMs / times.heartbeatMs) * 4;
  const first = readHeartbeat(dir, epoch);
  for (let look = 0; look < looks; look += 1) {
    await delay(times.ownerSilentMs / looks);
    const beat = readHeartbeat(dir, epoch);
    if (beat !== undefined && beat !== first) return true;
  }
  return false;
}

/** Beats until stopped; silent once another owner took over, of which `onLost` is told once. */
function startHeart(
  dir: string,
  { epoch, version }: StoredOwner,
  environment: LogEnvironment,
  heartbeatMs: number,
  onLost: (error: OwnerLostError) => void,
): () => Promise<void> {
  let beat = 0;
  let isLost = false;
  const write = async () => {
    if (isLost) return;
    isLost = readOwner(environment)?.version !== version;
    if (isLost) return onLost(new OwnerLostError(`another process owns ${environment.path} now`));
    beat += 1;
    // A beat missed, on a full disk for one, at worst lets another node take over, which fences this one safely.
    await writeFile(heartbeatFile(dir), `${epoch} ${beat}\n`, { mode: 0o600 }).catch(() => undefined);
  };
  return repeatedly(write, heartbeatMs);
}

function heartbeatFile(dir: string): string {
  return join(dir, 'heartbeat');
}

/** The owner's beat; undefined for none or one of another owner. */
function readHeartbeat(dir: string, epoch: number): string | undefined {
  const text = readText(heartbeatFile(dir));
  return text?.startsWith(`${epoch} `) ? text : undefined;
}
