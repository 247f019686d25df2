/**
 * Fetches the log and a snapshot from the other nodes, for a node whose own data cannot continue from the shared log.
 * Every batch is checked against the one before it. The logs of all nodes are the same, so any node can send the next
 * piece. The copy is built in a folder of its own and replaces the old data once it is complete.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type LinkClient, LinkError } from '../../cluster/link-client.js';
import { countOf } from '../../core/records/batch.js';
import { messageOf } from '../../errors.js';
import { type CopiedLog, copyFrom, type LogSource } from '../../group/backup/copy-store.js';
import { batchesIn } from '../../group/backup/log-piece.js';
import type { StoredBatch } from '../../group/ports/log.js';
import { type NodeView, SharedLogUnavailableError } from '../../group/ports/shared-log.js';
import { limits } from '../../limits.js';
import { closeAndSync } from '../../store/backup/backup-folder.js';
import { syncPath } from '../../store/files/durable-file.js';
import { writeExpectedHead } from '../../store/log/expected-head.js';
import { claimFolder, epochOf, passEpochOn } from '../../store/ownership/owner.js';
import { snapshotFileOf } from '../../store/snapshots/lmdb-snapshots.js';
import type { CopyOffer } from './copy-donor.js';

export interface FetchDeps {
  readonly dir: string;
  readonly link: Pick<LinkClient, 'bytes'>;
  /** Returns the other live nodes. */
  readonly nodes: () => Promise<readonly NodeView[]>;
  readonly log: Logger;
  /** Aborts the fetch, which then rejects. */
  readonly signal: AbortSignal;
}

function stagingOf(dir: string): string {
  return join(dir, '.joining');
}

/** True if a copy of another node's data was begun, so that the folder's own may be incomplete. */
export function isJoining(dir: string): boolean {
  return existsSync(stagingOf(dir));
}

/** Fetches a copy and replaces the data in the folder with it. Repeats this until it succeeds. */
export async function fetchCopy(deps: FetchDeps): Promise<void> {
  const { dir, log, signal } = deps;
  const donors = new Donors(deps);
  for (;;) {
    try {
      const startedAt = performance.now();
      const { lastSeq } = await fetchInto(stagingOf(dir), donors, deps);
      await place(dir);
      log.info({ last_seq: lastSeq, ms: Math.round(performance.now() - startedAt) }, 'this node fetched a copy');
      return;
    } catch (error) {
      signal.throwIfAborted();
      await donors.failed(error);
    }
  }
}

async function fetchInto(staging: string, donors: Donors, { dir, log, signal }: FetchDeps): Promise<CopiedLog> {
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { mode: 0o700 });
  // The next owner of the folder must have a later epoch than the one that the copy's log has.
  await passEpochOn(staging, epochOf(dir));
  const copied = await fetchLog(staging, donors, signal);
  await writeExpectedHead(staging, { ...copied, chain: Buffer.from(copied.chain).toString('hex') });
  await fetchSnapshot(staging, donors, copied).catch((error: unknown) => {
    signal.throwIfAborted();
    log.warn({ fault: messageOf(error) }, 'no snapshot could be fetched, so the start will read the whole log');
  });
  await closeAndSync(staging);
  return copied;
}

async function fetchLog(staging: string, donors: Donors, signal: AbortSignal): Promise<CopiedLog> {
  const writer = await claimFolder(staging);
  const source = new RemoteLog(donors, signal);
  let isRewritten = false;
  const sink = {
    add: (batches: readonly StoredBatch[]) => writer.appendAll(batches),
    replace(batches: readonly StoredBatch[]) {
      isRewritten = true;
      return writer.append(null, batches);
    },
  };
  try {
    const copied = await copyFrom(source, sink, () => signal.throwIfAborted());
    // The replaced bytes must not stay in the free space of the copy.
    if (isRewritten) await writer.scrub(signal);
    return copied;
  } finally {
    source.close();
    await writer.close();
    rmSync(join(staging, 'heartbeat'), { force: true });
  }
}

/**
 * Fetches the file of the newest snapshot that fits the log. A snapshot is optional, and it is checked when it is
 * loaded.
 */
async function fetchSnapshot(staging: string, donors: Donors, { lastSeq, erasedSeq }: CopiedLog): Promise<void> {
  const url = await donors.current();
  const { snapshots } = await donors.offerOf(url);
  const snapshot = snapshots.find(({ seq }) => seq <= lastSeq && seq >= erasedSeq);
  if (snapshot === undefined) return;
  const path = snapshotFileOf(staging, snapshot.seq);
  mkdirSync(dirname(path), { mode: 0o700 });
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      for (let at = 0; at < snapshot.bytes; ) {
        const piece = await donors.bytesOf(url, `/copy-snapshot?seq=${snapshot.seq}&from=${at}`);
        if (piece.length === 0) throw new Error(`snapshot ${snapshot.seq} ends after ${at} bytes`);
        await file.write(piece);
        at += piece.length;
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    rmSync(dirname(path), { recursive: true, force: true });
    throw error;
  }
}

