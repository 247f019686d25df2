/**
 * Describes lists that no particular tool wrote, by the usual names of their cells. The same draft is printed by
 * `ptf-peer describe`, for a person to complete.
 */
import { type Description, type IdCell, isDangerous, type Shape } from './description.js';

/** Names of cells without underscores. */
const kindOfCell: ReadonlyMap<string, string> = new Map([
  ...['steam', 'steamid', 'steamid64', 'steam64', 'steamid2', 'steamid3', 'authid', 'accountid'].map(
    (name) => [name, 'steam'] as const,
  ),
  ...['eos', 'eosid', 'productuserid', 'puid'].map((name) => [name, 'eos'] as const),
  ...['xuid', 'xbox', 'xboxid', 'xbl'].map((name) => [name, 'xbox'] as const),
  ...['discord', 'discordid'].map((name) => [name, 'discord'] as const),
  ...['psn', 'psnid'].map((name) => [name, 'psn'] as const),
  ...['epic', 'epicid'].map((name) => [name, 'epic'] as const),
  ...['license', 'license2', 'fivem', 'live'].map((name) => [name, name] as const),
]);

/** Cells whose ids show their kind by their form, the most specific names first. */
const idNames = 'playerid,playeruuid,minecraftuuid,mcuuid,uuid,identifier,identifiers,ids,value,id'.split(',');
const kindNames = 'kind,idkind,playeridkind,platform'.split(',');
const startNames = 'bannedat,createdat,created,issuedat,bannedon,bandate,startedat,start,time,timestamp,date,at'.split(
  ',',
);
const endNames = 'expiresat,expires,expiry,expiration,until,endsat,ends,end,unbandate,banneduntil'.split(',');
const liftedNames = 'lifted,liftedat,revoked,revokedat,unbanned,unbannedat,removed,removedat'.split(',');
const plainNames = /^(?:id|.*name|nick|reason|comment|note|notes|server|ip|admin|source|bannedby|score|confidence)$/;

const noWords = ['0', 'false', 'f', 'no', 'n', "b'0'", '\u0000'];
const yesWords = ['1', 'true', 't', 'yes', 'y', "b'1'", '\u0001'];
const standsNames = ['active', 'isactive', 'banned', 'isbanned'];
const stands = ['', 'active', 'banned', 'current', 'open'];

function plain(name: string): string {
  return name.replace(/[_.]/g, '');
}

/** Returns the description of a list with these cells; it has no `ids` if none contains player ids. */
export function draftOf(names: readonly string[], shape: Shape, path?: string): Description {
  const find = (wanted: readonly string[]) =>
    wanted.map((one) => names.find((name) => plain(name) === one)).find((name) => name !== undefined);
  const typed = names.flatMap((name): IdCell[] => {
    const kind = kindOfCell.get(plain(name));
    return kind === undefined ? [] : [{ cell: name, kind }];
  });
  const open = find(typed.length > 0 ? idNames.filter((name) => name !== 'id') : idNames);
  const kindCell = open === undefined ? undefined : find(kindNames);
  const ids = open === undefined ? typed : [{ cell: open, ...(kindCell === undefined ? {} : { kindCell }) }, ...typed];
  const [start, end, status, permanent] = [
    find(startNames),
    find(endNames),
    find(['status', 'state']),
    find(['permanent']),
  ];
  return {
    name: shape === 'csv' ? 'csv' : shape === 'json-lines' ? 'ndjson' : shape,
    title: shape === 'csv' ? 'CSV with a header' : shape === 'json-lines' ? 'one JSON object per line' : shape,
    sameAs: 'csv',
    shape,
    ...(path === undefined ? {} : { path }),
    recognise: {
      cells: ids.map(({ cell }) => cell),
      why: `${ids.map(({ cell }) => cell).join(' and ')} holds ids of players`,
    },
    ids,
    ...(start === undefined ? {} : { start: { cell: start, unit: 'any' } }),
    ...(end === undefined ? {} : { end: { cell: end, unit: 'any' } }),
    ...(permanent === undefined ? {} : { permanent: { cell: permanent } }),
    lifted: [
      ...names.filter((name) => liftedNames.includes(plain(name))).map((cell) => ({ cell })),
      ...names
        .filter((name) => standsNames.includes(plain(name)))
        .map((cell) => ({ cell, is: noWords, not: yesWords })),
      ...(status === undefined ? [] : [{ cell: status, not: stands }]),
    ],
    known: names.filter((name) => plainNames.test(plain(name)) && !isDangerous(name)),
  };
}
