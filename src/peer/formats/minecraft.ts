/** Reads `banned-players.json` of a Minecraft server. */

import type { ListFormat, RowSink } from './list-row.js';
import { objectOf, readElements, textOf } from './reading/json-elements.js';
import { textEnd, textTime } from './reading/time-cells.js';

export const minecraft: ListFormat = {
  name: 'minecraft',
  title: 'Minecraft banned-players.json',
  recognise: ({ head }) => {
    if (/^\s*\[\s*\]\s*$/.test(head)) return 'an empty JSON array, as of a Minecraft server without bans';
    const isList = /^\s*\[\s*\{[^{}[\]]*"(?:uuid|expires)"\s*:/.test(head) && /"(?:created|expires)"\s*:/.test(head);
    return isList ? 'a JSON array of entries with uuid, created and expires' : null;
  },
  read: (text, sink, { timeZone }) =>
    readElements(text, [], {
      element: (value, line) => readEntry(objectOf(value) ?? {}, line, sink, timeZone),
      damaged: (line, reason) => sink.refuse(line, reason, true),
    }),
};

/** Floodgate derives UUIDs from the numbers of Xbox accounts. */
export const floodgateUuid = /^0{8}-?0{4}-?0{4}-?/;

function readEntry(
  entry: NonNullable<ReturnType<typeof objectOf>>,
  line: number,
  sink: RowSink,
  timeZone: string,
): void {
  const uuid = textOf(entry.uuid);
  if (uuid === undefined) {
    sink.refuse(line, textOf(entry.ip) === undefined ? 'the entry has no uuid' : 'an IP ban names no player');
    return;
  }
  const created = textOf(entry.created);
  const bannedAt = created === undefined ? null : textTime(created, timeZone);
  const end = textEnd(textOf(entry.expires) ?? 'forever', timeZone);
  if (bannedAt === undefined) sink.refuse(line, 'created is not a time such as 2026-11-20 13:00:00 +0100');
  else if (end === undefined)
    sink.refuse(line, 'expires is neither a time such as 2026-11-20 13:00:00 +0100 nor forever');
  else
    sink.row({
      ids: [{ text: uuid, kind: floodgateUuid.test(uuid) ? 'xbox' : 'minecraft' }],
      bannedAt,
      expiresAt: end === 'never' ? null : end.at,
      lifted: false,
      kind: 'ban',
      line,
    });
}
