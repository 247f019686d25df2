/** Reads a list of any shape into records of named cells. It knows nothing of bans. */
import type { Description } from './description.js';
import { readCsv } from './reading/csv-records.js';
import { objectIn, readElements } from './reading/json-elements.js';
import { readKeyValues } from './reading/key-values.js';
import type { Json, RecordSink } from './reading/records.js';
import { columnName, eachLine, isWholeCell, objectOf, takeCells } from './reading/records.js';
import { readInserts } from './reading/sql-values.js';
import { readXml } from './reading/xml-elements.js';

const flatDepthMax = 8;
const lineLengthMax = 65_536;
/** A name that may be the id of a player, which no message may contain. */
export const idLike = /[\da-f]{8}|:\d/i;

/** Tables whose name looks like one of measures. */
const measures = /mute|gag|comm|warn|kick|jail|freeze/i;
/** A table without stated columns has those of the description only if its name says that it holds bans. */
const tableOfBans = /(?:^|[_.-])(?:player_?)?bans?(?:list)?(?:$|[_.-])/i;
const tableOfMeasures = /ban|punish|sanction|infraction|record/i;

/** Returns false if the list has no place at the path of the description. */
export function readShape(description: Description, text: string, sink: RecordSink): boolean {
  const { shape, path = '' } = description;
  const names = path === '' ? [] : path.split('.');
  const element = (value: Json, line: number, row: string) => takeCells(flat(value), line, sink, row);
  if (shape === 'json') {
    const isThere = readElements(text, names, { ...sink, element });
    if (!isThere && path === '') sink.damaged(1, 'the list is no JSON array, so that nothing of it can be read');
    return isThere;
  }
  if (shape === 'xml') return readXml(text, path === '' ? [] : path.toLowerCase().split('.'), sink);
  if (shape === 'csv') readCsv(text, sink);
  else if (shape === 'sql') readTables(description, text, sink);
  else if (shape === 'lines') readLines(description, text, sink);
  else if (shape === 'keyvalues') readKeyValues(text, sink);
  else {
    eachLine(text, sink, (line, number) => {
      const object = objectIn(line);
      if (object !== null) element(object, number, line);
      else if (line !== '') sink.refuse(number, 'the line is not a JSON object');
    });
  }
  return true;
}

/** Returns the members of an object by their paths. Any other value is the only cell, with the name `value`. */
function flat(value: Json): ReadonlyMap<string, Json> {
  const cells = new Map<string, Json>();
  const add = (prefix: string, one: Json, depth: number) => {
    const object = depth > flatDepthMax ? null : objectOf(one);
    if (object === null) cells.set(prefix, one);
    for (const [name, member] of Object.entries(object ?? {})) {
      const own = idLike.test(name) ? '<id>' : columnName(name);
      if (member !== undefined) add(`${prefix}${prefix === '' ? '' : '.'}${own}`, member, depth + 1);
    }
  };
  add(objectOf(value) === null ? 'value' : '', value, 0);
  return cells;
}

function readTables(description: Description, text: string, sink: RecordSink): void {
  const named = new Set<string>();
  let isSaid = false;
  const columnsOf = (table: string, stated: readonly string[] | null, line: number) => {
    const columns = stated ?? (tableOfBans.test(table) ? description.columns : null) ?? null;
    const isWanted = columns !== null && isTable(description, table, columns);
    if (isWanted && !named.has(table)) sink.cells(columns);
    if (!isWanted && !named.has(table) && (measures.test(table) || tableOfMeasures.test(table))) {
      const measure = measures.exec(table)?.[0].toLowerCase();
      const why = measure === undefined ? `is not one of ${description.title}` : `holds no bans (${measure})`;
      sink.refuse(line, `the table ${table} ${why}, and is left out`, measure);
    }
    isSaid ||= isWanted || measures.test(table) || tableOfMeasures.test(table);
    named.add(table);
    return isWanted ? columns : null;
  };
  readInserts(text, columnsOf, sink);
  const tables = [...named].join(', ') || 'none at all';
  if (text.trim() !== '' && !isSaid) sink.damaged(1, `the dump has no table of ${description.title}, but ${tables}`);
}

export function isTable({ recognise }: Description, name: string, columns: readonly string[]): boolean {
  const { cells = [], without = [], named } = recognise;
  if (named !== undefined && !new RegExp(named, 'i').test(name)) return false;
  return cells.every((cell) => columns.includes(cell)) && !without.some((cell) => columns.includes(cell));
}

function readLines({ line: pattern = '', skip, form, refuse }: Description, text: string, sink: RecordSink): void {
  const wanted = new RegExp(pattern, 'i');
  const passed = skip === undefined ? null : new RegExp(skip, 'i');
  eachLine(text, sink, (line, number, isEnded) => {
    if (line === '' || passed?.test(line) === true) return;
    // A group of a line is a part of the text, which a row that is remembered would keep in memory.
    const groups = line.length > lineLengthMax ? undefined : wanted.exec(Buffer.from(line).toString())?.groups;
    if (groups === undefined) return sink.refuse(number, form ?? 'the line has another form');
    const cells = Object.values(groups).filter((cell) => cell !== undefined);
    // A tail that is cut may be the beginning of one for which the line would be refused.
    const { tail } = groups;
    const isWhole =
      tail === undefined ? isWholeCell(cells.at(-1) ?? '') : !refuse?.begins.startsWith(tail.trim().toLowerCase());
    if (isEnded || isWhole) sink.record((name) => groups[name], number, line);
    else sink.refuse(number, 'the file ends in this line without a line break, so that its end may be truncated');
  });
}
