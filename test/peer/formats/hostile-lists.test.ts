/** Hostile lists: each is read in linear time and without deep recursion, and the part before the damage counts. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { readElements } from '../../../src/peer/formats/reading/json-elements.js';
import { importPlan, now, plan } from '../import/plans.js';
import { lists } from './lists.js';

/** Large enough that a quadratic reader would run for hours, and that a recursive one overflows the stack. */
const many = 2_000_000;
const bans = 3;
const long = 'x'.repeat(16 * 1024 * 1024);

/** Asserts that all bans were read, and returns the refusals. */
function refusalsAfterBans(list: string, format: string) {
  const { events, refused } = plan(list, {}, format);
  assert.is(events.length, bans);
  return refused;
}

for (const [what, tail] of [
  ['comments', '/*'.repeat(many)],
  ['a string of escaped quotes', `'${"\\'".repeat(many)}`],
  ['names in backticks', '`'.repeat(2 * many + 1)],
] as const) {
  test(`sourcebans-sql: ${what} without an end: refused with the line, and all rows before are read`, () => {
    const list = `${lists['sourcebans-sql']!(bans)}\n${tail}`;
    assert.equal(refusalsAfterBans(list, 'sourcebans-sql'), [
      {
        line: list.split('\n').length,
        reason: 'the dump is damaged here, so that nothing from this row on can be read',
      },
    ]);
  });
}

test('sourcebans-sql: a value of 16 MB is refused with its row, and the rows around it are read', () => {
  const list = lists['sourcebans-sql']!(bans).replace(/'[^']*',1795176000/, `'${long}',1795176000`);
  const { events, refused } = plan(list, {}, 'sourcebans-sql');
  assert.equal([events.length, refused.length], [bans - 1, 1]);
  assert.is(refused[0]!.reason, `a value is longer than ${bounds.listCell} characters`);
});

test('sourcebans-sql: a long value, long blanks and a long word of another table change nothing', () => {
  const blanks = ' '.repeat(long.length);
  const other = `INSERT INTO demos VALUES (1,'${long}',${'9'.repeat(many)});${blanks}\n${long};\n--${long}\n`;
  assert.equal(refusalsAfterBans(other + lists['sourcebans-sql']!(bans), 'sourcebans-sql'), []);
});

for (const format of ['minecraft', 'txadmin', 'tf2bd', 'battlemetrics']) {
  const whole = lists[format]!(bans).trimEnd();
  const end = whole.lastIndexOf(']');
  for (const [what, value, reason] of [
    ['nested two million levels deep', '['.repeat(many), `the JSON is nested deeper than ${bounds.listDepth} levels`],
    ['with a string of 16 MB', `{"reason":"${long}"}`, `a value is longer than ${bounds.listCell} characters`],
    ['with a name of 16 MB', `{"${long}":1}`, `a value is longer than ${bounds.listCell} characters`],
  ] as const) {
    test(`${format}: an entry ${what} is refused with its line, and all entries before are read`, () => {
      const list = `${whole.slice(0, end)},\n${value}`;
      const line = list.split('\n').length;
      assert.equal(refusalsAfterBans(list, format), [
        { line, reason: `${reason}, so that nothing from this entry on can be read` },
      ]);
    });
  }
}

for (const [format, line] of [
  ['rust', `banid 76561202255225729 "${long}`],
  ['source', `banid 0 STEAM_0:1:7${' '.repeat(many)}x`],
  ['squad', `${' Banned:'.repeat(many)}`],
  ['ndjson', `{"a":${'['.repeat(many)}`],
] as const) {
  test(`${format}: a line of megabytes is refused, and the lines around it are read`, () => {
    const whole = lists[format]!(bans);
    const first = whole.indexOf('\n') + 1;
    const list = `${whole.slice(0, first)}${line}\n${whole.slice(first)}`;
    assert.equal(refusalsAfterBans(list, format), [
      { line: 2, reason: `the line is longer than ${bounds.listCell} characters` },
    ]);
  });
}

/** One more than an entry may be long, and than it may have values. */
const [longer, more] = [bounds.listCell + 1, bounds.listValues + 1];
const inCsv = `the row is longer than ${bounds.listCell} characters, or a quote is not closed, so that nothing from here on`;
const inJson = `an entry with the blanks around it is longer than ${bounds.listCell} characters, so that nothing from this entry on`;
const inSql = `a list has more than ${bounds.listValues} values, so that nothing from this row on`;
const escapes = '\\"a'.repeat(longer);
const separators = `${','.repeat(longer - 9)}"\n"`;
const manyCells: readonly (readonly [what: string, format: string, tail: string, reason: string])[] = [
  ['separators', 'sourcebans', ','.repeat(longer), inCsv],
  ['separators and line breaks', 'sourcebans', separators.repeat(8), inCsv],
  ['numbers', 'minecraft', `,{"a":[${'1,'.repeat(longer / 2)}1]}]`, inJson],
  ['members', 'minecraft', `,{"a":{${'"a":1,'.repeat(longer / 6)}"a":1}}]`, inJson],
  ['blanks', 'minecraft', `,{"a":${' '.repeat(longer)}1}]`, inJson],
  ['line breaks', 'minecraft', `,{"a":1${'\n'.repeat(longer)}}]`, inJson],
  ['escapes', 'minecraft', `,{"a":"${escapes}"}]`, inJson],
  ['values', 'sourcebans-sql', `INSERT INTO sb_bans VALUES (${'1,'.repeat(more)}1);`, inSql],
  ['values of a call', 'sourcebans-sql', `INSERT INTO sb_bans VALUES (f(${'1,'.repeat(more)}1));`, inSql],
  ['columns', 'sourcebans-sql', `CREATE TABLE a (${'a,'.repeat(more)}a);`, inSql],
];
for (const [what, format, tail, reason] of manyCells) {
  test(`${format}: an entry of very many ${what} is refused with its line, and all entries before are read`, () => {
    const whole = lists[format]!(bans).trimEnd().replace(/\]$/, '');
    assert.equal(refusalsAfterBans(`${whole}\n${tail}\n`, format), [
      { line: whole.split('\n').length + 1, reason: `${reason} can be read` },
    ]);
  });
}

