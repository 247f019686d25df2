/** Shared parts of the backup and restore drills: folders, runs of the command, and the contents of folders. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { openLogReader } from '../../src/store/log/lmdb-log.js';
import { LmdbSnapshotStore } from '../../src/store/snapshots/lmdb-snapshots.js';
import type { Ran, Running } from './child-process.js';
import { closing } from './closing.js';
import { GameServer, type SentEvent } from './game-server.js';
import { MemorySnapshotStore } from './memory-snapshots.js';
import { replicaLoaded, startProcess, temporaryFolder } from './process.js';
import { runPtf } from './ptf.js';

/** Returns the path of a new backup, which does not exist yet. */
export const newPlace = (): string => join(temporaryFolder(), 'backup');

export function events(name: string, from: number, to: number, players = 50): SentEvent[] {
  return Array.from({ length: to - from }, (_, i) => ({
    id: `${name}-${from + i}`,
    player: `player ${(from + i) % players}`,
  }));
}

export async function done(args: readonly string[], dir: string): Promise<Ran> {
  const run = await runPtf(args, dir);
  assert.is(run.code, 0, run.out + run.err);
  return run;
}

export async function refused(args: readonly string[], dir: string, code: string): Promise<string> {
  const run = await runPtf(args, dir);
  assert.is(run.code, 1, run.out + run.err);
  assert.match(run.err, `(${code})`);
  return run.err;
}

/** Returns the digest of the state of a data folder at a record. Without snapshots, only the log is used. */
export async function digestAt(dir: string, seq?: number, withSnapshots = false): Promise<string> {
  const salt = Buffer.from(readFileSync(join(dir, 'group-salt'), 'utf8').trim());
  await using log = closing(openLogReader(dir));
  const snapshots = withSnapshots ? new LmdbSnapshotStore(dir) : new MemorySnapshotStore();
  return stateDigest(recover(log, snapshots, salt, seq ?? lastSeqOf(log))!.follower.state);
}

export function filesUnder(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile());
}

export function holds(dir: string, wanted: Buffer | string): boolean {
  return filesUnder(dir).some((path) => readFileSync(path).includes(wanted));
}

export function subjectOf(player: string, dir: string): Buffer {
  return hash('sha256', player + readFileSync(join(dir, 'group-salt'), 'utf8').trim(), 'buffer');
}

/** Waits until the work of a command shows on disk, or the command ends. */
export async function appears(path: string, { child }: Running): Promise<void> {
  while (!existsSync(path) && child.exitCode === null) await delay(2);
}

/** Kills the command and all of its processes, if they still run. */
export function killAll({ child }: Running): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch (error) {
    assert.is((error as NodeJS.ErrnoException).code, 'ESRCH');
  }
}

/**
 * Makes the folder of a stopped node with `count` events and a snapshot of them. Returns it with the peer that sent
 * them.
 */
export async function lived(count: number, env: Record<string, string> = {}) {
  const dir = temporaryFolder();
  const node = await startProcess({ DATA_DIR: dir, ...env });
  const peer = await GameServer.register(node.url, 'p');
  for (let from = 0; from < count; from += 500) await peer.send(events('e', from, Math.min(count, from + 500)));
  await replicaLoaded(node);
  assert.is(await node.kill('SIGTERM'), 0);
  return { dir, peer };
}
