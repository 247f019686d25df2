/**
 * Reads lists that no particular tool wrote, by the usual names of their columns or members: CSV with a header, and one
 * JSON object per line.
 */

import type { ListFormat, ReadOptions, RowId, RowSink } from './list-row.js';
import { columnsOf, readCsv } from './reading/csv-records.js';
import { type JsonObject, objectOf, readElements, textOf } from './reading/json-elements.js';
import { eachLine } from './reading/lines.js';
import { anyEnd, anyTime, hasZone } from './reading/time-cells.js';
import { isWholeCell } from './reading/whole-cells.js';

/** Columns of ids with a known kind; names without underscores. */
const kindOfColumn: ReadonlyMap<string, string> = new Map([
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

/** Columns whose ids show their kind by their form, the most specific names first. */
const idColumns = [
  'playerid',
  'player_uuid',
  'playeruuid',
  'minecraftuuid',
  'mcuuid',
  'uuid',
  'identifier',
  'ids',
  'id',
];
const kindColumns = ['kind', 'idkind', 'playeridkind', 'platform'];
const startColumns = [
  'bannedat',
  'createdat',
  'created',
  'issuedat',
  'bannedon',
  'bandate',
  'startedat',
  'start',
  'time',
  'timestamp',
  'date',
  'at',
];
const endColumns = [
  'expiresat',
  'expires',
  'expiry',
  'expiration',
  'until',
  'endsat',
  'ends',
  'end',
  'unbandate',
  'banneduntil',
];
const liftedColumns = ['lifted', 'liftedat', 'revoked', 'revokedat', 'unbanned', 'unbannedat', 'removed', 'removedat'];

const no = /^(?:|0|false|f|no|n|null|none)$/i;
const over = /^(?:lifted|revoked|unbanned|removed|inactive|pardoned)$/i;

interface Columns {
  readonly ids: readonly (readonly [column: string, kind: string | undefined])[];
  readonly kind: string | undefined;
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly lifted: readonly string[];
  readonly active: string | undefined;
  readonly status: string | undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '');
}

/** Returns the columns to read; null if none contains player ids. */
function columnsAmong(names: readonly string[]): Columns | null {
  const find = (wanted: readonly string[]) =>
    wanted.map((one) => names.find((name) => plain(name) === one)).find((name) => name !== undefined);
  const known = names.flatMap((name) => {
    const kind = kindOfColumn.get(plain(name));
    return kind === undefined ? [] : [[name, kind] as const];
  });
  const open = find(known.length > 0 ? idColumns.filter((name) => name !== 'id') : idColumns);
  const ids = open === undefined ? known : [[open, undefined] as const, ...known];
  if (ids.length === 0) return null;
  return {
    ids,
    kind: open === undefined ? undefined : find(kindColumns),
    start: find(startColumns),
    end: find(endColumns),
    lifted: names.filter((name) => liftedColumns.includes(plain(name))),
    active: find(['active']),
    status: find(['status', 'state']),
  };
}

type Cell = (column: string) => string;

function readRow(columns: Columns, cell: Cell, line: number, sink: RowSink, { timeZone }: ReadOptions): void {
  const named = columns.kind === undefined ? '' : cell(columns.kind);
  const ids = columns.ids.flatMap(([column, kind]): RowId[] => {
    const text = cell(column);
    const said = kind ?? (named === '' ? undefined : named);
    if (text === '') return [];
    return [said === undefined ? { text } : { text, kind: said }];
  });
  const start = columns.start === undefined ? '' : cell(columns.start);
  const until = columns.end === undefined ? '' : cell(columns.end);
  const bannedAt = start === '' ? null : anyTime(start, timeZone);
  const end = anyEnd(until, timeZone);
  if (ids.length === 0) sink.refuse(line, 'the row names no player');
  else if (bannedAt === undefined) sink.refuse(line, `${columns.start} is not a time such as 2026-11-20T12:00:00Z`);
  else if (end === undefined) sink.refuse(line, `${columns.end} is not a time such as 2026-11-20T12:00:00Z`);
  else {
    const isLocal = [start, until].some((text) => /^\d{4}-/.test(text) && !hasZone(text));
    sink.row({
      ids,
      bannedAt,
      expiresAt: end === 'never' ? null : end.at,
      lifted: isLifted(columns, cell),
      kind: 'ban',
      line,
      ...(isLocal ? { note: `the time names no zone and was read as ${timeZone}` } : {}),
    });
  }
}

function isLifted({ lifted, active, status }: Columns, cell: Cell): boolean {
  if (lifted.some((column) => !no.test(cell(column)))) return true;
  if (status !== undefined && over.test(cell(status))) return true;
  return active !== undefined && cell(active) !== '' && no.test(cell(active));
}

export const genericCsv: ListFormat = {
  name: 'csv',
  title: 'CSV with a header',
  recognise: ({ lines }) => {
    const columns = columnsAmong(columnsOf(lines[0] ?? ''));
    if (columns === null) return null;
    return `a CSV header whose column ${columns.ids.map(([name]) => name).join(' and ')} holds ids of players`;
  },
  read: (text, sink, options) => {
    const header = text.split('\n', 64).find((line) => line.trim() !== '') ?? '';
    const columns = columnsAmong(columnsOf(header));
    if (columns === null) {
      sink.refuse(1, 'the header names no column with ids of players, such as player_id or steam_id');
      return;
    }
    const counts = (column: string) => !/reason|name|comment|note/.test(column);
    readCsv(
      text,
      {
        record: (cells, line) => readRow(columns, cells, line, sink, options),
        refuse: (line, reason, isEnd) => sink.refuse(line, reason, isEnd),
      },
      (column, cell) => !counts(column) || isWholeCell(cell),
    );
  },
};

export const ndjson: ListFormat = {
  name: 'ndjson',
  title: 'one JSON object per line',
  sameAs: 'csv',
  recognise: ({ lines }) => {
    const object = /^\{.*\}$/.test(lines[0] ?? '') ? objectOfLine(lines[0]!) : null;
    if (object === null || columnsAmong(Object.keys(object)) === null) return null;
    return 'a JSON object in each line, with ids of players';
  },
  read: (text, sink, options) =>
    eachLine(text, sink, (line, number) => {
      if (line === '') return;
      const object = objectOfLine(line);
      if (object === null) {
        sink.refuse(number, 'the line is not a JSON object');
        return;
      }
      const columns = columnsAmong(Object.keys(object));
      if (columns === null) sink.refuse(number, 'the object names no player, such as by player_id');
      else readRow(columns, (name) => cellOf(object, name), number, sink, options);
    }),
};

function cellOf(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'boolean' ? String(value) : (textOf(value)?.trim() ?? '');
}

function objectOfLine(line: string): JsonObject | null {
  let found: JsonObject | null = null;
  let isDamaged = false;
  readElements(line, 'root', {
    element: (value) => {
      found = objectOf(value);
    },
    damaged: () => {
      isDamaged = true;
    },
  });
  return isDamaged ? null : found;
}
