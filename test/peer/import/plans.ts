/** Plans of lists, as a dry run prints them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertDescribed, listOf } from '../../../src/peer/import/list-format.js';
import { type ImportPlan, type PlanOptions, planOf } from '../../../src/peer/import/plan.js';
import { type EventDocument, planText } from '../../../src/peer/import/plan-document.js';

/** The document that a dry run with `--json` prints. */
export interface PlanDocument {
  readonly format: string;
  readonly events: readonly EventDocument[];
  readonly refused: readonly { readonly line: number; readonly reason: string }[];
  readonly left_out?: Readonly<Record<string, number>>;
  readonly unknown_cells?: readonly string[];
}

/** The day for which EXPECTED.md says what is right. */
export const now = Date.UTC(2026, 10, 25);

/** Steam accounts A to D of the samples. */
export const [A, B, C, D] = [
  '76561202255225729',
  '76561202255225730',
  '76561202255225731',
  '76561202255225732',
] as const;

/** The folder of the sample lists of a set; undefined where the tests run without them. */
function folderOf(set: string): string | undefined {
  return [join(process.env.PTF_SHARED_DATA ?? '', '..', set), join(process.env.PTF_SHARED_DATA ?? '', set)].find(
    (folder) => existsSync(join(folder, 'EXPECTED.md')),
  );
}

export const samples = folderOf('ban-lists');
export const samples2 = folderOf('ban-lists-2');

export const sample = (name: string, folder = samples): Buffer => readFileSync(join(folder ?? '', name));

/** The origin of a list and the way in which it is read. */
export interface Given extends Partial<PlanOptions> {
  /** The name of the file. */
  readonly name?: string;
}

export function plan(list: string | Uint8Array, options: Given = {}, format = 'auto'): PlanDocument {
  return JSON.parse([...planText(importPlan(list, options, format))].join(''));
}

/** The plan itself, which also holds what the document leaves out. */
export function importPlan(
  list: string | Uint8Array,
  { name = '', ...options }: Given = {},
  format = 'auto',
): ImportPlan {
  const found = listOf(typeof list === 'string' ? Buffer.from(list) : list, {
    format,
    name: name.replace(/\.\w+$/, ''),
  });
  const defaults = { now, timeZone: 'UTC', kinds: null, severity: null, halfLifeDays: 30, banHalfLifeDays: 180 };
  const all = { ...defaults, sendFaded: false, restate: false, ...options };
  const made = planOf(found.format, found.text, all);
  assertDescribed(made);
  return made;
}

/** The events as `line id state`. */
export function brief({ events }: PlanDocument): string[] {
  return events.map(({ line, player_id, state }) => `${line} ${player_id} ${state}`);
}
