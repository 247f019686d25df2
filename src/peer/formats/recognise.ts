/** Recognises the tool that wrote a list, or the reason why no description fits. */
import { readPlayerId } from '../../player-ids/player-id.js';
import type { Description, Shape } from './description.js';
import { draftOf } from './draft.js';
import { playersIn } from './interpret.js';
import { names } from './names.js';
import { noHeader } from './reading/csv-records.js';
import { readInserts } from './reading/sql-values.js';
import { idLike, isTable, readShape } from './shapes.js';
import { tools } from './tools.js';

export interface Detected {
  readonly format: Description;
  readonly why: string;
}

/** A table, an array or the elements of a list, with the names of their cells. `isSure`: it names players. */
export type Part = { readonly name: string; readonly cells: readonly string[]; readonly isSure: boolean };

/** True if the name of a file or an array says that it holds no bans that stand. */
function isOfOthers(name: string): boolean {
  return new RegExp(names.past, 'i').test(name) || (new RegExp(names.others, 'i').test(name) && !/ban/i.test(name));
}

/** True if the name of an array says that it holds bans of players. */
function isOfBans(name: string): boolean {
  return /ban/i.test(name) && !/(?<![a-z])ip|ips?$|addr/i.test(name) && !isOfOthers(name);
}

const sampleLength = 65_536;
const arraysMax = 20;
const noBans = 'the name of the list or of its array says that it holds no bans that stand; say --format if it does';

/** Returns the format of the text, or the reason why it has none. `name` is that of the file, without its folder. */
export function detectFormat(text: string, name: string): Detected | string {
  const head = text.slice(0, sampleLength);
  const shape = shapeOf(head);
  const parts = partsOf(text, shape, name);
  const unsure: Description[] = [];
  for (const format of tools) {
    const { recognise } = format;
    if (recognise.head !== undefined) {
      if (new RegExp(recognise.head, 'i').test(head)) {
        return format.name === 'ids' && isOfOthers(name) ? noBans : { format, why: recognise.why };
      }
    } else if (format.shape === shape) {
      const { named: _, ...columns } = recognise;
      const fits = parts.filter((part) => format.path === undefined || format.path === part.name || shape !== 'json');
      if (fits.some((part) => isTable(format, part.name, part.cells))) return { format, why: recognise.why };
      if (fits.some((part) => isTable({ ...format, recognise: columns }, '', part.cells))) unsure.push(format);
    }
  }
  if (unsure.length > 0) {
    const what = shape === 'sql' ? 'the name of the table' : 'its name, such as bans.csv';
    return `the cells are those of ${unsure[0]!.title}, but do not tell bans from mutes, warnings or past bans; say it by ${what}, or by --format (${unsure.map((one) => one.name).join(', ')})`;
  }
  if (shape === 'sql') {
    const tables = parts.map((part) => part.name).join(', ');
    return `the dump is one of a tool that is not known; it holds the table ${tables || 'of no name'}`;
  }
  const format = draftIn(parts, shape);
  if (typeof format === 'string') return format;
  if (shape !== 'xml' && shape !== 'keyvalues' && format.ids.length > 0) {
    const { path = '', recognise } = format;
    return isOfOthers(path) || (!/ban/i.test(path) && isOfOthers(name)) ? noBans : { format, why: recognise.why };
  }
  const found = parts.find(({ cells }) => cells.length > 0);
  const cells =
    found === undefined ? whyNoCells(shape, text) : `; its cells are ${found.cells.slice(0, 20).join(', ')}`;
  return `the list has none of the known formats${cells}`;
}

/** Returns the end of a sentence that says that a list has no named cells. */
export function whyNoCells(shape: Shape, text: string): string {
  return shape === 'csv' && text.trim() !== '' ? `; ${noHeader}` : '';
}

/** Returns the draft for the part that holds the bans, without ids if none does; or why it is not clear which does. */
export function draftIn(parts: readonly Part[], shape: Shape): Description | string {
  const draft = ({ cells, name }: Part) => draftOf(cells, shape, shape === 'json' ? name : undefined);
  const some = parts.filter((part) => draft(part).ids.length > 0);
  // The entries of any array may have an `id`.
  const sure = some.filter(({ isSure }) => isSure);
  const holders = sure.length > 0 ? sure : some;
  // The other arrays of a list whose root is an array are those of its entries.
  const named = holders.some(({ name }) => name === '') ? [] : parts.filter(({ name }) => isOfBans(name));
  const standing = holders.filter(({ name }) => !isOfOthers(name));
  const [found = parts[0], ...others] =
    [named.filter((part) => some.includes(part)), named, standing, holders].find(({ length }) => length > 0) ?? [];
  if (found === undefined) return draftOf([], shape);
  if (others.length > 0) {
    const paths = [found, ...others].map(({ name }) => name).join(', ');
    return `its arrays ${paths} hold ids of players, and each needs a description: describe FILE --table '${found.name}'`;
  }
  const left = holders.filter((part) => part !== found).map(({ name }) => `; ${name} is left out`);
  const { recognise, ...rest } = draft(found);
  return { ...rest, recognise: { ...recognise, why: `${recognise.why}${left.join('')}` } };
}

