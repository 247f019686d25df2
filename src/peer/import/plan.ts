/** Computes the plan of an import: an entry for each player and ban, a refusal for each other line. Pure. */
import type { Description } from '../formats/description.js';
import { type ReadOptions, readList } from '../formats/interpret.js';
import type { ListRow, RowKind } from '../formats/list-row.js';
import type { Player } from '../formats/player-of.js';
import { BAN_HALF_LIFE_DAYS, DAY_MS, HALF_LIFE_DAYS, severityOf, WEIGHT_MIN } from './severity.js';

/** `faded`: so old that decay leaves less than 1 % of its weight. */
export type EntryState = 'send' | 'expired' | 'lifted' | 'faded';

export interface PlanEntry extends Pick<ListRow, 'bannedAt' | 'expiresAt'> {
  /** With the id in canonical form. */
  readonly player: Player;
  readonly says: RowKind;
  readonly line: number;
  /** Number of its row: the accounts of a row are those of one person, and a line may hold many rows. */
  readonly row: number;
  readonly state: EntryState;
  /** Time of the event in ms since 1970; null for the time of sending. */
  readonly at: number | null;
  readonly severity: number;
  /** Remaining share of its weight after decay, 0 to 1. */
  readonly weight: number;
  readonly note: string | undefined;
  readonly said: string | undefined;
  /** Further lines with the same ban. */
  readonly repeats: Repeats;
}

interface Repeats {
  /** The first few. */
  readonly lines: readonly number[];
  readonly count: number;
}

export interface Refused {
  readonly line: number;
  readonly reason: string;
}

/** The names of cells that the description does not know, or that the list does not have. */
export interface UnknownCells {
  readonly harmless: readonly string[];
  /** Those that look like an end, a type or a removal; an import needs to know what they mean. */
  readonly dangerous: readonly string[];
  /** Cells of the description for an end, a type or a removal that the list lacks. */
  readonly lacking: readonly string[];
}

export interface ImportPlan {
  readonly format: string;
  /** Name for event ids, common to all formats that can hold the same list. */
  readonly list: string;
  readonly entries: readonly PlanEntry[];
  readonly refused: readonly Refused[];
  /** The last refused line if nothing after it could be read, so that a ban missing here may be in the list. */
  readonly unread: Refused | null;
  /** How many rows are measures that are no bans, by the name of the measure. They are among the refused lines. */
  readonly leftOut: Readonly<Record<string, number>>;
  readonly unknown: UnknownCells;
}

/** How a list is read and reported, whether once or again and again. */
export interface ListReading extends Pick<ReadOptions, 'ignore' | 'timeZone' | 'offlineServer'> {
  /** `auto`, or a name. */
  readonly format: string;
  /** A description of the user's own, instead of a format. */
  readonly description?: Description | undefined;
  /** Severity of every event, 0 to 1; if absent, it follows from the list. */
  readonly severity?: number | null | undefined;
  /** Name of the public list, as the operator declared it; absent if the list is the peer's own. */
  readonly origin?: string | undefined;
}

export interface PlanOptions extends ReadOptions, Pick<ListReading, 'severity'> {
  /** ms since 1970. */
  readonly now: number;
  readonly halfLifeDays?: number;
  readonly banHalfLifeDays?: number;
  readonly sendFaded?: boolean;
  /** Dates permanent and still active bans, and those without a date, as of today. */
  readonly restate?: boolean;
}

export function planOf(format: Description, text: string, options: PlanOptions): ImportPlan {
  const entries: PlanEntry[] = [];
  const refused: Refused[] = [];
  const leftOut: Record<string, number> = {};
  const unknown = { harmless: [] as string[], dangerous: [] as string[], lacking: [] as string[] };
  /** Index of the first entry about each player, and of its further ones, by their bans. */
  const places = new Map<string, number>();
  const further = new Map<string, number>();
  const { now } = options;
  let unread: Refused | null = null;
  let rows = 0;
  const refuse = (line: number, reason: string, measure?: string) => {
    refused.push({ line, reason });
    if (measure !== undefined) leftOut[measure] = (leftOut[measure] ?? 0) + 1;
  };
  const take = (row: ListRow, line: number) => {
    if (row.bannedAt !== null && row.bannedAt > now + DAY_MS) {
      return refuse(line, 'the ban begins more than a day from now');
    }
    rows++;
    for (const player of row.players) add(player, row, line);
  };
  const add = (player: Player, row: ListRow, line: number) => {
    const first = places.get(player.id);
    const ban = first === undefined ? '' : `${player.id} ${row.kind} ${row.bannedAt}`;
    const isFirst =
      first === undefined || (entries[first]!.bannedAt === row.bannedAt && entries[first]!.says === row.kind);
    const at = isFirst ? first : further.get(ban);
    if (at !== undefined) {
      entries[at] = repeated(entries[at]!, row, line, options);
      return;
    }
    if (first === undefined) places.set(player.id, entries.length);
    else further.set(ban, entries.length);
    const { bannedAt, expiresAt, lifted, over, kind: says, note } = row;
    const severity = options.severity ?? severityOf(row, now);
    const listed = { line, row: rows, says, bannedAt, expiresAt, lifted, over, severity, note };
    entries.push(entryOf(player, listed, none, options));
  };
  const sink = {
    row: take,
    refuse,
    damaged(line: number, reason: string) {
      refuse(line, reason);
      unread = refused.at(-1)!;
    },
    unknown: (cell: string, isDangerous: boolean) => unknown[isDangerous ? 'dangerous' : 'harmless'].push(cell),
    lacks: (cell: string) => unknown.lacking.push(cell),
  };
  readList(format, text, sink, options);
  const dangerous = new Set(unknown.dangerous);
  unknown.harmless = unknown.harmless.filter((cell) => !dangerous.has(cell));
  return { format: format.name, list: format.sameAs ?? format.name, entries, refused, unread, leftOut, unknown };
}

