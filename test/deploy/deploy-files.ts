/** The files of `deploy/` as the tests read them. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { loadConfig } from '../../src/node/config.js';
import { variables } from '../../src/node/variables.js';

export const urlOf = (path: string) => new URL(`../../../${path}`, import.meta.url);
export const fileOf = (path: string) => readFileSync(urlOf(path), 'utf8');

/** The text without the lines that are comments. */
export const code = (text: string) => text.replaceAll(/^\s*#.*$/gm, '');

/** Variables of a node, and the C library's own. */
export const known: ReadonlySet<string> = new Set([
  'MALLOC_ARENA_MAX',
  ...Object.values(variables).flatMap(({ name }) => [name, `${name}_FILE`]),
]);

export type Assigned = Readonly<Record<string, string>>;

/** Variables below a heading of a YAML file, without what YAML merges in. */
export function assignedBelow(text: string, heading: RegExp): Assigned {
  const block = code(heading.exec(text)?.[1] ?? '');
  const lines = block.matchAll(/^ +([A-Z]\w*): "?(.*?)"?$/gm);
  return Object.fromEntries(Array.from(lines, ([, name, value]) => [name!, value!]));
}

/** Values of a compose file, with those that it has behind `:-` where the operator gives none. */
export const composed = (set: Assigned): Assigned =>
  Object.fromEntries(Object.entries(set).map(([name, value]) => [name, /:-(.*)\}/.exec(value)?.[1] ?? value]));

/** Loads the configuration of a node with these variables, and this text in each file that they name. */
export function configOf(set: Assigned, secret: string) {
  const outcome = loadConfig(set, () => secret);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  return outcome;
}

/** Holds that a file sets at least `count` variables, and none that a node lacks. */
export function setsKnown(file: string, set: Assigned, count: number): void {
  assert.ok(Object.keys(set).length >= count, file);
  assert.equal(
    Object.keys(set).filter((name) => !known.has(name)),
    [],
    file,
  );
}

/** Runs a program on files of ours, which it must accept. A skip where it is not installed. */
export function acceptedBy(program: string, ...args: readonly string[]): void {
  const { error, status, stdout, stderr } = spawnSync(program, args, { cwd: urlOf(''), encoding: 'utf8' });
  if (error !== undefined) process.stdout.write(`SKIPPED: ${program} is not at hand\n`);
  else assert.is(status, 0, stdout + stderr);
}

/** Returns what systemd finds wrong with a unit. A skip where systemd is not installed. */
export function unitFaults(path: string): string[] {
  const { error, status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  if (error !== undefined) {
    process.stdout.write('SKIPPED: systemd-analyze is not at hand\n');
    return [];
  }
  if (status !== 0 && stderr === '') return [`status ${status}`];
  // The program that a unit starts need not be installed here.
  return stderr.split('\n').filter((line) => line !== '' && !/is not executable: No such file/.test(line));
}
