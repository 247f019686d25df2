/**
 * Copies the data of one node to another node that joins. The copy is a verified backup. Its files are sent from any
 * byte on, so that a broken transfer can resume. They replace the old data once the digests of all of them match.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LinkCall, LinkClient } from '../../cluster/link-client.js';
import { LinkRefusedError } from '../../cluster/link-server.js';
import { messageOf } from '../../errors.js';
import type { BackupManifest } from '../../group/backup/backup-tasks.js';
import type { NodeView } from '../../group/ports/shared-log.js';
import { limits } from '../../limits.js';
import { syncPath } from '../../store/files/durable-file.js';
import { backUpInChild, verifyAny } from '../../workers/backup/backup-processes.js';

interface CopyFile {
  /** Path within the copy, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256, hex. */
  readonly digest: string;
}

/** The answer to a request for a copy. The other node asks again while the copy is being made. */
type CopyAnswer = CopyOffer | { readonly making: true };

interface CopyOffer {
  readonly id: string;
  readonly lastSeq: number;
  readonly files: readonly CopyFile[];
}

/** Makes copies on the sending node, one at a time. */
export class CopyDonor {
  readonly #dir: string;
  readonly #version: string;
  #offer: CopyOffer | null = null;
  #making: Promise<void> | null = null;
  /** Why the last copy failed, for the next request. */
  #failure: unknown = null;
  /** The time of the copy, by `performance.now()`. */
  #madeAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(dir: string, version: string) {
    this.#dir = dir;
    this.#version = version;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #folder(): string {
    return join(this.#dir, '.copy');
  }

