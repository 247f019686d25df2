/** Reads a CSV list by the names of its columns, whatever their order, case and separator. */
import { CsvError, parse } from 'csv-parse/sync';
import { bounds } from '../../../client/for-peer.js';
import { names as words } from '../names.js';
import { breaksIn, type Cell, columnName, type RecordSink } from './records.js';

/** Characters per call of the parser, which copies its input; several times the size of a record. */
const pieceLength = 1_048_576;

/** Values that are no names of columns: ids, times and addresses. */
const value = new RegExp(words.values, 'i');

const tooLong = `the row is longer than ${bounds.listCell} characters, or `;
const noQuote = 'a quote is not closed, so that nothing from here on can be read';
export const noHeader = 'its first row holds values; write a row of names before it, such as player_id,expires_at';

function separatorOf(text: string): string {
  const lines = text.slice(0, 65_536).split('\n');
  const header = lines.find((line) => line.trim() !== '') ?? '';
  const counts = [',', ';', '\t', '|'].map((separator) => [separator, header.split(separator).length] as const);
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

export function readCsv(list: string, sink: RecordSink) {
  // A spreadsheet may state its separator in the first line.
  const text = list.replace(/^sep=.?\n/i, '\n');
  let columns: ReadonlyMap<string, number> | null = null;
  let names: string[] = [];
  let row: readonly string[] = [];
  // One function serves all rows, because a function per row would keep rows of long lists in memory.
  const cell: Cell = (column) => row[columns?.get(column) ?? -1] ?? '';
  const delimiter = separatorOf(text);
  let lastLine = 0;
  let fault: readonly [line: number, reason: string] | undefined;
  let piece = '';
  /** Position in the piece after the last record; 0 if the file ends in it. */
  let at = 0;
  const take = (record: readonly string[], line: number, rowText: string) => {
    if (columns === null) {
      names = record.map(columnName);
      if (names.some((name) => value.test(name))) fault = [1, noHeader];
      if (fault !== undefined) return;
      columns = new Map(names.map((name, index) => [name, index]));
      sink.cells(names, JSON.stringify([delimiter, names]));
      const repeated = names.find((name, index) => columns!.get(name) !== index && sink.isRead(name));
      if (repeated !== undefined)
        fault = [1, `the header names the column ${repeated} twice, so that nothing says which one counts`];
      return;
    }
    // Some tools write a separator at the end of each row.
    const isPadded = record.length === names.length + 1 && record.at(-1) === '';
    if (record.length !== names.length && !isPadded) {
      return sink.refuse(line, `the row has ${record.length} cells, but the header names ${names.length} columns`);
    }
    if (at === 0 && !text.endsWith('"') && !sink.isWhole(names.at(-1)!, record.at(-1)!.trim())) {
      const cut = 'the file ends in this row without a line break, so that its last cell may be truncated';
      return sink.refuse(line, cut);
    }
    row = record;
    sink.record(cell, line, at > 0 ? rowText : undefined);
  };
  let firstLine = 1;
  const options = {
    delimiter,
    record_delimiter: '\n',
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    on_record: ((record: string[], { lines }: { lines: number }): null => {
      if (fault !== undefined) return null;
      const line = firstLine - 1 + lines - record.reduce((sum, one) => sum + breaksIn(one), 0);
      let start = at;
      for (; lastLine < firstLine - 1 + lines; lastLine++) {
        if (lastLine < line) start = at;
        at = piece.indexOf('\n', at) + 1;
      }
      const row = piece.slice(start, at || piece.length);
      // The parser's own bound does not count separators.
      if (row.length > bounds.listCell) fault = [line, tooLong + noQuote];
      else take(record, line, row);
      return null;
    }) as never,
  };
  const endOfLine = (start: number) => text.indexOf('\n', start) + 1 || text.length;
  const oldRow = (start: number, line?: number) => (columns === null ? undefined : sink.oldRow?.(text, start, line));
  // The first piece is the header. Later ones end where a row of the former read follows, which is passed over.
  for (let start = 0, length = 1; start < text.length; ) {
    const old = length === pieceLength ? oldRow(start, firstLine) : undefined;
    if (old !== undefined) {
      firstLine += breaksIn(old);
      start += old.length;
      continue;
    }
    let end = endOfLine(start);
    while (end < text.length && end - start < length && !(length === pieceLength && oldRow(end) !== undefined)) {
      end = endOfLine(end);
    }
    end = Math.min(end, start + length + bounds.listCell);
    piece = text.slice(start, end);
    at = 0;
    lastLine = firstLine - 1;
    try {
      parse(piece, { ...options, bom: columns === null });
      at = piece.length;
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      // The piece ends within a quoted cell. The next piece begins with the row of this cell.
      const isLong = text.slice(start + at, end).trimStart().length > bounds.listCell;
      if (end === text.length || isLong) fault ??= [lastLine + 1, isLong ? tooLong + noQuote : noQuote];
    }
    if (fault !== undefined) return sink.damaged(...fault);
    length = at === 0 ? 2 * length : columns === null ? 1 : pieceLength;
    start += at;
    firstLine += breaksIn(piece.slice(0, at));
  }
}
