/** Defines a measurement of the bench, and the option parsers that measurements share. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { limits } from '../src/limits.js';

export interface Measurement {
  readonly name: string;
  /** One line for `list` and `--help`. */
  readonly summary: string;
  /** Adds the measurement's options and action to the subcommand that `main.ts` made. */
  define(command: Command): void;
}

/** The meaning of `--seed`, see `load/requests.ts`. */
export const seedMeans = 'the same seed, the same requests in the same order, but for which peer sends each';

/** One generator on one core sends less than a tenth of this rate. */
const rateMax = 1_000_000;
/**
 * Connections to one server have about 28,000 local ports (ip_local_port_range(7)), and the ports of the last window
 * are unavailable for a minute.
 */
const connectionsMax = 10_000;

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    // `Number` would convert blanks to 0.
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
      throw new InvalidArgumentError(`expected a whole number ${bounds}.`);
    }
    return value;
  };
}

export function positive(most = Number.POSITIVE_INFINITY): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (value > 0 && value <= most && Number.isFinite(value)) return value;
    throw new InvalidArgumentError(`expected a number above 0${Number.isFinite(most) ? ` and up to ${most}` : ''}.`);
  };
}

export const requestRate = positive(rateMax);

export const connectionCount = wholeNumber(1, connectionsMax);

export const peerCount = wholeNumber(1, limits.peersMaxCeiling);

/** Adds `--json` and `--html`. Refuses the same file for both, because the page would overwrite the result. */
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

/**
 * Parses an option that names an output file. Checks the path now, so that a run of minutes does not fail at its end.
 */
export function fileToWrite(path: string): string {
  mustBeWritable(path, dirname(resolve(path)));
  if (isFolder(path)) throw new InvalidArgumentError('expected a file, found a folder.');
  return path;
}

/** Parses an option that names an output folder, which exists or can be created. */
export function folderToWrite(path: string): string {
  const folder = resolve(path);
  mustBeWritable(path, existsSync(folder) ? folder : dirname(folder));
  return folder;
}

function mustBeWritable(path: string, folder: string): void {
  if (path === '') throw new InvalidArgumentError('expected a path, got an empty text.');
  if (!isFolder(folder)) throw new InvalidArgumentError(`the folder ${folder} does not exist.`);
  try {
    accessSync(existsSync(path) ? path : folder, constants.W_OK);
  } catch {
    throw new InvalidArgumentError('the path is not writable.');
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
