/** Acquires a data folder by a file and a heartbeat, then by its epoch in LMDB, which fences earlier owners. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { NamedError } from '../../errors.js';
import { DamagedError, OwnerLostError } from '../../group/ports/storage.js';
import { limits } from '../../limits.js';
import { checkEnvironmentFile, dataFileOf, newestMeta, withFile } from '../files/lmdb-file.js';
import { readIfThere, syncPath } from '../files/small-file.js';
import { LmdbLogWriter, logFolderOf } from '../log/lmdb-log.js';
import * as environments from '../log/log-environment.js';
import * as records from './owner-record.js';

export class FolderOwnedError extends NamedError {}

/** Interval of heartbeats, and how long a silent owner is watched, in ms. */
export interface OwnerTimes {
  readonly heartbeatMs: number;
  readonly ownerSilentMs: number;
}

export class OwnedFolder {
  readonly #startHeart: (epoch: number) => () => Promise<void>;
  /** The owner's file, kept open. This distinguishes the folder from a copy of it. */
  #descriptor: number;
  #stopHeart: () => Promise<void>;
  #isStopped = false;

  /** Created only by `ownFolder`. */
  constructor(
    private readonly dir: string,
    private record: records.OwnerRecord,
    heartbeatMs: number,
    onLost: (error: OwnerLostError) => void,
  ) {
    this.#startHeart = (epoch) => startHeart(dir, epoch, heartbeatMs, onLost);
    this.#descriptor = openSync(records.ownerFileOf(dir, record.epoch), 'r');
    this.#stopHeart = this.#startHeart(record.epoch);
  }

  /** Creates a missing log. Rejects with `FolderOwnedError` for a later owner, with `DamagedError` for a cut file. */
  async openLog(): Promise<LmdbLogWriter> {
    const logFolder = logFolderOf(this.dir);
    await environments.formLogEnvironment(logFolder);
    checkEnvironmentFile(dataFileOf(logFolder));
    let environment: environments.LogEnvironment | undefined;
    try {
      environment = environments.openLogEnvironment(logFolder);
      for (;;) {
        // The log must not name an owner whose file a power cut removes: no later owner would know its epoch.
        for (const path of [records.ownerFileOf(this.dir, this.record.epoch), this.dir]) await syncPath(path);
        const inLog = fence(environment, this.record);
        if (inLog < this.record.epoch) break;
        await this.#acquireAfter(inLog);
      }
      const writer = new LmdbLogWriter(environment, this.record.epoch, this);
      await writer.tidy();
      environments.removeHalfFormed(logFolder);
      return writer;
    } catch (error) {
      await environment?.root.close();
      throw environments.namedDamage(error, logFolder);
    }
  }

  /** Rejects with `FolderOwnedError` for a later owner. Else the log's owner lost its file, and the fence stops it. */
  async #acquireAfter(epoch: number): Promise<void> {
    const record = { ...this.record, epoch: epoch + 1 };
    // The heart would take the new file for another owner's.
    await this.#stopHeart();
    if (records.newestEpoch(this.dir) !== this.record.epoch || !records.putOwner(this.dir, record))
      throw owned(this.dir, records.readOwner(this.dir), records.thisProcess());
    closeSync(this.#descriptor);
    this.record = record;
    this.#descriptor = openSync(records.ownerFileOf(this.dir, record.epoch), 'r');
    this.#stopHeart = this.#startHeart(record.epoch);
  }