/** The log of the other nodes. Fetches the next piece while the caller handles the last one. */
class RemoteLog implements LogSource {
  readonly #donors: Donors;
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  #ahead: { readonly firstSeq: number; readonly piece: Promise<StoredBatch[]> } | null = null;

  constructor(donors: Donors, signal: AbortSignal) {
    this.#donors = donors;
    this.#signal = AbortSignal.any([signal, this.#ending.signal]);
  }

  async lastSeq(): Promise<number> {
    return (await this.#donors.ask((url) => this.#donors.offerOf(url), this.#signal)).last_seq;
  }

  async from(firstSeq: number, limit: number): Promise<StoredBatch[]> {
    if (limit === 1) return this.#fetch(firstSeq, limit);
    const ahead = this.#ahead?.firstSeq === firstSeq ? await this.#ahead.piece : [];
    // An empty piece was fetched at the end of the log, which may have grown since.
    const batches = ahead.length > 0 ? ahead : await this.#fetch(firstSeq, limit);
    const last = batches.at(-1);
    if (last !== undefined) {
      const next = last.firstSeq + countOf(last.bytes);
      const piece = this.#fetch(next, limit);
      // The next call reports the error.
      piece.catch(() => undefined);
      this.#ahead = { firstSeq: next, piece };
    }
    return batches;
  }

  /** Aborts the calls that are still running. */
  close(): void {
    this.#ending.abort();
  }

  async #fetch(firstSeq: number, limit: number): Promise<StoredBatch[]> {
    const path = `/copy-log?from=${firstSeq}&batches=${limit}`;
    return batchesIn(await this.#donors.ask((url) => this.#donors.bytesOf(url, path, this.#signal), this.#signal));
  }
}

/** Asks the node that answered last, and another one after a failure. */
class Donors {
  readonly #deps: FetchDeps;
  #url: string | null = null;
  /** Number of failures, which selects the next node. */
  #failures = 0;

  constructor(deps: FetchDeps) {
    this.#deps = deps;
  }

  /** Resolves to the address of the node to ask. */
  async current(): Promise<string> {
    if (this.#url !== null) return this.#url;
    const nodes = (await this.#deps.nodes()).filter(({ role }) => role === 'leader' || role === 'follower');
    // Followers come first, because the leader has more work.
    nodes.sort((a, b) => Number(a.role === 'leader') - Number(b.role === 'leader'));
    const node = nodes[this.#failures % Math.max(1, nodes.length)];
    if (node === undefined) throw new LinkError('no other node can send a copy', true);
    this.#url = node.url;
    return node.url;
  }

  /** Asks one node after the other until one answers, or `signal` aborts. */
  async ask<T>(call: (url: string) => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await call(await this.current());
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof LinkError || error instanceof SharedLogUnavailableError)) throw error;
        await this.failed(error, signal);
      }
    }
  }

  async offerOf(url: string): Promise<CopyOffer> {
    return JSON.parse((await this.bytesOf(url, '/copy')).toString('utf8')) as CopyOffer;
  }

  bytesOf(url: string, path: string, signal = this.#deps.signal): Promise<Buffer> {
    return this.#deps.link.bytes({ url, method: 'GET', path, timeoutMs: limits.copyAnswerMs, signal });
  }

  /** Reports a failure, and turns to another node after a pause. */
  async failed(error: unknown, signal = this.#deps.signal): Promise<void> {
    this.#deps.log.warn({ from: this.#url, fault: messageOf(error) }, 'no copy could be fetched yet');
    this.#url = null;
    this.#failures += 1;
    await delay(limits.joinRetryMs, undefined, { signal });
  }
}

/** Replaces log and snapshots with the fetched ones. The folder is incomplete while it contains `.joining`. */
async function place(dir: string): Promise<void> {
  const staging = stagingOf(dir);
  for (const name of readdirSync(dir)) {
    const isOld = /^(?:log|head\.json|scrub-due|(?:\.[a-z-]+-)?snapshot-\d+)$/.test(name);
    if (isOld) rmSync(join(dir, name), { recursive: true, force: true });
  }
  for (const name of readdirSync(staging)) renameSync(join(staging, name), join(dir, name));
  await syncPath(dir);
  rmSync(staging, { recursive: true, force: true });
  await syncPath(dir);
}
