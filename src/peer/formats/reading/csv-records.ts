/** Reads a CSV list by the names of its columns, whatever their order, case and separator. */
import { CsvError, parse } from 'csv-parse/sync';

/** The cells of one row by the lower-case names of their columns. A cell with NULL is empty. */
export type Cells = (column: string) => string;

export interface CsvSink {
  record(cells: Cells, line: number): void;
  refuse(line: number, reason: string): void;
}

/** Cells are bounded, so that a missing quote does not turn the whole file into one cell. */
const recordBytesMax = 256 * 1024;
const absent = /^(?:NULL|\\N)$/i;

function breaksIn(cell: string): number {
  let breaks = 0;
  for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) breaks++;
  return breaks;
}

/** The separator of a header line. */
export function separatorOf(header: string): string {
  const counts = [',', ';', '\t', '|'].map((separator) => [separator, header.split(separator).length] as const);
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

/** The names of the columns of a header line, in lower case. */
export function columnsOf(header: string): string[] {
  try {
    const options = { delimiter: separatorOf(header), relax_quotes: true, relax_column_count: true };
    const [names] = parse(header, options) as string[][];
    return (names ?? []).map(columnName);
  } catch {
    return [];
  }
}

function columnName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
}

/**
 * Passes each record to the sink. `isWhole` judges the last cell of a file that does not end with a line break: false
 * if the cell may be truncated.
 */
export function readCsv(text: string, sink: CsvSink, isWhole: (column: string, cell: string) => boolean): void {
  const header =
    text
      .slice(0, 65_536)
      .split('\n')
      .find((line) => line.trim() !== '') ?? '';
  let columns: Map<string, number> | null = null;
  let names: string[] = [];
  let lastLine = 0;
  const isEnded = text.endsWith('\n');
  const endBytes = Buffer.byteLength(text);
  const onRecord = (record: string[], { bytes, lines }: { bytes: number; lines: number }): null => {
    const line = lines - record.reduce((breaks, cell) => breaks + breaksIn(cell), 0);
    lastLine = lines;
    if (columns === null) {
      names = record.map(columnName);
      columns = new Map(names.map((name, at) => [name, at]));
      return null;
    }
    const at = columns;
    if (record.length !== names.length) {
      // Some tools write a separator at the end of each row.
      const isPadded = record.length === names.length + 1 && record.at(-1) === '';
      if (!isPadded) {
        sink.refuse(line, `the row has ${record.length} cells, but the header names ${names.length} columns`);
        return null;
      }
    }
    if (!isEnded && bytes >= endBytes && !text.endsWith('"') && !isWhole(names.at(-1)!, record.at(-1)!.trim())) {
      sink.refuse(line, 'the file ends in this row without a line break, so that its last cell may be truncated');
      return null;
    }
    sink.record((column) => {
      const cell = record[at.get(column) ?? -1]?.trim() ?? '';
      return absent.test(cell) ? '' : cell;
    }, line);
    return null;
  };
  try {
    parse(text, {
      bom: true,
      delimiter: separatorOf(header),
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: recordBytesMax,
      on_record: onRecord as never,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    sink.refuse(lastLine + 1, 'a quote is not closed, so that nothing from here on can be read');
  }
}
