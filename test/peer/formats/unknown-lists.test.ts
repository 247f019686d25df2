/** Lists of tools that no description knows, in the forms of which real exports are: read right or refused. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { A, B, brief, C, D, type Given, importPlan, type PlanDocument, plan } from '../import/plans.js';

const uuid = (n: number) => `0a0b0c0d-1111-4222-8333-44445555660${n}`;
const ticks = (seconds: number) => BigInt(seconds) * 10_000_000n + 621_355_968_000_000_000n;
const [start, soon, over] = [1_795_176_000, 1_797_768_000, 1_795_348_800];
const eos = '0002aaaabbbbccccddddeeeeffff0009';
const epic = '0123456789abcdef0123456789abcde';

/** Its bans, then the refused lines; or a part of the text by which the list as a whole is refused. */
type Outcome = readonly string[] | string | RegExp;

/** `reason`: a part of the reason of the first refused line. */
interface How extends Given {
  readonly format?: string;
  readonly reason?: string;
}

type Case = readonly [list: string, outcome: Outcome, how?: How];

function assertCase([list, outcome, { format, reason, ...options } = {}]: Case): void {
  const what = `${list.slice(0, 200)} ${JSON.stringify(options)} ${format}`;
  let read: PlanDocument;
  try {
    read = plan(list, options, format);
  } catch (error) {
    if (typeof outcome !== 'string' && !(outcome instanceof RegExp)) throw error;
    assert.match((error as Error).message, outcome, what);
    return;
  }
  assert.equal([...brief(read), ...read.refused.map(({ line }) => `${line} refused`)], outcome, what);
  if (reason !== undefined) assert.match(read.refused[0]!.reason, reason, what);
}

/** The same cases for each of the texts. */
const each = (texts: readonly string[], casesOf: (text: string) => readonly Case[]) => texts.flatMap(casesOf);

const noBans = 'holds no bans that stand';
const unknown = 'none of the known formats';
const entry = (id: string) => `[{"steamid":"${id}"}]`;
const row = (id: string, members: string) => `{"steamid":"${id}",${members.replace('D', D)}}`;
const details = '{"name":"Some One","reason":"aimbot","expires":"2026-11-22T12:00:00Z"}';
const unclear = `{"players":${entry(A)},"offenders":${entry(B)}}`;
const simpleAdmin = (id: string, duration: number, status: string) =>
  `1,${id},203.0.113.4,${D},${duration},2026-11-20 13:00:00,2026-11-20 12:00:00,${status}\n`;
const dump = (value: string) =>
  `CREATE TABLE bannedid (steamid TEXT, reason TEXT);\nINSERT INTO bannedid VALUES('${A}',${value});\n`;
const h2Columns = '"UUID" VARCHAR(36), "REASON" VARCHAR, "BANNED_BY_NAME" VARCHAR, "REMOVED_BY_NAME" VARCHAR';
const h2Row = `('${uuid(1)}', STRINGDECODE('a'), 'C', NULL, ${start}000, -1, TRUE)`;

