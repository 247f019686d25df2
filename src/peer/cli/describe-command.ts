/** `ptf-peer describe`: prints a draft of the description of a list, for a person to complete. */
import { basename, extname } from 'node:path';
import type { Command } from 'commander';
import { knownCells } from '../formats/description.js';
import { readList } from '../formats/interpret.js';
import { draftIn, nothing, partsOf, shapeOf } from '../formats/recognise.js';
import { wrongUsage } from '../peer-error.js';
import { decodeList, fileBytes } from '../sources/decode.js';
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

export function addDescribe(program: Command, session: Session): void {
  program
    .command('describe <file>')
    .description('print a draft of the description of a list, for import --description')
    .option('--table <name>', 'the table of a dump')
    .addHelpText('after', help)
    .action(async (file: string, { table }: { readonly table?: string }) => {
      const { text } = decodeList(await fileBytes(file));
      const shape = shapeOf(text);
      const name = basename(file, extname(file));
      const word = name.toLowerCase().slice(0, descriptionNameMax);
      const parts = partsOf(text, shape, name).filter((part) => table === undefined || part.name === table);
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