  /**
   * Returns a recent copy, or begins to make one. Throws if the last attempt failed. It never waits, because a caller
   * cannot distinguish a node that works from one that hangs.
   */
  ask(): CopyAnswer {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure;
    if (this.#making !== null) return { making: true };
    if (this.#offer !== null && performance.now() - this.#madeAt < limits.copyFreshMs) {
      this.#touch();
      return this.#offer;
    }
    this.#making = this.#make()
      .catch((error: unknown) => {
        this.#failure = error;
      })
      .finally(() => {
        this.#making = null;
      });
    return { making: true };
  }

  async #make(): Promise<void> {
    this.forget();
    const watch = { stands: () => undefined, signal: AbortSignal.timeout(limits.copyMs) };
    const made = await backUpInChild({ dataDir: this.#dir, dir: this.#folder, version: this.#version }, watch);
    if (!made.ok) throw new Error(`the copy failed: ${made.error}`);
    const files: CopyFile[] = [];
    for (const path of filesIn(this.#folder)) {
      const full = join(this.#folder, path);
      files.push({ path, bytes: statSync(full).size, digest: await digestOf(full) });
    }
    const manifest: BackupManifest = made.value;
    this.#offer = { id: randomUUID(), lastSeq: manifest.last_seq, files };
    this.#madeAt = performance.now();
    this.#touch();
  }

  /** Sends the file of a path such as `/copy/<id>/<file>` from a byte on, at a bounded rate. */
  async send(path: string, from: number, response: ServerResponse): Promise<void> {
    const [, , id, ...rest] = path.split('/');
    const file = this.#offer?.files.find((candidate) => candidate.path === decodeURIComponent(rest.join('/')));
    if (this.#offer?.id !== id || file === undefined) throw new LinkRefusedError('the copy no longer exists');
    this.#touch();
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
    const startedAt = performance.now();
    let sent = 0;
    const stream = createReadStream(join(this.#folder, file.path), {
      start: from,
      highWaterMark: limits.copyPieceBytes,
    });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (response.destroyed) return;
      if (!response.write(chunk))
        await new Promise((drained) => response.once('drain', drained).once('close', drained));
      sent += chunk.length;
      const aheadMs = (sent / limits.copyBytesPerS) * 1000 - (performance.now() - startedAt);
      if (aheadMs > 1) await delay(aheadMs);
    }
    this.#touch();
    response.end();
  }

  /** Removes the copy, which must not outlast an erasure. */
  forget(): void {
    this.#offer = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #touch(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.forget(), limits.copyIdleMs);
    this.#timer.unref();
  }
}

export interface FetchDeps {
  readonly dir: string;
  readonly link: LinkClient;
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

/**
 * Fetches a copy from another node and replaces the data in the folder with it. Tries the other nodes in turn until one
 * succeeds.
 */
export async function fetchCopy({ dir, link, nodes, log, signal }: FetchDeps): Promise<void> {
  const staging = stagingOf(dir);
  for (let tries = 0; ; tries++) {
    try {
      const donors = (await nodes()).filter(({ role }) => role === 'leader' || role === 'follower');
      // Followers come first, because the leader has more work.
      donors.sort((a, b) => Number(a.role === 'leader') - Number(b.role === 'leader'));
      const donor = donors[tries % Math.max(1, donors.length)];
      if (donor === undefined) throw new Error('no other node can send a copy');
      const startedAt = performance.now();
      await fetchFrom(donor.url, link, staging, signal);
      const { faults, lastSeq } = await verifyAny(staging, 'full');
      if (faults.length > 0) throw new Error(`the copy is damaged: ${faults.join('; ')}`);
      await place(dir, staging);
      const ms = Math.round(performance.now() - startedAt);
      log.info({ from: donor.nodeId, last_seq: lastSeq, ms }, 'this node fetched a copy');
      return;
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ fault: messageOf(error) }, 'no copy could be fetched yet');
      await delay(limits.joinRetryMs, undefined, { signal });
    }
  }
}

async function fetchFrom(url: string, link: LinkClient, staging: string, signal: AbortSignal): Promise<void> {
  const offer = await offerOf(url, link, signal);
  rmSync(staging, { recursive: true, force: true });
  for (const { path, bytes, digest } of offer.files) {
    const to = resolve(staging, path);
    if (!to.startsWith(`${resolve(staging)}${sep}`)) throw new Error(`the copy names a file outside of it: ${path}`);
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    let tries = 0;
    for (let from = 0; from < bytes || !existsSync(to); from = existsSync(to) ? statSync(to).size : 0) {
      tries += 1;
      if (tries > limits.copyTries) throw new Error(`${path} could not be fetched in ${limits.copyTries} tries`);
      const piece = { url, method: 'GET', path: `/copy/${offer.id}/${path}?from=${from}`, signal } as const;
      await fetchPiece(link, { ...piece, timeoutMs: limits.copySilentMs }, to).catch((error: unknown) => {
        if (tries === limits.copyTries || signal.aborted) throw error;
      });
    }
    if ((await digestOf(to)) !== digest) throw new Error(`${path} differs from the file that was sent`);
  }
}

/** Makes the node create a copy. Resolves once the copy is complete. */
async function offerOf(url: string, link: LinkClient, signal: AbortSignal): Promise<CopyOffer> {
  const endMs = performance.now() + limits.copyMs;
  const call = { url, method: 'POST', path: '/copy', body: {}, timeoutMs: limits.copyAnswerMs, signal } as const;
  for (;;) {
    const answer = await link.call<CopyAnswer>(call);
    if (!('making' in answer)) return answer;
    if (performance.now() >= endMs) throw new Error(`${url} did not make a copy within ${limits.copyMs} ms`);
    await delay(limits.copyPollMs, undefined, { signal });
  }
}

async function fetchPiece(link: LinkClient, call: LinkCall, to: string): Promise<void> {
  const file = await open(to, 'a', 0o600);
  try {
    for await (const piece of link.stream(call)) await file.write(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Replaces log and snapshots with the fetched files. The folder is incomplete while it contains `.joining`. */
async function place(dir: string, staging: string): Promise<void> {
  const store = join(staging, 'store');
  for (const name of readdirSync(dir)) {
    const isOld = name === 'log' || name === 'head.json' || name === 'scrub-due' || /^snapshot-\d+$/.test(name);
    if (isOld) rmSync(join(dir, name), { recursive: true, force: true });
  }
  for (const name of readdirSync(store)) renameSync(join(store, name), join(dir, name));
  await syncPath(dir);
  rmSync(staging, { recursive: true, force: true });
  await syncPath(dir);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'lock.mdb')
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) digest.update(chunk);
  return digest.digest('hex');
}
