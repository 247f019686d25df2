/**
 * Fetches the log and a snapshot from the other nodes, for a node whose own data cannot continue from the shared log:
 * what its log lacks, or a whole copy, which is built in a folder of its own and replaces the data once complete.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { type LinkCall, type LinkClient, LinkError } from '../../cluster/link-client.js';
import { countOf } from '../../core/records/batch.js';
import { messageOf } from '../../errors.js';
import { batchesIn, type CopiedLog, type LogSource } from '../../group/backup/copy-store.js';
import { type Timers, waitOf } from '../../group/ports/clock.js';
import { type NodeView, SharedLogUnavailableError } from '../../group/ports/shared-log.js';
import { DamagedError, DiskFullError, OwnerLostError, type StoredBatch } from '../../group/ports/storage.js';
import { batchFrom } from '../../group/recovery/recovery.js';
import { limits } from '../../limits.js';
import { closeAndSync } from '../../store/backup/backup-folder.js';
import { type ClusterMark, writeMark } from '../../store/files/folder-files.js';
import { refuseWithoutCommitSpace } from '../../store/files/full-disk.js';
import { replaceFile, syncPath } from '../../store/files/small-file.js';
import { epochOf, FolderOwnedError, passEpochOn } from '../../store/ownership/owner.js';
import { LmdbSnapshotStore, snapshotFileOf } from '../../store/snapshots/lmdb-snapshots.js';
import { type CopiedInto, copyIntoFolder, writeCopiedHead } from '../../workers/backup/copy-folder.js';
import { verifyInChild } from '../../workers/verify/verify-runner.js';
import type { CopyOffer } from './copy-donor.js';
import { markScrubDue } from './local-scrub.js';

export interface FetchDeps {
  readonly dir: string;
  readonly mark: ClusterMark;
  /** The newest record that etcd no longer has, and the copy must therefore have. */
  readonly trimmed: number;
  readonly link: Pick<LinkClient, 'bytes' | 'call'>;
  readonly nodes: () => Promise<readonly NodeView[]>;
  readonly log: Logger;
  readonly timers: Pick<Timers, 'elapsed' | 'later'>;
  readonly signal: AbortSignal;
}

const BUILDING = '.tmp-joining';
/** A file that exists while the data of the folder is being changed. */
const CHANGING = '.joining';

/** True if a change of the data was interrupted, so that the folder needs a whole copy. */
export function isIncomplete(dir: string): boolean {
  return existsSync(join(dir, CHANGING));
}

/** Removes what an interrupted fetch left: no erasure would reach it. */
export function removeUnfinished(dir: string): void {
  rmSync(join(dir, BUILDING), { recursive: true, force: true });
}

/** Fetches what the log of the folder lacks, or if it cannot be continued, a whole copy. */
export async function fetchMissing(deps: FetchDeps): Promise<void> {
  const { log, signal } = deps;
  const donors = new Donors(deps);
  for (;;) {
    try {
      await continueLog(donors, deps);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FolderOwnedError || error instanceof OwnerLostError) throw error;
      if (!(error instanceof DiskFullError)) {
        log.warn({ fault: messageOf(error) }, 'the log of this node cannot be continued, so a whole copy is fetched');
        return fetchCopy(deps);
      }
      await donors.failed(error);
    }
  }
}

async function continueLog(donors: Donors, { dir, log, timers, signal }: FetchDeps): Promise<void> {
  const startedAt = timers.elapsed();
  // An earlier call that ended early may have replaced batches.
  const isAgain = isIncomplete(dir);
  const goOn = guardOf(dir, signal);
  // Without the marker, an interruption between a record and the batches that it names would go unnoticed.
  const beforeChange = () => replaceFile(join(dir, CHANGING), '', { sync: true });
  const copied = await fetchLog(dir, donors, { goOn, signal, beforeChange });
  const snapshots = new LmdbSnapshotStore(dir);
  if (isAgain) markScrubDue(dir);
  // A snapshot from before an erasure contains the player, and the erasure may precede the end of this node's own log.
  if (isAgain || copied.isRewritten || copied.erasedSeq > 0)
    for (const seq of snapshots.list()) await snapshots.remove(seq);
  rmSync(join(dir, CHANGING), { force: true });
  await syncPath(dir);
  if (snapshots.list().length === 0) await fetchSnapshot(dir, donors, { copied, goOn, signal });
  const ms = Math.round(timers.elapsed() - startedAt);
  log.info({ last_seq: copied.lastSeq, ms }, 'this node fetched what its log lacked');
}

