/** Large lists that a reader with quadratic steps would read for minutes. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { shapeOf } from '../../../src/peer/formats/recognise.js';
import { RowMemory } from '../../../src/peer/formats/row-memory.js';
import { A, importPlan } from '../import/plans.js';
import { lists } from './lists.js';

test('a list with another cell in each entry is read in linear time', () => {
  const rows = Array.from({ length: 40_000 }, (_, i) => `{"steamid":"${76561198000000001n + BigInt(i)}","x${i}":1}`);
  for (const text of [`[${rows.join()}]`, rows.join('\n')]) {
    const { entries, unknown } = importPlan(text, { name: 'bans' });
    assert.equal([entries.length, unknown.harmless.length], [rows.length, rows.length]);
  }
});

test('entries with very many ids of kinds of their own are read in linear time', () => {
  const ids = (entry: number) => Array.from({ length: 18_000 }, (_, i) => `"k${entry}-${i}:1"`);
  const entries = Array.from({ length: 20 }, (_, entry) => `,{"identifiers":[${ids(entry).join()}]}`);
  const plan = importPlan(`[{"identifiers":["${A}"]}${entries.join('')}]`, { name: 'bans' });
  assert.equal([plan.entries.length, plan.unread], [21, null]);
});

test('a header with very many columns is read in linear time', () => {
  const columns = Array.from({ length: 36_000 }, (_, i) => `c${i}`);
  const list = `steamid,${columns.join()}\n${A},${'1,'.repeat(columns.length - 1)}1\n`;
  for (let read = 0; read < 4; read++) assert.is(importPlan(list, { name: 'bans' }).entries.length, 1);
});

test('the shape of a text of blanks is recognised in linear time', () => {
  for (const blank of ['\n', ' ', '\t', ' \n'])
    for (let read = 0; read < 100; read++) assert.is(shapeOf(`{}${blank.repeat(65_000 / blank.length)}x`), 'json');
});

test('a memory does not grow with a list whose cells have other names in each read', () => {
  const memory = new RowMemory();
  for (let read = 0; read < 4; read++) {
    const entry = (i: number) => `{"steamid":"${76561198000000001n + BigInt(i)}","x${read}_${i}":1}`;
    const list = `[${Array.from({ length: bounds.listNames / 2 }, (_, i) => entry(i)).join()}]`;
    assert.is(importPlan(list, { name: 'bans', memory }).entries.length, bounds.listNames / 2);
    assert.ok(memory.seen.size <= 2 * bounds.listNames, `${memory.seen.size} names`);
  }
});

/** A list of `mb` MB that begins with one ban, and goes on with an entry of the text again and again. */
const hostile: readonly (readonly [what: string, format: string, begin: string, again: string, end: string])[] = [
  ['separators in CSV', 'csv', `steamid\n${A}\n`, ',', ''],
  ['old line breaks', 'csv', `steamid\n${A}\n`, '\r', 'x,y\n'],
  ['lines of separators in CSV', 'csv', `steamid\n${A}\n`, `${',,'.repeat(65_536)}"\n"`, ''],
  ['arrays in JSON', 'json', `[{"steamid":"${A}"},\n[`, '[],', '1]]'],
  ['escapes in JSON', 'json', `[{"steamid":"${A}"},\n"`, '\\"a', '"]'],
  ['blanks in JSON', 'json', `[{"steamid":"${A}"},\n`, ' ', ']'],
  ['values of SQL', 'sourcebans-sql', `${lists['sourcebans-sql']!(1)}INSERT INTO sb_bans VALUES (`, '1,', '1);'],
  ['escapes of SQL', 'sourcebans-sql', `${lists['sourcebans-sql']!(1)}INSERT INTO sb_bans VALUES ('`, "\\'", "');"],
];
for (const [what, format, begin, again, end] of hostile) {
  test(`a list of 64 MB of ${what} is read up to them in little memory`, async () => {
    const bytes = Buffer.concat([
      Buffer.from(begin),
      Buffer.alloc(2 ** 26 - (2 ** 26 % again.length), again),
      Buffer.from(end),
    ]);
    const worker = new Worker(new URL('./read-list.js', import.meta.url), {
      workerData: { bytes, format },
      resourceLimits: { maxOldGenerationSizeMb: 192 },
    });
    const [{ entries, refused }] = await once(worker, 'message');
    assert.equal([entries, refused], [1, 1]);
  });
}

test.run();
