/** What a scenario of the bench is, and the option parsers that scenarios share. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';

export interface Scenario {
  readonly name: string;
  /** One line for `list` and `--help`. */
  readonly summary: string;
  /** Adds the scenario's options and its action to the subcommand that `main.ts` made for it. */
  define(command: Command): void;
}

/** What `--seed` promises: see `load/requests.ts`. */
export const seedMeans = 'the same seed, the same requests in the same order, but for which peer sends each';

/** Parses an option that must be a whole number of at least `least`. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`expected a whole number of at least ${least}.`);
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

/** Parses an option that names a file to write at the end: a run of minutes must not fail for its path then. */
export function fileToWrite(path: string): string {
  mustBeFolder(dirname(resolve(path)));
  const exists = existsSync(path);
  if (exists && statSync(path).isDirectory()) throw new InvalidArgumentError('it is a folder.');
  mustBeWritable(exists ? path : dirname(resolve(path)));
  return path;
}

/** Parses an option that names a folder to write into, which is there or can be made where it is to be. */
export function folderToWrite(path: string): string {
  const folder = resolve(path);
  const found = existsSync(folder) ? folder : dirname(folder);
  mustBeFolder(found);
  mustBeWritable(found);
  return folder;
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