/** Fetches a copy and replaces the data in the folder with it. Repeats this until it succeeds. */
export async function fetchCopy(deps: FetchDeps): Promise<void> {
  const { dir, log, timers, signal } = deps;
  const donors = new Donors(deps);
  for (;;) {
    try {
      const startedAt = timers.elapsed();
      const { lastSeq } = await build(donors, deps);
      await place(dir);
      log.info({ last_seq: lastSeq, ms: Math.round(timers.elapsed() - startedAt) }, 'this node fetched a copy');
      return;
    } catch (error) {
      // It may fill the disk, and an erasure would not reach it.
      removeUnfinished(dir);
      signal.throwIfAborted();
      await donors.failed(error);
    }
  }
}

async function build(donors: Donors, { dir, mark, trimmed, signal }: FetchDeps): Promise<CopiedLog> {
  removeUnfinished(dir);
  // A copy begins, of which no part depends on a newer record yet.
  donors.seqMin = trimmed;
  const building = join(dir, BUILDING);
  mkdirSync(building, { mode: 0o700 });
  // The next owner of the folder must have a later epoch than the one that the copy's log has.
  await passEpochOn(building, epochOf(dir));
  const goOn = guardOf(building, signal);
  const copied = await fetchLog(building, donors, { goOn, signal });
  await fetchSnapshot(building, donors, { copied, goOn, signal });
  await writeMark(building, mark);
  await closeAndSync(building);
  return copied;
}

interface Fetch {
  readonly goOn: () => void;
  readonly signal: AbortSignal;
  /** Called before the first change of the log. */
  readonly beforeChange?: () => Promise<void>;
}

function guardOf(dir: string, signal: AbortSignal): () => void {
  return () => {
    signal.throwIfAborted();
    refuseWithoutCommitSpace(dir);
  };
}

async function fetchLog(to: string, donors: Donors, { goOn, ...hooks }: Fetch): Promise<CopiedInto> {
  goOn();
  const source = new RemoteLog(donors, hooks.signal);
  const scrubDeferred = () => markScrubDue(to);
  const copied = await copyIntoFolder(to, source, { progress: goOn, scrubDeferred, ...hooks }).finally(() =>
    source.close(),
  );
  await writeCopiedHead(to, copied);
  return copied;
}

type SnapshotFetch = Fetch & { readonly copied: CopiedLog };

/** Fetches a snapshot into a folder without one. It is optional: without it the start reads the whole log. */
async function fetchSnapshot(to: string, donors: Donors, fetch: SnapshotFetch): Promise<void> {
  for (let tries = 0; tries < limits.copySnapshotTries; tries++) {
    const donor = donors.current();
    try {
      if (!(await fetchSnapshotFrom(await donor, to, donors, fetch))) return;
      // In a process of its own, because a damaged file may end the process that reads it.
      const { snapshots, faults } = await verifyInChild(to, 'start', undefined, fetch.signal);
      if (faults.length === 0 && snapshots.some(({ ok }) => ok)) return;
      throw new Error(`the snapshot is damaged: ${snapshots[0]?.fault ?? faults.join('; ')}`);
    } catch (error) {
      for (const seq of new LmdbSnapshotStore(to).list())
        rmSync(dirname(snapshotFileOf(to, seq)), { recursive: true, force: true });
      fetch.goOn();
      await donors.failed(error, donor);
    }
  }
}

/** Fetches the newest snapshot of a node that fits the log. Resolves to false if there is none. */
async function fetchSnapshotFrom(
  url: string,
  to: string,
  donors: Donors,
  { copied: { lastSeq, erasedSeq }, goOn }: SnapshotFetch,
): Promise<boolean> {
  const { snapshots } = await donors.offerOf(url);
  const snapshot = snapshots.find(({ seq }) => seq <= lastSeq && seq >= erasedSeq);
  if (snapshot === undefined) return false;
  const { seq, bytes } = snapshot;
  const path = snapshotFileOf(to, seq);
  mkdirSync(dirname(path), { mode: 0o700 });
  const file = await open(path, 'wx', 0o600);
  try {
    for (let at = 0; at < bytes; ) {
      goOn();
      const piece = await donors.bytesOf(url, `/copy-snapshot?seq=${seq}&from=${at}`);
      if (piece.length === 0) throw new Error(`snapshot ${seq} ends after ${at} bytes`);
      await file.writeFile(piece);
      at += piece.length;
    }
  } finally {
    await file.close();
  }
  return true;
}

class RemoteLog implements LogSource {
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  #ahead: { readonly firstSeq: number; readonly piece: Promise<StoredBatch[]> } | null = null;

  constructor(
    private readonly donors: Donors,
    signal: AbortSignal,
  ) {
    this.#signal = AbortSignal.any([signal, this.#ending.signal]);
  }

