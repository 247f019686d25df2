/**
 * Reads the rows that the INSERT statements of a dump write to one kind of table. No other statement is executed or
 * read.
 */
import { bounds } from '../../../client/bounds.js';
import { cellTooLong } from './lines.js';

/** A value: text, or null for NULL. Numbers stay text. */
export type SqlValue = string | null;

export interface SqlSink {
  row(values: ReadonlyMap<string, SqlValue>, line: number): void;
  refuse(line: number, reason: string): void;
  /** Refuses a row after which nothing is read. */
  damaged(line: number, reason: string): void;
}

/** The tokens without an end mark. Their counts are bounded, since a match that long may overflow the regex stack. */
const token =
  /\s{1,999}|0x[0-9A-Fa-f]{1,999}|[A-Za-z_$][\w$]{0,254}|[-+]?\d{1,99}(?:\.\d{1,99})?(?:[eE][-+]?\d{1,4})?|[\s\S]/y;
/** The token at a comment or quote that is never closed. */
const unclosed = '';

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0', Z: '\x1a', b: '\b' };
const notAColumn = /^(?:PRIMARY|KEY|UNIQUE|INDEX|FULLTEXT|SPATIAL|CONSTRAINT|FOREIGN|CHECK)$/i;

class Damage extends Error {}

/** The tokens of a dump with their lines; blanks and comments are skipped. */
class Tokens {
  line = 1;
  #at = 0;
  #next: string | null;

  constructor(private readonly text: string) {
    this.#next = this.#read();
  }

  get next(): string | null {
    return this.#next;
  }

  take(): string {
    const taken = this.#next;
    if (taken === null || taken === unclosed) throw new Damage();
    this.#next = this.#read();
    return taken;
  }

