/** The rows that the INSERT statements of a dump write. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { readInserts } from '../../../src/peer/formats/reading/sql-values.js';

/** Reads a dump, in which the rows of each table but `other` are wanted. A row is `line: values`. */
function read(dump: string) {
  const rows: string[] = [];
  const tables: string[] = [];
  let columns: readonly string[] = [];
  readInserts(
    dump,
    (table, found, line) => {
      tables.push(`${line} ${table}(${found ?? ''})`);
      columns = found ?? ['a'];
      return table === 'other' ? null : columns;
    },
    {
      record: (cell, line) => rows.push(`${line}: ${columns.map((name) => cell(name)).join('|')}`),
      refuse: (line, reason) => rows.push(`${line} refused: ${reason}`),
      damaged: (line, reason) => rows.push(`${line} damaged: ${reason}`),
    },
  );
  return { rows, tables };
}

const calls = (depth: number) => `${'f('.repeat(depth)}1${')'.repeat(depth)}`;
const damaged = 'damaged: the dump is damaged here, so that nothing from this row on can be read';

test('a value is its text, whatever its quotes, escapes, prefix or form', () => {
  for (const [value, text] of [
    ["'it''s'", "it's"],
    ['\'a""b\'', 'a""b'],
    ['"a""b\'\'c"', "a\"b''c"],
    ["'a\\nb\\rc\\td\\0e\\Zf\\bg\\'h\\qi'", "a\nb\rc\td\0e\x1af\bg'hqi"],
    ["''", ''],
    ['NULL', ''],
    ['null', ''],
    ["_binary 'x'", 'x'],
    ["b'1'", '1'],
    ['0xAb', 'Ab'],
    ['-1.5e3', '-1.5e3'],
    ['+2', '+2'],
    ['TRUE', 'TRUE'],
    ['f()', 'f()'],
    ["f(g(1, 'x'), NULL)", 'f()'],
    [calls(16), 'f()'],
  ] as const) {
    assert.equal(read(`INSERT INTO t (a) VALUES (${value}), (7);`).rows, [`1: ${text}`, '1: 7'], value);
  }
  for (const value of [calls(17), 'word', '?', "'", '', "f('", '1 2', '`x`']) {
    const { rows } = read(`INSERT INTO t (a) VALUES (7),\n(${value}), (8);`);
    assert.equal(
      rows,
      value === ''
        ? ['1: 7', '2 refused: the row has 0 values, but the table has 1 columns', '2: 8']
        : ['1: 7', `2 ${damaged}`],
      value,
    );
  }
});

test('a table has the columns that its INSERT or its definition names, and each row its line', () => {
  const definition =
    "CREATE TABLE IF NOT EXISTS `db`.`t` (`A` int, b decimal(10,2) DEFAULT 'x,)', PRIMARY KEY (`A`), KEY k (b));";
  for (const [dump, rows, tables] of [
    [`${definition}\nINSERT INTO t VALUES (1,2);`, ['2: 1|2'], ['1 t(a,b)', '2 t(a,b)']],
    [`${definition}\nREPLACE INTO t (B) VALUE (2);`, ['2: 2'], ['1 t(a,b)', '2 t(b)']],
    ['INSERT LOW_PRIORITY IGNORE INTO "db"."t" VALUES\n(1),\n(2);', ['2: 1', '3: 2'], ['1 t()']],
    ['-- note\n# note\n/* a\nb */ insert into t (a) values (1) -- end', ['4: 1'], ['4 t(a)']],
    ['CREATE MEMORY TABLE t (a int);INSERT INTO t VALUES (1)', ['1: 1'], ['1 t(a)', '1 t(a)']],
    ["CREATE TABLE t AS SELECT 1;CREATE VIEW v;SET x = ';';;INSERT INTO t VALUES (1)", ['1: 1'], ['1 t()']],
    ['UPDATE u SET v = INSERT;INSERT INTO t (a) VALUES (1)', ['1: 1'], ['1 t(a)']],
    ["INSERT INTO other VALUES (1, '(');INSERT INTO t (a) VALUES (1)", ['1: 1'], ['1 other()', '1 t(a)']],
    ['COPY other (a) FROM stdin;\n1;(\n\\.\nINSERT INTO t (a) VALUES (1)', ['4: 1'], ['1 other(a)', '4 t(a)']],
    ['COPY other TO stdout;INSERT INTO t (a) VALUES (1)', ['1: 1'], ['1 t(a)']],
    ['COPY other FROM stdin;\n1\n', [], ['1 other()']],
  ] as const) {
    assert.equal(read(dump), { rows, tables }, dump);
  }
});

test('a row of another length is refused alone, and from damage on nothing is read', () => {
  const [longest, tooLong] = [bounds.listCell, bounds.listCell + 1].map((length) => 'x'.repeat(length));
  for (const [dump, rows] of [
    [
      'INSERT INTO t (a) VALUES (1),\n(1,2),(3);',
      ['1: 1', '2 refused: the row has 2 values, but the table has 1 columns', '2: 3'],
    ],
    [
      `INSERT INTO t (a) VALUES ('${tooLong}'),('${longest}');`,
      [`1 refused: a value is longer than ${bounds.listCell} characters`, `1: ${longest}`],
    ],
    ['INSERT t (a) VALUES (1);', [`1 ${damaged}`]],
    ['INSERT INTO t (a)\nSELECT 1;', [`1 ${damaged}`]],
    ['INSERT INTO t (a) VALUES (1)\n,;INSERT INTO t (a) VALUES (2);', ['1: 1', `2 ${damaged}`]],
    ['INSERT INTO t (a) VALUES (1);\n/* open', ['1: 1', `2 ${damaged}`]],
    ['CREATE TABLE t (a int', [`1 ${damaged}`]],
    [
      'COPY t (a) FROM stdin;',
      ['1 damaged: the dump holds COPY data, which is not read; write it with pg_dump --inserts'],
    ],
  ] as const) {
    assert.equal(read(dump).rows, rows, dump.slice(0, 80));
  }
});

test.run();