  async lastSeq(): Promise<number> {
    const { last_seq } = await this.donors.ask((url) => this.donors.offerOf(url), this.#signal);
    this.donors.mustReach(last_seq);
    return last_seq;
  }

  async from(firstSeq: number): Promise<StoredBatch[]> {
    const ahead = this.#ahead?.firstSeq === firstSeq ? await this.#ahead.piece : [];
    // An empty piece was fetched at the end of the log, which may have grown since.
    const batches = ahead.length > 0 ? ahead : await this.#fetch(firstSeq, limits.catchUpBatches);
    const last = batches.at(-1);
    if (last !== undefined) {
      const next = last.firstSeq + countOf(last.bytes);
      this.donors.mustReach(next - 1);
      const piece = this.#fetch(next, limits.catchUpBatches);
      // The next call reports the error.
      piece.catch(() => undefined);
      this.#ahead = { firstSeq: next, piece };
    }
    return batches;
  }

  async at(firstSeq: number): Promise<StoredBatch | undefined> {
    return (await this.#fetch(firstSeq, 1))[0];
  }

  close(): void {
    this.#ending.abort();
  }

  async #fetch(firstSeq: number, limit: number): Promise<StoredBatch[]> {
    const path = `/copy-log?from=${firstSeq}&batches=${limit}`;
    return this.donors.ask(async (url) => {
      const batches = batchesIn(await this.donors.bytesOf(url, path, this.#signal));
      // Damage is the fault of the node that sent the piece.
      for (const stored of batches) batchFrom(stored);
      return batches;
    }, this.#signal);
  }
}

const failuresOfDonors = [LinkError, SharedLogUnavailableError, DamagedError];

class Donors {
  /** The address of the node to ask; null before the choice. */
  #chosen: Promise<string> | null = null;
  #failures = 0;
  /** The newest record that a node must have. */
  seqMin: number;

  constructor(private readonly deps: FetchDeps) {
    this.seqMin = deps.trimmed;
  }

  /** Asks only nodes that have record `seq` from now on, because a part of the copy may depend on it. */
  mustReach(seq: number): void {
    this.seqMin = Math.max(this.seqMin, seq);
  }

  current(): Promise<string> {
    if (this.#chosen !== null) return this.#chosen;
    const chosen = this.#choose();
    this.#chosen = chosen;
    chosen.catch(() => this.#turnFrom(chosen));
    return chosen;
  }

  async #choose(): Promise<string> {
    const nodes = (await this.deps.nodes()).filter(({ role }) => role === 'leader' || role === 'follower');
    // Followers come first, because the leader has more work.
    nodes.sort((a, b) => Number(a.role === 'leader') - Number(b.role === 'leader'));
    const node = nodes[this.#failures % Math.max(1, nodes.length)];
    if (node === undefined) throw new LinkError('no other node can send a copy', true);
    const { last_seq } = await this.offerOf(node.url);
    if (last_seq >= this.seqMin) return node.url;
    throw new LinkError(`${node.url}: its log ends at record ${last_seq}, before record ${this.seqMin}`, false);
  }

  async ask<T>(call: (url: string) => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      const donor = this.current();
      try {
        return await call(await donor);
      } catch (error) {
        signal.throwIfAborted();
        if (!failuresOfDonors.some((kind) => error instanceof kind)) throw error;
        await this.failed(error, donor, signal);
      }
    }
  }

  offerOf(url: string): Promise<CopyOffer> {
    return this.deps.link.call(this.#callOf(url, '/copy'));
  }

  bytesOf(url: string, path: string, signal = this.deps.signal): Promise<Buffer> {
    return this.deps.link.bytes(this.#callOf(url, path, signal));
  }

  #callOf(url: string, path: string, signal = this.deps.signal): LinkCall {
    return { url, method: 'GET', path, timeoutMs: limits.copyAnswerMs, signal };
  }

  /** Reports a failure and turns from the node, by default the present one, to another. Resolves after a pause. */
  async failed(error: unknown, donor = this.#chosen, signal = this.deps.signal): Promise<void> {
    const from = await donor?.catch(() => undefined);
    this.#turnFrom(donor);
    this.deps.log.warn({ from, fault: messageOf(error) }, 'the data of another node could not be fetched yet');
    const { over, end } = waitOf(this.deps.timers, limits.joinRetryMs);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    await over;
    signal.removeEventListener('abort', end);
    signal.throwIfAborted();
  }

  /** Does nothing if the next node is chosen already. */
  #turnFrom(donor: Promise<string> | null): void {
    if (donor === null || this.#chosen !== donor) return;
    this.#chosen = null;
    this.#failures += 1;
  }
}

async function place(dir: string): Promise<void> {
  const building = join(dir, BUILDING);
  await replaceFile(join(dir, CHANGING), '', { sync: true });
  for (const name of readdirSync(dir)) {
    const isOld = /^(?:log|head\.json|scrub-due|(?:\.[a-z-]+-)?snapshot-\d+)$/.test(name);
    if (isOld) rmSync(join(dir, name), { recursive: true, force: true });
  }
  for (const name of readdirSync(building)) renameSync(join(building, name), join(dir, name));
  await syncPath(dir);
  rmSync(building, { recursive: true, force: true });
  rmSync(join(dir, CHANGING));
  await syncPath(dir);
}
