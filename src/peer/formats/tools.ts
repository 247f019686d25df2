/** The descriptions of the tools that are known: one row for each, in the order of recognition, the strictest first. */
import { addressBan, type Description, type Shape } from './description.js';

const account = String.raw`7656(?:119|120)\d{10}`;
const yes = ['1', 'true', 't', 'y', 'yes', "b'1'", '\u0001'];

/** Names of tables and files of bans that still stand; a history does not tell which ones do. */
const bansName = '(?:^|[_.-])(?:player_?)?bans?(?:list)?(?:$|[_.-])(?!.*(?:record|histor))';

type Table = Omit<Description, 'shape' | 'recognise'> & {
  readonly recognise: Omit<Description['recognise'], 'head' | 'why'>;
};

/** A table of a database: exported as CSV or JSON, and in a dump. */
function table({ recognise, ...rest }: Table): readonly Description[] {
  const why = `the columns ${recognise.cells!.join(', ')}`;
  return (['csv', 'sql', 'json'] as const).map((shape: Shape) => ({
    ...rest,
    ...(shape === 'csv' ? {} : { name: `${rest.name}-${shape}`, sameAs: rest.name }),
    ...(shape === 'json' ? { path: '' } : {}),
    shape,
    recognise: { ...recognise, why },
  }));
}

/** The same columns for each measure, which only the name of the table or file tells apart. */
function tablesOfMeasures(bans: Table, measures: Readonly<Record<string, string>>): readonly Description[] {
  const others = Object.entries(measures).flatMap(([name, named]) =>
    table({
      ...bans,
      name: `${bans.name}-${name}s`,
      recognise: { ...bans.recognise, named },
      type: { cell: 'no_cell', kinds: {}, others: { '': name } },
    }),
  );
  return [...table({ ...bans, recognise: { ...bans.recognise, named: bansName } }), ...others];
}

const measureNames = { mute: 'mute', warning: 'warn', kick: 'kick' };
const steam = (cell: string) => ({ cell, kind: 'steam' });
const words = (text: string) => text.split(' ');

const quoted = String.raw`"(?:[^"\\]|\\.)*"`;

const sourcebansTable: Table = {
  name: 'sourcebans',
  title: 'SourceBans++ sb_bans',
  recognise: { cells: words('authid created ends length') },
  // The columns of the table as SourceBans++ creates it.
  columns: words(
    'bid ip authid name created ends length reason aid adminip sid country removedby removetype removedon type ureason',
  ),
  ids: [steam('authid')],
  start: { cell: 'created', unit: 's' },
  end: { cell: 'ends', unit: 's' },
  length: { cell: 'length', unit: 's' },
  lifted: [{ cell: 'removetype', is: ['u', 'd'] }],
  over: [{ cell: 'removetype' }],
  type: { cell: 'type', kinds: { '0': 'ban', '': 'ban' }, others: { '1': addressBan } },
  known: words('bid ip name reason aid adminip sid country removedby removedon ureason'),
};

/** The column of addresses tells the table from that of mutes; without it, the name must. */
const sourcebans = [
  ...table({ ...sourcebansTable, recognise: { cells: words('ip authid created ends length'), named: '^(?!.*comm)' } }),
  ...table({ ...sourcebansTable, recognise: { ...sourcebansTable.recognise, without: ['ip'], named: bansName } }),
];

