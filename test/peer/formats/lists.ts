/** Lists in the formats of ten tools, made from seeds, for tests that damage them. */

const account = (i: number) => 4_294_900_000 + i;
const id64 = (i: number) => String(76561197960265728n + BigInt(account(i)));
const steam2 = (i: number) => `STEAM_${i % 2}:${account(i) & 1}:${Math.floor(account(i) / 2)}`;
const uuid = (i: number) => `0a0b0c0d-1111-4222-8333-${String(i).padStart(12, '0')}`;
const start = 1_795_176_000;
const name = (i: number) => ['Плохой "игрок"', 'Nom_Été', '玩家; quit', "O'Neil \\", 'plain, with comma'][i % 5]!;
const csv = (text: string) => `"${text.replaceAll('"', '""')}"`;
const sql = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const lines = (rows: readonly string[]) => rows.map((row) => `${row}\n`).join('');

/** By the name of the format, a list of so many bans. */
export const lists: Readonly<Record<string, (count: number) => string>> = {
  minecraft: (count) =>
    `${JSON.stringify(
      range(count).map((i) => ({
        uuid: uuid(i),
        name: name(i),
        created: '2026-11-20 13:00:00 +0100',
        source: 'Console',
        expires: i % 3 === 0 ? '2026-12-20 20:00:00 +0800' : 'forever',
        reason: name(i + 1),
      })),
      null,
      2,
    )}\n`,
  litebans: (count) =>
    lines([
      'id,uuid,ip,reason,banned_by_uuid,banned_by_name,removed_by_uuid,removed_by_name,time,until,ipban,active',
      ...range(count).map(
        (i) =>
          `"${i}","${uuid(i)}","198.51.100.7",${csv(name(i))},"CONSOLE","Console",NULL,NULL,"${start}000","-1","0","1"`,
      ),
    ]),
  source: (count) =>
    `// list\n${lines(range(count).map((i) => `banid 0 ${i % 3 === 0 ? `[U:1:${account(i)}]` : steam2(i)}`))}`,
  sourcebans: (count) =>
    lines([
      'bid,ip,authid,name,created,ends,length,reason,aid,adminIp,sid,country,RemovedBy,RemoveType,RemovedOn,type,ureason',
      ...range(count).map((i) => `${i},,${steam2(i)},${csv(name(i))},${start},${start},0,"two\nlines",0,,0,,,,,0,`),
    ]),
  'sourcebans-sql': (count) =>
    `-- MySQL dump\nCREATE TABLE \`sb_bans\` (\n  \`bid\` int(6) NOT NULL AUTO_INCREMENT,\n  \`authid\` varchar(64) NOT NULL DEFAULT '',\n  \`name\` varchar(128) DEFAULT NULL,\n  \`created\` int(11) NOT NULL,\n  \`ends\` int(11) NOT NULL,\n  \`length\` int(10) NOT NULL,\n  \`RemoveType\` varchar(3) DEFAULT NULL,\n  \`type\` tinyint(4) NOT NULL DEFAULT 0,\n  PRIMARY KEY (\`bid\`),\n  KEY \`authid\` (\`authid\`)\n);\nINSERT INTO \`sb_admins\` VALUES (1,'x','STEAM_0:1:99');\nINSERT INTO \`sb_bans\` VALUES\n${range(
      count,
    )
      .map((i) => `(${i},'${steam2(i)}',${sql(name(i))},${start},${start},0,NULL,0)`)
      .join(',\n')};\n`,
  squad: (count) =>
    lines(
      range(count).map((i) =>
        i % 2 === 0
          ? `Admin ${name(i)} [SteamID 76561202255225827] Banned:${id64(i)}:${i % 4 === 0 ? 0 : 1_797_768_000} //${name(i)}`
          : `${id64(i)}:10403758725 //by hand`,
      ),
    ),
  rust: (count) =>
    lines(
      range(count).map(
        (i) =>
          `banid ${id64(i)} "${name(i).replace(/["\\]/g, '\\$&')}" "r; \\"s\\"" ${i % 2 === 0 ? -1 : 1_797_768_000}`,
      ),
    ),
  tf2bd: (count) =>
    JSON.stringify(
      {
        file_info: { authors: ['x'], title: 't' },
        players: range(count).map((i) => ({
          attributes: ['cheater'],
          last_seen: { player_name: name(i), time: start },
          steamid: `[U:1:${account(i)}]`,
        })),
      },
      null,
      '\t',
    ),
  txadmin: (count) =>
    JSON.stringify({
      version: 5,
      players: [],
      actions: range(count).map((i) => ({
        id: `B${i}`,
        type: 'ban',
        ids: [`steam:${BigInt(id64(i)).toString(16)}`, 'discord:100000000000000001'],
        playerName: name(i),
        reason: name(i),
        author: 'admin',
        timestamp: start,
        expiration: i % 2 === 0 ? false : 1_797_768_000,
      })),
    }).replaceAll('},{', '},\n{'),
  battlemetrics: (count) =>
    JSON.stringify({
      data: range(count).map((i) => ({
        type: 'ban',
        id: String(i),
        attributes: {
          timestamp: '2026-11-20T12:00:00.000Z',
          reason: name(i),
          expires: null,
          identifiers: [
            { type: 'steamID', identifier: id64(i) },
            { type: 'ip', identifier: '198.51.100.77' },
          ],
        },
      })),
      links: {},
    }).replaceAll('},{', '},\n{'),
  csv: (count) =>
    lines([
      'Name;Steam ID;Banned At;Expires At',
      ...range(count).map((i) => `${csv(name(i))};${steam2(i)};2026-11-20T12:00:00Z;`),
    ]),
  ndjson: (count) =>
    lines(
      range(count).map((i) =>
        JSON.stringify({ player_id: steam2(i), name: name(i), banned_at: '2026-11-20T12:00:00Z' }),
      ),
    ),
};
