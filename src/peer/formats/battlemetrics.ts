/** Reads ban lists of BattleMetrics: pages of its API's `/bans`, in JSON:API form. */

import type { ListFormat, RowId, RowSink } from './list-row.js';
import { arrayOf, type JsonObject, objectOf, readElements, textOf } from './reading/json-elements.js';
import { textEnd, textTime } from './reading/time-cells.js';

/** Types of identifiers that name an account. Addresses and BattlEye GUIDs do not. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['steamid', 'steam'],
  ['eosid', 'eos'],
  ['minecraftuuid', 'minecraft'],
  ['mcuuid', 'minecraft'],
  ['xboxid', 'xbox'],
  ['xuid', 'xbox'],
  ['psnid', 'psn'],
  ['epicid', 'epic'],
]);

export const battlemetrics: ListFormat = {
  name: 'battlemetrics',
  title: 'BattleMetrics bans JSON',
  recognise: ({ head }) => {
    const isPage = /^\s*\{/.test(head) && /"data"\s*:\s*\[/.test(head) && /"type"\s*:\s*"ban"/.test(head);
    return isPage ? 'JSON with data whose entries have the type ban' : null;
  },
  read: (text, sink) =>
    readElements(text, ['data'], {
      element: (value, line) => readBan(objectOf(value) ?? {}, line, sink),
      damaged: (line, reason) => sink.refuse(line, reason, true),
    }),
};

function readBan(ban: JsonObject, line: number, sink: RowSink): void {
  const attributes = objectOf(ban.attributes);
  if (ban.type !== 'ban' || attributes === null) {
    sink.refuse(line, 'the entry is not a ban with attributes');
    return;
  }
  const ids = arrayOf(attributes.identifiers).flatMap(idOf);
  const timestamp = textOf(attributes.timestamp);
  const bannedAt = timestamp === undefined ? null : textTime(timestamp, 'UTC');
  const end = textEnd(textOf(attributes.expires) ?? 'never', 'UTC');
  if (ids.length === 0) sink.refuse(line, 'the ban has no identifier of an account');
  else if (bannedAt === undefined) sink.refuse(line, 'timestamp must be a time such as 2026-11-20T12:00:00.000Z');
  else if (end === undefined) sink.refuse(line, 'expires must be null or a time such as 2026-11-20T12:00:00.000Z');
  else sink.row({ ids, bannedAt, expiresAt: end === 'never' ? null : end.at, lifted: false, kind: 'ban', line });
}

function idOf(value: Parameters<typeof objectOf>[0]): RowId[] {
  const identifier = objectOf(value);
  const kind = kinds.get(textOf(identifier?.type)?.toLowerCase() ?? '');
  const text = textOf(identifier?.identifier);
  return kind === undefined || text === undefined ? [] : [{ text, kind }];
}