export function shapeOf(text: string): Shape {
  const head = text.slice(0, sampleLength).replace(/^(?:\s*\/\/[^\n]*\n)+/, '');
  if (/^\s*</.test(head)) return 'xml';
  const isRow = /^\s*\{.*\}[^\S\n]*(?:\n\s*(?:\{|$)|$)/.test(head) && !/^.*:\s*\[\s*\{/.test(head);
  if (isRow && (/\}[^\S\n]*\n\s*\{/.test(head) || keyedIn(head).length === 0)) return 'json-lines';
  if (/^\s*[[{]/.test(head)) return 'json';
  if (/^\s*(?:"[^"\n]*"|\w+)\s*\{/.test(head)) return 'keyvalues';
  // Only at the beginning of a line: a player's name may be a statement.
  return /^[ \t]*(?:INSERT\s+(?:IGNORE\s+)?INTO|REPLACE\s+INTO|CREATE\s+(?:\w+\s+)?TABLE)\b|^COPY\s[^;]*\sFROM\s+stdin\b/im.test(
    head,
  )
    ? 'sql'
    : 'csv';
}

/** The paths of objects whose first member is named by the id of a player: the root, or a list of bans by its name. */
function keyedIn(head: string): string[] {
  const found = head.matchAll(/(?:^|"([^".\\]{1,80})"\s*:)\s*(?=\{\s*"([^"\\]{1,128})"\s*:)/g);
  return Array.from(found).flatMap(([, name = '', id]) => {
    const isList = name === '' || (isOfBans(name) && /(?:bans?|banned(?:_?(?:players|users|ids))?|list)$/i.test(name));
    return isList && idLike.test(id!) && readPlayerId(id!).ok ? `${name}.*`.replace(/^\./, '') : [];
  });
}

export const nothing = { refuse: () => undefined, damaged: () => undefined };

/** Returns the parts of the beginning of the text; of a dump, those of the whole text. */
export function partsOf(text: string, shape: Shape, name: string): readonly Part[] {
  const head = text.slice(0, sampleLength);
  if (shape === 'sql') {
    const tables = new Map<string, readonly string[]>();
    const found = (table: string, columns: readonly string[] | null) => {
      if (columns !== null || !tables.has(table)) tables.set(table, columns ?? []);
      return null;
    };
    readInserts(text, found, { ...nothing, record: () => undefined });
    return Array.from(tables, ([table, cells]) => ({ name: table, cells, isSure: false }));
  }
  if (shape !== 'json') return [partAt(head, shape, '', name)!];
  const arrays = [...head.matchAll(/"([^".\\]{1,80})"\s*:\s*\[/g)].map(([, path]) => path!);
  const paths = arrays.filter((path) => !idLike.test(path));
  const [, later] = /"([^".\\]{0,40}ban[^".\\]{0,40})"\s*:\s*\[/i.exec(text.slice(sampleLength)) ?? [];
  const wanted = new Set([later ?? '', '', ...keyedIn(head), ...paths]);
  return [...wanted].slice(0, arraysMax).flatMap((path) => partAt(head, shape, path) ?? []);
}

/** The part at a path; undefined if the list has no array there. */
function partAt(head: string, shape: Shape, path: string, name = path): Part | undefined {
  let isSure = false;
  const cells = new Set<string>();
  let last: readonly string[] = [];
  const isThere = readShape({ name: '', title: '', shape, path, recognise: { why: '' }, ids: [] }, head, {
    ...nothing,
    cells: (names) => {
      last = [...names];
      if (shape === 'csv') for (const name of last) cells.add(name);
    },
    record: (cell) => {
      // A list of texts is one of ids or of something else.
      const text = last.join() === 'value' && shape === 'json' ? cell('value') : undefined;
      if (typeof text !== 'string' || readPlayerId(text).ok) for (const name of last) cells.add(name);
      isSure ||= playersIn(draftOf(last, shape, path), cell, { kinds: null }).ok;
    },
    isRead: () => false,
    isWhole: () => true,
  });
  return isThere || shape !== 'json' ? { name, cells: [...cells], isSure } : undefined;
}
