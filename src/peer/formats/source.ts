/** Reads `banned_user.cfg` of a game server on the Source engine, and similar lists of `banid` commands. */

import type { ListFormat } from './list-row.js';
import { eachLine } from './reading/lines.js';

const banId =
  /^banid\s+"?(\d+(?:\.\d+)?)"?\s+(?:"([^"]*)"|(\[[^\]\s]*\]|[^\s"/;]+))(?:\s+kick)?\s*(?:;\s*)?(?:\/\/.*)?$/i;
const command = /^(?:banid|addip|writeid|writeip)\b/i;

export const source: ListFormat = {
  name: 'source',
  title: 'Source banned_user.cfg',
  recognise: ({ lines }) =>
    lines.some((line) =>
      /^banid\s+"?\d+(?:\.\d+)?"?\s+"?(?:STEAM_|VALVE_|\[?U:|BOT\b|7656(?:119|120)\d{10})/i.test(line),
    )
      ? 'lines of the form banid <minutes> <Steam id>'
      : null,
  read: (text, sink) =>
    eachLine(text, sink, (line, number, isEnded) => {
      if (line === '' || line.startsWith('//')) return;
      const [, minutes, quoted, bare] = banId.exec(line) ?? [];
      if (minutes === undefined) {
        if (/^addip\b/i.test(line)) sink.refuse(number, 'an IP ban names no player');
        else
          sink.refuse(
            number,
            command.test(line) ? 'the form is banid <minutes> <Steam id>' : 'this is not a banid command',
          );
        return;
      }
      const id = quoted ?? bare!;
      const isCut = !isEnded && quoted === undefined && !id.endsWith(']') && line.endsWith(id);
      if (isCut) {
        sink.refuse(number, 'the file ends in this id without a line break, so that the id may be truncated');
        return;
      }
      const length =
        Number(minutes) === 0
          ? {}
          : {
              lengthMs: Number(minutes) * 60_000,
              note: 'the ban lasts some minutes from a start that the list does not state',
            };
      sink.row({
        ids: [{ text: id, kind: 'steam' }],
        bannedAt: null,
        expiresAt: null,
        lifted: false,
        kind: 'ban',
        line: number,
        ...length,
      });
    }),
};
