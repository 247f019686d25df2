/** Reads the rows that the INSERT statements of a dump write. No other statement is executed or read. */
import { bounds } from '../../../client/for-peer.js';
import { breaksIn, cellTooLong, type RecordSink } from './records.js';

/** The tokens without an end mark. Their counts are bounded, since a match that long may overflow the regex stack. */
const token =
  /\s{1,999}|0x[0-9A-Fa-f]{1,999}|[A-Za-z_$][\w$]{0,254}|[-+]?\d{1,99}(?:\.\d{1,99})?(?:[eE][-+]?\d{1,4})?|[\s\S]/y;
/** Text without the end of a statement, a quote or a comment, which may be passed over at once. */
const plain = /[^;'"`#/-]{0,4096}/y;
/** The token at a comment or quote that is never closed. */
const unclosed = '';

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0', Z: '\x1a', b: '\b' };
const notAColumn = /^(?:PRIMARY|KEY|UNIQUE|INDEX|FULLTEXT|SPATIAL|CONSTRAINT|FOREIGN|CHECK)$/i;

const callDepthMax = 16;
const tooMany = `a list has more than ${bounds.listValues} values, so that nothing from this row on can be read`;

class Damage extends Error {}

/** The tokens of a dump; blanks and comments are skipped. */
class Tokens {
  /** Line at the end of the present token. */
  line = 1;
  /** Null at the end. */
  next: string | null = null;
  #at = 0;

  constructor(private readonly text: string) {
    this.#read();
  }

  take(): string {
    const taken = this.next;
    if (taken === null || taken === unclosed) throw new Damage();
    this.#read();
    return taken;
  }

  takeIf(word: string): boolean {
    if (this.next?.toUpperCase() !== word) return false;
    this.take();
    return true;
  }

  expect(word: string): void {
    if (!this.takeIf(word)) throw new Damage();
  }

  /** Passes over the present statement, up to the mark that ends it. */
  skip(): void {
    while (this.next !== null && this.next !== ';') {
      plain.lastIndex = this.#at;
      this.#pass(this.#at + plain.exec(this.text)![0].length);
      this.take();
    }
  }

  /** Passes over the data of a COPY statement, up to the line that ends it. */
  skipData(): void {
    const end = this.text.indexOf('\n\\.', this.#at);
    this.#pass(end < 0 ? this.text.length : end + 3);
    this.#read();
  }

  #read(): void {
    this.next = null;
    while (this.next === null && this.#at < this.text.length) {
      const end = endOfToken(this.text, this.#at);
      const found = end < 0 ? unclosed : this.#pass(end);
      if (!/^(?:\s|--|#|\/\*)/.test(found)) this.next = found;
    }
  }

  #pass(end: number): string {
    const found = this.text.slice(this.#at, end);
    this.line += breaksIn(found);
    this.#at = end;
    return found;
  }
}

/** Returns the position after the token, or a negative number if it is not closed. Looks at each character once. */
function endOfToken(text: string, start: number): number {
  const mark = text.slice(start, start + 2);
  if (mark === '/*') {
    const at = text.indexOf('*/', start + 2);
    return at < 0 ? at : at + 2;
  }
  if (mark === '--' || mark[0] === '#') {
    const lineEnd = text.indexOf('\n', start);
    return lineEnd < 0 ? text.length : lineEnd;
  }
  if (/^['"`]/.test(mark)) return endOfQuoted(text, start);
  token.lastIndex = start;
  return start + token.exec(text)![0].length;
}

function endOfQuoted(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\' && quote !== '`') at++;
    else if (text[at] === quote) {
      if (text[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return -1;
}

function unquoted(text: string): string {
  return /^[`"]/.test(text) ? text.slice(1, -1) : text;
}

/** The name within quotes; the last part of `database`.`table`. */
function nameOf(tokens: Tokens): string {
  let name = unquoted(tokens.take());
  while (tokens.takeIf('.')) name = unquoted(tokens.take());
  return name;
}

/** Leaves a literal as it is that is refused for its length: its escapes would fill the memory. */
function textOf(literal: string): string {
  if (literal.length > bounds.listCell + 2) return literal;
  const quote = literal[0]!;
  return literal
    .slice(1, -1)
    .replace(/\\([\s\S])|''|""/g, (whole, escaped?: string) =>
      escaped === undefined ? (whole[0] === quote ? quote : whole) : (escapes[escaped] ?? escaped),
    );
}

/** Returns a value as text; numbers keep theirs, and NULL is empty. */
function takeValue(tokens: Tokens, depth = 0): string {
  const first = tokens.take();
  if (/^NULL$/i.test(first)) return '';
  // `_binary 'x'` and `b'1'` have a prefix that states the meaning of the text.
  if (/^_?[A-Za-z]\w*$/.test(first) && /^['"]/.test(tokens.next ?? '')) return textOf(tokens.take());
  if (first.length > 1 && /^['"]/.test(first)) return textOf(first);
  // `mysqldump --hex-blob` writes bytes such as those of a UUID in this form.
  if (/^0x/i.test(first)) return first.slice(2);
  if (/^(?:[-+]?\d|(?:true|false)$)/i.test(first)) return first;
  // A call such as `STRINGDECODE('…')`: its value is not known.
  if (!/^[A-Za-z]\w*$/.test(first) || tokens.next !== '(' || depth === callDepthMax) throw new Damage();
  listOf(tokens, () => takeValue(tokens, depth + 1));
  return `${first}()`;
}

function listOf<T>(tokens: Tokens, take: () => T): T[] {
  const found: T[] = [];
  tokens.expect('(');
  if (tokens.next !== ')') {
    do if (found.push(take()) > bounds.listValues) throw new Damage(tooMany);
    while (tokens.takeIf(','));
  }
  tokens.expect(')');
  return found;
}

/** Takes a definition of a CREATE TABLE, and returns the column that it names. */
function definedColumn(tokens: Tokens): string[] {
  const first = tokens.take();
  for (let depth = 0; depth > 0 || !/^[,)]$/.test(tokens.next ?? ','); ) {
    const found = tokens.take();
    depth += found === '(' ? 1 : found === ')' ? -1 : 0;
  }
  return notAColumn.test(first) ? [] : [unquoted(first).toLowerCase()];
}

/** The columns of a table; null if the dump does not name them. */
type Columns = readonly string[] | null;

/** Passes the rows of the tables whose columns `columnsOf` returns, which is called for each table with its line. */
export function readInserts(
  text: string,
  columnsOf: (table: string, columns: Columns, line: number) => Columns,
  sink: Pick<RecordSink, 'record' | 'refuse' | 'damaged'>,
): void {
  const tokens = new Tokens(text);
  const described = new Map<string, readonly string[]>();
  let line = 1;
  const takeTable = (): readonly [table: string, columns: Columns] => {
    const name = nameOf(tokens);
    if (tokens.next !== '(') return [name, described.get(name) ?? null];
    return [name, listOf(tokens, () => nameOf(tokens).toLowerCase())];
  };
  const takeAny = (...words: readonly string[]) => {
    while (words.some((word) => tokens.takeIf(word)));
  };
  try {
    while (tokens.next !== null) {
      line = tokens.line;
      const verb = tokens.take().toUpperCase();
      if (verb === 'CREATE') takeAny('CACHED', 'MEMORY', 'TEMPORARY', 'TEMP');
      if (verb === 'CREATE' && tokens.takeIf('TABLE')) {
        takeAny('IF', 'NOT', 'EXISTS');
        const name = nameOf(tokens);
        if (tokens.next === '(') {
          const columns = listOf(tokens, () => definedColumn(tokens)).flat();
          described.set(name, columns);
          columnsOf(name, columns, line);
        }
        tokens.skip();
      } else if (verb === 'INSERT' || verb === 'REPLACE') {
        takeAny('LOW_PRIORITY', 'DELAYED', 'HIGH_PRIORITY', 'IGNORE');
        tokens.expect('INTO');
        const columns = columnsOf(...takeTable(), line);
        if (columns !== null) {
          if (!tokens.takeIf('VALUES')) tokens.expect('VALUE');
          do {
            line = tokens.line;
            takeRow(tokens, columns, line, sink);
          } while (tokens.takeIf(','));
        }
        tokens.skip();
      } else if (verb === 'COPY') {
        const table = takeTable();
        if (!tokens.takeIf('FROM') || tokens.next?.toUpperCase() !== 'STDIN') tokens.skip();
        else if (columnsOf(...table, line) === null) tokens.skipData();
        else throw new Damage('the dump holds COPY data, which is not read; write it with pg_dump --inserts');
      } else if (verb !== ';') tokens.skip();
    }
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    sink.damaged(line, error.message || 'the dump is damaged here, so that nothing from this row on can be read');
  }
}

type RowSink = Pick<RecordSink, 'record' | 'refuse'>;

function takeRow(tokens: Tokens, columns: readonly string[], line: number, sink: RowSink): void {
  const values = listOf(tokens, () => takeValue(tokens));
  if (values.length !== columns.length) {
    sink.refuse(line, `the row has ${values.length} values, but the table has ${columns.length} columns`);
  } else if (values.some((value) => value.length > bounds.listCell)) sink.refuse(line, cellTooLong);
  else sink.record((name) => values[columns.indexOf(name)] ?? '', line);
}