export const tools: readonly Description[] = [
  {
    name: 'minecraft',
    title: 'Minecraft banned-players.json',
    shape: 'json',
    recognise: {
      head: String.raw`^\s*\[(?:\s*\]\s*$|\s*\{[^{}[\]]*"(?:uuid|ip|expires)"\s*:(?=[^]*"(?:created|expires)"\s*:))`,
      why: 'a JSON array of entries with uuid, created and expires',
    },
    ids: [{ cell: 'uuid', kind: 'minecraft' }],
    start: { cell: 'created', unit: 'text' },
    end: { cell: 'expires', unit: 'text' },
    known: words('name source reason ip'),
  },
  {
    name: 'txadmin',
    title: 'txAdmin playersDB.json',
    shape: 'json',
    path: 'actions',
    recognise: {
      head: String.raw`^\s*\{(?:\s*"version"\s*:\s*\d+\s*,\s*"players"\s*:\s*\[|(?=[^]*"actions"\s*:\s*\[))`,
      why: 'JSON with version, players and actions',
    },
    ids: [{ cell: 'ids' }, { cell: 'identifiers' }],
    start: { cell: 'timestamp', unit: 's' },
    end: { cell: 'expiration', unit: 's' },
    lifted: [{ cell: 'revocation.timestamp' }, { cell: 'revocation' }],
    type: { cell: 'type', kinds: { ban: 'ban' }, others: { warn: 'warning', kick: 'kick', mute: 'mute' } },
    known: words('id hwids playername reason author acked revocation.author revocation.reason'),
  },
  {
    name: 'tf2bd',
    title: 'TF2 Bot Detector playerlist.json',
    shape: 'json',
    path: 'players',
    recognise: {
      head: String.raw`^\s*\{(?=[^]*"players"\s*:\s*\[)(?=[^]*(?:tf2_bot_detector|playerlist\.schema|"file_info"\s*:|"attributes"\s*:\s*\[))`,
      why: 'JSON with file_info and players that have attributes',
    },
    ids: [steam('steamid')],
    // The most serious mark first. A player that is merely suspicious is not accused of anything.
    type: {
      cell: 'attributes',
      kinds: { cheater: 'cheating', exploiter: 'cheating', racist: 'toxicity' },
      others: { suspicious: 'suspicion' },
    },
    // `last_seen` is the time when the player was last met, not the time of the mark.
    known: words('last_seen.* proof'),
  },
  {
    name: 'battlemetrics',
    title: 'BattleMetrics bans JSON',
    shape: 'json',
    path: 'data',
    recognise: {
      head: String.raw`^\s*\{(?=[^]*"data"\s*:\s*\[)(?=[^]*"type"\s*:\s*"ban")`,
      why: 'JSON with data whose entries have the type ban',
    },
    // Addresses and BattlEye GUIDs name no account.
    ids: [
      {
        cell: 'attributes.identifiers',
        item: 'identifier',
        kindCell: 'type',
        kinds: {
          ...{ steamid: 'steam', eosid: 'eos', minecraftuuid: 'minecraft', mcuuid: 'minecraft' },
          ...{ xboxid: 'xbox', xuid: 'xbox', psnid: 'psn', epicid: 'epic' },
        },
      },
    ],
    start: { cell: 'attributes.timestamp', unit: 'text' },
    end: { cell: 'attributes.expires', unit: 'text' },
    type: { cell: 'type', kinds: { ban: 'ban' } },
    known: words('id attributes.* meta.* relationships.* links.*'),
  },
  {
    name: 'easyadmin',
    title: 'EasyAdmin banlist.json',
    shape: 'json',
    path: '',
    recognise: { cells: words('banid identifiers expire'), why: 'JSON entries with banid, identifiers and expire' },
    ids: [{ cell: 'identifiers' }],
    end: { cell: 'expire', unit: 's' },
    type: { cell: 'type', kinds: { ban: 'ban', '': 'ban' }, others: { warn: 'warning', kick: 'kick', mute: 'mute' } },
    known: words('banid name banner reason expire_string expirestring'),
  },
  {
    name: 'vmenu',
    title: 'vMenu bans JSON',
    shape: 'json',
    path: '',
    recognise: { cells: words('identifiers banneduntil'), why: 'JSON entries with identifiers and bannedUntil' },
    ids: [{ cell: 'identifiers' }],
    end: { cell: 'banneduntil', unit: 'text' },
    known: words('playername banreason bannedby uuid'),
  },
  {
    name: 'factorio',
    title: 'Factorio server-banlist.json',
    shape: 'json',
    path: '',
    recognise: { cells: ['username'], without: ['uuid'], why: 'JSON entries with username' },
    ids: [
      { cell: 'username', kind: 'name' },
      { cell: 'value', kind: 'name' },
    ],
    known: words('reason address'),
  },
  {
    name: '7dtd',
    title: '7 Days to Die serveradmin.xml',
    shape: 'xml',
    path: 'blacklist.blacklisted',
    recognise: { head: String.raw`^\s*<(?=[^]*<(?:adminTools|blacklist)\b)`, why: 'XML with adminTools or blacklist' },
    ids: [{ cell: 'userid', kindCell: 'platform' }, steam('steamid')],
    end: { cell: 'unbandate', unit: 'text' },
    known: words('name reason'),
  },
  {
    name: 'ulib-bans',
    title: 'ULib bans.txt',
    shape: 'keyvalues',
    recognise: { cells: words('time unban'), why: 'blocks of an id with time and unban' },
    ids: [steam('key')],
    start: { cell: 'time', unit: 's' },
    end: { cell: 'unban', unit: 's' },
    known: words('reason name admin steamid modified_admin modified_time'),
  },
  ...sourcebans,
  ...table({
    ...sourcebansTable,
    name: 'sourcebans-comms',
    title: 'SourceBans++ sb_comms',
    recognise: { ...sourcebansTable.recognise, without: ['ip'], named: 'comm' },
    type: { cell: 'type', kinds: {}, others: { '1': 'mute', '2': 'gag', '3': 'silence' } },
  }),
  ...tablesOfMeasures(
    {
      name: 'litebans',
      title: 'LiteBans',
      recognise: { cells: words('uuid time until active banned_by_name') },
      ids: [{ cell: 'uuid', kind: 'minecraft' }],
      start: { cell: 'time', unit: 'ms' },
      end: { cell: 'until', unit: 'ms' },
      lifted: [{ cell: 'removed_by_name' }, { cell: 'removed_by_uuid' }],
      over: [{ cell: 'active', not: yes }],
      known: words(
        'id ip reason banned_by_* removed_by_reason removed_by_date template server_* silent ipban ipban_wildcard warned',
      ),
    },
    measureNames,
  ),
  ...tablesOfMeasures(
    {
      name: 'banmanager',
      title: 'BanManager',
      recognise: { cells: words('player_id reason actor_id created') },
      ids: [{ cell: 'player_id', kind: 'minecraft' }],
      start: { cell: 'created', unit: 's' },
      end: { cell: 'expires', unit: 's' },
      known: words('id reason actor_id updated silent soft points read'),
    },
    measureNames,
  ),
  ...table({
    name: 'advancedban',
    title: 'AdvancedBan Punishments',
    recognise: { cells: words('uuid punishmenttype start end'), named: '^(?!.*history)' },
    ids: [{ cell: 'uuid', kind: 'minecraft' }],
    start: { cell: 'start', unit: 'ms' },
    end: { cell: 'end', unit: 'ms' },
    type: {
      cell: 'punishmenttype',
      kinds: { ban: 'ban', temp_ban: 'ban' },
      others: {
        ...{ mute: 'mute', temp_mute: 'mute', warning: 'warning', temp_warning: 'warning', kick: 'kick', note: 'note' },
        ...{ ip_ban: addressBan, temp_ip_ban: addressBan },
      },
    },
    known: words('id name reason operator calculation'),
  }),
  ...table({
    name: 'amxbans',
    title: 'AMXBans amx_bans',
    recognise: { cells: words('player_id ban_created ban_length'), named: '^(?!.*history)' },
    ids: [steam('player_id')],
    start: { cell: 'ban_created', unit: 's' },
    length: { cell: 'ban_length', unit: 'min' },
    lifted: [{ cell: 'ban_length', is: ['-1'] }],
    over: [{ cell: 'expired', is: yes }],
    // S bans the Steam id, SI id and address: both name the player.
    type: { cell: 'ban_type', kinds: { s: 'ban', si: 'ban', '': 'ban' }, others: { i: addressBan } },
    known: words(
      'bid player_ip player_nick admin_ip admin_id admin_nick ban_reason cs_ban_reason server_ip server_name ban_kicks imported',
    ),
  }),
  ...table({
    name: 'ulx',
    title: 'ULX ulib_bans',
    recognise: { cells: words('steamid time unban') },
    ids: [steam('steamid')],
    start: { cell: 'time', unit: 's' },
    end: { cell: 'unban', unit: 's' },
    known: words('reason name admin modified_admin modified_time'),
  }),
  ...table({
    name: 'qbcore',
    title: 'QBCore bans',
    recognise: { cells: words('license expire bannedby') },
    ids: ['license', 'steam', 'discord'].map((cell) => ({ cell })),
    end: { cell: 'expire', unit: 's' },
    known: words('id name ip reason bannedby'),
  }),
  ...table({
    name: 'bansql',
    title: 'FiveM-BanSql banlist',
    recognise: { cells: words('license timeat expiration permanent'), named: '^(?!.*history)' },
    ids: ['identifier', 'license', 'liveid', 'xblid', 'xboxlid', 'discord'].map((cell) => ({ cell })),
    start: { cell: 'timeat', unit: 's' },
    end: { cell: 'expiration', unit: 's' },
    permanent: { cell: 'permanent' },
    known: words('playerip ip targetplayername sourceplayername reason hwid'),
  }),
  ...table({
    name: 'iksadmin',
    title: 'IksAdmin iks_bans',
    recognise: { cells: words('steam_id duration end_at created_at admin_id'), named: bansName },
    ids: [steam('steam_id')],
    start: { cell: 'created_at', unit: 's' },
    end: { cell: 'end_at', unit: 's' },
    permanent: { cell: 'duration', is: ['0'] },
    lifted: ['unbanned_by', 'ubanned_by', 'deleted_at'].map((cell) => ({ cell })),
    type: { cell: 'ban_type', kinds: { '0': 'ban', '2': 'ban', '': 'ban' }, others: { '1': addressBan } },
    known: words('id ip name reason server_id admin_id unban_reason updated_at'),
  }),
  ...table({
    name: 'iksadmin-2',
    title: 'IksAdmin 2 iks_bans',
    recognise: { cells: words('sid adminsid created time end unbanned'), named: bansName },
    ids: [steam('sid')],
    start: { cell: 'created', unit: 's' },
    end: { cell: 'end', unit: 's' },
    permanent: { cell: 'time', is: ['0'] },
    lifted: [{ cell: 'unbanned' }, { cell: 'unbannedby' }],
    type: { cell: 'bantype', kinds: { '0': 'ban', '2': 'ban', '': 'ban' }, others: { '1': addressBan } },
    known: words('id ip name adminsid adminname reason server_id'),
  }),
  ...table({
    name: 'tshock',
    title: 'TShock PlayerBans',
    recognise: { cells: words('identifier date expiration banninguser') },
    ids: [{ cell: 'identifier' }],
    start: { cell: 'date', unit: 'ticks' },
    end: { cell: 'expiration', unit: 'ticks' },
    known: words('ticketnumber reason banninguser'),
  }),
  {
    name: 'rust',
    title: 'Rust bans.cfg',
    shape: 'lines',
    recognise: {
      head: String.raw`(?:^|\n)[ \t]*banid\s+"?${account}"?(?:\s+(?:"|-?\d)|\s*(?:\n|$))`,
      why: 'lines of the form banid <SteamID64> "<name>" "<reason>" <end>',
    },
    skip: '^(?://|#)',
    line: String.raw`^banid\s+"?(?<id>\d{1,20})"?(?:\s+(?<name>${quoted}|[^\s"]+)(?:\s+(?<reason>${quoted}|[^\s"]+))?)?(?:\s+"?(?<end>-?\d+)"?)?\s*;?$`,
    form: 'the form is banid <SteamID64> "<name>" "<reason>" <end>',
    ids: [{ cell: 'id' }],
    end: { cell: 'end', unit: 's' },
  },
  {
    name: 'source',
    title: 'Source banned_user.cfg',
    shape: 'lines',
    recognise: {
      head: String.raw`(?:^|\n)[ \t]*banid\s+"?\d+(?:\.\d+)?"?\s+"?(?:STEAM_|VALVE_|\[?U:|BOT\b|${account})`,
      why: 'lines of the form banid <minutes> <Steam id>',
    },
    skip: '^//',
    line: String.raw`^banid\s+"?(?<minutes>\d+(?:\.\d+)?)"?\s+(?:"(?<quoted>[^"]*)"|(?<id>\[[^\]\s]*\]|[^\s"/;]+))(?:\s+kick)?\s*;?\s*(?://(?<tail>.*))?$`,
    form: 'the form is banid <minutes> <Steam id>; an addip names no player',
    ids: [steam('quoted'), steam('id')],
    length: { cell: 'minutes', unit: 'min' },
  },
  {
    name: 'squad',
    title: 'Squad or OHD Bans.cfg',
    shape: 'lines',
    recognise: {
      head: String.raw`(?:^|\n)(?:[^\n]*[\s/]Banned:\s*|[ \t]*(?://[ \t]*)?)(?:${account}|[0-9a-f]{32}):-?\d`,
      why: 'lines of the form <admin> Banned:<id>:<end> //<reason>',
    },
    // The game reads a comment as a ban if it has the form of one.
    skip: String.raw`^(?:#|//(?!(?:.*[\s/]Banned:)?\s*(?:${account}|[0-9a-f]{32}):-?\d))`,
    // The text before "Banned:" names the admin, who is never reported.
    line: String.raw`^(?:(?:.*[\s/])?Banned:|//)?\s*(?:(?<eos>[0-9a-f]{32})|(?<id>[^:\s/]+)):(?<end>-?\d+)\s*(?://(?<tail>.*))?$`,
    form: 'the form is <admin> Banned:<id>:<end> //<reason>',
    ids: [{ cell: 'eos', kind: 'eos' }, { cell: 'id' }],
    end: { cell: 'end', unit: 's' },
    refuse: { cell: 'tail', begins: 'automatic', reason: 'an automatic kick is not the decision of an admin' },
  },
  {
    name: 'battleye',
    title: 'BattlEye bans',
    shape: 'lines',
    recognise: {
      head: String.raw`^(?:\s*GUID Bans:|(?:\s*\d+\s+)?[0-9a-f]{32}\s+(?:perm|-?\d+)\b)`,
      why: 'lines of a BattlEye GUID and minutes',
    },
    skip: String.raw`^(?:GUID Bans:|IP Bans:|\[#\]|-+$|//)`,
    line: String.raw`^(?:\d+\s+)?(?:(?<guid>[0-9a-f]{32})|(?<id>\S+))\s+(?<end>perm|-?\d+)(?<tail>(?:\s.*)?)$`,
    ids: [{ cell: 'guid', kind: 'beguid' }, { cell: 'id' }],
  },
  {
    name: 'ids',
    title: 'one id per line',
    shape: 'lines',
    recognise: {
      head: String.raw`^(?:\s*(?:#|//)[^\n]*\n)*\s*(?:(?:steam_)?${account}(?:@steam)?|STEAM_\d:\d:\d+|\[U:1:\d+\]|eos_[0-9a-f]{32}|xbl_\d+)[ \t]*(?:\n|$)`,
      why: 'lines that hold one id; the list states no begin and no end',
    },
    skip: '^(?:#|//)',
    line: String.raw`^(?<id>\S+)$`,
    form: 'the line is not one id',
    ids: [{ cell: 'id' }],
  },
];
