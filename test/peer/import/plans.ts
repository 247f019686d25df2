/** Plans of lists, as a dry run prints them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listOf } from '../../../src/peer/import/list-format.js';
import { type ImportPlan, type PlanOptions, planOf } from '../../../src/peer/import/plan.js';
import { type EventDocument, planText } from '../../../src/peer/import/plan-document.js';

/** The document that a dry run with `--json` prints. */
export interface PlanDocument {
  readonly format: string;
  readonly events: readonly EventDocument[];
  readonly refused: readonly { readonly line: number; readonly reason: string }[];
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

/** The folder of the sample lists; undefined where the tests run without them. */
export const samples = [
  join(process.env.PTF_SHARED_DATA ?? '', '..', 'ban-lists'),
  join(process.env.PTF_SHARED_DATA ?? '', 'ban-lists'),
].find((folder) => existsSync(join(folder, 'EXPECTED.md')));

export function sample(name: string): Buffer {
  return readFileSync(join(samples ?? '', name));
}

export function plan(list: string | Uint8Array, options: Partial<PlanOptions> = {}, format = 'auto'): PlanDocument {
  return JSON.parse([...planText(importPlan(list, options, format))].join(''));
}

/** The plan itself, which also holds what the document leaves out. */
export function importPlan(list: string | Uint8Array, options: Partial<PlanOptions> = {}, format = 'auto'): ImportPlan {
  const found = listOf(typeof list === 'string' ? Buffer.from(list) : list, format);
  const defaults = { now, timeZone: 'UTC', kinds: null, severity: null, halfLifeDays: 30, banHalfLifeDays: 180 };
  const all = { ...defaults, sendFaded: false, restate: false, ...options };
  return planOf(found.format, found.text, all);
}

/** The events as `line id state`. */
export function brief({ events }: PlanDocument): string[] {
  return events.map(({ line, player_id, state }) => `${line} ${player_id} ${state}`);
}

export function eventAbout({ events }: PlanDocument, playerId: string): EventDocument {
  const found = events.find(({ player_id }) => player_id === playerId);
  if (found === undefined) throw new Error('no event is about the player');
  return found;
}
