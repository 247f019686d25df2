/** Lists of further tools, dumps of unknown ones, and descriptions of a user's own. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Description } from '../../../src/peer/formats/description.js';
import { draftOf } from '../../../src/peer/formats/draft.js';
import { readList } from '../../../src/peer/formats/interpret.js';
import { tools } from '../../../src/peer/formats/tools.js';
import { blocksOf } from '../../support/markdown.js';
import { brief, type Given, importPlan, plan } from '../import/plans.js';
import { DescribedList } from './described-list.js';

const [A, B, C] = ['76561202255225729', '76561202255225730', '76561202255225731'] as const;
const license = (n: number) => `license:${n}123456789abcdef0123456789abcdef01234567`;
const soon = 1_797_768_000;
const start = 1_795_176_000;

const bans = (text: string, options: Given = {}): string[] => brief(plan(text, options));

/** The message of the refusal of the whole list, with exit code 4. */
function refusal(text: string, options: Given = {}): string {
  try {
    plan(text, options);
  } catch (error) {
    assert.is((error as { exitCode?: number }).exitCode, 4);
    return (error as Error).message;
  }
  return assert.unreachable(`it was read: ${text.slice(0, 80)}`) as never;
}

test('FiveM-BanSql: a permanent ban stands whatever its expiration, and one that ends needs an end', () => {
  const header =
    'license,identifier,liveid,xblid,discord,playerip,targetplayername,sourceplayername,reason,timeat,expiration,permanent\n';
  const row = (n: number, expiration: number | string, permanent: number) =>
    `${license(n)},steam:1100001ffffe38${n},live:1,xbl:1,,ip:203.0.113.4,a,b,c,${start},${expiration},${permanent}\n`;
  const list = plan(header + row(1, 0, 1) + row(2, soon, 0) + row(3, start, 1) + row(4, '', 0), {
    name: 'banlist.csv',
  });
  assert.equal(
    list.events.map(({ player_id, expires_at, state }) => `${player_id} ${expires_at} ${state}`),
    [`${A} null send`, `${B} 2026-12-20T12:00:00.000Z send`, `${C} null send`],
  );
  assert.match(list.refused[0]!.reason, 'no end is stated');
});

test('IksAdmin: an appealed or deleted ban is lifted, and an IP ban is refused', () => {
  const header =
    'id,steam_id,ip,name,duration,reason,ban_type,server_id,admin_id,unbanned_by,unban_reason,created_at,end_at,updated_at,deleted_at\n';
  const row = (id: string, duration: number, end: number, type: number, unbanned: string, deleted: string) =>
    `1,${id},,n,${duration},r,${type},1,1,${unbanned},NULL,${start},${end},${start},${deleted}\n`;
  const text =
    header +
    row(A, 0, start, 0, 'NULL', 'NULL') +
    row(B, 0, 0, 0, '7', 'NULL') +
    row(C, 43_200, soon, 0, 'NULL', String(start)) +
    row('', 0, 0, 1, 'NULL', 'NULL');
  const list = plan(text, { name: 'iks_bans.csv' });
  assert.equal(brief(list), [`2 ${A} send`, `3 ${B} lifted`, `4 ${C} lifted`]);
  assert.is(list.events[0]!.expires_at, null);
  assert.match(refusal(text, { name: 'export.csv' }), 'do not tell bans from mutes');
});

test('ULib: the blocks of a KeyValues list are bans of the ids that name them', () => {
  const text = `// comment\n"STEAM_0:1:2147480000"\n{\n\t"reason"\t"a \\"quote\\" {"\n\t"time"\t"${start}"\n\t"unban"\t"0"\n}\n"STEAM_0:0:2147480001"\n{\n\t"unban"\t"${soon}"\n\t"time"\t"${start}"\n\t"admin"\t"(Console)"\n}\n`;
  assert.equal(bans(text), [`2 ${A} send`, `8 ${B} send`]);
  const cut = plan(text.slice(0, -30), {}, 'ulib-bans');
  assert.equal(brief(cut), [`2 ${A} send`]);
  assert.match(cut.refused[0]!.reason, 'damaged');
  assert.is(cut.refused[0]!.line, 8);
});