/** Merges a ban with a second row of it: it counts if one of the rows does, and ends with the later end. */
function repeated(entry: PlanEntry, row: ListRow, line: number, options: PlanOptions): PlanEntry {
  const before = { ...entry, lifted: entry.state === 'lifted', over: entry.state === 'expired' };
  const after = { ...row, severity: options.severity ?? severityOf(row, options.now) };
  const standing = [before, after].filter(({ lifted }) => !lifted);
  const rows = standing.length === 0 ? [before, after] : standing;
  const isEndless = rows.some(({ expiresAt }) => expiresAt === null);
  const expiresAt = isEndless ? null : Math.max(...rows.map((one) => one.expiresAt!));
  const severity = Math.max(...rows.map((one) => one.severity));
  const over = rows.every((one) => one.over);
  const merged = { ...before, note: entry.said, expiresAt, severity, lifted: standing.length === 0, over };
  const { lines, count } = entry.repeats;
  const repeats = { lines: count < repeatsNamed ? [...lines, line] : lines, count: count + 1 };
  return entryOf(entry.player, merged, repeats, options);
}

type Ban = Pick<PlanEntry, 'line' | 'row' | 'says' | 'severity'> &
  Pick<ListRow, 'bannedAt' | 'expiresAt' | 'lifted' | 'over' | 'note'>;

function entryOf(player: Player, ban: Ban, repeats: Repeats, options: PlanOptions): PlanEntry {
  const { now, sendFaded } = options;
  const { line, row, says, severity, bannedAt, expiresAt, lifted, note: said } = ban;
  const isOver = ban.over || (expiresAt !== null && expiresAt <= now);
  const today = now - (now % DAY_MS);
  const isRestated = options.restate === true && !isOver && !lifted && (bannedAt === null || bannedAt < today);
  const at = isRestated ? today : bannedAt;
  const weight = weightOf(at, says, options);
  const isFaded = weight < WEIGHT_MIN && !sendFaded;
  const state = lifted ? 'lifted' : isOver ? 'expired' : isFaded ? 'faded' : 'send';
  const note = noteOf(said, isRestated, weight, repeats);
  return { player, says, line, row, bannedAt, expiresAt, state, at, severity, weight, note, said, repeats };
}

function noteOf(said: string | undefined, isRestated: boolean, weight: number, repeats: Repeats): string | undefined {
  const notes = [
    said,
    isRestated ? 're-stated as of today' : undefined,
    weight < 1 ? weightNotes[weight < WEIGHT_MIN ? 0 : Math.round(weight * 100)] : undefined,
    repeats.count > 0 ? repeatNote(repeats) : undefined,
  ].filter((note) => note !== undefined);
  // Nearly every entry of a long list shares one text.
  return notes.length < 2 ? notes[0] : notes.join('; ');
}

function weightOf(at: number | null, says: RowKind, options: PlanOptions): number {
  const { now, halfLifeDays = HALF_LIFE_DAYS, banHalfLifeDays = BAN_HALF_LIFE_DAYS } = options;
  const halfLife = says === 'ban' ? banHalfLifeDays : halfLifeDays;
  if (at === null || halfLife === 0) return 1;
  const age = Math.max(0, now - at) / DAY_MS;
  return Math.round(2 ** (-age / halfLife) * 10_000) / 10_000;
}

/** One shared text for each percentage, since a list has many entries of the same age. */
const weightNotes = Array.from({ length: 101 }, (_, percent) =>
  percent === 0 ? 'decay leaves less than 1 % of its weight' : `decay leaves ${percent} % of its weight`,
);

const none: Repeats = { lines: [], count: 0 };

const repeatsNamed = 5;

function repeatNote({ lines, count }: Repeats): string {
  const more = count - lines.length;
  return `repeated in line ${lines.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
