/** Descriptions of a user's own: a wrong one is refused with the member to correct, and a draft is of one table. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readDescription } from '../../../src/peer/cli/read-description.js';
import { temporaryFolder } from '../../support/process.js';
import { A, B } from '../import/plans.js';
import { DescribedList } from './described-list.js';

const path = join(temporaryFolder(), 'description.json');

function refusalOf(text: string): string {
  writeFileSync(path, text);
  try {
    readDescription(path);
    return 'none';
  } catch (error) {
    return (error as Error).message.replaceAll(path, 'FILE');
  }
}

const right = { name: 'arena', shape: 'csv', ids: [{ cell: 'id' }] };

test('a description that has what an import needs is taken', () => {
  const end = { cell: 'until', unit: 's' };
  const more = { start: end, end, length: { cell: 'days', unit: 'd' }, known: ['note'], lifted: [{ cell: 'over' }] };
  for (const one of [right, { ...right, ...more, type: { cell: 'kind', kinds: { ban: 'ban' }, others: {} } }]) {
    assert.is(refusalOf(JSON.stringify(one)), 'none');
  }
});

test('a description that is no JSON, or none of an object, says so', () => {
  assert.is(refusalOf('{'), 'FILE cannot be read as JSON');
  for (const text of ['[]', '7', 'null']) assert.is(refusalOf(text), 'the description FILE: it must be an object');
});

test('a wrong member of a description is named, with what it must be', () => {
  for (const [wrong, fault] of [
    [{ starts: 1 }, 'it has no member starts'],
    [{ name: 'An arena' }, 'name must be a word in lower case'],
    [{ name: 7 }, 'name must be a word in lower case'],
    [{ ids: [] }, 'ids must be a list of {"cell"}'],
    [{ ids: ['id'] }, 'ids must be a list of {"cell"}'],
    [{ ids: { cell: 'id' } }, 'ids must be a list of {"cell"}'],
    [{ lifted: { cell: 'over' } }, 'lifted and over must be lists of {"cell"}'],
    [{ over: { cell: 'over' } }, 'lifted and over must be lists of {"cell"}'],
    [{ end: 'until' }, 'start, end, length, permanent, lifted, over and type need a cell'],
    [{ over: [{}] }, 'start, end, length, permanent, lifted, over and type need a cell'],
    [{ start: { cell: 'since', unit: 'h' } }, 'the unit of a time must be one of s, ms, ticks, text, any'],
    [{ end: { cell: 'until' } }, 'the unit of a time must be one of s, ms, ticks, text, any'],
    [{ length: { cell: 'days', unit: 'days' } }, 'the unit of length must be one of ms, s, min, h, d'],
    [{ type: { cell: 'kind' } }, 'type must have kinds'],
    [{ type: { cell: 'kind', kinds: {}, others: ['mute'] } }, 'kinds and others must be objects'],
    [{ ids: [{ cell: 'id', kinds: 'steam' }] }, 'kinds and others must be objects'],
    [{ known: 'note' }, 'known must be a list of cells'],
    [{ name: 'a'.repeat(41) }, 'name must have at most 40 characters'],
    [{ recognise: { cells: 'id' } }, 'cells, without and columns must be lists'],
    [{ recognise: { without: [{}] } }, 'cells, without and columns must be lists'],
    [{ columns: 'id created' }, 'cells, without and columns must be lists'],
    [{ shape: 'xml' }, 'path must lead to the elements that are bans, such as bans.ban'],
    [{ shape: 'xml', path: '' }, 'path must lead to the elements that are bans, such as bans.ban'],
    [{ shape: 'lines' }, 'line must be a regular expression with named groups'],
  ] as const) {
    assert.is(refusalOf(JSON.stringify({ ...right, ...wrong })), `the description FILE: ${fault}`);
  }
});

test('the draft of a file of any name is a description that an import takes', async () => {
  const list = new DescribedList('Export of all punishments, arena EU 1 (2026-11-25, final).csv');
  list.write(`steam_id,note\n${A},x\n`);
  const { code, out, err } = await list.dryRun((await list.describe()).out);
  assert.equal([code, out.includes('1 to send')], [0, true], out + err);
});

test('no element of an XML list is a ban before a person has said which ones are', async () => {
  const list = new DescribedList('own.xml');
  list.write(`<own><admins><admin steamid="${B}"/></admins><Bans><Ban steamid="${A}"/></Bans></own>`);
  const { out: draft } = await list.describe();
  const { code, err } = await list.dryRun(draft);
  assert.equal([code, err.includes('path must lead to the elements that are bans')], [2, true], err);
  for (const path of ['bans.ban', 'Bans.Ban']) {
    const { out } = await list.dryRun({ ...JSON.parse(draft), path });
    assert.equal([out.includes(A), out.includes(B)], [true, false], out);
  }
});

test('a list that has no place where a format or a description reads is not read as an empty one', async () => {
  const noArray = 'the list is no JSON array, so that nothing of it can be read';
  const noBlock = 'the list is damaged here, so that nothing from this entry on can be read';
  const noTable = 'the dump has no table of arena, but';
  const dump = `INSERT INTO \`one\` (\`id\`) VALUES ('${A}');\nINSERT INTO \`two\` (\`id\`) VALUES ('${B}');\n`;
  const created = 'CREATE TABLE `three` (`id` int);\nINSERT INTO `two` (`id`) VALUES (1);\n';
  const three = { shape: 'sql', recognise: { named: '^three$' } };
  const sql = { shape: 'sql', recognise: { cells: ['id'] } };
  for (const [text, described, reason] of [
    [`{"bans":[{"id":"${A}"}]}`, { shape: 'json' }, noArray],
    [`{"bans":[{"uuid":"${A}"}]}`, null, noArray],
    [dump, three, `${noTable} one, two`],
    [`steam_id\n${A}\n`, three, `${noTable} none at all`],
    [`id,x\n${A},y\n`, { shape: 'keyvalues' }, noBlock],
    ['\n', sql, undefined],
    ['\n', { ...sql, shape: 'keyvalues' }, undefined],
    ['"bans" { }', { shape: 'keyvalues' }, undefined],
    ['[]', { shape: 'json' }, undefined],
    [created, three, undefined],
  ] as const) {
    const list = new DescribedList('own.list');
    list.write(text);
    const how = described === null ? ['--format', 'litebans'] : [];
    const { code, out, err } = await list.dryRun(described && { ...right, ...described }, ...how);
    assert.equal([code, /refused: (.*)/.exec(out)?.[1]], [reason === undefined ? 0 : 1, reason], text);
    assert.not.match(err, 'undefined');
  }
});

test('a draft leaves to a person what stops an import of the list, also by the values of a cell alone', async () => {
  const list = new DescribedList('bans.list');
  const chosen = async (text: string) => {
    list.write(text);
    return JSON.parse((await list.describe()).out);
  };
  const { choose, known } = await chosen(`steam_id;zzz;colour\n${A};Mute;red\n`);
  assert.equal([choose, known], [['zzz'], ['colour']]);
  assert.equal((await chosen(`{"${A}":"2026-11-22T12:00:00Z"}`)).choose, ['value']);
  const rows = Array.from({ length: 2_000 }, () => `{"steam_id":"${A}","note":"a long remark"},\n`).join('');
  assert.equal((await chosen(`[${rows}{"steam_id":"${A}","pardoned_on":"2026-11-22"}]`)).choose, ['pardoned_on']);
});

test('a draft is made of the table that an option names, and of no other', async () => {
  const dump = new DescribedList('dump.sql');
  const insert = (table: string, cell: string) =>
    `INSERT INTO \`${table}\` (\`steam_id\`, \`${cell}\`) VALUES ('${A}', '1');\n`;
  dump.write(insert('one', 'until_one') + insert('two', 'until_two'));
  const { out } = await dump.describe('--table', 'two');
  assert.match(out, 'until_two');
  assert.not.match(out, 'until_one');
  const { code, err } = await dump.describe('--table', 'three');
  assert.equal([code, err.includes(`--table must be one of ${dump.path}: one, two`)], [2, true], err);
});

test('a draft of a table of SQLite reads that table, and what is no list is refused', async () => {
  const [table, list] = [new DescribedList('c.db'), new DescribedList('own.list')];
  const database = new sqlite.Database(table.path);
  database.exec('CREATE TABLE own (steam_id TEXT, colour TEXT)');
  database.run('INSERT INTO own VALUES (?, ?)', [A, 'red']);
  database.close();
  const draft = await table.describe('--table', 'own');
  const { out } = await table.dryRun(draft.out, '--table', 'own');
  assert.match(out, '1 to send', draft.err);
  const unnamed = await table.describe();
  assert.equal([unnamed.code, unnamed.err.includes('--table must be one of')], [2, true], unnamed.err);
  for (const [text, why] of [
    ['', 'has no named cells to describe'],
    [`${A}\n`, 'has no named cells to describe; its first row holds values'],
    ['\n\x7fELF\x02\x01\x01\0\0\n', 'is no text'],
    ['[]', 'has no named cells to describe'],
    ['<a/>', 'has no named cells to describe'],
  ] as const) {
    list.write(text);
    const { code, err } = await list.describe();
    assert.equal([code, err.includes(why)], [4, true], text + err);
  }
});

test.run();
