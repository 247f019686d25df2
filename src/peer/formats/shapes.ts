/** Reads a list of any shape into records of named cells. It knows nothing of bans. */
import type { Description } from './description.js';
import { columnName, readCsv } from './reading/csv-records.js';
import { type Json, objectOf, readElements } from './reading/json-elements.js';
import { readKeyValues } from './reading/key-values.js';
import { eachLine } from './reading/lines.js';
import { readInserts } from './reading/sql-values.js';
import { isWholeCell } from './reading/whole-cells.js';
import { readXml } from './reading/xml-elements.js';

/** Returns the value of a cell of a record by its name. */
export type Cell = (name: string) => Json | undefined;

export interface RecordSink {
  /** The names of the cells of the next record; may repeat names. */
  cells(names: Iterable<string>): void;
  record(cell: Cell, line: number): void;
  refuse(line: number, reason: string, measure?: string): void;
  /** Refuses a line after which nothing is read. */
  damaged(line: number, reason: string): void;
  /** True if the description says what the cell means for a ban. */
  isRead(name: string): boolean;
  /** False if the last cell of a text without a final line break may be truncated. */
  isWhole(name: string, cell: string): boolean;
}

const flatDepthMax = 8;
const lineLengthMax = 65_536;

/** Tables whose name looks like one of measures. */
const measures = /mute|gag|comm|warn|kick|jail|freeze/i;
/** A table without stated columns has those of the description only if its name says that it holds bans. */
const tableOfBans = /(?:^|[_.-])(?:player_?)?bans?(?:list)?(?:$|[_.-])/i;
const tableOfMeasures = /ban|punish|sanction|infraction|record/i;

export function readShape(description: Description, text: string, sink: RecordSink): void {
  const { shape, path = '' } = description;
  const take = (value: Json, line: number) => takeCells(flat(value), line, sink);
  const names = path === '' ? [] : path.split('.');
  if (shape === 'csv') {
    const { record, refuse, damaged, cells, isRead } = sink;
    readCsv(text, { header: cells, isRead, record, refuse, damaged }, sink.isWhole);
  } else if (shape === 'json') {
    readElements(text, names, { element: take, damaged: sink.damaged });
  } else if (shape === 'json-lines') {
    eachLine(text, sink, (line, number) => {
      const object = line === '' ? null : objectOfLine(line);
      if (object !== null) take(object, number);
      else if (line !== '') sink.refuse(number, 'the line is not a JSON object');
    });
  } else if (shape === 'sql') readTables(description, text, sink);
  else if (shape === 'lines') readLines(description, text, sink);
  else {
    const { damaged } = sink;
    const record = (cells: ReadonlyMap<string, string>, line: number) => takeCells(cells, line, sink);
    if (shape === 'xml') readXml(text, names, { record, damaged });
    else readKeyValues(text, { record, damaged });
  }
}

function takeCells(cells: ReadonlyMap<string, Json>, line: number, sink: RecordSink): void {
  sink.cells(cells.keys());
  sink.record((name) => cells.get(name), line);
}

/** Returns the members of an object by their paths. Any other value is the only cell, with the name `value`. */
export function flat(value: Json): ReadonlyMap<string, Json> {
  const cells = new Map<string, Json>();
  const add = (prefix: string, one: Json, depth: number) => {
    const object = depth > flatDepthMax ? null : objectOf(one);
    if (object === null) cells.set(prefix, one);
    else {
      for (const [name, member] of Object.entries(object)) {
        if (member !== undefined) add(`${prefix}${prefix === '' ? '' : '.'}${columnName(name)}`, member, depth + 1);
      }
    }
  };
  add(objectOf(value) === null ? 'value' : '', value, 0);
  return cells;
}

function objectOfLine(line: string): Json | null {
  let found: Json | null = null;
  readElements(line, 'root', {
    element: (value) => {
      found = objectOf(value);
    },
    damaged: () => {
      found = null;
    },
  });
  return found;
}

function readTables(description: Description, text: string, sink: RecordSink): void {
  const named = new Set<string>();
  readInserts(
    text,
    (table, stated, line) => {
      const columns = stated ?? (tableOfBans.test(table) ? description.columns : null) ?? null;
      const isWanted = columns !== null && isTable(description, table, columns);
      if (isWanted && !named.has(table)) sink.cells(columns);
      if (!isWanted && !named.has(table) && (measures.test(table) || tableOfMeasures.test(table))) {
        const measure = measures.exec(table)?.[0].toLowerCase();
        const why = measure === undefined ? `is not one of ${description.title}` : `holds no bans (${measure})`;
        sink.refuse(line, `the table ${table} ${why}, and is left out`, measure);
      }
      named.add(table);
      return isWanted ? columns : null;
    },
    {
      row: (values, line) => sink.record((name) => values.get(name) ?? '', line),
      refuse: (line, reason) => sink.refuse(line, reason),
      damaged: sink.damaged,
    },
  );
}

/** True if the description is one of a table with this name and these columns. */
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
    const groups = line.length > lineLengthMax ? undefined : wanted.exec(line)?.groups;
    if (groups === undefined) {
      sink.refuse(number, form ?? 'the line has another form');
      return;
    }
    const cells = Object.values(groups).filter((cell) => cell !== undefined);
    // A tail that is cut may be the beginning of one for which the line would be refused.
    const { tail } = groups;
    const isWhole =
      tail === undefined ? isWholeCell(cells.at(-1) ?? '') : !refuse?.begins.startsWith(tail.trim().toLowerCase());
    if (!isEnded && !isWhole) {
      sink.refuse(number, 'the file ends in this line without a line break, so that its end may be truncated');
    } else sink.record((name) => groups[name], number);
  });
}
