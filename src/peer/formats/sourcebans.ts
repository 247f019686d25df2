/** Reads the table `sb_bans` of SourceBans++, exported as CSV or contained in a dump of the database. */

import type { ListFormat, RowSink } from './list-row.js';
import { columnsOf, readCsv } from './reading/csv-records.js';
import { readInserts } from './reading/sql-values.js';
import { secondsTime } from './reading/time-cells.js';
import { isWholeCell } from './reading/whole-cells.js';

/** The columns of the table as SourceBans++ creates it. */
const tableColumns = [
  'bid',
  'ip',
  'authid',
  'name',
  'created',
  'ends',
  'length',
  'reason',
  'aid',
  'adminip',
  'sid',
  'country',
  'removedby',
  'removetype',
  'removedon',
  'type',
  'ureason',
];
const needed = ['authid', 'created', 'ends', 'length'];

/** The table of bans with any prefix; `sb_comms` holds mutes, and `sb_admins` the admins' ids. */
const isBansTable = (name: string) => /^(?:\w*_)?bans$/i.test(name);

export const sourcebans: ListFormat = {
  name: 'sourcebans',
  title: 'SourceBans++, sb_bans exported as CSV',
  recognise: ({ lines }) => {
    const names = columnsOf(lines[0] ?? '');
    return needed.every((name) => names.includes(name)) ? 'a CSV header with authid, created, ends and length' : null;
  },
  read: (text, sink) =>
    readCsv(
      text,
      {
        record: (cells, line) => readBan(cells, line, sink),
        refuse: (line, reason, isEnd) => sink.refuse(line, reason, isEnd),
      },
      (column, cell) => !needed.includes(column) || isWholeCell(cell),
    ),
};

export const sourcebansSql: ListFormat = {
  name: 'sourcebans-sql',
  title: 'SourceBans++, a dump of the database',
  sameAs: 'sourcebans',
  recognise: ({ head }) => {
    const isDump =
      /\b(?:INSERT\s+(?:IGNORE\s+)?INTO|CREATE\s+TABLE(?:\s+IF\s+NOT\s+EXISTS)?)\s+[`"\w.]*bans[`"\s(]/i.test(head);
    return isDump ? 'SQL statements about a table of bans' : null;
  },
  read: (text, sink) =>
    readInserts(text, isBansTable, tableColumns, {
      row: (values, line) => readBan((column) => values.get(column)?.trim() ?? '', line, sink),
      refuse: (line, reason, isEnd) => sink.refuse(line, reason, isEnd),
    }),
};

function readBan(cell: (column: string) => string, line: number, sink: RowSink): void {
  const authid = cell('authid');
  if (authid === '' || cell('type') === '1') {
    sink.refuse(line, cell('type') === '1' ? 'an IP ban names no player' : 'the row names no player');
    return;
  }
  const bannedAt = secondsTime(cell('created'));
  const length = cell('length');
  const isPermanent = length === '0';
  const ends = isPermanent ? undefined : secondsTime(cell('ends'));
  if (bannedAt === undefined) sink.refuse(line, 'created is not a number of seconds since 1970');
  else if (!/^-?\d+$/.test(length)) sink.refuse(line, 'length is not a number of seconds');
  else if (!isPermanent && ends === undefined) sink.refuse(line, 'ends is not a number of seconds since 1970');
  else {
    const removal = cell('removetype').toUpperCase();
    sink.row({
      ids: [{ text: authid, kind: 'steam' }],
      bannedAt,
      // A ban of a permanent length with an end was ended by an admin.
      expiresAt: ends ?? null,
      lifted: removal === 'U' || removal === 'D' || (removal !== '' && isPermanent),
      kind: 'ban',
      line,
    });
  }
}
