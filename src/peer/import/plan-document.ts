/** Formats the plan of an import: as one JSON document, which is a stable interface, and as lines for people. */
import { isoOf } from '../formats/reading/time-cells.js';
import type { EntryState, ImportPlan, PlanEntry } from './plan.js';

export type EventDocument = ReturnType<typeof eventDocument>;

/** The times are in RFC 3339; null as in the entry. */
function eventDocument({ player, line, bannedAt, expiresAt, state, severity, note }: PlanEntry) {
  return {
    player_id: player.id,
    kind: player.kind,
    line,
    banned_at: isoOf(bannedAt),
    expires_at: isoOf(expiresAt),
    state,
    severity,
    ...(note === undefined ? {} : { note }),
  };
}

/** Yields the document of `--dry-run --json` in chunks: that of a long list has many megabytes. */
export function* planText({ format, entries, refused, leftOut, unknown }: ImportPlan): Generator<string> {
  yield `{"format":${JSON.stringify(format)},"events":[`;
  for (const [at, entry] of entries.entries()) yield `${at > 0 ? ',' : ''}\n${JSON.stringify(eventDocument(entry))}`;
  yield '],"refused":[';
  for (const [at, line] of refused.entries()) yield `${at > 0 ? ',' : ''}\n${JSON.stringify(line)}`;
  yield ']';
  if (Object.keys(leftOut).length > 0) yield `,"left_out":${JSON.stringify(leftOut)}`;
  if (unknown.harmless.length > 0) yield `,"unknown_cells":${JSON.stringify(unknown.harmless)}`;
  yield '}\n';
}

export function* planLines(file: string, { entries, refused }: ImportPlan): Generator<string> {
  for (const { player, line, bannedAt, expiresAt, state, severity, weight, note } of entries) {
    const since = bannedAt === null ? 'since an unknown time' : `since ${isoOf(bannedAt)}`;
    const until = expiresAt === null ? '' : ` until ${isoOf(expiresAt)}`;
    const counts = state === 'send' ? `, severity ${severity.toFixed(2)}, weight ${weight.toFixed(2)}` : '';
    yield `${file}:${line}: ${state} ${player.kind} ${player.id} ${since}${until}${counts}${note === undefined ? '' : ` (${note})`}\n`;
  }
  for (const { line, reason } of refused) yield `${file}:${line}: refused: ${reason}\n`;
}

export type Counts = Record<EntryState | 'refused', number>;

export function countsOf({ entries, refused }: ImportPlan): Counts {
  const counts = { send: 0, expired: 0, lifted: 0, faded: 0, refused: refused.length };
  for (const { state } of entries) counts[state]++;
  return counts;
}
