/** Reads `Bans.cfg` of a server of Squad or of Operation: Harsh Doorstop. */

import type { ListFormat, RowId } from './list-row.js';
import { eachLine } from './reading/lines.js';
import { secondsEnd } from './reading/time-cells.js';

/** The text before `Banned:` names the admin, who is never reported. */
const written = /(?:^|[\s/])Banned:\s*([^:\s]+):(-?\d*)\s*(?:\/\/(.*))?$/i;
const plain = /^(?:\/\/\s*)?([^:\s/]+):(-?\d*)\s*(?:\/\/(.*))?$/;
const account = /^(?:7656(?:119|120)\d{10}|[0-9a-f]{32})$/i;
const automatic = /^\s*Automatic\b/i;

export const squad: ListFormat = {
  name: 'squad',
  title: 'Squad or OHD Bans.cfg',
  recognise: ({ lines }) => {
    const isBan = (line: string) => {
      const id = (written.exec(line) ?? plain.exec(line))?.[1];
      return id !== undefined && account.test(id);
    };
    return lines.some(isBan) ? 'lines of the form <admin> Banned:<id>:<end> //<reason>' : null;
  },
  read: (text, sink) =>
    eachLine(text, sink, (line, number, isEnded) => {
      if (line === '' || line.startsWith('#')) return;
      const found = written.exec(line) ?? plain.exec(line);
      if (found === null) {
        // The game reads a comment as a ban if it has the form of one.
        if (!line.startsWith('//')) sink.refuse(number, 'the form is <admin> Banned:<id>:<end> //<reason>');
        return;
      }
      const [, id = '', seconds = '', reason = ''] = found;
      if (line.startsWith('//') && !account.test(id)) return;
      const end = secondsEnd(seconds);
      if (end === undefined) sink.refuse(number, 'the end is neither 0 nor a number of seconds since 1970');
      else if (automatic.test(reason) || (!isEnded && isBeginning(reason)))
        sink.refuse(number, 'an automatic kick is not the decision of an admin');
      else {
        const note = line.startsWith('//')
          ? { note: 'the line begins with //, which the game does not treat as a comment' }
          : {};
        sink.row({
          ids: [idOf(id)],
          bannedAt: null,
          expiresAt: end === 'never' ? null : end.at,
          lifted: false,
          kind: 'ban',
          line: number,
          ...note,
        });
      }
    }),
};

/** The length of an id shows its kind. A shorter number may be truncated, and never counts as an account. */
function idOf(text: string): RowId {
  if (!account.test(text)) return { text };
  return { text, kind: text.length === 32 ? 'eos' : 'steam' };
}

/** True if a truncated reason may have been that of an automatic kick. */
function isBeginning(reason: string): boolean {
  return reason !== '' && 'automatic'.startsWith(reason.trim().toLowerCase());
}