const rules: Readonly<Record<string, readonly Case[]>> = {
  'an array of other players is never read as bans, and two arrays of bans need a choice': [
    ...each(['admins', 'whitelist', 'mutes', 'expired', 'unbans', 'ban_history'], (other) => [
      [`{"${other}":${entry(A)},\n"bans":${entry(B)}}`, [`2 ${B} send`]],
      [`{"${other}":${entry(A)}}`, noBans],
    ]),
    [`{"bans":${entry(A)},"tempbans":${entry(B)}}`, /its arrays bans, tempbans .* --table 'bans'/],
  ],
  'an object whose members are named by ids is read by them': [
    ...['', '{"version":2,"bans":'].flatMap((open): Case[] => {
      const close = open === '' ? '' : '}';
      return [
        [
          `${open}{"${A}":${details},\n"${B}":"wallhack","${C}":false,\n"x":"y"}${close}`,
          [`1 ${A} expired`, `2 ${B} send`, `2 ${C} lifted`, '3 refused'],
        ],
        [`${open}{\n"${A}":{"id":7,"key":"k"},"${uuid(1)}":{}}${close}`, [`2 ${A} send`, `2 ${uuid(1)} send`]],
      ];
    }),
    [`{"${A}":{"reason":"x","zzz":"2026-11-22"}}`, 'say what zzz means'],
    [`{"${A}":{}}`, noBans, { name: 'whitelist.json' }],
  ],
  'a row is no object by ids, whatever its members are named, and neither is a member beside the bans': [
    ...each(['"votes":{"D":1}', '"banned_by":{"D":"Admin"}', '"ban_reasons":{"D":"x"}'], (members) => [
      [`${row(B, members)}\n`, [`1 ${B} send`]],
      [`${row(A, members)}\n${row(B, members)}`, [`1 ${A} send`, `2 ${B} send`]],
    ]),
    [
      `{"epic_id":"${epic}0","reason":"x"}\n{"epic_id":"${epic}1","reason":"x"}`,
      [`1 epic:${epic}0 send`, `2 epic:${epic}1 send`],
    ],
    [`{\n"bans":["${A}"],\n"ban_reasons":{"${A}":"x"}}`, [`2 ${A} send`]],
  ],
  'a value beside an id that may be an end, a removal or more bans stops the import': each(
    ['1795348800', '"2026-11-22T12:00:00Z"', '"unbanned"', '"mute"', '[{"reason":"x"}]'],
    (value) => [[`{"${A}":"wallhack","${B}":${value}}`, 'say what value means']],
  ),
  'the name of a file that holds no bans stops the import, unless the format is given': [
    ...each(['whitelist.txt', 'admins.txt', 'mutes.txt', 'unbans.txt', 'expired_bans.txt'], (name) => [
      [`${A}\n`, noBans, { name }],
      [`steam_id\n${A}\n`, noBans, { name }],
      [`${A}\n`, [`1 ${A} send`], { name, format: 'ids' }],
    ]),
    ...each(['banlist', 'admin_bans', 'fadmin', 'community', 'bans-of-staff'], (name) => [
      [`steam_id\n${A}\n`, [`2 ${A} send`], { name }],
    ]),
  ],
  'a name that holds the name of another list within a word is no such list': [
    ...each(['gold', 'threshold', 'disallowed', 'swallowed', 'untrusted'], (name) => [
      [`steam_id\n${A}\n`, [`2 ${A} send`], { name }],
    ]),
    ...each(['old', 'bans_old', 'bansOld', 'allowlist', 'allowed', 'trusted'], (name) => [
      [`steam_id\n${A}\n`, noBans, { name }],
    ]),
  ],
  'a header in another language or script stops the import where it may state an end or a type': [
    ...each(
      ['Gebannt bis', 'Dauer', 'Aufgehoben', 'Art', 'Date de fin', 'durée', 'hasta', 'estado', 'срок'],
      (cell) => [[`steam_id;${cell}\n${A};x\n`, 'say what']],
    ),
    ...each(['2026-11-22 12:00', '22.11.2026', '11/22/2026', String(over), 'Mute', 'unbanned'], (value) => [
      [`steam_id;zzz\n${A};${value}\n`, 'say what zzz means'],
    ]),
    [`steam_id;Grund;last_seen\n${A};cheats 2;2026-11-22\n`, [`2 ${A} send`]],
  ],
  'a member of an object that looks like an end stops the import, whatever its own name': [
    [`{"steamId":"${A}","expires_on":{"value":"2026-11-22T12:00:00Z"}}\n`, 'expires_on.value'],
    [`{"steamId":"${A}","expiresAt":{"$date":"2026-11-22T12:00:00Z"}}\n`, [`1 ${A} expired`]],
    ...each(['warned', 'kicked', 'timeout', 'reinstated', 'decision'], (cell) => [
      [`steam_id,${cell}\n${A},1\n`, `say what ${cell} means`],
    ]),
  ],
  'a kind that is a measure is no kind of an account': [
    [
      `player_id,kind\n${uuid(1)},mute\n100000000000000001,ban\n${uuid(2)},\n`,
      [`4 ${uuid(2)} send`, '2 refused', '3 refused'],
    ],
  ],
  'the id of a record is not that of the player': [
    [`uuid,steam_id\n${uuid(1)},${A}\n`, [`2 ${A} send`], { kinds: ['steam', 'minecraft'] }],
    [`id,player_steamid,admin_steamid\n1,${A},${B}\n`, [`2 ${A} send`]],
    [`id,user_id,reason\n${uuid(1)},100000000000000001,x\n`, unknown],
  ],
  'a status that says neither that the ban stands nor that it ended is refused': [
    [
      `steam_id,status\n${A},Permanent\n${B},Muted\n${C},Unbanned\n`,
      [`2 ${A} send`, `4 ${C} lifted`, '3 refused'],
      { reason: 'neither yes nor no' },
    ],
    [`steam_id,unbanned\n${A},-\n${B},N/A\n${C},x\n`, [`2 ${A} send`, `3 ${B} send`, `4 ${C} lifted`]],
  ],
  'a number as a status is refused, since its meaning may be inverted': [
    [`steam_id,status\n${A},0\n${B},1\n${C},active\n`, [`4 ${C} send`, '2 refused', '3 refused']],
    [`steam_id,active\n${A},0\n${B},1\n`, [`2 ${A} lifted`, `3 ${B} send`]],
  ],
  'a table without a header loses no first row, and the line with the separator is no header': [
    [`${A},name,${start}\n${B},name,${start}\n`, 'its first row holds values'],
    ['name,STEAM_0:1:2147480000\nother,STEAM_0:1:2147480001\n', 'its first row holds values'],
    [`sep=;\nsteam_id;name\n${A};a,b\n`, [`3 ${A} send`]],
  ],
  'a line of ids may have a comment, unless the comment may state an end': [
    [
      `// one id per line\n${A} // griefer\n${B} # until Friday\n${uuid(1)}\n`,
      [`2 ${A} send`, `4 ${uuid(1)} send`, '3 refused'],
      { name: 'bannedlist', reason: 'its comment may state an end' },
    ],
    [`${eos}\n`, [`1 ${eos} send`]],
  ],
  'a comment that may say that a ban ended, how long it is or that it is none is refused': [
    ...each(
      'lifted after appeal|appealed|pardoned|not banned|whitelisted|false positive, removed|7d|30m|1 year|20-11-26|bis Freitag|gagged|jail|5. Dec|revoked'.split(
        '|',
      ),
      (comment) => [[`${A} // cheats\n${B} // ${comment}\n`, [`1 ${A} send`, '2 refused']]],
    ),
    ...each(['griefer', 'aimbot, killed 12 people', 'offended everyone', 'second offence', 'x2 hacks'], (comment) => [
      [`${A} # ${comment}\n`, [`1 ${A} send`]],
    ]),
  ],
  'an element beside those of a known list is refused, and a blacklist of another game is none of it': [
    [`<adminTools><blacklist>\n<ban userid="${A}"/></blacklist></adminTools>`, ['2 refused']],
    [`<server><blacklist><id value="${A}"/></blacklist></server>`, unknown],
  ],
  'JSON with ends and without UUIDs is not a list of Minecraft, and an IP ban of Minecraft says so': [
    [`[{"steamid":"${A}","created":"2026-11-20T12:00:00Z","expires":"2026-11-22T12:00:00Z"}]`, [`1 ${A} expired`]],
    [
      '[{"ip":"203.0.113.4","created":"2026-11-20 12:00:00 +0000","expires":"forever"}]',
      ['1 refused'],
      { reason: 'an IP address is not an account' },
    ],
  ],
  'Squad: the first id of a line is banned, and neither its admin nor a player whom the reason names': [
    [
      [
        `${A}:0 // alt of Banned:${D}:0`,
        `Banned:${B}:0 //see Banned:${D}:0`,
        `x//y: [SteamID ${D}] Banned:${C}:0 //his main is Admin [SteamID ${D}] Banned:${D}:0`,
        ...[`${A} // alt of`, `Banned:${A} //`, 'STEAM_0:1:7:0 // [x]', `x Banned:${A}:0`].map(
          (text) => `${text} Banned:${D}:0`,
        ),
      ].join('\n'),
      [`1 ${A} send`, `2 ${B} send`, `3 ${C} send`, ...[4, 5, 6, 7].map((line) => `${line} refused`)],
    ],
  ],
  'BattlEye: a number in front of an id is no id': [
    [`${'0'.repeat(32)} -1\n3 ${A} -1 cheat\n${B} ${C} -1 reason\n`, [`2 ${A} send`, `3 ${B} send`, '1 refused']],
  ],
  'CS2-SimpleAdmin: a length of 0 is permanent, and the status ends a ban': [
    [
      `id,player_steamid,player_ip,admin_steamid,duration,ends,created,status\n${simpleAdmin(A, 0, 'ACTIVE')}${simpleAdmin(B, 60, 'EXPIRED')}${simpleAdmin(C, 0, 'UNBANNED')}${simpleAdmin('', 0, 'ACTIVE')}`,
      [`2 ${A} send`, `3 ${B} expired`, `4 ${C} lifted`, '5 refused'],
      { name: 'sa_bans.csv', reason: 'address' },
    ],
  ],
  'dumps of H2 and of Project Zomboid are read, with calls as values and without stated columns': [
    [
      `CREATE CACHED TABLE "PUBLIC"."LITEBANS_BANS"(${h2Columns}, "TIME" BIGINT, "UNTIL" BIGINT, "ACTIVE" BOOLEAN);\nINSERT INTO "PUBLIC"."LITEBANS_BANS" VALUES\n${h2Row};\n`,
      [`3 ${uuid(1)} send`],
    ],
    [
      `CREATE TABLE bannedid (steamid TEXT NULL, reason TEXT);\nINSERT INTO bannedid VALUES('${A}','it''s');\n`,
      [`2 ${A} send`],
    ],
  ],
  'calls in a dump may have no arguments, and deep ones are damage': [
    [dump('NOW()'), [`2 ${A} send`]],
    [dump('f('.repeat(100_000)), ['2 refused'], { reason: 'damaged' }],
  ],
  'only the banned player of a row is reported, whoever else the row names': [
    ...each(
      ['offender_steamid,victim_steamid', 'target_steamid,reporter_steamid', 'steamid,victim_steamid'],
      (header) => [[`${header}\n${A},${B}\n`, [`2 ${A} send`], { kinds: ['steam', 'discord'] }]],
    ),
    [`player_steamid,user_discord_id\n${A},100000000000000001\n`, [`2 ${A} send`], { kinds: ['steam', 'discord'] }],
    ...each(['target_steamid,user_steamid', 'player_steamid,target_steamid', 'id,victim_steamid'], (header) => [
      [`${header}\n${A},${B}\n`, unknown],
    ]),
    [`id,superuser_valid_grid\n${A},1\n`, [`2 ${A} send`], { ignore: ['superuser_valid_grid'] }],
  ],
  'a cell about another time is passed over only if it holds a time': [
    [`[{"steamid":"${A}","log":[{"action":"unbanned"}]}]`, 'say what log means'],
    [`steam_id,last_update\n${A},unbanned\n`, 'say what last_update means'],
    [`steam_id,display\n${A},22.11.2026\n`, 'say what display means'],
  ],
  'an address and a version are no dates': [
    ...each(['85.12.113.4', '8.12.11.4', '1.21.10', '32.12.2026', '12.13.2026'], (value) => [
      [`steam_id,zzz\n${A},${value}\n`, [`2 ${A} send`]],
    ]),
    ...each(['1.2.26', '22.11.2026.', '12/31/26 10:00', '2026/11/22'], (value) => [
      [`steam_id,zzz\n${A},${value}\n`, 'say what zzz means'],
    ]),
  ],
  'of many arrays the one of bans is read in any format, and otherwise none': [
    ...each(
      [`"players":${entry(A)}`, '"servers":[{"id":"1"}]', '"ip_bans":[{"id":"1"}]', '"log":[{"id":"2"}]'],
      (text) => each(['auto', 'json'], (format) => [[`{${text},\n"bans":${entry(B)}}`, [`2 ${B} send`], { format }]]),
    ),
    [`{"servers":[{"id":"1"}],\n"list":${entry(A)}}`, [`2 ${A} send`]],
    ...each(['auto', 'json'], (format) => [[unclear, /--table 'players'$/, { format }]]),
    ...each(
      [
        `{"players":[${`{"steamid":"${A}"},`.repeat(3_000)}{"steamid":"${A}"}],"bans":[]}`,
        `{"players":${entry(A)},"bans":[]}`,
        `{"mutes":${entry(A)},"bans":[]}`,
      ],
      (text) => [
        [text, unknown],
        [text, [], { format: 'json' }],
      ],
    ),
    [`{"players":${entry(A)},\n"banned-players":${entry(B)}}`, [`2 ${B} send`]],
    [`{"bans":[{"steamid":"${A}","bans":[{"id":1}]}]}`, [`1 ${A} send`], { ignore: ['bans'] }],
  ],
  'a remark about a ban is harmless, and one about a removal or another measure is not': [
    ...each(['unban', 'mute', 'appeal', 'unban.action'], (parent) => {
      const inner = parent.split('.').reduceRight((text, name) => `{"${name}":${text}}`, '{"by":"x","reason":"y"}');
      return [[`{"steamid":"${A}",${inner.slice(1)}\n`, `say what ${parent}.by`]];
    }),
    [`{"steamid":"${A}","punishment":{"reason":"x"},"ban":{"by":"x"}}\n`, [`1 ${A} send`]],
  ],
};

