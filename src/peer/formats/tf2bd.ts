/** Reads `playerlist.json` of TF2 Bot Detector, schema version 3. */

import type { ListFormat, RowKind } from './list-row.js';
import { arrayOf, objectOf, readElements, textOf } from './reading/json-elements.js';

/** The most serious mark first. A player that is merely suspicious is not accused of anything. */
const kinds: readonly (readonly [attribute: string, kind: RowKind])[] = [
  ['cheater', 'cheating'],
  ['exploiter', 'cheating'],
  ['racist', 'toxicity'],
];

export const tf2bd: ListFormat = {
  name: 'tf2bd',
  title: 'TF2 Bot Detector playerlist.json',
  recognise: ({ head }) => {
    const isList = /^\s*\{/.test(head) && /"players"\s*:\s*\[/.test(head);
    const hasMarks =
      /tf2_bot_detector|playerlist\.schema|"file_info"\s*:/.test(head) || /"attributes"\s*:\s*\[/.test(head);
    return isList && hasMarks && !/"actions"\s*:\s*\[/.test(head)
      ? 'JSON with file_info and players that have attributes'
      : null;
  },
  read: (text, sink) =>
    readElements(text, ['players'], {
      element: (value, line) => {
        const player = objectOf(value);
        const id = textOf(player?.steamid);
        const attributes = arrayOf(player?.attributes).map(textOf);
        const kind = kinds.find(([attribute]) => attributes.includes(attribute))?.[1];
        if (id === undefined) sink.refuse(line, 'the entry has no steamid');
        else if (kind === undefined) sink.refuse(line, 'the entry has no accusation: suspicious is only a mark');
        // `last_seen` is the time when the player was last met, not the time of the mark.
        else
          sink.row({ ids: [{ text: id, kind: 'steam' }], bannedAt: null, expiresAt: null, lifted: false, kind, line });
      },
      damaged: (line, reason) => sink.refuse(line, reason, true),
    }),
};