  takeIf(word: string): boolean {
    if (this.#next?.toUpperCase() !== word) return false;
    this.take();
    return true;
  }

  expect(word: string): void {
    if (!this.takeIf(word)) throw new Damage();
  }

  skip(): void {
    while (this.#next !== null && this.#next !== ';') this.take();
    this.takeIf(';');
  }

  /** Passes over the data of a COPY statement, up to the line that ends it. */
  skipData(): void {
    const end = this.text.indexOf('\n\\.', this.#at);
    this.#pass(this.text.slice(this.#at, end < 0 ? this.text.length : end + 3));
    this.#next = this.#read();
  }

  #read(): string | null {
    while (this.#at < this.text.length) {
      const end = endOfToken(this.text, this.#at);
      if (end === null) return unclosed;
      const found = this.text.slice(this.#at, end);
      this.#pass(found);
      if (!/^(?:\s|--|#|\/\*)/.test(found)) return found;
    }
    return null;
  }

  /** Lines are counted up to the end of the present token. */
  #pass(found: string): void {
    this.#at += found.length;
    for (let at = found.indexOf('\n'); at >= 0; at = found.indexOf('\n', at + 1)) this.line++;
  }
}

/** Returns the position after the token, or null if it is not closed. Each character is looked at once. */
function endOfToken(text: string, start: number): number | null {
  const mark = text.slice(start, start + 2);
  if (mark === '/*') {
    const close = text.indexOf('*/', start + 2);
    return close < 0 ? null : close + 2;
  }
  if (mark === '--' || mark[0] === '#') {
    const lineEnd = text.indexOf('\n', start);
    return lineEnd < 0 ? text.length : lineEnd;
  }
  if (/^['"`]/.test(mark)) return endOfQuoted(text, start);
  token.lastIndex = start;
  return start + token.exec(text)![0].length;
}

function endOfQuoted(text: string, start: number): number | null {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\' && quote !== '`') at++;
    else if (text[at] === quote) {
      if (text[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return null;
}

/** The name within quotes; the last part of `database`.`table`. */
function nameOf(tokens: Tokens): string {
  let name = unquoted(tokens.take());
  while (tokens.takeIf('.')) name = unquoted(tokens.take());
  return name;
}

function unquoted(text: string): string {
  return /^[`"]/.test(text) ? text.slice(1, -1) : text;
}

function textOf(literal: string): string {
  const quote = literal[0]!;
  return literal
    .slice(1, -1)
    .replace(/\\([\s\S])|''|""/g, (whole, escaped?: string) =>
      escaped === undefined ? (whole[0] === quote ? quote : whole) : (escapes[escaped] ?? escaped),
    );
}

function takeValue(tokens: Tokens): SqlValue {
  const first = tokens.take();
  if (/^NULL$/i.test(first)) return null;
  // `_binary 'x'` and `b'1'` have a prefix that states the meaning of the text.
  if (/^_?[A-Za-z]\w*$/.test(first) && /^['"]/.test(tokens.next ?? '')) return textOf(tokens.take());
  if (first.length > 1 && /^['"]/.test(first)) return textOf(first);
  // `mysqldump --hex-blob` writes bytes such as those of a UUID in this form.
  if (/^0x/i.test(first)) return first.slice(2);
  if (/^[-+]?\d/.test(first) || /^(?:true|false)$/i.test(first)) return first;
  throw new Damage();
}

function namesInBrackets(tokens: Tokens): string[] {
  const names: string[] = [];
  tokens.expect('(');
  do names.push(nameOf(tokens).toLowerCase());
  while (tokens.takeIf(','));
  tokens.expect(')');
  return names;
}

/** Returns the columns of a CREATE TABLE, whose opening bracket is the next token. */
function definedColumns(tokens: Tokens): string[] {
  const names: string[] = [];
  let depth = 0;
  let isStart = false;
  for (;;) {
    const found = tokens.take();
    if (found === '(' && depth++ === 0) isStart = true;
    else if (found === ')' && --depth === 0) return names;
    else if (found === ',' && depth === 1) isStart = true;
    else if (isStart) {
      isStart = false;
      if (!notAColumn.test(found)) names.push(unquoted(found).toLowerCase());
    }
  }
}

/** The columns of a table; null if the dump does not name them. */
type Columns = readonly string[] | null;

/**
 * Passes the rows of the tables for which `columnsOf` returns their columns. `columnsOf` is called for each statement
 * that creates or fills a table, with its line.
 */
export function readInserts(
  text: string,
  columnsOf: (table: string, columns: Columns, line: number) => Columns,
  sink: SqlSink,
): void {
  const tokens = new Tokens(text);
  const described = new Map<string, readonly string[]>();
  let line = 1;
  try {
    while (tokens.next !== null) {
      line = tokens.line;
      const verb = tokens.take().toUpperCase();
      if (verb === 'CREATE' && tokens.takeIf('TABLE')) {
        if (tokens.takeIf('IF')) {
          tokens.expect('NOT');
          tokens.expect('EXISTS');
        }
        const name = nameOf(tokens);
        described.set(name, definedColumns(tokens));
        columnsOf(name, described.get(name)!, line);
        tokens.skip();
      } else if (verb === 'INSERT' || verb === 'REPLACE') {
        while (['LOW_PRIORITY', 'DELAYED', 'HIGH_PRIORITY', 'IGNORE'].some((word) => tokens.takeIf(word)));
        tokens.expect('INTO');
        const name = nameOf(tokens);
        const stated = tokens.next === '(' ? namesInBrackets(tokens) : (described.get(name) ?? null);
        const named = columnsOf(name, stated, line);
        if (named !== null) {
          if (!tokens.takeIf('VALUES')) tokens.expect('VALUE');
          do {
            line = tokens.line;
            readRow(tokens, named, line, sink);
          } while (tokens.takeIf(','));
        }
        tokens.skip();
      } else if (verb === 'COPY') {
        const name = nameOf(tokens);
        const stated = tokens.next === '(' ? namesInBrackets(tokens) : (described.get(name) ?? null);
        if (!tokens.takeIf('FROM') || tokens.next?.toUpperCase() !== 'STDIN') tokens.skip();
        else if (columnsOf(name, stated, line) === null) tokens.skipData();
        else throw new Damage('the dump holds COPY data, which is not read; write it with pg_dump --inserts');
      } else if (verb !== ';') tokens.skip();
    }
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    sink.damaged(line, error.message || 'the dump is damaged here, so that nothing from this row on can be read');
  }
}

function readRow(tokens: Tokens, columns: readonly string[], line: number, sink: SqlSink): void {
  tokens.expect('(');
  const values: SqlValue[] = [];
  do values.push(takeValue(tokens));
  while (tokens.takeIf(','));
  if (tokens.next !== ')') throw new Damage();
  if (values.length !== columns.length) {
    sink.refuse(line, `the row has ${values.length} values, but the table has ${columns.length} columns`);
  } else if (values.some((value) => value !== null && value.length > bounds.listCell)) {
    sink.refuse(line, cellTooLong);
  } else sink.row(new Map(columns.map((name, at) => [name, values[at]!])), line);
  tokens.take();
}
