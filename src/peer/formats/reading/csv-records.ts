/** Reads a CSV list by the names of its columns, whatever their order, case and separator. */
import { CsvError, parse } from 'csv-parse/sync';
import { breaksIn, type Cell, columnName, type RecordSink } from './records.js';

/** Cells are bounded, so that a missing quote does not turn the whole file into one cell. */
const recordBytesMax = 256 * 1024;
/** Characters per call of the parser, which copies its input; several times the size of a record. */
const pieceLength = 1_048_576;

function separatorOf(text: string): string {
  const lines = text.slice(0, 65_536).split('\n');
  const header = lines.find((line) => line.trim() !== '') ?? '';
  const counts = [',', ';', '\t', '|'].map((separator) => [separator, header.split(separator).length] as const);
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

export function readCsv(text: string, sink: RecordSink) {
  let columns: ReadonlyMap<string, number> | null = null;
  let names: string[] = [];
  let row: readonly string[] = [];
  // One function serves all rows, because a function per row would keep rows of long lists in memory.
  const cell: Cell = (column) => row[columns?.get(column) ?? -1] ?? '';
  const isEnded = text.endsWith('\n');
  let lastLine = 0;
  let repeated: string | undefined;
  let piece = { text: '', firstLine: 1, isLast: false };
  let doneBytes = 0;
  const take = (record: readonly string[], line: number, bytes: number) => {
    if (columns === null) {
      names = record.map(columnName);
      columns = new Map(names.map((name, at) => [name, at]));
      sink.cells(names);
      repeated = names.find((name, at) => names.indexOf(name) !== at && sink.isRead(name));
      return;
    }
    if (repeated !== undefined) return;
    // Some tools write a separator at the end of each row.
    const isPadded = record.length === names.length + 1 && record.at(-1) === '';
    if (record.length !== names.length && !isPadded) {
      return sink.refuse(line, `the row has ${record.length} cells, but the header names ${names.length} columns`);
    }
    const isLastRow = piece.isLast && !isEnded && bytes >= Buffer.byteLength(piece.text);
    if (isLastRow && !text.endsWith('"') && !sink.isWhole(names.at(-1)!, record.at(-1)!.trim())) {
      const cut = 'the file ends in this row without a line break, so that its last cell may be truncated';
      return sink.refuse(line, cut);
    }
    row = record;
    sink.record(cell, line);
  };
  const options = {
    bom: true,
    delimiter: separatorOf(text),
    record_delimiter: '\n',
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: recordBytesMax,
    on_record: ((record: string[], { bytes, lines }: { bytes: number; lines: number }): null => {
      doneBytes = bytes;
      lastLine = piece.firstLine - 1 + lines;
      take(record, lastLine - record.reduce((breaks, one) => breaks + breaksIn(one), 0), bytes);
      return null;
    }) as never,
  };
  for (let start = 0, length = pieceLength; start < text.length; ) {
    const lineEnd = text.indexOf('\n', start + length - 1);
    const end = lineEnd < 0 ? text.length : lineEnd + 1;
    piece = { text: text.slice(start, end), firstLine: piece.firstLine, isLast: end === text.length };
    doneBytes = 0;
    let done = piece.text;
    try {
      parse(piece.text, options);
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      if (piece.isLast || error.code !== 'CSV_QUOTE_NOT_CLOSED') {
        return sink.damaged(lastLine + 1, 'a quote is not closed, so that nothing from here on can be read');
      }
      // The piece ends within a quoted cell. The next piece begins with the row of this cell.
      done = Buffer.from(piece.text).subarray(0, doneBytes).toString();
    }
    if (repeated !== undefined) {
      return sink.damaged(1, `the header names the column ${repeated} twice, so that nothing says which one counts`);
    }
    length = done === '' ? 2 * length : pieceLength;
    start += done.length;
    piece.firstLine += breaksIn(done);
  }
}
