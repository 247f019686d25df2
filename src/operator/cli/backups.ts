/** Defines `ptf backup` and `ptf restore`: their options and their output. */
import { resolve, sep } from 'node:path';
import type { Command } from 'commander';
import type { BackupManifest, CopyOutcome, OnCopyStatus, RestoreReport } from '../../group/backup/backup-tasks.js';
import { limits } from '../../limits.js';
import { facts, table } from '../../operations/text-table.js';
import type { Progress } from '../../terminal.js';
import { type CommandContext, examples, type Rendered } from './command-context.js';
import { callNode, NoNodeError, OperatorError } from './node-client.js';

interface RestoreOptions {
  readonly replace?: true;
  readonly erasuresFrom?: string;
  readonly withoutErasures?: true;
}

export function addBackups(program: Command, session: CommandContext): void {
  const { backups, runtime, dir, done } = session;
  program
    .command('backup')
    .argument('<folder>', 'a new or empty folder')
    .description('copy the whole store into a folder and verify the copy; a running node keeps running')
    .addHelpText('after', examples('backup /backup/ptf-monday', 'verify --data-dir /backup/ptf-monday'))
    .action(async (folder: string) => {
      const task = { dataDir: resolve(dir()), dir: resolve(folder), version: runtime.version };
      refuseInside(task);
      done(showBackup(task.dir, await withProgress(session, (onStatus) => backups.backUp(task, onStatus))));
    });
  program
    .command('restore')
    .argument('<folder>', 'a backup')
    .option('--replace', 'move the content of the data folder aside, into a folder within it')
    .option('--erasures-from <folder>', 'old data folder, or newer backup, that records the erasures after the backup')
    .option('--without-erasures', 'also restore the players and events that were erased after the backup')
    .description(
      'restore a backup into the data folder, without players and events erased since; the node must be stopped',
    )
    .addHelpText('after', examples('restore /backup/ptf-monday', 'restore /backup/ptf-monday --replace'))
    .action(async (folder: string, { replace, erasuresFrom, withoutErasures }: RestoreOptions) => {
      if (erasuresFrom !== undefined && withoutErasures === true) {
        throw new OperatorError('wrong_usage', 'give --erasures-from or --without-erasures, not both', 2);
      }
      const task = {
        dir: resolve(folder),
        dataDir: resolve(dir()),
        replace: replace === true,
        erasuresFrom: erasuresFrom === undefined ? null : resolve(erasuresFrom),
        withoutErasures: withoutErasures === true,
      };
      refuseInside(task);
      await refuseRunning(task.dataDir);
      done(showRestore(await withProgress(session, (onStatus) => backups.restore(task, onStatus))));
    });
}

async function withProgress<T>(
  { terminal }: CommandContext,
  work: (onStatus: OnCopyStatus) => Promise<CopyOutcome<T>>,
): Promise<T> {
  let phaseNow = '';
  let progress: Progress | null = null;
  const onStatus: OnCopyStatus = ({ phase, done, total }) => {
    if (phase !== phaseNow) {
      progress?.end();
      progress = terminal.progress(phase);
      phaseNow = phase;
    }
    progress?.to(done, total);
  };
  const outcome = await work(onStatus).finally(() => progress?.end());
  if (outcome.ok) return outcome.value;
  const advice = outcome.code === 'access_denied' ? '; run as the user of the node' : '';
  throw new OperatorError(outcome.code, `${outcome.error}${advice}`);
}

/** A restore moves the data folder's content aside, a backup inside too, and could not resume if interrupted. */
function refuseInside({ dataDir, dir }: { readonly dataDir: string; readonly dir: string }): void {
  if (!`${dir}${sep}`.startsWith(`${dataDir}${sep}`)) return;
  throw new OperatorError('wrong_usage', `${dir} lies within the data folder; a backup belongs outside it`, 2);
}

async function refuseRunning(dir: string): Promise<void> {
  try {
    await callNode(dir, 'status', {});
  } catch (error) {
    if (error instanceof NoNodeError) return;
    throw error;
  }
  throw new OperatorError('folder_in_use', `a node runs on ${dir}; stop it first`);
}

function showBackup(dir: string, manifest: BackupManifest): Rendered {
  const lines = (width: number): string[] => [
    ...facts(width, [
      ['backup', dir],
      ['group', `${manifest.group_id} (${manifest.environment})`],
      ['last seq', manifest.last_seq],
      ['batches', manifest.batches],
      ['snapshots', manifest.snapshots.join(', ') || 'none'],
      ['files', Object.keys(manifest.files).join(', ') || 'none'],
      ['digest', manifest.digest],
    ]),
    'The backup was read again and is intact.',
  ];
  return { value: { dir, ...manifest }, lines };
}

function showRestore(report: RestoreReport): Rendered {
  const acts = report.acts_lost.slice(0, limits.pageMax);
  const more = report.acts_lost.length - acts.length;
  const lost = acts.map(({ at, action, actor, target }) => [at, action, actor, target]);
  const lines = (width: number): string[] => [
    ...facts(width, [
      ['data folder', report.data_dir],
      ['backup', `up to record ${report.backup_seq}`],
      ['last seq', report.last_seq],
      ['erasures from', report.erasures_from ?? 'none: peers must erase again'],
      ['erased again', report.erasures],
      ['requested again', report.requests],
      ['withdrawn again', report.withdrawals],
      ['events lost', report.erasures_from === null ? 'unknown' : report.events_lost],
      ['replaced', report.replaced ?? 'nothing'],
    ]),
    ...(lost.length === 0 ? [] : ['', 'Newer than the backup, and undone by the restore:']),
    ...(lost.length === 0 ? [] : table(width, lost, ['at', 'action', 'actor', 'target'], ['at', 'action', 'target'])),
    ...(more > 0 ? [`and ${more} more: see --json`] : []),
    report.resumed ? 'The interrupted restore is now complete.' : 'The restored store was read again and is intact.',
  ];
  return { value: report, lines };
}
