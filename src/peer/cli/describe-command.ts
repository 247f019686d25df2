/** `ptf-peer describe`: prints a draft of the description of a list, for a person to complete. */
import type { Command } from 'commander';
import { knownCells } from '../formats/description.js';
import { readList } from '../formats/interpret.js';
import { draftIn, nothing, partsOf, shapeOf, whyNoCells } from '../formats/recognise.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { decodeList } from '../sources/decode.js';
import { sourceOf } from '../sources/source.js';
import { isSqlite } from '../sources/sqlite.js';
import { descriptionNameMax } from './read-description.js';
import type { Session } from './session.js';

const help = `
The draft says what the names of the cells suggest. Three choices are yours, and stand under "choose":
  ids   the cells that hold accounts, each with its kind where the form does not show it
  end   the cell and the unit of the end ("s", "ms", "ticks", "text"), or "length" with its unit
  type  the values of the cell that are bans ("kinds") and those that are not ("others")
Move each cell of "choose" to its place, or to "known" if it means nothing for an import, and delete "choose".
In XML, "path" leads to the elements that are bans, such as bans.ban: others may be admins.

Examples:
  ptf-peer describe bans.csv > bans.json
  ptf-peer import bans.csv --description bans.json --dry-run`;

/** True if more than a twentieth of the beginning are control characters. */
function isBinary(text: string): boolean {
  const head = text.slice(0, 4_096);
  return head.replace(/\P{Cc}|\s/gu, '').length > head.length / 20;
}

export function addDescribe(program: Command, session: Session): void {
  program
    .command('describe <file>')
    .description('print a draft of the description of a list, for import --description')
    .option('--table <name>', 'the table of a dump or a SQLite file')
    .addHelpText('after', help)
    .action(async (file: string, { table }: { readonly table?: string }) => {
      const isDatabase = await isSqlite(file);
      const source = await sourceOf([file], false, isDatabase ? { table } : {});
      const { text } = decodeList(await source.read(session.ending));
      const shape = shapeOf(text);
      const { name, label } = source;
      const word = name.toLowerCase().slice(0, descriptionNameMax);
      const all = partsOf(text, shape, name);
      const parts = all.filter((part) => isDatabase || table === undefined || part.name === table);
      if (parts.length === 0 && all.length > 0) {
        throw wrongUsage(`--table must be one of ${label}: ${all.map((part) => part.name).join(', ')}`);
      }
      const bare = `has no named cells to describe${whyNoCells(shape, text)}`;
      const fault = isBinary(text) ? 'is no text' : parts.some(({ cells }) => cells.length > 0) ? null : bare;
      if (fault !== null) throw new PeerError('format_not_recognised', `${label} ${fault}`, 4);
      const found = draftIn(parts, shape);
      if (typeof found === 'string') throw wrongUsage(found);
      const { sameAs: _, recognise: __, ...draft } = found;
      const isKnown = knownCells({ ...draft, recognise: { why: '' } });
      const part = parts.find(({ cells }) => draft.ids.every(({ cell }) => cells.includes(cell)));
      const open = (part?.cells ?? []).filter((cell) => !isKnown(cell));
      const recognise = { ...(shape === 'sql' ? { named: `^${part?.name ?? ''}$` } : {}), why: 'described by hand' };
      const choose = new Set(draft.ids.length === 0 ? open : []);
      // What would stop an import of the list, by its name or by its values alone.
      const unknown = (cell: string, isStopping: boolean) => void (isStopping && choose.add(cell));
      const sink = { ...nothing, row: () => undefined, lacks: () => undefined, unknown };
      readList({ ...found, recognise }, text, sink, { timeZone: 'UTC', kinds: null });
      const description = {
        ...draft,
        ...(shape === 'xml' && { path: '' }),
        name: word.replace(/[^a-z0-9]+/g, '-'),
        title: name,
        recognise,
        known: [...(draft.known ?? []), ...open.filter((cell) => !choose.has(cell))],
        choose: [...choose],
      };
      session.terminal.out(`${JSON.stringify(description, null, 2)}\n`);
    });
}
