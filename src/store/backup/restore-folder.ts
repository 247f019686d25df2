/**
 * Puts a restored store into its data folder. It is built aside in `.restoring`, with a plan written once it is whole;
 * then what the folder held steps aside and the new store takes its place, name by name. Cut short anywhere, it is
 * begun anew where there is no plan, and carried on where there is one. While `.restoring` is there, no node starts.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RestoreReport } from '../../group/backup/backup-tasks.js';
import { DamagedError } from '../../group/ports/storage-errors.js';
import { replaceFile, syncPath } from '../files/durable-file.js';
import { refuseLiving } from '../ownership/owner.js';
import { closeAndSync, isBackup, makePrivate, NotEmptyError, namesIn } from './backup-folder.js';

const STAGING = '.restoring';
const PLAN = 'plan.json';
const STORE = 'store';
/**
 * The report of a restore: whoever ran it may be gone before it could be shown, and a second run would not know what
 * the first undid.
 */
const REPORT = 'restored.json';
/** The staging folder on its way out. */
const LEAVING = '.tmp-restored';
/** What a restore makes besides what a data folder holds. */
const OWN = /^(?:\.restoring|\.tmp-restored|replaced-.*)$/;

interface Plan {
  readonly report: RestoreReport;
  /** Names in the data folder: what is put there, and the folder for what was there. */
  readonly names: readonly string[];
  readonly aside: string | null;
}

/** Why no node may run on a folder; undefined where one may. */
export function refusalOfTarget(dir: string): string | undefined {
  return isBackup(dir) ? `${dir} is a backup; bring it back with ptf restore` : halfRestored(dir);
}

/** That a restore was begun here and did not end; undefined where that is not so. */
export function halfRestored(dataDir: string): string | undefined {
  const staging = join(dataDir, STAGING);
  if (!existsSync(staging)) return undefined;
  const isPlanned = existsSync(join(staging, PLAN));
  const how = isPlanned ? 'again to carry it on' : `again, or remove ${staging}: nothing else was changed yet`;
  return `a restore into ${dataDir} was begun and did not end; run ptf restore ${how}`;
}

/** What a restore that was cut short had built, and only has to put in place; null where there is none. */
export async function finishRestore(dataDir: string): Promise<RestoreReport | null> {
  const staging = join(dataDir, STAGING);
  if (!existsSync(join(staging, PLAN))) return null;
  const plan = JSON.parse(readFileSync(join(staging, PLAN), 'utf8')) as Plan;
  await putInPlace(dataDir, plan);
  return { ...plan.report, resumed: true };
}

export class Restoring {
  /** The folder to build the store in. */
  readonly store: string;
  readonly #dataDir: string;

  private constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.store = join(dataDir, STAGING, STORE);
  }

  /**
   * Begins a restore into `dataDir`. Rejects with `NotEmptyError` where it holds anything and `replace` is not set, and
   * with `FolderOwnedError` where a node, or another restore, runs on it.
   */
  static async begin(dataDir: string, replace: boolean): Promise<Restoring> {
    makePrivate(dataDir);
    const staging = join(dataDir, STAGING);
    const restoring = new Restoring(dataDir);
    // Another restore owns the log that it builds.
    await refuseOwned(restoring.store);
    if (!replace && contentOf(dataDir).length > 0) {
      throw new NotEmptyError(`${dataDir} is not empty; --replace moves what it holds aside`);
    }
    rmSync(staging, { recursive: true, force: true });
    // Before the owner is looked up: a node that starts meanwhile sees it once it has claimed the folder.
    mkdirSync(restoring.store, { recursive: true, mode: 0o700 });
    try {
      await refuseOwned(dataDir);
    } catch (error) {
      restoring.abandon();
      throw error;
    }
    return restoring;
  }

  /** The store is whole: from here on it is only put in place. `aside`: where what the folder holds goes. */
  async finish(report: RestoreReport, aside: string | null): Promise<void> {
    writeFileSync(join(this.store, REPORT), `${JSON.stringify(report, null, 2)}\n`);
    await closeAndSync(this.store);
    const plan: Plan = { report, names: readdirSync(this.store), aside };
    await replaceFile(join(this.#dataDir, STAGING, PLAN), `${JSON.stringify(plan)}\n`, { sync: true });
    await syncPath(this.#dataDir);
    await putInPlace(this.#dataDir, plan);
  }

  /** Removes what was built; what is planned already stays, to be carried on. */
  abandon(): void {
    if (existsSync(join(this.#dataDir, STAGING, PLAN))) return;
    rmSync(join(this.#dataDir, STAGING), { recursive: true, force: true });
  }
}

/** What `dataDir` holds but for what restores made. */
export function contentOf(dataDir: string): string[] {
  return namesIn(dataDir).filter((name) => !OWN.test(name));
}

async function refuseOwned(dir: string): Promise<void> {
  try {
    // A node owns its folder before there is a log.
    if (existsSync(dir)) await refuseLiving(dir);
  } catch (error) {
    // Whoever wrote a file that is cut is gone, or is about to go.
    if (!(error instanceof DamagedError)) throw error;
  }
}

/** Whether the folder holds what is left of a store, whole or not. */
export function heldStore(dataDir: string): boolean {
  return contentOf(dataDir).some((name) => name === 'log' || name === 'head.json');
}

/** Each step may have been done already. */
async function putInPlace(dataDir: string, { names, aside }: Plan): Promise<void> {
  const staging = join(dataDir, STAGING);
  const store = join(staging, STORE);
  // Nothing new is in place before all of the old is aside, so a name that is still built aside is an old one here.
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
  // In one step: from here on the folder is a data folder like any other.
  rmSync(join(dataDir, LEAVING), { recursive: true, force: true });
  renameSync(staging, join(dataDir, LEAVING));
  await syncPath(dataDir);
  rmSync(join(dataDir, LEAVING), { recursive: true, force: true });
}