for (const [rule, cases] of Object.entries(rules)) test(rule, () => cases.forEach(assertCase));

/** Asserts that the work takes so much time of the process at most, which other processes do not lengthen. */
function takesAtMost(ms: number, work: () => void): void {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  assert.ok((user + system) / 1_000 < ms, `it took ${(user + system) / 1_000} ms`);
}

test('no message about an object by ids names one of its players', () => {
  for (const other of ['votes', 'admins', 'expired_bans', 'ip_bans', 'ban_reasons']) {
    for (const id of [A, 'STEAM_0:1:11101', '[U:1:22203]', uuid(1)]) {
      const list = `{"name":"Arena","${other}":{"${id}":{"at":1}}}`;
      assertCase([list, `${other}.<id>.at`]);
      assertCase([list, new RegExp(`^(?!.*${id.toLowerCase().replace(/[[\]]/g, '\\$&')})`, 's')]);
    }
  }
  const arrays = `{"${A}":[{"steamid":"${A}"}],"${B}":[{"steamid":"${B}"}]}`;
  assertCase([arrays, new RegExp(`^(?!.*${A}).*say what value means`, 's')]);
});

test('a value that says no lifts the ban of its id, behind thousands of others', () => {
  const entries = Array.from(
    { length: 2_000 },
    (_, i) => `"${uuid(1).slice(0, 32)}${1_000 + i}":{"reason":"a long reason"}`,
  );
  const long = brief(plan(`{${entries.join(',')},"${A}":false}`));
  assert.equal([long.length, long.at(-1)], [2_001, `1 ${A} lifted`]);
});

