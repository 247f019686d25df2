/**
 * Moves a restored store into its data folder. The store is built in `.restoring`, with a plan that is written once the
 * store is complete. Then the previous contents are moved aside and the new store takes their place, name by name. An
 * interrupted restore starts over without a plan, and continues with one. No node starts while `.restoring` exists.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RestoreReport } from '../../group/backup/backup-tasks.js';
import { DamagedError } from '../../group/ports/storage.js';
import { replaceFile, syncPath } from '../files/small-file.js';
import { refuseLiving } from '../ownership/owner.js';
import { closeAndSync, foreignProblem, isBackup, makePrivate, NotEmptyError, namesIn } from './backup-folder.js';

const STAGING = '.restoring';
const PLAN = 'plan.json';
const STORE = 'store';
/** In a file: a restore may end before it prints the report, and a second run could not know what the first undid. */
const REPORT = 'restored.json';
const LEAVING = '.tmp-restored';
/** Names that a restore creates besides those of a data folder. */
const OWN = /^(?:\.restoring|\.tmp-restored|replaced-.*)$/;

interface Plan {
  readonly report: RestoreReport;
  /** Names to put into the data folder, and the folder that receives the previous contents. */
  readonly names: readonly string[];
  readonly aside: string | null;
}

/** Returns why no node may run on a folder; undefined if one may. */
export function refusalOfTarget(dir: string): string | undefined {
  return isBackup(dir) ? `${dir} is a backup, not a data folder; restore it with ptf restore` : halfRestored(dir);
}

export function halfRestored(dataDir: string): string | undefined {
  const staging = join(dataDir, STAGING);
  if (!existsSync(staging)) return undefined;
  const isPlanned = existsSync(join(staging, PLAN));
  const how = isPlanned ? 'again to continue it' : `again, or remove ${staging}: nothing else was changed yet`;
  return `a restore into ${dataDir} was interrupted; run ptf restore ${how}`;
}

/** Completes an interrupted restore. Resolves to its report; null if there is no complete store. */
export async function finishRestore(dataDir: string): Promise<RestoreReport | null> {
  const staging = join(dataDir, STAGING);
  if (!existsSync(join(staging, PLAN))) return null;
  const plan = JSON.parse(readFileSync(join(staging, PLAN), 'utf8')) as Plan;
  await putInPlace(dataDir, plan);
  return { ...plan.report, resumed: true };
}

export class Restoring {
  readonly store: string;

  private constructor(private readonly dataDir: string) {
    this.store = join(dataDir, STAGING, STORE);
  }

  /**
   * Rejects with `NotEmptyError` without `replace`, or for a backup or a folder that no node made, and with
   * `FolderOwnedError` if a node or a restore runs there.
   */
  static async begin(dataDir: string, replace: boolean): Promise<Restoring> {
    const foreign = isBackup(dataDir) ? 'it is a backup; name another --data-dir' : foreignProblem(dataDir);
    if (foreign !== undefined) throw new NotEmptyError(`${dataDir} is not empty: ${foreign}`);
    makePrivate(dataDir);
    const staging = join(dataDir, STAGING);
    const restoring = new Restoring(dataDir);
    // Another restore owns the log that it builds.
    await refuseOwned(restoring.store);
    if (!replace && contentOf(dataDir).length > 0) {
      throw new NotEmptyError(`${dataDir} is not empty; --replace moves its contents aside`);
    }
    rmSync(staging, { recursive: true, force: true });
    // Created before the owner is looked up: a node that starts meanwhile sees it after it has acquired the folder.
    mkdirSync(restoring.store, { recursive: true, mode: 0o700 });
    try {
      await refuseOwned(dataDir);
    } catch (error) {
      restoring.abandon();
      throw error;
    }
    return restoring;
  }

  async finish(report: RestoreReport, aside: string | null): Promise<void> {
    writeFileSync(join(this.store, REPORT), `${JSON.stringify(report, null, 2)}\n`);
    await closeAndSync(this.store);
    const plan: Plan = { report, names: readdirSync(this.store), aside };
    await replaceFile(join(this.dataDir, STAGING, PLAN), `${JSON.stringify(plan)}\n`, { sync: true });
    await syncPath(this.dataDir);
    await putInPlace(this.dataDir, plan);
  }

  /** Removes the staging folder, unless a plan exists, so that a later run can continue it. */
  abandon(): void {
    if (existsSync(join(this.dataDir, STAGING, PLAN))) return;
    rmSync(join(this.dataDir, STAGING), { recursive: true, force: true });
  }
}

export function contentOf(dataDir: string): string[] {
  return namesIn(dataDir).filter((name) => !OWN.test(name));
}

async function refuseOwned(dir: string): Promise<void> {
  try {
    // A node owns its folder before the log exists.
    if (existsSync(dir)) await refuseLiving(dir);
  } catch (error) {
    // The writer of a truncated file has ended, or is about to end.
    if (!(error instanceof DamagedError)) throw error;
  }
}

/** Returns whether the folder has remains of a store, complete or not. */
export function heldStore(dataDir: string): boolean {
  return contentOf(dataDir).some((name) => name === 'log' || name === 'head.json');
}

/** Carries out the plan. Each step may have been done before. */
async function putInPlace(dataDir: string, { names, aside }: Plan): Promise<void> {
  const staging = join(dataDir, STAGING);
  const store = join(staging, STORE);
  // All old names leave before the first new one comes, so a name that is still in the staging folder is an old one.
  const isNew = (name: string) => names.includes(name) && !existsSync(join(store, name));
  const old = contentOf(dataDir).filter((name) => !isNew(name));
  if (aside !== null && old.length > 0) {
    makePrivate(join(dataDir, aside));
    for (const name of old) renameSync(join(dataDir, name), join(dataDir, aside, name));
    await syncPath(join(dataDir, aside));
    await syncPath(dataDir);
  }
  for (const name of names) if (existsSync(join(store, name))) renameSync(join(store, name), join(dataDir, name));
  await syncPath(dataDir);
  // Removes the staging folder by one rename. From then on the folder is an ordinary data folder.
  rmSync(join(dataDir, LEAVING), { recursive: true, force: true });
  renameSync(staging, join(dataDir, LEAVING));
  await syncPath(dataDir);
  rmSync(join(dataDir, LEAVING), { recursive: true, force: true });
}