test('vMenu: an end in the year 3000 is permanent', () => {
  const entry = (n: number, until: string) =>
    `{"playerName":"n","identifiers":["steam:1100001ffffe38${n}","ip:203.0.113.4"],"bannedUntil":"${until}","banReason":"r","bannedBy":"b","uuid":"0a0b0c0d-1111-4222-8333-44445555660${n}"}`;
  const list = plan(`[${entry(1, '3000-01-01T00:00:00')},\n${entry(2, '2026-12-20T12:00:00')}]`);
  assert.equal(
    list.events.map(({ player_id, expires_at }) => [player_id, expires_at]),
    [
      [A, null],
      [B, '2026-12-20T12:00:00.000Z'],
    ],
  );
});

test('a dump of LiteBans is read as that, and its tables of mutes and warnings are left out by name', () => {
  const columns = '(`id`,`uuid`,`time`,`until`,`active`,`banned_by_name`,`removed_by_name`)';
  const insert = (table: string, n: number) =>
    `INSERT INTO \`${table}\` ${columns} VALUES (1,'0a0b0c0d-1111-4222-8333-44445555660${n}',${start}000,-1,1,'C',NULL);\n`;
  const list = plan(insert('litebans_mutes', 1) + insert('litebans_bans', 2) + insert('litebans_warnings', 3));
  assert.is(list.format, 'litebans-sql');
  assert.equal(brief(list), ['2 0a0b0c0d-1111-4222-8333-444455556602 send']);
  assert.match(
    list.refused.map(({ reason }) => reason).join('\n'),
    /litebans_mutes .*mute.*\n.*litebans_warnings .*warn/,
  );
});

test('a dump of a tool that is not known says which tables it holds', () => {
  const text = "CREATE TABLE `gs_bans` (`id` int, `guid` varchar(40));\nINSERT INTO `gs_bans` VALUES (1,'x');\n";
  assert.match(refusal(text), /a tool that is not known.*gs_bans/);
  assert.match(refusal("INSERT INTO bans (who, expires) VALUES ('76561202255225729', 0);\n"), 'bans');
});

test('bytes of a UUID in a dump are read', () => {
  const text =
    "INSERT INTO `bm_player_bans` (`id`,`player_id`,`reason`,`actor_id`,`created`,`updated`,`expires`,`silent`) VALUES (1,0x0A0B0C0D111142228333444455556611,'r',0x00,1795176000,1795176000,0,0);\n";
  assert.equal(bans(text), ['1 0a0b0c0d-1111-4222-8333-444455556611 send']);
});

test('a bit of a dump stands for yes or no in every form that mysqldump and mysql write', () => {
  const uuid = '0a0b0c0d-1111-4222-8333-444455556601';
  const columns = '(`uuid`,`time`,`until`,`active`,`banned_by_name`,`removed_by_name`)';
  const dump = (active: string) =>
    `INSERT INTO \`litebans_bans\` ${columns} VALUES ('${uuid}',${start}000,-1,${active},'C',NULL);\n`;
  for (const yes of ['1', "b'1'", '0x01', "'\u0001'"]) assert.equal(bans(dump(yes)), [`1 ${uuid} send`], yes);
  for (const not of ['0', "b'0'", '0x00', "'\0'"]) assert.equal(bans(dump(not)), [`1 ${uuid} lifted`], not);
  for (const none of ["b'0'", '00', '\0']) {
    assert.equal(bans(`steam_id,active,unbanned\n${A},1,${none}\n`), [`2 ${A} send`], JSON.stringify(none));
  }
});

test('a player whose name is a statement of SQL does not make a table a dump', () => {
  const header = 'bid\tip\tauthid\tname\tcreated\tends\tlength\treason\tRemovedBy\tRemoveType\ttype\n';
  const row = `1\t\tSTEAM_0:1:2147480000\tINSERT INTO x VALUES (1)\t${start}\t${start}\t0\tr\tNULL\tNULL\t0\n`;
  assert.equal(bans(header + row), [`2 ${A} send`]);
});

test('a length of zero is permanent and another runs from the begin; a length without an end is no permanent ban', () => {
  const header = 'ip,authid,created,ends,length,type,RemoveType\n';
  const list = plan(`${header},${A},${start},0,2592000,0,\n,${B},${start},${start},0,0,\n`);
  assert.equal(
    list.events.map(({ expires_at }) => expires_at),
    ['2026-12-20T12:00:00.000Z', null],
  );
});

test('a length of a century or more is permanent, however many digits it has', () => {
  const header = 'player_id,ban_created,ban_length,ban_type\n';
  for (const minutes of ['52560000', '9999999999', '999999999999']) {
    const { events } = plan(`${header}STEAM_0:1:2147480000,${start},${minutes},S\n`, { name: 'amx_bans' });
    assert.equal([events.length, events[0]?.expires_at], [1, null], minutes);
  }
});

