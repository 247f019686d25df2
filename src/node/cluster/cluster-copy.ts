/**
 * A copy of one node's data for another one: a backup, verified, whose files are sent in pieces that can be asked for
 * again from any byte, and that are placed once all of them are what was sent.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LinkClient } from '../../cluster/link-client.js';
import { LinkRefusedError } from '../../cluster/link-server.js';
import { messageOf } from '../../errors.js';
import type { BackupManifest } from '../../group/backup/backup-tasks.js';
import type { NodeView } from '../../group/ports/shared-log.js';
import { limits } from '../../limits.js';
import { syncPath } from '../../store/files/durable-file.js';
import { backUpInChild, verifyAny } from '../../workers/backup/backup-processes.js';

interface CopyFile {
  /** Within the copy, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256, hex. */
  readonly digest: string;
}

interface CopyOffer {
  readonly id: string;
  readonly lastSeq: number;
  readonly files: readonly CopyFile[];
}

/** The node that gives a copy; one at a time. */
export class CopyDonor {
  readonly #dir: string;
  readonly #version: string;
  #offer: CopyOffer | null = null;
  #making: Promise<CopyOffer> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(dir: string, version: string) {
    this.#dir = dir;
    this.#version = version;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #folder(): string {
    return join(this.#dir, '.copy');
  }

  begin(): Promise<CopyOffer> {
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #make(): Promise<CopyOffer> {
    this.forget();
    const watch = { stands: () => undefined, signal: AbortSignal.timeout(limits.copyMs) };
    const made = await backUpInChild({ dataDir: this.#dir, dir: this.#folder, version: this.#version }, watch);
    if (!made.ok) throw new Error(`no copy could be made: ${made.error}`);
    const files: CopyFile[] = [];
    for (const path of filesIn(this.#folder)) {
      const full = join(this.#folder, path);
      files.push({ path, bytes: statSync(full).size, digest: await digestOf(full) });
    }
    const manifest: BackupManifest = made.value;
    this.#offer = { id: randomUUID(), lastSeq: manifest.last_seq, files };
    this.#touch();
    return this.#offer;
  }

  /** Sends the file of a path such as `/copy/<id>/<file>` from a byte on, at a bounded rate. */
  async send(path: string, from: number, response: ServerResponse): Promise<void> {
    const [, , id, ...rest] = path.split('/');
    const file = this.#offer?.files.find((one) => one.path === decodeURIComponent(rest.join('/')));
    if (this.#offer?.id !== id || file === undefined) throw new LinkRefusedError('that copy is no more');
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

  /** Removes the copy: what is erased meanwhile must not stay in it. */
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
}

/** Fetches a copy from any node that has one, and puts it in the place of what the folder holds. */
export async function fetchCopy({ dir, link, nodes, log }: FetchDeps): Promise<void> {
  const staging = join(dir, '.joining');
  for (;;) {
    try {
      const donors = (await nodes()).filter(({ role }) => role === 'leader' || role === 'follower');
      // The leader has enough to do.
      donors.sort((one, other) => Number(one.role === 'leader') - Number(other.role === 'leader'));
      const donor = donors[0];
      if (donor === undefined) throw new Error('no other node can be asked');
      const startedAt = performance.now();
      await fetchFrom(donor.url, link, staging);
      const { faults, lastSeq } = await verifyAny(staging, 'full');
      if (faults.length > 0) throw new Error(`the copy is damaged: ${faults.join('; ')}`);
      await place(dir, staging);
      const ms = Math.round(performance.now() - startedAt);
      log.info({ from: donor.nodeId, last_seq: lastSeq, ms }, 'this node has a copy');
      return;
    } catch (error) {
      log.warn({ fault: messageOf(error) }, 'no copy could be fetched yet');
      await delay(limits.joinRetryMs);
    }
  }
}

async function fetchFrom(url: string, link: LinkClient, staging: string): Promise<void> {
  const offer = await link.call<CopyOffer>({ url, method: 'POST', path: '/copy', body: {}, timeoutMs: limits.copyMs });
  rmSync(staging, { recursive: true, force: true });
  for (const { path, bytes, digest } of offer.files) {
    const to = resolve(staging, path);
    if (!to.startsWith(`${resolve(staging)}${sep}`)) throw new Error(`the copy names a file outside of it: ${path}`);
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    let tries = 0;
    for (let from = 0; from < bytes || !existsSync(to); from = existsSync(to) ? statSync(to).size : 0) {
      tries += 1;
      if (tries > limits.copyTries) throw new Error(`${path} could not be fetched`);
      await fetchPiece(url, link, `/copy/${offer.id}/${path}?from=${from}`, to).catch((error: unknown) => {
        if (tries === limits.copyTries) throw error;
      });
    }
    if ((await digestOf(to)) !== digest) throw new Error(`${path} is not what was sent`);
  }
}

async function fetchPiece(url: string, link: LinkClient, path: string, to: string): Promise<void> {
  const file = await open(to, 'a', 0o600);
  try {
    const pieces = link.stream({ url, method: 'GET', path, timeoutMs: limits.copySilentMs });
    for await (const piece of pieces) await file.write(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What was fetched takes the place of a node's log and snapshots; while `.joining` is there, the folder is half. */
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
