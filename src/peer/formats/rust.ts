/** Reads `bans.cfg` of a server of the game Rust. */

import type { ListFormat } from './list-row.js';
import { eachLine } from './reading/lines.js';
import { secondsEnd } from './reading/time-cells.js';

const text = String.raw`"(?:[^"\\]|\\.)*"`;
const banId = new RegExp(
  String.raw`^banid\s+"?(\d{1,20})"?(?:\s+(${text}|[^\s"]+)(?:\s+(${text}|[^\s"]+))?)?(?:\s+"?(-?\d+)"?)?\s*;?$`,
  'i',
);

export const rust: ListFormat = {
  name: 'rust',
  title: 'Rust bans.cfg',
  recognise: ({ lines }) =>
    lines.some((line) => /^banid\s+"?7656(?:119|120)\d{10}"?(?:\s+(?:"|-?\d)|$)/i.test(line))
      ? 'lines of the form banid <SteamID64> "<name>" "<reason>" <end>'
      : null,
  read: (list, sink) =>
    eachLine(list, sink, (line, number, isEnded) => {
      if (line === '' || line.startsWith('//') || line.startsWith('#')) return;
      const [, id, , , seconds] = banId.exec(line) ?? [];
      if (id === undefined) {
        sink.refuse(number, 'the form is banid <SteamID64> "<name>" "<reason>" <end>');
        return;
      }
      if (seconds === undefined && !isEnded) {
        sink.refuse(number, 'the file ends in this line without a line break, so that its end may be truncated');
        return;
      }
      const end = seconds === undefined ? 'never' : secondsEnd(seconds);
      if (end === undefined) sink.refuse(number, 'the end is neither 0, -1 nor a number of seconds since 1970');
      else {
        const expiresAt = end === 'never' ? null : end.at;
        sink.row({
          ids: [id.length === 17 ? { text: id, kind: 'steam' } : { text: id }],
          bannedAt: null,
          expiresAt,
          lifted: false,
          kind: 'ban',
          line: number,
        });
      }
    }),
};
