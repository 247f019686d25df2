/** Reads the bans in `playersDB.json` of txAdmin (FiveM, RedM). */

import type { ListFormat, RowSink } from './list-row.js';
import { arrayOf, type JsonObject, objectOf, readElements, textOf } from './reading/json-elements.js';
import { secondsEnd, secondsTime } from './reading/time-cells.js';

export const txadmin: ListFormat = {
  name: 'txadmin',
  title: 'txAdmin playersDB.json',
  recognise: ({ head }) => {
    const isDatabase = /^\s*\{\s*"version"\s*:\s*\d+\s*,\s*"players"\s*:\s*\[/.test(head);
    const hasActions = /^\s*\{/.test(head) && /"actions"\s*:\s*\[/.test(head);
    return isDatabase || hasActions ? 'JSON with version, players and actions' : null;
  },
  read: (text, sink) =>
    readElements(text, ['actions'], {
      element: (value, line) => readAction(objectOf(value) ?? {}, line, sink),
      damaged: (line, reason) => sink.refuse(line, reason, true),
    }),
};

function readAction(action: JsonObject, line: number, sink: RowSink): void {
  if (textOf(action.type) !== 'ban') {
    sink.refuse(line, 'the action is not a ban, but for example a warning');
    return;
  }
  const listed = action.ids ?? action.identifiers;
  const ids = arrayOf(listed).flatMap((id) => (typeof id === 'string' ? [{ text: id }] : []));
  const bannedAt = secondsTime(textOf(action.timestamp) ?? '');
  const { expiration } = action;
  const end =
    expiration === false || expiration === undefined || expiration === null
      ? 'never'
      : secondsEnd(textOf(expiration) ?? '');
  if (ids.length === 0) sink.refuse(line, 'the ban has no ids');
  else if (bannedAt === undefined) sink.refuse(line, 'timestamp is not a number of seconds since 1970');
  else if (end === undefined) sink.refuse(line, 'expiration is neither false nor a number of seconds since 1970');
  else {
    sink.row({
      ids,
      bannedAt,
      expiresAt: end === 'never' ? null : end.at,
      lifted: isRevoked(action),
      kind: 'ban',
      line,
    });
  }
}

/** Earlier versions state the time of a revocation within an object, where null means that there is none. */
function isRevoked({ revocation }: JsonObject): boolean {
  if (revocation === undefined || revocation === null || revocation === false) return false;
  const inner = objectOf(revocation);
  return inner === null ? true : textOf(inner.timestamp) !== undefined;
}
