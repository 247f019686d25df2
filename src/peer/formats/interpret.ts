/** Turns the records of a list into rows by a description: what each cell means, and what is no ban of a person. */
import {
  addressBan,
  type CellTest,
  type Description,
  type IdCell,
  isDangerous,
  knownCells,
  lengthUnits,
} from './description.js';
import type { ReadOptions, RowId, RowSink } from './list-row.js';
import { arrayOf, type Json, objectOf, textOf } from './reading/json-elements.js';
import { endOf, formOf, hasZone, timeOf } from './reading/time-cells.js';
import { isWholeCell } from './reading/whole-cells.js';
import { type Cell, readShape } from './shapes.js';

const no = /^(?:|0|false|f|no|n|null|none|#expired#?|0000-00-00.*)$/i;
const absent = /^(?:NULL|\\N)$/i;

/** Floodgate derives UUIDs from the numbers of Xbox accounts. */
const floodgateUuid = /^0{8}-?0{4}-?0{4}-?/;

/** Reads a list. Rows and refused lines come in the order of the file; no text makes it throw. */
export function readList(description: Description, text: string, sink: RowSink, options: ReadOptions): void {
  const isKnown = knownCells(description);
  const ignored = new Set(options.ignore);
  const seen = new Set<string>();
  // Unknown cells that are harmless by their names. A structure may hold an end or a type all the same.
  const open = new Set<string>();
  const isDraft = description.sameAs === 'csv';
  const { ids, start, end, length } = description;
  const exact = new Set([...ids, start, end, length].flatMap((one) => (one === undefined ? [] : [one.cell])));
  const harmless = new Set(description.known);
  const isRead = (name: string) => isKnown(name) && !harmless.has(name);
  readShape(description, text, {
    isRead,
    cells: (names) => {
      for (const name of names) {
        if (seen.has(name)) continue;
        seen.add(name);
        if (name === '' || isKnown(name) || ignored.has(name)) continue;
        sink.unknown(name, isDangerous(name));
        if (isDraft && !isDangerous(name)) open.add(name);
      }
    },
    record: (cell, line) => {
      for (const name of open) {
        if (arrayOf(cell(name)).length === 0 && objectOf(cell(name)) === null) continue;
        open.delete(name);
        sink.unknown(name, true);
      }
      readRecord(description, cell, line, sink, options);
    },
    refuse: (line, reason, measure) => sink.refuse(line, reason, measure),
    damaged: (line, reason) => sink.damaged(line, reason),
    isWhole: (name, cell) => !isRead(name) || (cell !== '' && (!exact.has(name) || isWholeCell(cell))),
  });
  if (seen.size === 0) return;
  for (const group of description.needs ?? []) {
    const names = group.split('|');
    if (!names.some((name) => seen.has(name) || ignored.has(name))) sink.lacks(names[0]!);
  }
}

/** The text of a cell. NULL and structures are empty. */
function textIn(value: Json | undefined): string {
  const text = typeof value === 'boolean' ? String(value) : (textOf(value)?.trim() ?? '');
  return absent.test(text) ? '' : text;
}

function holds({ cell: name, is, not }: CellTest, cell: Cell): boolean {
  const text = textIn(cell(name)).toLowerCase();
  if (is !== undefined) return is.includes(text);
  return not === undefined ? !no.test(text) : !not.includes(text);
}

function isUnclear({ cell: name, is, not }: CellTest, cell: Cell): boolean {
  const text = textIn(cell(name)).toLowerCase();
  return is !== undefined && not !== undefined && !is.includes(text) && !not.includes(text);
}

function readRecord(
  description: Description,
  cell: Cell,
  line: number,
  sink: RowSink,
  { timeZone }: ReadOptions,
): void {
  const { start, end, length, permanent, lifted = [], over = [], refuse } = description;
  const kind = kindOf(description, cell);
  if (typeof kind !== 'string') {
    if (kind === null) sink.refuse(line, `${description.type!.cell} has a value that the description does not know`);
    else if (kind.measure === addressBan) sink.refuse(line, 'an IP ban names no player');
    else sink.refuse(line, leftOut(kind.measure), kind.measure);
    return;
  }
  if (refuse !== undefined && textIn(cell(refuse.cell)).toLowerCase().startsWith(refuse.begins)) {
    sink.refuse(line, refuse.reason);
    return;
  }
  const unclear = [...lifted, ...over].find((test) => isUnclear(test, cell));
  const ids = description.ids.flatMap((one) => idsIn(one, cell));
  const began = start === undefined ? '' : textIn(cell(start.cell));
  const ends = end === undefined ? '' : textIn(cell(end.cell));
  const bannedAt = began === '' ? null : timeOf(began, start!.unit, timeZone);
  const span = length === undefined ? undefined : spanOf(textIn(cell(length.cell)), length.unit);
  const isEndless = span === 'never' || (permanent !== undefined && holds(permanent, cell));
  const until = isEndless || end === undefined ? 'never' : endOf(ends, end.unit, timeZone);
  if (ids.length === 0) sink.refuse(line, 'the row names no player');
  else if (unclear !== undefined) sink.refuse(line, `${unclear.cell} says neither yes nor no`);
  else if (bannedAt === undefined) sink.refuse(line, `${start!.cell} is not ${formOf(start!.unit)}`);
  else if (span === null) sink.refuse(line, `${length!.cell} is not a length in ${length!.unit}`);
  else if (until === undefined) sink.refuse(line, `${end!.cell} is neither permanent nor ${formOf(end!.unit)}`);
  else if (permanent !== undefined && !isEndless && until === 'never' && span === undefined) {
    sink.refuse(line, `${permanent.cell} says that the ban ends, but no end is stated`);
  } else {
    const isTimed = typeof span === 'number' && until === 'never';
    const at = until !== 'never' ? until.at : isTimed && bannedAt !== null ? bannedAt + span : null;
    const isOver = over.some((test) => holds(test, cell));
    const hasEnd = at !== null || isTimed;
    const hasDates = start !== undefined || end !== undefined || length !== undefined;
    const note = hasDates ? noteOf([began, ends], isTimed && bannedAt === null, timeZone) : 'the list states no dates';
    sink.row({
      ids,
      bannedAt,
      expiresAt: at,
      ...(isTimed && bannedAt === null ? { lengthMs: span } : {}),
      lifted: lifted.some((test) => holds(test, cell)) || (isOver && !hasEnd),
      ...(isOver ? { over: true as const } : {}),
      kind,
      line,
      ...(note === undefined ? {} : { note }),
    });
  }
}

export function leftOut(measure: string): string {
  return `a ${measure} is no ban, and is left out`;
}

/** The kind of the record; another measure; or null for a value that the description does not know. */
function kindOf({ type }: Description, cell: Cell) {
  if (type === undefined) return 'ban' as const;
  const value = cell(type.cell);
  const texts = Array.isArray(value) ? value.map(textIn) : [textIn(value)];
  const named = texts.map((text) => text.toLowerCase());
  const found = Object.keys(type.kinds).find((name) => named.includes(name));
  if (found !== undefined) return type.kinds[found]!;
  const other = named.find((name) => type.others !== undefined && Object.hasOwn(type.others, name));
  return other === undefined ? null : { measure: type.others![other]! };
}

function idsIn({ cell: name, kind, kindCell, item, kinds }: IdCell, cell: Cell): RowId[] {
  const value = cell(name);
  const entries = arrayOf(value);
  if (entries.length === 0) return idOf(textIn(value), kindCell === undefined ? kind : textIn(cell(kindCell)), kinds);
  return entries.flatMap((entry) => {
    const object = objectOf(entry);
    if (object === null) return idOf(textIn(entry), kind, undefined);
    if (item === undefined) return [];
    return idOf(textIn(object[item]), kindCell === undefined ? kind : textIn(object[kindCell]), kinds);
  });
}

function idOf(text: string, named: string | undefined, kinds: IdCell['kinds']): RowId[] {
  const kind = kinds === undefined ? named : kinds[named?.toLowerCase() ?? ''];
  if (text === '' || (kinds !== undefined && kind === undefined)) return [];
  if (kind === undefined || kind === '') return [{ text }];
  return [{ text, kind: kind === 'minecraft' && floodgateUuid.test(text) ? 'xbox' : kind }];
}

/** A length in ms, `never`, undefined if none is stated, or null if it cannot be read. */
function spanOf(text: string, unit: keyof typeof lengthUnits): number | 'never' | undefined | null {
  if (text === '') return undefined;
  if (/^(?:-1|0+(?:\.0+)?|permanent|perm|forever|never)$/i.test(text)) return 'never';
  return /^\d{1,12}(?:\.\d+)?$/.test(text) ? Number(text) * lengthUnits[unit] : null;
}

function noteOf(times: readonly string[], hasNoStart: boolean, timeZone: string): string | undefined {
  if (hasNoStart) return 'the ban has a length, from a start that the list does not state';
  const isLocal = times.some((text) => /^\d{4}-/.test(text) && !hasZone(text));
  return isLocal ? `the time names no zone and was read as ${timeZone}` : undefined;
}
