/** Describes lists of no particular tool by the usual names of their cells; `ptf-peer describe` prints this draft. */
import { type Description, type IdCell, isDangerous, type Shape } from './description.js';

const words = (text: string) => text.split(' ');

/** The kinds of ids by the names of cells without underscores. */
const kindOfCell: ReadonlyMap<string, string> = new Map(
  Object.entries({
    steam: 'steam steamid steamid64 steam64 steamid2 steamid3 authid accountid',
    eos: 'eos eosid productuserid puid',
    xbox: 'xuid xbox xboxid xbl',
    discord: 'discord discordid',
    psn: 'psn psnid',
    epic: 'epic epicid',
    license: 'license',
    license2: 'license2',
    fivem: 'fivem',
    live: 'live',
  }).flatMap(([kind, names]) => words(names).map((name) => [name, kind] as const)),
);

/** Cells whose ids show their kind by their form, the most specific names first. */
const idNames = words('playerid playeruuid minecraftuuid mcuuid uuid identifier identifiers ids value id');
const kindNames = words('kind idkind playeridkind platform');
const startNames = words('bannedat createdat created issuedat bannedon bandate startedat start time timestamp date at');
const endNames = words('expiresat expires expiry expiration until endsat ends end unbandate banneduntil');
const liftedNames = words('lifted liftedat revoked revokedat unbanned unbannedat removed removedat');
const plainNames = /^(?:id|.*name|nick|reason|comment|note|notes|server|ip|admin|source|bannedby|score|confidence)$/;

const noWords = ['0', 'false', 'f', 'no', 'n', "b'0'", '\u0000', '00'];
const yesWords = ['1', 'true', 't', 'yes', 'y', "b'1'", '\u0001', '01'];
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
  const kindCell = find(kindNames);
  const ids = open === undefined ? typed : [{ cell: open, ...(kindCell && { kindCell }) }, ...typed];
  const [start, end, status, permanent] = [startNames, endNames, ['status', 'state'], ['permanent']].map(find);
  const cells = ids.map(({ cell }) => cell);
  return {
    name: shape === 'json-lines' ? 'ndjson' : shape,
    title: shape === 'csv' ? 'CSV with a header' : shape === 'json-lines' ? 'one JSON object per line' : shape,
    sameAs: 'csv',
    shape,
    ...(path !== undefined && { path }),
    recognise: { cells, why: `${cells.join(' and ')} holds ids of players` },
    ids,
    ...(start && { start: { cell: start, unit: 'any' } }),
    ...(end && { end: { cell: end, unit: 'any' } }),
    ...(permanent && { permanent: { cell: permanent } }),
    lifted: [
      ...names.filter((name) => liftedNames.includes(plain(name))).map((cell) => ({ cell })),
      ...names
        .filter((name) => standsNames.includes(plain(name)))
        .map((cell) => ({ cell, is: noWords, not: yesWords })),
      ...(status ? [{ cell: status, not: stands }] : []),
    ],
    known: names.filter((name) => plainNames.test(plain(name)) && !isDangerous(name)),
  };
}