test('the zero of a database as an end is no end, and a date before all ban lists is refused', () => {
  const list = plan(
    `steam_id,expires_at\n${A},0001-01-01T00:00:00\n${B},1970-01-01 00:00:00\n${C},infinity\n${D},1998-01-01\n`,
  );
  assert.equal(
    list.events.map(({ player_id, expires_at, state }) => [player_id, expires_at, state]),
    [A, B, C].map((id) => [id, null, 'send']),
  );
  assert.match(list.refused[0]!.reason, 'expires_at is neither permanent nor');
});

test('a begin has many names', () => {
  for (const cell of ['issued_on', 'added', 'added_on', 'when', 'banned_time', 'ban_start', 'time_added']) {
    const { events } = plan(`steam_id,${cell}\n${A},2026-11-20 12:00:00\n`);
    assert.is(events[0]!.banned_at, '2026-11-20T12:00:00.000Z', cell);
  }
});

test('cells about other times are named, and a stopped cell is named once', () => {
  const list = plan(`steam_id,last_seen,joined,played\n${A},22.11.2026 12:00,${start},2 h\n`);
  assert.equal([brief(list), list.unknown_cells], [[`2 ${A} send`], ['last_seen', 'joined', 'played']]);
  for (const value of ['1.2.26', '22.11.2026.', '12/31/26 10:00', '2026/11/22']) {
    const stopped = importPlan(`steam_id,zzz\n${A},${value}\n`, { ignore: ['zzz'] });
    assert.equal(stopped.unknown.harmless, []);
  }
});

