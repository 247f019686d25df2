/** Defines `ptf cluster`, `ptf import-data` and `ptf export-data`, for groups that several nodes serve. */
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { hasCode } from '../../errors.js';
import { limits } from '../../limits.js';
import { countUpTo } from '../../operations/arguments.js';
import { type CommandContext, examples, type MovedData, showing } from './command-context.js';
import { OperatorError } from './node-client.js';
import { groupOf } from './operation-commands.js';

interface ScrubOptions {
  readonly search?: string;
  readonly snapshotCount?: number;
  readonly maxWals?: number;
}

export function addCluster(program: Command, session: CommandContext): void {
  const { ask, done, dir, moveData } = session;
  const cluster = groupOf(program, 'cluster');
  cluster
    .command('scrub')
    .description("remove erased data from etcd's write-ahead logs; nodes also do this every night")
    .option('--now', 'scrub now, which is also the default')
    .option(
      '--snapshot-count <number>',
      "the members' setting of this name, if it is not ETCD_SNAPSHOT_COUNT",
      countUpTo(limits.walSnapshotEntriesMax),
    )
    .option(
      '--max-wals <number>',
      "the members' setting of this name, if it is not ETCD_MAX_WALS",
      countUpTo(limits.walFilesMax),
    )
    .option('--search <dir>', "then prove it by a byte search of a member's data folder on this machine")
    .addHelpText('after', examples('cluster scrub --now', 'cluster scrub --now --search /var/lib/etcd'))
    .action(async ({ search, snapshotCount, maxWals }: ScrubOptions) => {
      const settings = {
        ...(snapshotCount === undefined ? {} : { snapshot_count: snapshotCount }),
        ...(maxWals === undefined ? {} : { max_wals: maxWals }),
      };
      const value = await showing(session, 'overwriting the logs of etcd', (progress) =>
        ask('cluster-scrub', settings, progress),
      );
      const lines = [value.detail];
      if (search !== undefined && value.marker !== null) lines.push(await searched(session, search, value.marker));
      const fault = { code: 'scrub_incomplete', error: value.detail };
      done({ value, lines: () => lines, ...(value.complete ? {} : { fault }) });
    });
  cluster
    .command('search <dir>')
    .description("prove that a member's data folder on this machine contains no bytes from before the last scrub")
    .addHelpText('after', examples('cluster search /var/lib/etcd'))
    .action(async (folder: string) => {
      const { scrubbed } = await ask('cluster-status', {});
      const marker = scrubbed?.marker ?? null;
      if (scrubbed === undefined) throw new OperatorError('dependency_unavailable', 'etcd does not answer');
      if (marker === null) throw new OperatorError('no_scrub', 'there was no scrub yet; run ptf cluster scrub --now');
      const text = await searched(session, folder, marker);
      done({ value: { folder: resolve(folder), scrubbed_at: scrubbed!.at }, lines: () => [text] });
    });
  const addMove = (direction: 'import' | 'export', text: string, resultOf: (moved: MovedData) => string): void => {
    program
      .command(`${direction}-data`)
      .description(`${text}; the node must be stopped`)
      .addHelpText('after', examples(`${direction}-data --data-dir /var/lib/ptf`))
      .action(async () => {
        const value = await moveData(direction, resolve(dir()));
        done({ value, lines: () => [resultOf(value)] });
      });
  };
  addMove(
    'import',
    'create a cluster from the data folder of a node that served alone',
    ({ cluster_id, last_seq }) =>
      `the cluster ${cluster_id} begins after record ${last_seq}; start the node on this folder first`,
  );
  addMove(
    'export',
    "turn the data folder of a cluster's node into one that a node serves alone",
    ({ last_seq }) =>
      `the folder ends with record ${last_seq} and belongs to no cluster; start its node with CLUSTER=none`,
  );
}

async function searched(session: CommandContext, folder: string, marker: string): Promise<string> {
  const path = resolve(folder);
  await showing(session, `searching ${path}`, () => awaitPurged(path, marker));
  return `no file in ${path} holds bytes from before the last scrub`;
}

/** Returns the files of the member at `folder` that contain the bytes; one that disappears meanwhile does not. */
export async function filesWith(folder: string, bytes: Buffer): Promise<string[]> {
  // Throws in a folder without access, which may well be a member's.
  if (statSync(join(folder, 'member', 'wal'), { throwIfNoEntry: false }) === undefined)
    throw new OperatorError('no_store', `${folder} is not a data folder of etcd: member/wal is missing`);
  const found: string[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await holds(path, bytes))) found.push(path);
  }
  return found;
}

async function holds(path: string, bytes: Buffer): Promise<boolean> {
  // The end of the bytes read so far, because a match may lie across two pieces.
  let before = Buffer.alloc(0);
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
      const joined = Buffer.concat([before, piece]);
      if (joined.includes(bytes)) return true;
      before = joined.subarray(Math.max(0, joined.length - bytes.length + 1));
    }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  return false;
}

/**
 * Resolves once no file of the member at `folder` contains the marker; waits while the member deletes its old files.
 * Rejects with `marker_found`, `access_denied`, or `no_store` if the folder is not a member's.
 */
export async function awaitPurged(
  folder: string,
  marker: string,
  times: Record<'walPurgeMs' | 'walSearchEveryMs', number> = limits,
): Promise<void> {
  const bytes = Buffer.from(marker, 'hex');
  const endMs = performance.now() + times.walPurgeMs;
  for (;;) {
    const found = await filesWith(folder, bytes).catch((error: unknown) => {
      if (!hasCode(error, 'EACCES')) throw error;
      throw new OperatorError('access_denied', `this user has no access to ${folder}; run as root`);
    });
    if (found.length === 0) return;
    if (performance.now() >= endMs) {
      const text = `what was erased before the last scrub may still be in ${found.join(', ')}`;
      throw new OperatorError('marker_found', text, 1, { files: found });
    }
    await delay(times.walSearchEveryMs);
  }
}
