/**
 * Which rows of the contract the HTTP tests have seen. Each answer leaves one line in a file per process, in the folder
 * that CONTRACT_SEEN_DIR names; `missingRows` compares the lines with the table, so that a row nobody tests is found.
 */
import { appendFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { everyRoute, type Route, routes } from '../../src/contract/routes.js';
import { type ErrorCode, errors } from '../../src/errors.js';

const folder = process.env.CONTRACT_SEEN_DIR;
const written = new Set<string>();

function rowOf(route: string, status: number, code: string | undefined): string {
  return code === undefined ? `${route} ${status}` : `${route} ${status} ${code}`;
}

const nameOf = (route: Route): string => `${route.method} ${route.path}`;

/** Every row of the table: what each route can be answered with, and under `*` what any request can meet. */
export function contractRows(): string[] {
  const rows = Object.values<Route>(routes).flatMap((route) => [
    ...Object.keys(route.success).map((status) => rowOf(nameOf(route), Number(status), undefined)),
    ...(route.cache === 'public' ? [rowOf(nameOf(route), 304, undefined)] : []),
    ...route.codes.map((code) => rowOf(nameOf(route), errors[code].status, code)),
  ]);
  return [...rows, rowOf('*', 204, undefined), ...everyRoute.map((code) => rowOf('*', errors[code].status, code))];
}

/** Notes one answer; `route` undefined where none was matched. */
export function noteSeen(route: Route | undefined, status: number, code: ErrorCode | undefined): void {
  if (folder === undefined || folder === '') return;
  for (const name of route === undefined ? ['*'] : [nameOf(route), '*']) {
    const row = rowOf(name, status, code);
    if (written.has(row)) continue;
    written.add(row);
    appendFileSync(join(folder, `${process.pid}.seen`), `${row}\n`);
  }
}

/** Rows of the table that no file in `dir` names. */
export async function missingRows(dir: string): Promise<string[]> {
  const files = (await readdir(dir)).filter((name) => name.endsWith('.seen'));
  const texts = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')));
  const seen = new Set(texts.flatMap((text) => text.split('\n')));
  return contractRows().filter((row) => !seen.has(row));
}