test('a long name of a column and long lines of Squad are refused in linear time', () => {
  takesAtMost(1_000, () => assertCase([`${'0123456789abcdef'.repeat(600)}x,name\n1,2\n`, /./]));
  takesAtMost(5_000, () => {
    for (const part of [' Banned:', ' Banned:   7', '/ ', 'f', ':1 ', ' ']) {
      const line = `//${part.repeat(65_000 / part.length)}x`;
      assert.is(plan(`${A}:0\n${`${line}\n`.repeat(8)}`).events.length, 1, part);
    }
  });
});

test('SCP:SL: times are ticks, semicolons belong to names and reasons, and the admin is never reported', () => {
  const line = (id: string, end: number) => `A;B;${id};${ticks(end)};a; b;Admin (${D}@steam);${ticks(start)}\n`;
  const list = line(`${A}@steam`, soon) + line(`${B}@steam`, over) + line('203.0.113.4', soon);
  assertCase([list, [`1 ${A} send`, `2 ${B} expired`, '3 refused'], { reason: 'address' }]);
  assert.is(plan(list).events[0]!.banned_at, '2026-11-20T12:00:00.000Z');
});

test('SCP:SL: a long line is read in linear time, and a name that holds an id and an end is refused', () => {
  const line = (name: string) => `${name};${A}@steam;${ticks(soon)};r;Admin;${ticks(start)}\n`;
  const long = line('x') + line(';1;123456789012345678'.repeat(3_000)) + line('x;'.repeat(30_000));
  takesAtMost(1_000, () => assertCase([long, [`1 ${A} send`, '2 refused', '3 refused']]));
  for (const name of [`a;${C}@steam;${ticks(soon)};b`, `a;${C}@steam;${ticks(soon)}`])
    assertCase([line('x') + line(name), [`1 ${A} send`, '2 refused']]);
});

test.run();