  /** Stops and marks the folder free, unless another owner took over, so that the next start need not check. */
  async release(): Promise<void> {
    if (this.#isStopped) return;
    await this.stop();
    if (records.newestEpoch(this.dir) === this.record.epoch) await records.putReleased(this.dir, this.record);
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    closeSync(this.#descriptor);
    await this.#stopHeart();
  }
}

/**
 * Makes this process the owner of the data folder `dir` (created with mode 0700), with the last owner's epoch plus one,
 * and opens nothing. Rejects with `FolderOwnedError` if the owner is alive. An owner that cannot be identified is
 * watched for `ownerSilentMs` first. `onLost` is called with an `OwnerLostError` within a heartbeat after another owner
 * took over, for example because this process was paused.
 */
export async function ownFolder(
  dir: string,
  identity: records.ProcessIdentity = records.thisProcess(),
  times: OwnerTimes = limits,
  onLost: (error: OwnerLostError) => void = () => undefined,
): Promise<OwnedFolder> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const before = await refuseLiving(dir, identity, times);
  const record = records.recordOf(identity, before + 1);
  if (!records.putOwner(dir, record)) throw owned(dir, records.readOwner(dir), identity);
  return new OwnedFolder(dir, record, times.heartbeatMs, onLost);
}

/** Becomes the owner as `ownFolder` does, and opens the log. */
export async function acquireFolder(...owner: Parameters<typeof ownFolder>): Promise<LmdbLogWriter> {
  const folder = await ownFolder(...owner);
  try {
    return await folder.openLog();
  } catch (error) {
    // Ignore an error of the release, because the first error is the cause.
    await folder.release().catch(() => undefined);
    throw error;
  }
}

/** Rejects with `FolderOwnedError` if a node runs on `dir`; otherwise resolves to its last epoch, 0 for none. */
export async function refuseLiving(
  dir: string,
  identity: records.ProcessIdentity = records.thisProcess(),
  times: OwnerTimes = limits,
): Promise<number> {
  const owner = records.readOwner(dir);
  if (owner !== undefined && (await isAlive(owner, identity, dir, times))) throw owned(dir, owner, identity);
  return owner?.epoch ?? 0;
}

export { newestEpoch as epochOf } from './owner-record.js';

/** Continues the epochs of another folder in the new data folder `dir`: the next owner's epoch will be `epoch` + 1. */
export async function passEpochOn(dir: string, epoch: number): Promise<void> {
  if (epoch > 0) await records.putReleased(dir, records.recordOf(records.thisProcess(), epoch));
}

/**
 * Writes the owner's epoch into the log, on which every commit depends. Returns the epoch that the log named before;
 * changes nothing if it is not lower. Throws `HiddenCommitError` if LMDB does not see its newest commit.
 */
function fence(environment: environments.LogEnvironment, { epoch, ...record }: records.OwnerRecord): number {
  const { root, meta, path } = environment;
  try {
    return root.transactionSync(() => {
      if ((withFile(dataFileOf(path), newestMeta)?.txn ?? 0) >= root.getWriteTxnId())
        throw new environments.HiddenCommitError(path);
      const before = epochIn(environment);
      if (before < epoch)
        meta.putSync(environments.OWNER_KEY, Buffer.from(JSON.stringify({ epoch, ...record })), epoch);
      return before;
    });
  } catch (error) {
    if (error instanceof DamagedError || error instanceof environments.HiddenCommitError) throw error;
    return environments.unknownOutcome(path)(error);
  }
}

/** Returns the epoch of the last owner that opened the log; 0 for none. */
function epochIn({ meta, path }: environments.LogEnvironment): number {
  const entry = meta.getEntry(environments.OWNER_KEY);
  if (entry === undefined) return 0;
  const record = records.parsed(Buffer.from(entry.value).toString('utf8'));
  if (record === undefined) throw new DamagedError(`${dataFileOf(path)}: the owner's record cannot be read`);
  if (record.epoch !== entry.version)
    throw new DamagedError(`${dataFileOf(path)}: the owner's record and its version differ`);
  return record.epoch;
}

function owned(
  dir: string,
  owner: records.OwnerRecord | undefined,
  identity: records.ProcessIdentity,
): FolderOwnedError {
  const who = owner === undefined ? 'another process' : `process ${owner.pid} (since ${owner.claimed_at})`;
  if (owner !== undefined && isCopy(dir, owner, identity)) {
    return new FolderOwnedError(
      `the data folder ${dir} is a copy of the folder of a running node, ${who}; to make it a folder of its own, run: ptf adopt --data-dir ${dir}`,
    );
  }
  return new FolderOwnedError(
    `the data folder ${dir} is in use by ${who}; one node per folder. If it is a copy of that node's folder, run: ptf adopt --data-dir ${dir}`,
  );
}

/** False if unknown: in another container or host, the owner's process number names another process here. */
function isCopy(dir: string, owner: records.OwnerRecord, identity: records.ProcessIdentity): boolean {
  return canLookUp(owner, identity) && records.hasOpen(owner.pid, records.ownerFileOf(dir, owner.epoch)) === false;
}

/**
 * Removes the owner of a copied data folder whose owner runs on the original, so that a node may acquire the copy.
 * Rejects with `FolderOwnedError` if the owner works on this very folder, or if this cannot be determined. Changes
 * nothing if the folder has no running owner.
 */
export async function adoptFolder(
  dir: string,
  identity: records.ProcessIdentity = records.thisProcess(),
  times: OwnerTimes = limits,
): Promise<'adopted' | 'free'> {
  const owner = records.readOwner(dir);
  if (owner === undefined || !(await isAlive(owner, identity, dir, times))) return 'free';
  if (!isCopy(dir, owner, identity)) {
    throw new FolderOwnedError(
      `the data folder ${dir} is in use by process ${owner.pid} (since ${owner.claimed_at}), or this user cannot see whether it is; stop that node first, or run as its user`,
    );
  }
  await records.putReleased(dir, owner);
  return 'adopted';
}

/** Returns whether the owner's process number names the same process here: one boot of one machine, one namespace. */
function canLookUp(owner: records.OwnerRecord, identity: records.ProcessIdentity): boolean {
  const isSameBoot = owner.boot_id !== null && owner.boot_id === identity.bootId;
  return isSameBoot && owner.pid_namespace !== null && owner.pid_namespace === identity.pidNamespace;
}

async function isAlive(
  owner: records.OwnerRecord,
  identity: records.ProcessIdentity,
  dir: string,
  times: OwnerTimes,
): Promise<boolean> {
  if (owner.released) return false;
  if (canLookUp(owner, identity))
    return owner.process_start !== null && records.processStartOf(owner.pid) === owner.process_start;
  const hasNoProc = owner.boot_id === null && identity.bootId === null;
  if (hasNoProc && !records.runs(owner.pid)) return false;
  return hasHeartbeat(dir, owner.epoch, times);
}

/** Returns whether the heartbeat changes while it is watched. Its content and clocks do not matter. */
async function hasHeartbeat(dir: string, epoch: number, times: OwnerTimes): Promise<boolean> {
  const looks = Math.ceil(times.ownerSilentMs / times.heartbeatMs) * 4;
  const first = readHeartbeat(dir, epoch);
  for (let look = 0; look < looks; look += 1) {
    await delay(times.ownerSilentMs / looks);
    const beat = readHeartbeat(dir, epoch);
    if (beat !== undefined && beat !== first) return true;
  }
  return false;
}

/** Writes heartbeats until stopped, or until another owner takes over. Then `onLost` is called once. */
function startHeart(
  dir: string,
  epoch: number,
  heartbeatMs: number,
  onLost: (error: OwnerLostError) => void,
): () => Promise<void> {
  let beat = 0;
  let isLost = false;
  const write = async () => {
    if (isLost) return;
    isLost = isSucceeded(dir, epoch);
    if (isLost) return onLost(new OwnerLostError(`another process owns ${dir} now`));
    beat += 1;
    // A missed heartbeat, as on a full disk, at worst lets another node take over, which fences this one safely.
    await writeFile(join(dir, 'heartbeat'), `${epoch} ${beat}\n`, { mode: 0o600 }).catch(() => undefined);
  };
  return repeatedly(write, heartbeatMs);
}

/** False if this cannot be determined, as without descriptors; LMDB refuses a lost owner's commits anyway. */
function isSucceeded(dir: string, epoch: number): boolean {
  try {
    return records.newestEpoch(dir) > epoch;
  } catch {
    return false;
  }
}

/** Returns the owner's heartbeat; undefined if there is none, or if it is another owner's. */
function readHeartbeat(dir: string, epoch: number): string | undefined {
  const text = readIfThere(join(dir, 'heartbeat'));
  return text?.startsWith(`${epoch} `) ? text : undefined;
}

/** Runs `work`, which must not reject, now and every `everyMs`, never twice at a time. The result stops it. */
export function repeatedly(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let activeRun: Promise<void> | null = null;
  const run = () => {
    activeRun ??= work().finally(() => {
      activeRun = null;
    });
  };
  run();
  const timer = setInterval(run, everyMs).unref();
  return async () => {
    clearInterval(timer);
    await activeRun;
  };
}