test('the page on game servers states the bounds of a list', () => {
  const page = readFileSync(new URL('../../../../docs/GAME-SERVERS.md', import.meta.url), 'utf8');
  const rows = page.split('| Bound of a list | Value | Beyond it |\n')[1]!.split('\n').slice(1, 6);
  const [cell, values] = [bounds.listCell, bounds.listValues].map((value) => value.toLocaleString('en-US'));
  const size = `${bounds.importFileBytes / 2 ** 20} MiB`;
  assert.equal(
    rows.map((row) => row.split(' | ')[1]),
    [size, `${cell} characters`, `${cell} characters`, `${values} values`, `${bounds.listDepth}`],
  );
});

test('what is long beside the entries of a JSON list, or has many escapes, is read over', () => {
  const numbers = `"a":[${'1,'.repeat(longer)}1]`;
  const text = `"b":"${'\\"'.repeat(longer / 2 - 2)}"`;
  const list = `{${numbers},"bans":${lists.minecraft!(bans)},${text}${'\n'.repeat(longer)}}`;
  let entries = 0;
  const damaged = (line: number, reason: string) => assert.unreachable(`line ${line}: ${reason}`);
  assert.ok(readElements(list, ['bans'], { element: () => entries++, damaged }));
  assert.is(entries, bans);
});

test('a header of very many separators is refused, and so are blocks and elements of very many values', () => {
  const cells = (count: number, one: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => one(i)).join(' ');
  const block = (i: number, values: string) => `"STEAM_0:1:${i}"\n{\n${values}\n}\n`;
  const blocks =
    block(
      1,
      cells(9, (i) => `"${i}" "x"`),
    ) +
    block(
      2,
      cells(more, (i) => `"${i}" "x"`),
    );
  const xml = `<adminTools><blacklist><blacklisted platform="Steam" userid="76561202255225729" unbandate="2027-01-01 00:00:00"/>\n<blacklisted ${cells(longer / 6, (i) => `a${i}=""`)}/></blacklist></adminTools>`;
  for (const [list, format, entries, said] of [
    [`steam_id${','.repeat(longer)}\n`, 'csv', 0, `1 ${inCsv}`],
    [blocks, 'ulib-bans', 1, '5 the list is damaged here'],
    [xml, 'auto', 1, '2 the XML is damaged here'],
  ] as const) {
    const plan = importPlan(list, { now }, format);
    assert.is(plan.entries.length, entries);
    assert.ok(`${plan.unread?.line} ${plan.unread?.reason}`.startsWith(said), JSON.stringify(plan.unread));
  }
});

test('an XML list is damaged if a second root has no end', () => {
  const list = '<adminTools><blacklist></blacklist></adminTools>';
  assert.is(importPlan(list, { now }, 'auto').unread, null);
  assert.match(importPlan(`${list}<b>`, { now }, 'auto').unread!.reason, /^the XML is damaged here/);
});

test('source: blanks before a stray character are read in linear time in every line', () => {
  for (const length of [bounds.listCell - 100, 65_000]) {
    const line = `banid 0 STEAM_0:1:7${' '.repeat(length)}x\n`;
    assert.is(refusalsAfterBans(lists.source!(bans) + line.repeat(64), 'source').length, 64);
  }
});

test('battlemetrics: an id whose type is named like a member of every object is one of an unknown type', () => {
  const id = '76561202255225729';
  const ban = (...types: readonly string[]) => {
    const identifiers = types.map((type) => ({ type, identifier: id }));
    return { type: 'ban', attributes: { timestamp: '2026-11-20T12:00:00Z', expires: null, identifiers } };
  };
  const { events, refused } = plan(JSON.stringify({ data: [ban('constructor'), ban('__proto__', 'steamID')] }));
  assert.equal(
    events.map(({ player_id }) => player_id),
    [id],
  );
  assert.equal(refused, [{ line: 1, reason: 'the row names no player' }]);
});

test('only a list that was read to its end counts as read', () => {
  const list = lists.minecraft!(bans);
  const options = { now };
  assert.is(importPlan(list, options).unread, null);
  assert.is(importPlan(lists.source!(bans).replace('\n', '\nx\n'), options).unread, null);
  for (const text of [
    list.slice(0, -3),
    `${lists['sourcebans-sql']!(bans)}/*`,
    `${lists.sourcebans!(bans)}9,,"STEAM_1:0:7\n`,
  ]) {
    const { refused, unread } = importPlan(text, options);
    assert.equal(unread, refused.at(-1));
    assert.ok(unread !== null);
  }
});

test('a brace that closes no block of a KeyValues list is damage, and the blocks before it are read', () => {
  const list = plan('"STEAM_0:1:1"\n{\n"reason" "x"\n}\n}\n"STEAM_0:1:2"\n{\n"reason" "x"\n}\n', {}, 'ulib-bans');
  assert.equal([list.events.length, list.refused.length], [1, 1]);
  assert.match(list.refused[0]!.reason, 'the list is damaged here');
});

test.run();
