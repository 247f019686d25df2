/** Reads the table of bans of LiteBans (Minecraft), exported as CSV. */

import type { ListFormat, RowSink } from './list-row.js';
import { floodgateUuid } from './minecraft.js';
import { type Cells, columnsOf, readCsv } from './reading/csv-records.js';
import { millisEnd, millisTime } from './reading/time-cells.js';
import { isWholeCell } from './reading/whole-cells.js';

const columns = ['uuid', 'time', 'until', 'active'];
const yes: readonly string[] = ['1', 'true', 't', 'y', 'yes', "b'1'", '\u0001'];
const no: readonly string[] = ['0', 'false', 'f', 'n', 'no', "b'0'", '\u0000'];

/** Reads a column of one bit, which some tools write as a raw byte. */
function bitOf(cell: string): boolean | undefined {
  const text = cell.toLowerCase();
  if (yes.includes(text)) return true;
  return no.includes(text) ? false : undefined;
}

export const litebans: ListFormat = {
  name: 'litebans',
  title: 'LiteBans, exported as CSV',
  recognise: ({ lines }) => {
    const names = columnsOf(lines[0] ?? '');
    const isList = columns.every((name) => names.includes(name)) && names.some((name) => name.startsWith('banned_by_'));
    return isList ? 'a CSV header with uuid, time, until, active and banned_by_…' : null;
  },
  read: (text, sink) =>
    readCsv(
      text,
      {
        record: (cells, line) => readRow(cells, line, sink),
        refuse: (line, reason, isEnd) => sink.refuse(line, reason, isEnd),
      },
      (column, cell) => (column !== 'uuid' && column !== 'time' && column !== 'until' ? true : isWholeCell(cell)),
    ),
};

function readRow(cells: Cells, line: number, sink: RowSink): void {
  const uuid = cells('uuid');
  if (uuid === '' || uuid.startsWith('#')) {
    const isAddress = bitOf(cells('ipban')) === true;
    sink.refuse(line, isAddress ? 'an IP ban names no player' : 'the row names no player');
    return;
  }
  const bannedAt = cells('time') === '' ? null : millisTime(cells('time'));
  const end = cells('until') === '' ? 'never' : millisEnd(cells('until'));
  const isActive = bitOf(cells('active'));
  if (bannedAt === undefined) sink.refuse(line, 'time is not a number of ms since 1970');
  else if (end === undefined) sink.refuse(line, 'until is neither 0, -1 nor a number of ms since 1970');
  else if (isActive === undefined) sink.refuse(line, 'active is neither 0 nor 1');
  else {
    // An expired ban is inactive, too; in that case it has no remover.
    const remover = cells('removed_by_name') || cells('removed_by_uuid');
    const ranOut = remover.startsWith('#expired') || (remover === '' && end !== 'never');
    sink.row({
      ids: [{ text: uuid, kind: floodgateUuid.test(uuid) ? 'xbox' : 'minecraft' }],
      bannedAt,
      expiresAt: end === 'never' ? null : end.at,
      lifted: !isActive && !ranOut,
      kind: 'ban',
      line,
    });
  }
}
