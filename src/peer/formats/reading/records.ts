/** Declares the records that every reader of a shape passes on, and what the readers share. */
import { bounds } from '../../../client/for-peer.js';
import { names } from '../names.js';

type JsonObject = { readonly [key: string]: Json | undefined };
/** A number is its text: ids exceed a double. */
export type Json = string | boolean | null | readonly Json[] | JsonObject;

export type Cell = (name: string) => Json | undefined;

export interface RecordSink {
  /** The names of the cells of the next record; may repeat names. `header`: what gives all rows their meaning. */
  cells(names: Iterable<string>, header?: string): void;
  /** `row`: the text that holds this record alone, if there is one. */
  record(cell: Cell, line: number, row?: string): void;
  /** True if the former read had the row. Its outcome is passed on again. */
  isRepeated?(row: string, line: number): boolean;
  /** The text of the row of the former read that a list has here. With a line its outcome is passed on again. */
  oldRow?(list: string, at: number, line?: number): string | undefined;
  /** Refuses a line; `reason` contains no text of it. `measure` names a measure that is no ban, such as a mute. */
  refuse(line: number, reason: string, measure?: string): void;
  /** Refuses a line after which nothing is read. */
  damaged(line: number, reason: string): void;
  /** True if the description says what the cell means for a ban, so that it may not be there twice. */
  isRead(name: string): boolean;
  /** False if the last cell of a text without a final line break may be truncated. */
  isWhole(name: string, cell: string): boolean;
}

export const cellTooLong = `a value is longer than ${bounds.listCell} characters`;

export function takeCells(cells: ReadonlyMap<string, Json>, line: number, sink: RecordSink, row?: string): void {
  sink.cells(cells.keys());
  sink.record((name) => cells.get(name), line, row);
}

/** Removes a function and an alias of SQL: `HEX(p.id)` is the column `id`. */
const selected = /^(?:\w+\()?(?:\w+\.)?(\w+)\)?$/;

export function columnName(text: string): string {
  if (/^[a-z0-9_]+$/.test(text)) return text;
  return text
    .replace(selected, '$1')
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
}

export function breaksIn(text: string): number {
  let breaks = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) breaks++;
  return breaks;
}

/** Passes each new line, trimmed. `isEnded`: it is not cut. One that could overflow the stack of a regex is refused. */
export function eachLine(
  text: string,
  sink: Pick<RecordSink, 'refuse' | 'isRepeated'>,
  take: (line: string, number: number, isEnded: boolean) => void,
): void {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const at = text.indexOf('\n', start);
    const end = at < 0 ? text.length : at;
    number++;
    const line = text.slice(start, end).trim();
    if (end - start > bounds.listCell) sink.refuse(number, `the line is longer than ${bounds.listCell} characters`);
    else if (at < 0 || !sink.isRepeated?.(line, number)) take(line, number, at >= 0);
    start = end + 1;
  }
}

/** The forms of values whose length or end shows that nothing is missing. */
const whole = new RegExp(`^(?:${names.whole})$`, 'i');

/** True if the last value of a file is complete although no line break follows it. */
export function isWholeCell(cell: string): boolean {
  return whole.test(cell);
}

export function objectOf(value: Json | undefined): JsonObject | null {
  return typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject | null) : null;
}

export function arrayOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
