/** Reads a server's own players for `ptf-peer export`, one id per line: the node stores only hashes. */

import { readPlayerId } from '../../player-ids/player-id.js';
import { eachLine } from '../formats/reading/records.js';

export interface KnownIds {
  /** Canonical ids with their kinds, each once, in the order of the file. */
  readonly players: ReadonlyMap<string, string>;
  readonly refused: readonly { readonly line: number; readonly reason: string }[];
}

interface Hints {
  readonly kind?: string | undefined;
  readonly kinds?: readonly string[] | undefined;
}

/** Reads the ids. The text of a line after a comma, a semicolon or a tab is ignored. */
export function knownIds(text: string, hints: Hints): KnownIds {
  const players = new Map<string, string>();
  const refused: { line: number; reason: string }[] = [];
  const refuse = (line: number, reason: string) => {
    refused.push({ line, reason });
  };
  eachLine(text, { refuse }, (line, number, isEnded) => {
    const id = line
      .split(/[,;\t]/, 1)[0]!
      .trim()
      .replace(/^"(.*)"$/, '$1');
    if (id === '' || id.startsWith('//')) return;
    // The first line of a table contains the names of its columns.
    if (number === 1 && /^(?:player_?id|steam_?id(?:64)?|uuid|id)$/i.test(id)) return;
    const found = readPlayerId(id, hints);
    if (!found.ok) refuse(number, `${found.reason}: ${found.text}`);
    else if (!isEnded && /:\d+$/.test(id) && !id.includes('7656')) {
      refuse(number, 'the file ends in this id without a line break, so that the id may be truncated');
    } else players.set(found.id, found.kind);
  });
  return { players, refused };
}