test('a value of a type that the description does not know is refused', () => {
  const text = `id,name,uuid,reason,operator,punishmentType,start,end,calculation\n1,n,0a0b0c0d111142228333444455556611,r,o,SHADOWBAN,${start}000,-1,\n`;
  const list = plan(text, { name: 'Punishments.csv' });
  assert.equal([list.events.length, list.refused.length], [0, 1]);
  assert.match(list.refused[0]!.reason, 'punishmenttype has a value');
});

test('a number of ms in a cell of seconds is refused, and no ban without an end', () => {
  const list = plan(
    `id,license,reason,expire,bannedby\n1,${license(1)},r,${soon}000,b\n2,${license(2)},r,10444633200000,b\n`,
  );
  assert.equal(brief(list), [`3 ${license(2)} send`]);
  assert.match(list.refused[0]!.reason, 'expire is neither permanent nor a number of seconds');
});

test('a column that has a meaning may not be there twice', () => {
  const list = importPlan(`steam_id,expires_at,expires_at\n${A},2026-11-01,\n`);
  assert.equal([list.entries.length, list.unread?.line], [0, 1]);
  assert.match(list.unread!.reason, 'the column expires_at twice');
  assert.equal(bans(`steam_id,name,name\n${A},a,b\n`), [`2 ${A} send`]);
});

test('a dump of pg_dump with COPY data is damaged at the wanted table, and other data are passed over', () => {
  const columns = '(id, uuid, "time", until, active, banned_by_name, removed_by_uuid, removed_by_name)';
  const row = "1\t0a0b0c0d-1111-4222-8333-444455556601\tit's\t-1\n\\.\n";
  const other = `COPY public.litebans_servers (id, name) FROM stdin;\n${row}`;
  const list = importPlan(`${other}COPY public.litebans_bans ${columns} FROM stdin;\n${row}`);
  assert.equal([list.format, list.unread?.line], ['litebans-sql', 4]);
  assert.match(list.unread!.reason, '--inserts');
  const insert = `INSERT INTO public.litebans_bans ${columns} VALUES (1,'0a0b0c0d-1111-4222-8333-444455556601',${start}000,-1,true,'C',NULL,NULL);\n`;
  assert.equal(bans(other + insert), ['4 0a0b0c0d-1111-4222-8333-444455556601 send']);
});

test('in any list a status that is neither active nor empty lifts the ban', () => {
  const text = `steam_id,status\n${A},active\n${B},appealed\n${C},\n`;
  assert.equal(bans(text), [`2 ${A} send`, `3 ${B} lifted`, `4 ${C} send`]);
});

test('names of cells that may hold an end, a removal or a type stop the import, however they are joined', () => {
  const names =
    'banEnd,endTime,ends_on,banTill,to,validTo,period,mins,banSecs,term,bans,muted,mute,penalty,measure,event,level';
  for (const cell of names.split(',')) {
    assert.match(refusal(`steam_id,${cell}\n${A},x\n`), new RegExp(`say what ${cell} means`, 'i'), cell);
  }
  for (const cell of ['sender', 'vendor', 'friend', 'admin', 'photo', 'still', 'banned_by']) {
    assert.equal(bans(`steam_id,${cell}\n${A},x\n`), [`2 ${A} send`], cell);
  }
  assert.match(refusal(`[{"steam_id":"${A}","history":[{"what":"pardon"}]}]`), 'history');
  assert.equal(bans(`[{"steam_id":"${A}","history":[]}]`), [`1 ${A} send`]);
});

test('the rows of one line are persons of their own, and the accounts of a row one', () => {
  const entry = (n: number) => ({
    banid: n,
    identifiers: [`license:${n}`, license(n), `steam:1100001ffffe38${n}`],
    expire: 0,
  });
  const { entries } = importPlan(JSON.stringify([entry(1), entry(2)]), { kinds: ['steam', 'license'] });
  assert.equal(
    entries.map(({ line, row }) => [line, row]),
    [
      [1, 1],
      [1, 1],
      [1, 2],
      [1, 2],
    ],
  );
});

