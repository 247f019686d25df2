/** Damaged lists: what is read is what the whole list says, and what is not is refused with its line and a reason. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { plan } from '../import/plans.js';
import { bans, said, testCuts } from './cuts.js';
import { lists } from './lists.js';

testCuts(7);

for (const [name, make] of Object.entries(lists)) {
  const whole = make(bans);
  const file = { name: `${name}_bans` };
  const events = plan(whole, file).events.map(said);

  test(`${name}: the list is recognised and every ban is read`, () => {
    const list = plan(whole, file);
    assert.is(list.format, name);
    assert.equal([list.events.length, list.refused], [bans, []]);
    assert.ok(list.events.every(({ state }) => state === 'send'));
    assert.not.match(JSON.stringify(list), /Été|plain, with|玩家|198\.51|225827/);
  });

  test(`${name}: a byte order mark, other line ends and UTF-16 change nothing`, () => {
    const crlf = whole.replaceAll('\n', '\r\n');
    const mark = '\ufeff';
    const big = Buffer.from(mark + whole, 'utf16le').swap16();
    for (const bytes of [mark + whole, crlf, mark + crlf, Buffer.from(mark + whole, 'utf16le'), big]) {
      assert.equal(plan(bytes, file).events.map(said), events);
    }
  });

  test(`${name}: in Latin-1 the ids are read all the same`, () => {
    const latin = Buffer.from(whole.replace(/[^ -ÿ\n\t]/g, 'é'), 'latin1');
    assert.equal(plan(latin, file).events.map(said), events);
  });
}

test('a list of no known format is refused with exit code 4, whatever it holds', () => {
  for (const text of ['', ' \n', 'hello world\n', '{"a":1}', '[1,2]', '<xml/>', 'a,b\n1,2\n', '\u0000\u0001\u0002']) {
    try {
      plan(text);
    } catch (error) {
      assert.equal(
        [(error as { code: string }).code, (error as { exitCode: number }).exitCode],
        ['format_not_recognised', 4],
      );
      continue;
    }
    assert.unreachable(JSON.stringify(text));
  }
});

test('a CSV list of several megabytes keeps its rows and lines where cells hold many line breaks', () => {
  const rows = 1_200;
  const cell = `"${'note, with ""quotes""\n'.repeat(100)}"`;
  const accounts = Array.from({ length: rows }, (_, i) => String(76561202255225729n + BigInt(i)));
  const text = `steam_id,reason,banned_at\n${accounts.map((id) => `${id},${cell},2026-11-20T12:00:00Z\n`).join('')}`;
  const list = plan(text);
  assert.equal(list.refused, []);
  assert.equal(
    list.events.map(({ player_id, line }) => `${line} ${player_id}`),
    accounts.map((id, i) => `${2 + 101 * i} ${id}`),
  );
  const open = plan(`${text}1,"never closed\n${accounts.map((id) => `${id},,\n`).join('')}`);
  assert.is(open.events.length, rows);
  assert.equal(open.refused, [
    { line: 2 + 101 * rows, reason: 'a quote is not closed, so that nothing from here on can be read' },
  ]);
});

test('a row of CSV beyond the bound ends the reading by that reason, and a row up to it is read', () => {
  const list = (...lengths: readonly number[]) =>
    plan(`steam_id,reason\n${lengths.map((length) => `76561202255225729,${'x'.repeat(length)}\n`).join('')}`);
  assert.equal(list(262_000, 10).refused, []);
  const reason =
    'the row is longer than 262144 characters, or a quote is not closed, so that nothing from here on can be read';
  assert.equal(list(10, 262_144, 10).refused, [{ line: 3, reason }]);
});

test('an integer id keeps its digits, and one in a spreadsheet form is refused', () => {
  const list = plan(
    'player_id,banned_at\n"7,65612E+16",2026-11-20T12:00:00Z\n76561202255225731,2026-11-20T12:00:00Z\n',
  );
  assert.equal(
    list.events.map(({ player_id }) => player_id),
    ['76561202255225731'],
  );
  assert.match(list.refused[0]!.reason, /^rounded_number: /);
});

test('a time without a zone is read in the zone that the caller names', () => {
  const text = 'steam_id,banned_at\n76561202255225731,2026-11-20 13:00:00\n';
  assert.is(plan(text).events[0]!.banned_at, '2026-11-20T13:00:00.000Z');
  assert.is(plan(text, { timeZone: 'Europe/Berlin' }).events[0]!.banned_at, '2026-11-20T12:00:00.000Z');
});

test.run();
