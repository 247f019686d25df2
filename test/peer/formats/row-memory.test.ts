/** A list that is read again: what an unchanged row came to is used again, and a changed list reads as a new one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Description } from '../../../src/peer/formats/description.js';
import { readList } from '../../../src/peer/formats/interpret.js';
import { RowMemory } from '../../../src/peer/formats/row-memory.js';
import type { ImportPlan } from '../../../src/peer/import/plan.js';
import { type Given, importPlan } from '../import/plans.js';
import { lists } from './lists.js';

const bans = 6;

/** The plan without what a second read could share by identity alone. */
function contentOf({ entries, ...rest }: ImportPlan): unknown {
  return JSON.parse(JSON.stringify({ ...rest, unknown: undefined, entries }));
}

/** The players of a plan that are those of the former one, row by row, instead of equal ones. */
function shared(before: ImportPlan, after: ImportPlan): number {
  const known = new Set(before.entries.map(({ player }) => player));
  return after.entries.filter(({ player }) => known.has(player)).length;
}

/** Reads each text with one memory, and asserts that each plan is that of a read without a memory. */
function readAll(texts: readonly string[], options: Given = {}, format = 'auto'): ImportPlan[] {
  const memory = new RowMemory();
  return texts.map((text) => {
    const again = importPlan(text, { ...options, memory }, format);
    assert.equal(contentOf(again), contentOf(importPlan(text, options, format)), text);
    return again;
  });
}

for (const [name, make] of Object.entries(lists)) {
  test(`${name}: whatever changes, a second read says what a first one says`, () => {
    const [whole, longer, lines] = [make(bans), make(bans + 1), make(bans).split('\n')];
    const without = (n: number) => lines.filter((_, at) => at !== n).join('\n');
    const swapped = [...lines.slice(0, -3), ...lines.slice(-3, -1).reverse(), ''].join('\n');
    const cut = whole.slice(0, -20);
    const texts = [whole, whole, longer, without(3), whole, `${whole}${lines.at(-2)}\n`, swapped, cut, whole, longer];
    readAll(texts, { name: `${name}_bans` }, name);
  });
}

for (const name of ['sourcebans', 'minecraft', 'source', 'ndjson', 'txadmin']) {
  test(`${name}: the rows that are there again are not interpreted again`, () => {
    const [first, second] = readAll([lists[name]!(bans), lists[name]!(bans + 1)], { name: 'sb_bans' }, name);
    assert.is(second!.entries.length, bans + 1);
    // The last row of a document may have another end.
    assert.ok(shared(first!, second!) >= bans - 1, `${shared(first!, second!)}`);
  });
}

test('a cell that a dump has no longer is missed in each read', () => {
  const dump = (cells: string) => `INSERT INTO bans (${cells}) VALUES ('76561202255225729', '1764000000', '0');\n`;
  const description = {
    title: 'bans',
    shape: 'sql',
    recognise: { cells: ['steamid'] },
    needs: ['ends'],
    ids: [{ cell: 'steamid' }],
    end: { cell: 'ends', unit: 's' },
  } as unknown as Description;
  const memory = new RowMemory();
  const lacking = (text: string) => {
    const lacks: string[] = [];
    const nothing = () => undefined;
    const sink = { row: nothing, refuse: nothing, damaged: nothing, unknown: nothing };
    readList(
      description,
      text,
      { ...sink, lacks: (cell) => lacks.push(cell) },
      { timeZone: 'UTC', kinds: null, memory },
    );
    return lacks;
  };
  assert.equal([lacking(dump('steamid, ends, other')), lacking(dump('steamid, begins, other'))], [[], ['ends']]);
});

const [A, B, C] = ['76561202255225729', '76561202255225730', '76561202255225731'] as const;

test('a line within a quoted cell is no row, though it was one in the former read', () => {
  const old = `steam_id,reason\n${A},x\n${B},x\n`;
  const hidden = `steam_id,reason\n${C},"\n${A},x\n"\n${B},x\n`;
  const [, after, open] = readAll([old, hidden, `steam_id,reason\n${C},"\n${A},x\n${B},x\n`, old]);
  assert.equal(
    after!.entries.map(({ player, line }) => `${line} ${player.id}`),
    [`2 ${C}`, `5 ${B}`],
  );
  assert.is(open!.entries.length, 0);
  assert.is.not(open!.unread, null);
});

test('a byte order mark within a list says the same in a second read', () => {
  const first = `steam_id,reason\n${A},x\n`;
  readAll([first, `${first}\ufeff"${B}","x,y"\n`]);
});

test('a header or a separator that changes gives every row another meaning', () => {
  const rows = `${A},${B}\n${C},${C}\n`;
  const [first, other] = readAll([`steam_id,reason\n${rows}`, `reason,steam_id\n${rows}`]);
  assert.equal(
    [first, other].map((plan) => plan!.entries.map(({ player }) => player.id)),
    [
      [A, C],
      [B, C],
    ],
  );
  readAll([`steam_id,reason;x\n1;2\n`, `steam_id;reason,x\n1;2\n`, `steam_id;reason\n${A};2\n`], {}, 'csv');
});

test('a dangerous cell of a changed list stops the import, and so does one that it has lost', () => {
  const stops = (texts: readonly string[], format: string, reason: RegExp) => {
    const memory = new RowMemory();
    texts.slice(0, -1).forEach((text) => void importPlan(text, { memory }, format));
    try {
      importPlan(texts.at(-1)!, { memory }, format);
    } catch (error) {
      assert.match((error as Error).message, reason);
      return;
    }
    assert.unreachable(texts.at(-1));
  };
  const entry = (more: object) => JSON.stringify([{ steam_id: A }, { steam_id: B, ...more }]);
  stops([entry({}), entry({}), entry({ pardoned_on: 1 })], 'json', /pardoned_on/);
  stops([entry({ history: 1 }), entry({ history: { end: 1 } })], 'json', /history/);
  stops([`steam_id\n${A}\n`, `steam_id,until_x\n${A}\n`], 'csv', /until_x/);
  const bans = lists.sourcebans!(2);
  stops([bans, bans.replace('RemoveType', 'reason2')], 'sourcebans', /lacks removetype/);
});

test('a ban ends and fades by the time of each read, and a second row of it counts as in a first read', () => {
  const memory = new RowMemory();
  const text = `steam_id,banned_at,expires_at\n${A},2026-11-01T00:00:00Z,2026-11-30T00:00:00Z\n`;
  const at = (day: number, list: string) => {
    const [entry] = importPlan(list, { memory, now: Date.UTC(2026, 10, day) }).entries;
    return [entry!.state, entry!.repeats.count];
  };
  assert.equal(at(25, text), ['send', 0]);
  assert.equal(at(30, text), ['expired', 0]);
  const twice = `${text}${A},2026-11-01T00:00:00Z,\n`;
  assert.equal(at(30, twice), ['send', 1]);
  assert.equal(at(30, twice), ['send', 1]);
  assert.equal(at(30, text), ['expired', 0]);
});

test.run();