test('a row that says it is no ban is lifted, and one that says neither yes nor no is refused', () => {
  for (const cell of ['active', 'banned', 'isBanned', 'is_active']) {
    const list = plan(`steam_id,${cell}\n${A},yes\n${B},0\n${C},perhaps\n`);
    assert.equal(brief(list), [`2 ${A} send`, `3 ${B} lifted`], cell);
    assert.match(list.refused[0]!.reason, 'neither yes nor no');
  }
});

test('past bans have the columns of those that stand: a list without a name is none of either', () => {
  const uuid = '0a0b0c0d-1111-4222-8333-444455556601';
  for (const [name, header, row] of [
    ['Punishments', 'uuid,punishmentType,start,end', `${uuid},BAN,${start}000,-1`],
    ['amx_bans', 'player_id,ban_created,ban_length,ban_type', `STEAM_0:1:2147480000,${start},0,S`],
    ['banlist', 'license,timeat,expiration,permanent', `${license(1)},${start},${soon},0`],
  ] as const) {
    const text = `${header}\n${row}\n`;
    assert.is(bans(text, { name }).length, 1, name);
    for (const other of ['', 'export', 'PunishmentHistory', 'amx_banhistory', 'banlisthistory']) {
      assert.match(refusal(text, { name: other }), 'past bans', `${name} ${other}`);
    }
  }
});

test('a table without a column for an end, a removal or a type is refused with its name', () => {
  const uuid = '0a0b0c0d-1111-4222-8333-444455556601';
  const name = 'bans';
  for (const [lost, header, row] of [
    ['expires', 'player_id,reason,actor_id,created', `${uuid},r,0,${start}`],
    ['removetype, type', 'ip,authid,created,ends,length', `,${A},${start},${start},0`],
    ['type', 'ip,authid,created,ends,length,RemoveType', `,${A},${start},${start},0,`],
    ['unbanned_by', 'steam_id,duration,end_at,created_at,admin_id,ban_type,deleted_at', `${A},0,0,${start},1,0,`],
  ] as const) {
    const text = `${header}\n${row}\n`;
    assert.match(refusal(text, { name }), `the list lacks ${lost}, where`);
    assert.is(bans(text, { name, ignore: lost.split(', ') }).length, 1);
  }
  for (const { name, shape, recognise, needs = [], end, length, type, lifted = [] } of tools) {
    if (shape !== 'csv' || Object.keys(type?.kinds ?? { ban: 'ban' }).length === 0) continue;
    const there = [...recognise.cells!, ...needs.flatMap((group) => group.split('|'))];
    for (const one of [end, length, type, ...lifted]) {
      assert.ok(one === undefined || there.includes(one.cell) || name === 'iksadmin-2', `${name} ${one?.cell}`);
    }
  }
});

test("a user's description of JSON, XML or KeyValues names each cell and path that the list does not have", async () => {
  const list = new DescribedList('arena.list');
  const cell = { end: { cell: 'Until', unit: 's' }, lifted: [{ cell: 'Appeal.At' }], permanent: { cell: 'Ever' } };
  for (const [shape, path, id, whole, lacking, empty] of [
    [
      'json',
      'bans',
      'steam_id',
      `{"bans":[{"steam_id":"${A}","ever":1},{"steam_id":"${B}","until":0,"ever":1,"appeal":{"at":null}}]}`,
      `{"bans":[{"steam_id":"${A}","until":${soon}}]}`,
      '{"bans":[]}',
    ],
    [
      'json-lines',
      undefined,
      'steam_id',
      `{"steam_id":"${A}","ever":1}\n{"steam_id":"${B}","until":0,"ever":1,"appeal":{"at":null}}\n`,
      `{"steam_id":"${A}","until":${soon}}\n`,
      '\n',
    ],
    [
      'xml',
      'bans.ban',
      'steam_id',
      `<bans><ban steam_id="${A}" ever="1"/><ban steam_id="${B}" until="0" ever="1" appeal.at=""/></bans>`,
      `<bans><ban steam_id="${A}" until="${soon}"/></bans>`,
      '<bans></bans>',
    ],
    [
      'keyvalues',
      undefined,
      'key',
      `"${A}" { "reason" "r" "ever" "1" }\n"${B}" { "until" "0" "ever" "1" "appeal.at" "" }\n`,
      `"${A}" { "until" "${soon}" }\n`,
      '',
    ],
  ] as const) {
    const ids = [{ cell: id, kind: 'steam' }];
    const described = { name: 'arena', shape, ids, known: ['reason'], ...cell };
    const by = path === undefined ? described : { ...described, path };
    const read = async (text: string, ...more: readonly string[]) => {
      list.write(text);
      return list.dryRun(by, '--json', ...more);
    };
    assert.is((await read(whole)).code, 0, shape);
    const stopped = await read(lacking);
    assert.equal([stopped.code, /the list lacks ever, appeal\.at,/.test(stopped.out)], [4, true], stopped.out);
    const passed = await read(lacking, '--ignore', 'ever', '--ignore', 'appeal.at');
    assert.is(JSON.parse(passed.out).events.length, 1, passed.out);
    assert.is((await read(empty)).code, 0, `${shape} without entries`);
    if (path === undefined) continue;
    list.write(whole);
    const elsewhere = await list.dryRun({ ...described, path: 'list.entry' }, '--json');
    assert.equal([elsewhere.code, /the list lacks list\.entry,/.test(elsewhere.out)], [4, true], elsewhere.out);
  }
});

