/** Lists of tools that no description knows, in the forms of which real exports are: read right or refused. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { A, B, brief, C, D, type Given, importPlan, type PlanDocument, plan } from '../import/plans.js';

const uuid = (n: number) => `0a0b0c0d-1111-4222-8333-44445555660${n}`;
const ticks = (seconds: number) => BigInt(seconds) * 10_000_000n + 621_355_968_000_000_000n;
const [start, soon, over] = [1_795_176_000, 1_797_768_000, 1_795_348_800];

const bans = (text: string, options: Given = {}): string[] => brief(plan(text, options));

/** The time of the process since then, which other processes do not lengthen. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function refusal(text: string, options: Given = {}): string {
  let read: PlanDocument;
  try {
    read = plan(text, options);
  } catch (error) {
    return (error as Error).message;
  }
  return assert.unreachable(`it was read: ${JSON.stringify(read)}`) as never;
}

test('an array of other players is never read as bans, and two arrays of bans need a choice', () => {
  const entry = (id: string) => `[{"steamid":"${id}"}]`;
  for (const other of ['admins', 'whitelist', 'mutes', 'expired', 'unbans', 'ban_history']) {
    assert.equal(bans(`{"${other}":${entry(A)},\n"bans":${entry(B)}}`), [`2 ${B} send`], other);
    assert.match(refusal(`{"${other}":${entry(A)}}`), 'holds no bans that stand', other);
  }
  assert.match(refusal(`{"bans":${entry(A)},"tempbans":${entry(B)}}`), /its arrays bans, tempbans .* --table 'bans'/);
});

test('an object whose members are named by ids is read by them, and no message names one of its players', () => {
  const entry = '{"name":"Some One","reason":"aimbot","expires":"2026-11-22T12:00:00Z"}';
  for (const [open, close] of [
    ['', ''],
    ['{"version":2,"bans":', '}'],
  ]) {
    const read = plan(`${open}{"${A}":${entry},\n"${B}":"wallhack","${C}":false,\n"x":"y"}${close}`);
    assert.equal(brief(read), [`1 ${A} expired`, `2 ${B} send`, `2 ${C} lifted`]);
    assert.equal(
      read.refused.map(({ line }) => line),
      [3],
    );
    assert.equal(bans(`${open}{\n"${A}":{"id":7,"key":"k"},"${uuid(1)}":{}}${close}`), [
      `2 ${A} send`,
      `2 ${uuid(1)} send`,
    ]);
  }
  assert.match(refusal(`{"${A}":{"reason":"x","zzz":"2026-11-22"}}`), 'say what zzz means');
  for (const other of ['votes', 'admins', 'expired_bans', 'ip_bans', 'ban_reasons']) {
    for (const id of [A, 'STEAM_0:1:11101', '[U:1:22203]', uuid(1)]) {
      const message = refusal(`{"name":"Arena","${other}":{"${id}":{"at":1}}}`);
      assert.not.match(message, id.toLowerCase(), other);
      assert.match(message, `${other}.<id>.at`);
    }
  }
  const arrays = refusal(`{"${A}":[{"steamid":"${A}"}],"${B}":[{"steamid":"${B}"}]}`);
  assert.match(arrays, 'say what value means');
  assert.not.match(arrays, A);
  assert.match(refusal(`{"${A}":{}}`, { name: 'whitelist.json' }), 'holds no bans that stand');
});

test('a row is no object by ids, whatever its members are named, and neither is a member beside the bans', () => {
  for (const members of ['"votes":{"D":1}', '"banned_by":{"D":"Admin"}', '"ban_reasons":{"D":"x"}']) {
    const row = (id: string) => `{"steamid":"${id}",${members.replace('D', D)}}`;
    assert.equal(bans(`${row(B)}\n`), [`1 ${B} send`], members);
    assert.equal(bans(`${row(A)}\n${row(B)}`), [`1 ${A} send`, `2 ${B} send`], members);
  }
  const epic = '0123456789abcdef0123456789abcde';
  assert.equal(bans(`{"epic_id":"${epic}0","reason":"x"}\n{"epic_id":"${epic}1","reason":"x"}`), [
    `1 epic:${epic}0 send`,
    `2 epic:${epic}1 send`,
  ]);
  assert.equal(bans(`{\n"bans":["${A}"],\n"ban_reasons":{"${A}":"x"}}`), [`2 ${A} send`]);
});

test('a value beside an id that may be an end, a removal or more bans stops the import, one that says no lifts', () => {
  const entries = Array.from(
    { length: 2_000 },
    (_, i) => `"${uuid(1).slice(0, 32)}${1_000 + i}":{"reason":"a long reason"}`,
  );
  const long = bans(`{${entries.join(',')},"${A}":false}`);
  assert.equal([long.length, long.at(-1)], [2_001, `1 ${A} lifted`]);
  for (const value of ['1795348800', '"2026-11-22T12:00:00Z"', '"unbanned"', '"mute"', '[{"reason":"x"}]']) {
    assert.match(refusal(`{"${A}":"wallhack","${B}":${value}}`), 'say what value means', value);
  }
});

test('the name of a file that holds no bans stops the import, unless the format is given', () => {
  for (const name of ['whitelist.txt', 'admins.txt', 'mutes.txt', 'unbans.txt', 'expired_bans.txt']) {
    assert.match(refusal(`${A}\n`, { name }), 'holds no bans that stand', name);
    assert.match(refusal(`steam_id\n${A}\n`, { name }), 'holds no bans that stand', name);
    assert.equal(brief(plan(`${A}\n`, { name }, 'ids')), [`1 ${A} send`], name);
  }
  for (const name of ['banlist', 'admin_bans', 'fadmin', 'community', 'bans-of-staff']) {
    assert.equal(bans(`steam_id\n${A}\n`, { name }), [`2 ${A} send`], name);
  }
});

test('a header in another language or script stops the import where it may state an end or a type', () => {
  for (const cell of ['Gebannt bis', 'Dauer', 'Aufgehoben', 'Art', 'Date de fin', 'durée', 'hasta', 'estado', 'срок']) {
    assert.match(refusal(`steam_id;${cell}\n${A};x\n`), 'say what', cell);
  }
  for (const value of ['2026-11-22 12:00', '22.11.2026', '11/22/2026', String(over), 'Mute', 'unbanned']) {
    assert.match(refusal(`steam_id;zzz\n${A};${value}\n`), 'say what zzz means', value);
  }
  assert.equal(bans(`steam_id;Grund;last_seen\n${A};cheats 2;2026-11-22\n`), [`2 ${A} send`]);
});

test('a member of an object that looks like an end stops the import, whatever its own name', () => {
  const entry = `{"steamId":"${A}","expires_on":{"value":"2026-11-22T12:00:00Z"}}`;
  assert.match(refusal(`${entry}\n`), 'expires_on.value');
  assert.equal(bans(`{"steamId":"${A}","expiresAt":{"$date":"2026-11-22T12:00:00Z"}}\n`), [`1 ${A} expired`]);
  for (const cell of ['warned', 'kicked', 'timeout', 'reinstated', 'decision']) {
    assert.match(refusal(`steam_id,${cell}\n${A},1\n`), `say what ${cell} means`);
  }
});

test('a kind that is a measure is no kind of an account', () => {
  const list = plan(`player_id,kind\n${uuid(1)},mute\n100000000000000001,ban\n${uuid(2)},\n`);
  assert.equal([brief(list), list.refused.length], [[`4 ${uuid(2)} send`], 2]);
});

test('the id of a record is not that of the player', () => {
  const kinds = ['steam', 'minecraft'];
  assert.equal(bans(`uuid,steam_id\n${uuid(1)},${A}\n`, { kinds }), [`2 ${A} send`]);
  assert.equal(bans(`id,player_steamid,admin_steamid\n1,${A},${B}\n`), [`2 ${A} send`]);
  assert.match(refusal(`id,user_id,reason\n${uuid(1)},100000000000000001,x\n`), 'none of the known formats');
});

test('a status that says neither that the ban stands nor that it ended is refused', () => {
  const list = plan(`steam_id,status\n${A},Permanent\n${B},Muted\n${C},Unbanned\n`);
  assert.equal(brief(list), [`2 ${A} send`, `4 ${C} lifted`]);
  assert.match(list.refused[0]!.reason, 'neither yes nor no');
  assert.equal(bans(`steam_id,unbanned\n${A},-\n${B},N/A\n${C},x\n`), [`2 ${A} send`, `3 ${B} send`, `4 ${C} lifted`]);
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

test('a table without a header loses no first row, and the line with the separator is no header', () => {
  assert.match(refusal(`${A},name,${start}\n${B},name,${start}\n`), 'its first row holds values');
  assert.match(refusal(`name,STEAM_0:1:2147480000\nother,STEAM_0:1:2147480001\n`), 'its first row holds values');
  assert.equal(bans(`sep=;\nsteam_id;name\n${A};a,b\n`), [`3 ${A} send`]);
  const before = process.cpuUsage();
  refusal(`${'0123456789abcdef'.repeat(600)}x,name\n1,2\n`);
  assert.ok(cpuMsSince(before) < 1_000, 'a long name of a column takes long');
});

test('a line of ids may have a comment, unless the comment may state an end', () => {
  const list = plan(`// one id per line\n${A} // griefer\n${B} # until Friday\n${uuid(1)}\n`, { name: 'bannedlist' });
  assert.equal(brief(list), [`2 ${A} send`, `4 ${uuid(1)} send`]);
  assert.match(list.refused[0]!.reason, 'its comment may state an end');
  const eos = '0002aaaabbbbccccddddeeeeffff0009';
  assert.equal(bans(`${eos}\n`), [`1 ${eos} send`]);
});

test('an element beside those of a known list is refused, and a blacklist of another game is none of it', () => {
  const list = plan(`<adminTools><blacklist>\n<ban userid="${A}"/></blacklist></adminTools>`);
  assert.equal([list.events.length, list.refused[0]?.line], [0, 2]);
  assert.match(refusal(`<server><blacklist><id value="${A}"/></blacklist></server>`), 'none of the known formats');
});

test('JSON with ends and without UUIDs is not a list of Minecraft, and an IP ban of Minecraft says so', () => {
  const entry = `{"steamid":"${A}","created":"2026-11-20T12:00:00Z","expires":"2026-11-22T12:00:00Z"}`;
  assert.equal(bans(`[${entry}]`), [`1 ${A} expired`]);
  const list = plan('[{"ip":"203.0.113.4","created":"2026-11-20 12:00:00 +0000","expires":"forever"}]');
  assert.match(list.refused[0]!.reason, 'an IP address is not an account');
});

test('SCP:SL: times are ticks, semicolons belong to names and reasons, and the admin is never reported', () => {
  const line = (id: string, end: number) => `A;B;${id};${ticks(end)};a; b;Admin (${D}@steam);${ticks(start)}\n`;
  const list = plan(line(`${A}@steam`, soon) + line(`${B}@steam`, over) + line('203.0.113.4', soon));
  assert.equal(brief(list), [`1 ${A} send`, `2 ${B} expired`]);
  assert.is(list.events[0]!.banned_at, '2026-11-20T12:00:00.000Z');
  assert.match(list.refused[0]!.reason, 'address');
});

test('Squad: the first id of a line is banned, and neither its admin nor a player whom the reason names', () => {
  const named = `Banned:${D}:0`;
  const list = plan(
    [
      `${A}:0 // alt of ${named}`,
      `Banned:${B}:0 //see ${named}`,
      `x//y: [SteamID ${D}] Banned:${C}:0 //his main is Admin [SteamID ${D}] ${named}`,
      ...[`${A} // alt of`, `Banned:${A} //`, `STEAM_0:1:7:0 // [x]`, `x Banned:${A}:0`].map(
        (text) => `${text} ${named}`,
      ),
    ].join('\n'),
  );
  assert.equal(brief(list), [`1 ${A} send`, `2 ${B} send`, `3 ${C} send`]);
  assert.equal(
    list.refused.map(({ line }) => line),
    [4, 5, 6, 7],
  );
});

test('Squad: a line without an id is refused in linear time', () => {
  const before = process.cpuUsage();
  for (const part of [' Banned:', ' Banned:   7', '/ ', 'f', ':1 ', ' ']) {
    const line = `//${part.repeat(65_000 / part.length)}x`;
    assert.is(plan(`${A}:0\n${`${line}\n`.repeat(8)}`).events.length, 1, part);
  }
  assert.ok(cpuMsSince(before) < 5_000, 'a long line takes long');
});

test('BattlEye: a number in front of an id is no id', () => {
  const list = plan(`${'0'.repeat(32)} -1\n3 ${A} -1 cheat\n${B} ${C} -1 reason\n`);
  assert.equal(brief(list), [`2 ${A} send`, `3 ${B} send`]);
});

test('CS2-SimpleAdmin: a length of 0 is permanent, and the status ends a ban', () => {
  const row = (id: string, duration: number, status: string) =>
    `1,${id},203.0.113.4,${D},${duration},2026-11-20 13:00:00,2026-11-20 12:00:00,${status}\n`;
  const header = 'id,player_steamid,player_ip,admin_steamid,duration,ends,created,status\n';
  const text = header + row(A, 0, 'ACTIVE') + row(B, 60, 'EXPIRED') + row(C, 0, 'UNBANNED') + row('', 0, 'ACTIVE');
  const list = plan(text, { name: 'sa_bans.csv' });
  assert.equal(brief(list), [`2 ${A} send`, `3 ${B} expired`, `4 ${C} lifted`]);
  assert.match(list.refused[0]!.reason, 'address');
});

test('dumps of H2 and of Project Zomboid are read, with calls as values and without stated columns', () => {
  const columns = '"UUID" VARCHAR(36), "REASON" VARCHAR, "BANNED_BY_NAME" VARCHAR, "REMOVED_BY_NAME" VARCHAR';
  const rows = `('${uuid(1)}', STRINGDECODE('a'), 'C', NULL, ${start}000, -1, TRUE)`;
  const h2 = `CREATE CACHED TABLE "PUBLIC"."LITEBANS_BANS"(${columns}, "TIME" BIGINT, "UNTIL" BIGINT, "ACTIVE" BOOLEAN);\nINSERT INTO "PUBLIC"."LITEBANS_BANS" VALUES\n${rows};\n`;
  assert.equal(bans(h2), [`3 ${uuid(1)} send`]);
  const zomboid = `CREATE TABLE bannedid (steamid TEXT NULL, reason TEXT);\nINSERT INTO bannedid VALUES('${A}','it''s');\n`;
  assert.equal(bans(zomboid), [`2 ${A} send`]);
});

test('only the banned player of a row is reported, whoever else the row names', () => {
  for (const [header, ids] of [
    ['offender_steamid,victim_steamid', [A]],
    ['target_steamid,reporter_steamid', [A]],
    ['player_steamid,user_discord_id', [A]],
    ['steamid,victim_steamid', [A]],
  ] as const) {
    const found = plan(`${header}\n${A},${header.includes('discord') ? '100000000000000001' : B}\n`, {
      kinds: ['steam', 'discord'],
    });
    assert.equal(
      found.events.map(({ player_id }) => player_id),
      ids,
      header,
    );
  }
  for (const header of ['target_steamid,user_steamid', 'player_steamid,target_steamid', 'id,victim_steamid']) {
    assert.match(refusal(`${header}\n${A},${B}\n`), 'none of the known formats', header);
  }
  assert.equal(bans(`id,superuser_valid_grid\n${A},1\n`, { ignore: ['superuser_valid_grid'] }), [`2 ${A} send`]);
});

test('a cell about another time is passed over only if it holds a time', () => {
  assert.match(refusal(`[{"steamid":"${A}","log":[{"action":"unbanned"}]}]`), 'say what log means');
  assert.match(refusal(`steam_id,last_update\n${A},unbanned\n`), 'say what last_update means');
  assert.match(refusal(`steam_id,display\n${A},22.11.2026\n`), 'say what display means');
  const list = plan(`steam_id,last_seen,joined,played\n${A},22.11.2026 12:00,${start},2 h\n`);
  assert.equal([brief(list), list.unknown_cells], [[`2 ${A} send`], ['last_seen', 'joined', 'played']]);
});

test('an address and a version are no dates, and a stopped cell is named once', () => {
  for (const value of ['85.12.113.4', '8.12.11.4', '1.21.10', '32.12.2026', '12.13.2026']) {
    assert.equal(bans(`steam_id,zzz\n${A},${value}\n`), [`2 ${A} send`], value);
  }
  for (const value of ['1.2.26', '22.11.2026.', '12/31/26 10:00', '2026/11/22']) {
    const { unknown } = importPlan(`steam_id,zzz\n${A},${value}\n`, { ignore: ['zzz'] });
    assert.equal(unknown.harmless, []);
    assert.match(refusal(`steam_id,zzz\n${A},${value}\n`), 'say what zzz means', value);
  }
});

test('a comment that may say that a ban ended, how long it is or that it is none is refused', () => {
  const ended =
    'lifted after appeal|appealed|pardoned|not banned|whitelisted|false positive, removed|7d|30m|1 year|20-11-26|bis Freitag|gagged|jail|5. Dec|revoked';
  for (const comment of ended.split('|')) {
    const list = plan(`${A} // cheats\n${B} // ${comment}\n`);
    assert.equal([brief(list), list.refused.length], [[`1 ${A} send`], 1], comment);
  }
  for (const comment of ['griefer', 'aimbot, killed 12 people', 'offended everyone', 'second offence', 'x2 hacks']) {
    assert.equal(bans(`${A} # ${comment}\n`), [`1 ${A} send`], comment);
  }
});

test('of many arrays the one of bans is read in any format, and otherwise none', () => {
  const entry = (id: string) => `[{"steamid":"${id}"}]`;
  const other = (text: string) => `{${text},\n"bans":${entry(B)}}`;
  for (const text of [
    `"players":${entry(A)}`,
    '"servers":[{"id":"1"}]',
    '"ip_bans":[{"id":"1"}]',
    '"log":[{"id":"2"}]',
  ]) {
    for (const format of ['auto', 'json']) assert.equal(brief(plan(other(text), {}, format)), [`2 ${B} send`], text);
  }
  assert.equal(bans(`{"servers":[{"id":"1"}],\n"list":${entry(A)}}`), [`2 ${A} send`]);
  const unclear = `{"players":${entry(A)},"offenders":${entry(B)}}`;
  for (const format of ['auto', 'json']) assert.throws(() => plan(unclear, {}, format), /--table 'players'$/);
  const long = `{"players":[${`{"steamid":"${A}"},`.repeat(3_000)}{"steamid":"${A}"}],"bans":[]}`;
  for (const text of [long, `{"players":${entry(A)},"bans":[]}`, `{"mutes":${entry(A)},"bans":[]}`]) {
    assert.match(refusal(text), 'none of the known formats');
    assert.equal(plan(text, {}, 'json').events, []);
  }
  assert.equal(bans(`{"players":${entry(A)},\n"banned-players":${entry(B)}}`), [`2 ${B} send`]);
  const nested = `{"bans":[{"steamid":"${A}","bans":[{"id":1}]}]}`;
  assert.equal(bans(nested, { ignore: ['bans'] }), [`1 ${A} send`]);
});

test('a number as a status is refused, since its meaning may be inverted', () => {
  const list = plan(`steam_id,status\n${A},0\n${B},1\n${C},active\n`);
  assert.equal([brief(list), list.refused.length], [[`4 ${C} send`], 2]);
  assert.equal(bans(`steam_id,active\n${A},0\n${B},1\n`), [`2 ${A} lifted`, `3 ${B} send`]);
});

test('a remark about a ban is harmless, and one about a removal or another measure is not', () => {
  for (const parent of ['unban', 'mute', 'appeal', 'unban.action']) {
    const inner = parent.split('.').reduceRight((text, name) => `{"${name}":${text}}`, '{"by":"x","reason":"y"}');
    assert.match(refusal(`{"steamid":"${A}",${inner.slice(1)}\n`), `say what ${parent}.by`, parent);
  }
  assert.equal(bans(`{"steamid":"${A}","punishment":{"reason":"x"},"ban":{"by":"x"}}\n`), [`1 ${A} send`]);
});

test('calls in a dump may have no arguments, and deep ones are damage', () => {
  const dump = (value: string) =>
    `CREATE TABLE bannedid (steamid TEXT, reason TEXT);\nINSERT INTO bannedid VALUES('${A}',${value});\n`;
  assert.equal(bans(dump('NOW()')), [`2 ${A} send`]);
  assert.match(plan(dump('f('.repeat(100_000))).refused[0]!.reason, 'damaged');
});

test('SCP:SL: a long line is read in linear time, and a name that holds an id and an end is refused', () => {
  const line = (name: string, end = ticks(soon)) => `${name};${A}@steam;${end};r;Admin;${ticks(start)}\n`;
  const before = process.cpuUsage();
  const long = plan(line('x') + line(';1;123456789012345678'.repeat(3_000)) + line('x;'.repeat(30_000)));
  assert.ok(cpuMsSince(before) < 1_000);
  assert.equal([brief(long), long.refused.length], [[`1 ${A} send`], 2]);
  for (const name of [`a;${C}@steam;${ticks(soon)};b`, `a;${C}@steam;${ticks(soon)}`]) {
    const list = plan(line('x') + line(name));
    assert.equal([brief(list), list.refused.length], [[`1 ${A} send`], 1], name);
  }
});

test('a name that holds the name of another list within a word is no such list', () => {
  for (const name of ['gold', 'threshold', 'disallowed', 'swallowed', 'untrusted']) {
    assert.equal(bans(`steam_id\n${A}\n`, { name }), [`2 ${A} send`], name);
  }
  for (const name of ['old', 'bans_old', 'bansOld', 'allowlist', 'allowed', 'trusted']) {
    assert.match(refusal(`steam_id\n${A}\n`, { name }), 'holds no bans that stand', name);
  }
});

test('a begin has many names', () => {
  for (const cell of ['issued_on', 'added', 'added_on', 'when', 'banned_time', 'ban_start', 'time_added']) {
    const { events } = plan(`steam_id,${cell}\n${A},2026-11-20 12:00:00\n`);
    assert.is(events[0]!.banned_at, '2026-11-20T12:00:00.000Z', cell);
  }
});

test.run();
