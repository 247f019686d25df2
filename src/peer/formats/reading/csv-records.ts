/** Reads a CSV list by the names of its columns, whatever their order, case and separator. */
import { CsvError, parse } from 'csv-parse/sync';

/**
 * The cells of the current row by the lower-case names of their columns. One function serves
 * all rows, because a function per row would keep rows of long lists in memory.
 */
export type Cells = (column: string) => string;

export interface CsvSink {
  /** Called once, before the first record. */
  header(names: readonly string[]): void;
  /** True if the column has a meaning, so that it may not be there twice. */
  isRead(column: string): boolean;
  record(cells: Cells, line: number): void;
  refuse(line: number, reason: string): void;
  /** Refuses a line after which nothing is read. */
  damaged(line: number, reason: string): void;
}

/** Cells are bounded, so that a missing quote does not turn the whole file into one cell. */
const recordBytesMax = 256 * 1024;
/** Characters per call of the parser, which copies its input; several times the size of a record. */
const pieceLength = 1_048_576;

function breaksIn(cell: string): number {
  let breaks = 0;
  for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) breaks++;
  return breaks;
}

export function separatorOf(header: string): string {
  const counts = [',', ';', '\t', '|'].map((separator) => [separator, header.split(separator).length] as const);
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

function headerOf(text: string): string {
  const lines = text.slice(0, 65_536).split('\n');
  return lines.find((line) => line.trim() !== '') ?? '';
}

/** Returns the names of the columns of a text that begins with a header. */
export function columnsOf(text: string): string[] {
  try {
    const header = headerOf(text);
    const options = { delimiter: separatorOf(header), relax_quotes: true, relax_column_count: true };
    const [names] = parse(header, options) as string[][];
    return (names ?? []).map(columnName);
  } catch {
    return [];
  }
}

/** Removes a function and an alias of SQL: `HEX(p.id)` is the column `id`. */
const selected = /^(?:\w+\()?(?:\w+\.)?(\w+)\)?$/;

export function columnName(text: string): string {
  return text
    .replace(selected, '$1')
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
}

/**
 * Passes each record to the sink. `isWhole` judges the last cell of a file that does not end with a line break: false
 * if the cell may be truncated.
 */
export function readCsv(text: string, sink: CsvSink, isWhole: (column: string, cell: string) => boolean): void {
  const header = headerOf(text);
  let columns: ReadonlyMap<string, number> | null = null;
  let names: string[] = [];
  let row: readonly string[] = [];
  const cells: Cells = (column) => row[columns?.get(column) ?? -1] ?? '';
  const isEnded = text.endsWith('\n');
  let lastLine = 0;
  let repeated: string | undefined;
  let piece: Piece = { text: '', firstLine: 1, isLast: false };
  let doneBytes = 0;
  const onRecord = (record: string[], { bytes, lines }: { bytes: number; lines: number }): null => {
    doneBytes = bytes;
    lastLine = piece.firstLine - 1 + lines;
    const line = lastLine - record.reduce((breaks, cell) => breaks + breaksIn(cell), 0);
    if (columns === null) {
      names = record.map(columnName);
      columns = new Map(names.map((name, at) => [name, at]));
      sink.header(names);
      repeated = names.find((name, at) => names.indexOf(name) !== at && sink.isRead(name));
      return null;
    }
    if (repeated !== undefined) return null;
    if (record.length !== names.length) {
      // Some tools write a separator at the end of each row.
      const isPadded = record.length === names.length + 1 && record.at(-1) === '';
      if (!isPadded) {
        sink.refuse(line, `the row has ${record.length} cells, but the header names ${names.length} columns`);
        return null;
      }
    }
    const isLastRow = piece.isLast && !isEnded && bytes >= Buffer.byteLength(piece.text);
    if (isLastRow && !text.endsWith('"') && !isWhole(names.at(-1)!, record.at(-1)!.trim())) {
      sink.refuse(line, 'the file ends in this row without a line break, so that its last cell may be truncated');
      return null;
    }
    row = record;
    sink.record(cells, line);
    return null;
  };
  const options = {
    bom: true,
    delimiter: separatorOf(header),
    record_delimiter: '\n',
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: recordBytesMax,
    on_record: onRecord as never,
  };
  for (let start = 0, length = pieceLength; start < text.length; ) {
    const end = pieceEnd(text, start + length);
    piece = { text: text.slice(start, end), firstLine: piece.firstLine, isLast: end === text.length };
    doneBytes = 0;
    let done = piece.text;
    try {
      parse(piece.text, options);
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      if (piece.isLast || error.code !== 'CSV_QUOTE_NOT_CLOSED') {
        sink.damaged(lastLine + 1, 'a quote is not closed, so that nothing from here on can be read');
        return;
      }
      // The piece ends within a quoted cell. The next piece begins with the row of this cell.
      done = Buffer.from(piece.text).subarray(0, doneBytes).toString();
    }
    if (repeated !== undefined) {
      sink.damaged(1, `the header names the column ${repeated} twice, so that nothing says which one counts`);
      return;
    }
    length = done === '' ? 2 * length : pieceLength;
    start += done.length;
    piece = { ...piece, firstLine: piece.firstLine + breaksIn(done) };
  }
}

interface Piece {
  readonly text: string;
  /** Line number of its first line in the list, from 1. */
  readonly firstLine: number;
  readonly isLast: boolean;
}

/** Returns the position after the first line break from `most` on, or the end of the text. */
function pieceEnd(text: string, most: number): number {
  if (most >= text.length) return text.length;
  const next = text.indexOf('\n', most - 1);
  return next < 0 ? text.length : next + 1;
}