/** A list of one record with these cells, in the shape of a tool. */
function listOfCells({ shape, path = '' }: Description, cells: readonly string[]): string {
  const record = Object.fromEntries(cells.map((cell) => [cell, 'x']));
  const names = path === '' ? [] : path.split('.');
  if (shape === 'csv') return `${cells.join(',')}\n${cells.map(() => 'x').join(',')}\n`;
  if (shape === 'json')
    return JSON.stringify(names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), [record]));
  if (shape === 'json-lines') return `${JSON.stringify(record)}\n`;
  if (shape === 'xml') {
    const element = `<${names.at(-1)} ${cells.map((cell) => `${cell}="x"`).join(' ')}/>`;
    return names.slice(0, -1).reduceRight((inner, name) => `<${name}>${inner}</${name}>`, element);
  }
  if (shape === 'keyvalues') return `"x"\n{\n${cells.map((cell) => `"${cell}" "x"\n`).join('')}}\n`;
  return `INSERT INTO \`player_bans\` (${cells.map((cell) => `\`${cell}\``).join(',')}) VALUES (${cells.map(() => "'x'").join(',')});\n`;
}

test('no description of any shape leaves a dangerous cell unsaid', () => {
  const shapesSeen = new Set<string>();
  const drafts = (['csv', 'json', 'json-lines'] as const).map((shape) => draftOf(['steam_id', 'reason'], shape, ''));
  for (const tool of [...tools, ...drafts]) {
    if (tool.shape === 'lines') continue;
    const wanted = tool.recognise.cells ?? [];
    // A dump is read where its table has the name; any name serves where the description wants none.
    const description = { ...tool, recognise: { cells: wanted, why: '' } };
    const list = listOfCells(description, [...new Set([...wanted, tool.ids[0]!.cell, 'pardoned_on'])]);
    const named: string[] = [];
    const nothing = () => undefined;
    const sink = { row: nothing, refuse: nothing, damaged: nothing, lacks: nothing };
    const unknown = (cell: string, isDangerous: boolean) => isDangerous && named.push(cell);
    readList(description, list, { ...sink, unknown }, { timeZone: 'UTC', kinds: null });
    assert.equal(named, ['pardoned_on'], `${tool.name}: ${list}`);
    shapesSeen.add(tool.shape);
  }
  assert.is(shapesSeen.size, 6);
});

test('no two tools have one name and one shape, and each says what every cell of its recognition means', () => {
  for (const tool of tools) assert.ok(tool.ids.length > 0 && tool.recognise.why.length > 5, tool.name);
});

test('a draft names what a person must choose, and completed it reads the list', async () => {
  const list = new DescribedList('arena.csv');
  list.write(`account,steam_id,sanction,minutes,colour\n1,${A},ban,0,red\n2,${B},chat,60,red\n3,${C},ban,60,red\n`);
  const stopped = await list.dryRun(null);
  assert.is(stopped.code, 4);
  assert.match(stopped.err, /sanction, minutes means.*--ignore/);
  const { choose, ...draft } = JSON.parse((await list.describe()).out);
  const ids = [{ cell: 'steam_id', kind: 'steam' }];
  assert.equal([draft.shape, draft.ids, choose], ['csv', ids, ['sanction', 'minutes']]);
  const open = await list.dryRun({ ...draft, choose });
  assert.equal([open.code, /choose still holds sanction, minutes/.test(open.err)], [2, true], open.err);
  const type = { cell: 'sanction', kinds: { ban: 'ban' }, others: { chat: 'mute' } };
  const read = await list.plan({ ...draft, length: { cell: 'minutes', unit: 'min' }, type });
  assert.equal([brief(read), read.left_out], [[`2 ${A} send`, `4 ${C} send`], { mute: 1 }]);
  const wrong = await list.dryRun({ ...draft, shape: 'table' });
  assert.equal([wrong.code, /shape must be one of csv/.test(wrong.err)], [2, true], wrong.err);
});

test('a draft that finds no accounts leaves every cell to choose', async () => {
  const list = new DescribedList('bans.csv');
  list.write(`account,place,ban_length,why\n${A},2026-11-20T12:00:00Z,0,aim\n`);
  const { ids, known, choose } = JSON.parse((await list.describe()).out);
  assert.equal([ids, known, choose], [[], [], ['account', 'place', 'ban_length', 'why']]);
});

test('the description that the guide shows is accepted, and leaves the mutes out by name', async () => {
  const guide = readFileSync(new URL('../../../../docs/GAME-SERVERS.md', import.meta.url), 'utf8');
  const shown = blocksOf(guide, ['json']).find((block) => block.includes('"shape"')) ?? '';
  const list = new DescribedList('bans.csv');
  const cells = 'account,ban_length,why,kind,added,removed_by';
  const rows = [`${A},0,,ban,2026-11-21,`, `${B},60,,mute,2026-11-21,`, `${C},0,,ban,2026-11-21,moderator`];
  list.write(`${[cells, ...rows].join('\n')}\n`);
  const read = await list.plan(shown);
  assert.equal([brief(read), read.left_out], [[`2 ${A} send`, `4 ${C} lifted`], { mute: 1 }]);
});

test('a description of a user fails with a reason, and its names and values have any case', async () => {
  const list = new DescribedList('arena.csv');
  const arena = (more: object) => ({ name: 'arena', shape: 'csv', ids: [{ cell: 'Steam_ID' }], ...more });
  const given = {
    start: { cell: 'Since', unit: 's' },
    lifted: [{ cell: 'State', is: ['Over'] }],
    type: { cell: 'Kind', kinds: { Ban: 'ban' }, others: { Chat: 'mute' } },
  };
  list.write(`Steam_ID,Since,State,Kind\n${A},${start},Over,BAN\n${B},${start},,Ban\n${C},${start},,CHAT\n`);
  assert.equal(brief(await list.plan(arena(given))), [`2 ${A} lifted`, `3 ${B} send`]);
  for (const [fault, code, description] of [
    [/the list lacks until,/, 4, { ...given, end: { cell: 'Until', unit: 's' } }],
    [/recognise must name the table/, 2, { shape: 'sql' }],
    [/line has no group Steam_ID/, 2, { shape: 'lines', line: '^(?<id>\\d+)$' }],
    [/kinds must be ban/, 2, { type: { cell: 'kind', kinds: { x: 'mute' } } }],
    [/is and not must be lists/, 2, { lifted: [{ cell: 'state', is: 'over' }] }],
  ] as const) {
    const ran = await list.dryRun(arena(description));
    assert.equal([ran.code, fault.test(ran.err)], [code, true], ran.err);
  }
  list.write(`INSERT INTO \`gs_bans\` (\`Steam_ID\`) VALUES ('${A}');\n`);
  const sql = arena({ shape: 'sql', recognise: { named: '^gs_bans$' } });
  assert.equal(brief(await list.plan(sql)), [`1 ${A} send`]);
});

test('lists of a megabyte in one cell, or nested without end, end with a line and never with a failure', () => {
  const big = 'x'.repeat(2_000_000);
  const deep = (open: string, close = '') => `${open.repeat(200_000)}${close}`;
  for (const [format, text] of [
    ['7dtd', `<adminTools><blacklist><blacklisted userid="${big}"/></blacklist></adminTools>`],
    ['7dtd', deep('<a>')],
    ['ulib-bans', `"STEAM_0:1:1"\n{\n"reason" "${big}"\n}\n`],
    ['ulib-bans', deep('"a" { ')],
    ['ulib-bans', `"${'\\"'.repeat(1_000_000)}`],
    ['squad', `${big}Banned:${A}:0\n`],
    ['source', `banid 0 ${big}\n`],
    ['rust', `banid ${A} "${big}\n`],
  ] as const) {
    const list = plan(text, {}, format);
    assert.is(list.events.length, 0, format);
    assert.ok(list.refused.length > 0 && list.refused.every(({ line }) => line >= 1), format);
  }
});

test.run();
