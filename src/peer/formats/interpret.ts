/** Turns the records of a list into rows by a description: what each cell means, and what is no ban of a person. */
import type { CellTest, Description, IdCell } from './description.js';
import { addressBan, isDangerous, knownCells, lengthUnits } from './description.js';
import type { ListRow, RowRefusal, RowSink } from './list-row.js';
import { names } from './names.js';
import { type Hints, playersOf, type RowId } from './player-of.js';
import { arrayOf, type Cell, isWholeCell, type Json, objectOf } from './reading/records.js';
import { endOf, formOf, hasZone, timeOf } from './reading/time-cells.js';
import type { KnownRow, RowMemory } from './row-memory.js';
import { readShape } from './shapes.js';

export interface ReadOptions extends Hints {
  /** IANA name of the zone for times without a zone. */
  readonly timeZone: string;
  /** Cells to ignore although their name looks like an end, a type or a removal. */
  readonly ignore?: readonly string[] | undefined;
  /** Holds the results of the former read's rows, if the list is read repeatedly with the same options. */
  readonly memory?: RowMemory | undefined;
}

/** The bit of a dump is `b'0'`, the byte itself, or `00` of `0x00`. */
const no =
  /^(?:|0|00|b'0'|\0|false|f|no|n|null|none|nil|undefined|n\/a|-|never|#expired#?|(?:0000-00|0001-01|1970-01)-0.*)$/i;
const absent = /^(?:NULL|\\N)$/i;

const [dates, telling, passing] = [names.dates, names.telling, names.passing].map((text) => new RegExp(text, 'i'));

/** True for a value by which a cell may be an end or a type: a measure, or a date that is not one in passing. */
function tells(name: string, value: Json | undefined): boolean {
  const text = textIn(value);
  if (arrayOf(value).length > 0 || objectOf(value) !== null || telling!.test(text)) return true;
  const isTime = /^1\d{9}(?:\d{3})?$|\D/.test(text) && timeOf(text, 'any', 'UTC') !== undefined;
  return (isTime || dates!.test(text)) && !passing!.test(name);
}

/** The shapes whose readers pass the text of a row. */
const remembered: readonly Description['shape'][] = ['csv', 'json', 'json-lines', 'lines'];

/** Floodgate derives UUIDs from the numbers of Xbox accounts. */
const floodgateUuid = /^0{8}-?0{4}-?0{4}-?/;

/** Reads a list. Rows and refused lines come in the order of the file; no text makes it throw. */
export function readList(description: Description, text: string, sink: RowSink, options: ReadOptions): void {
  const { ids, start, end, length, needs = [], known, path, shape } = description;
  // Each read must name all of its cells if no row is remembered.
  const memory = remembered.includes(shape) ? options.memory : undefined;
  const isKnown = knownCells(description);
  const ignored = new Set(options.ignore);
  // Unknown cells that are harmless by their names. A structure or a value may be an end or a type all the same.
  const { seen, open } = memory ?? { seen: new Set<string>(), open: new Set<string>() };
  const isDraft = description.sameAs === 'csv';
  const exact = new Set([...ids, start, end, length].map((one) => one?.cell));
  const isRead = (name: string) => isKnown(name) && known?.includes(name) !== true;
  const begin = (header: string) => memory?.begin(JSON.stringify([description, header]));
  const pass = (result: ListRow | RowRefusal, line: number) => {
    if ('reason' in result) sink.refuse(line, result.reason, result.measure);
    else sink.row(result, line);
  };
  const repeat = (row: KnownRow | undefined, line?: number) => {
    if (row === undefined || line === undefined) return row;
    memory?.take(row);
    pass(row.result, line);
    return row;
  };
  /** The open cells of the present record: a hostile list has another one in each record. */
  let present: readonly string[] = [];
  if (shape !== 'csv') begin('');
  const isThere = readShape(description, text, {
    isRead,
    cells: (cells, header) => {
      if (header !== undefined) begin(header);
      const names = [...cells];
      for (const name of names) {
        if (seen.has(name)) continue;
        seen.add(name);
        if (isDraft && name === 'value' && path?.endsWith('*') && !ignored.has(name)) open.add(name);
        if (name === '' || isKnown(name) || ignored.has(name)) continue;
        sink.unknown(name, isDangerous(name));
        if (isDraft && !isDangerous(name)) open.add(name);
      }
      present = names.filter((name) => open.has(name));
    },
    record: (cell, line, row) => {
      for (const name of present) {
        if (!open.has(name) || !tells(name, cell(name))) continue;
        open.delete(name);
        sink.unknown(name, true);
      }
      const result = rowOf(description, cell, options);
      if (row !== undefined) memory?.add(row, result);
      pass(result, line);
    },
    ...(memory && {
      isRepeated: (row, line) => repeat(memory.get(row), line) !== undefined,
      oldRow: (list, at, line) => repeat(memory.find(list, at), line)?.text,
    }),
    refuse: (line, reason, measure) => sink.refuse(line, reason, measure),
    damaged: (line, reason) => sink.damaged(line, reason),
    isWhole: (name, cell) => !isRead(name) || (cell !== '' && (!exact.has(name) || isWholeCell(cell))),
  });
  const isSaid = (name: string) => seen.has(name) || ignored.has(name) || (isThere && name === path);
  const wanted = path === undefined || path === '' ? needs : [path, ...needs];
  for (const [first = '', ...others] of wanted.map((group) => group.split('|'))) {
    // A list without entries has no cells.
    if (![first, ...others].some(isSaid) && (seen.size > 0 || first === path)) sink.lacks(first);
  }
}

/** The text of a cell. NULL and structures are empty. */
function textIn(value: Json | undefined): string {
  const text = typeof value === 'boolean' || typeof value === 'string' ? String(value).trim() : '';
  return absent.test(text) ? '' : text;
}

/** The result of a test; undefined if the value is neither for nor against it. */
function outcomeOf({ cell: name, is, not }: CellTest, cell: Cell): boolean | undefined {
  const text = textIn(cell(name)).toLowerCase();
  if (is === undefined) return not === undefined ? !no.test(text) : !not.includes(text);
  return is.includes(text) || (not === undefined || not.includes(text) ? false : undefined);
}

function rowOf(description: Description, cell: Cell, options: ReadOptions): ListRow | RowRefusal {
  const { start, end, length, permanent, lifted = [], over = [], refuse } = description;
  const { timeZone } = options;
  const fail = (reason: string): RowRefusal => ({ reason });
  const kind = kindOf(description, cell);
  if (kind === null) return fail(`${description.type!.cell} has a value that the description does not know`);
  if (typeof kind !== 'string') {
    const { measure } = kind;
    if (measure === addressBan) return fail('an IP ban names no player');
    return { reason: `a ${measure} is no ban, and is left out`, measure };
  }
  if (refuse !== undefined && textIn(cell(refuse.cell)).toLowerCase().startsWith(refuse.begins)) {
    return fail(refuse.reason);
  }
  const found = playersIn(description, cell, options);
  if (!found.ok) return fail(found.text);
  const unclear = [...lifted, ...over].find((test) => outcomeOf(test, cell) === undefined);
  if (unclear !== undefined) return fail(`${unclear.cell} says neither yes nor no`);
  const textAt = (one: { readonly cell: string } | undefined) => (one === undefined ? '' : textIn(cell(one.cell)));
  const [began, ends] = [textAt(start), textAt(end)];
  const bannedAt = began === '' ? null : timeOf(began, start!.unit, timeZone);
  if (bannedAt === undefined) return fail(`${start!.cell} is not ${formOf[start!.unit]}`);
  const span = length === undefined ? undefined : spanOf(textAt(length), length.unit);
  if (span === null) return fail(`${length!.cell} is not a length in ${length!.unit}`);
  const isEndless = span === 'never' || (permanent !== undefined && outcomeOf(permanent, cell) === true);
  const until = isEndless || end === undefined ? 'never' : endOf(ends, end.unit, timeZone);
  if (until === undefined) return fail(`${end!.cell} is neither permanent nor ${formOf[end!.unit]}`);
  if (permanent !== undefined && !isEndless && until === 'never' && span === undefined) {
    return fail(`${permanent.cell} says that the ban ends, but no end is stated`);
  }
  const isTimed = typeof span === 'number' && until === 'never';
  const hasNoStart = isTimed && bannedAt === null;
  const expiresAt = until !== 'never' ? until : isTimed && bannedAt !== null ? bannedAt + span : null;
  const isOver = over.some((test) => outcomeOf(test, cell));
  const hasDates = start !== undefined || end !== undefined || length !== undefined;
  return {
    players: found.players,
    bannedAt,
    expiresAt,
    ...(hasNoStart && { lengthMs: span }),
    lifted: lifted.some((test) => outcomeOf(test, cell)) || (isOver && expiresAt === null && !isTimed),
    over: isOver,
    kind,
    note: hasDates ? noteOf([began, ends], hasNoStart, timeZone) : 'the list states no dates',
  };
}

/** The players that a record names, or the reason for none. */
export function playersIn({ ids }: Pick<Description, 'ids'>, cell: Cell, hints: Hints) {
  const found = ids.flatMap((one) => idsIn(one, cell));
  return playersOf(found, hints);
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
  const name = named?.toLowerCase() ?? '';
  if (text === '' || (kinds !== undefined && !Object.hasOwn(kinds, name))) return [];
  const kind = kinds === undefined ? named : kinds[name];
  if (kind === undefined || kind === '') return [{ text }];
  return [{ text, kind: kind === 'minecraft' && floodgateUuid.test(text) ? 'xbox' : kind }];
}

/** A length in ms, `never`, undefined if none is stated, or null if it cannot be read. */
function spanOf(text: string, unit: keyof typeof lengthUnits): number | 'never' | undefined | null {
  if (text === '') return undefined;
  if (/^(?:-1|0+(?:\.0+)?|permanent|perm|forever|never)$/i.test(text)) return 'never';
  const ms = /^\d{1,12}(?:\.\d+)?$/.test(text) ? Number(text) * lengthUnits[unit] : null;
  // A century stands for no end, and the end of a much longer ban would be no date.
  return ms !== null && ms >= 36_500 * lengthUnits.d ? 'never' : ms;
}

function noteOf(times: readonly string[], hasNoStart: boolean, timeZone: string): string | undefined {
  if (hasNoStart) return 'the ban has a length, from a start that the list does not state';
  const isLocal = times.some((text) => /^\d{4}-/.test(text) && !hasZone(text));
  return isLocal ? `the time names no zone and was read as ${timeZone}` : undefined;
}
