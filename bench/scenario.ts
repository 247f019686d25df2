/** What a scenario of the bench is, and the option parsers that scenarios share. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { limits } from '../src/limits.js';

export interface Scenario {
  readonly name: string;
  /** One line for `list` and `--help`. */
  readonly summary: string;
  /** Adds the scenario's options and its action to the subcommand that `main.ts` made for it. */
  define(command: Command): void;
}

/** What `--seed` promises: see `load/requests.ts`. */
export const seedMeans = 'the same seed, the same requests in the same order, but for which peer sends each';

/** One generator on one core sends less than a tenth of it. */
const rateMax = 1_000_000;
/**
 * To one server there are some 28,000 ports to come from (ip_local_port_range(7)), and those of the window before
 * rest for a minute.
 */
const connectionsMax = 10_000;

/** Parses an option that must be a whole number of at least `least`, and at most `most`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    // Of a text of blanks it would make 0.
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
      throw new InvalidArgumentError(`expected a whole number ${bounds}.`);
    }
    return value;
  };
}

/** Parses an option that must be a number above 0. */
export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError('expected a number above 0.');
  return value;
}

/** Parses `--rate`: requests a second. */
export function requestRate(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= rateMax)) {
    throw new InvalidArgumentError(`expected a number above 0 and up to ${rateMax}.`);
  }
  return value;
}

/** Parses `--connections`. */
export const connectionCount = wholeNumber(1, connectionsMax);

/** Parses `--peers` of a node's group. */
export const peerCount = wholeNumber(1, limits.peersMaxCeiling);

/** Adds `--json` and `--html`, and refuses one file for both: the page would take the place of the result. */
export function addOutputOptions(command: Command): Command {
  return command
    .option('--json <file>', 'write the result as JSON', fileToWrite)
    .option('--html <file>', 'write a page with plots', fileToWrite)
    .hook('preAction', () => {
      const { json, html } = command.opts<{ json?: string; html?: string }>();
      if (json === undefined || html === undefined || realPathOf(json) !== realPathOf(html)) return;
      command.error(`error: --json and --html name the same file, ${html}`);
    });
}

function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(resolve(path))), basename(path));
}

/** Parses an option that names a file to write at the end: a run of minutes must not fail for its path then. */
export function fileToWrite(path: string): string {
  mustBeNamed(path);
  mustBeFolder(dirname(resolve(path)));
  const exists = existsSync(path);
  if (exists && statSync(path).isDirectory()) throw new InvalidArgumentError('it is a folder.');
  mustBeWritable(exists ? path : dirname(resolve(path)));
  return path;
}

/** Parses an option that names a folder to write into, which is there or can be made where it is to be. */
export function folderToWrite(path: string): string {
  mustBeNamed(path);
  const folder = resolve(path);
  const found = existsSync(folder) ? folder : dirname(folder);
  mustBeFolder(found);
  mustBeWritable(found);
  return folder;
}

function mustBeNamed(path: string): void {
  if (path === '') throw new InvalidArgumentError('it is empty.');
}

function mustBeFolder(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new InvalidArgumentError(`there is no folder ${path}.`);
  }
}

function mustBeWritable(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch {
    throw new InvalidArgumentError('it cannot be written.');
  }
}
