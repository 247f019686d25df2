/** Describes lists of no particular tool by the usual names of their cells; `ptf-peer describe` prints this draft. */
import { type Description, type IdCell, isDangerous, type Shape } from './description.js';
import { names, words } from './names.js';

/** The kinds of ids by the names of cells without underscores. */
const kindOfCell: ReadonlyMap<string, string> = new Map(
  Object.entries(names.kinds).flatMap(([kind, cells]) => words(cells).map((cell) => [cell, kind] as const)),
);
const plainNames = new RegExp(names.plain);

function plain(name: string): string {
  return name.replace(/[_.]|\$(?:date|numberlong)/g, '');
}

/** Returns the description of a list with these cells; it has no `ids` if none contains player ids. */
export function draftOf(cells: readonly string[], shape: Shape, path?: string): Description {
  const find = (wanted: readonly string[]) =>
    wanted.map((one) => cells.find((name) => plain(name) === one)).find((name) => name !== undefined);
  const typed = cells.flatMap((name): IdCell[] => {
    const kind = kindOfCell.get(plain(name).replace(/^(?:player|user|target|victim|banned)/, ''));
    return kind === undefined ? [] : [{ cell: name, kind }];
  });
  // The `id` or `uuid` beside the id of an account is mostly that of the record.
  const isAlone = typed.length === 0 && !cells.some((name) => /(?:user|member|target|offender|victim).*id$/.test(name));
  const isJava = typed.every(({ kind }) => kind === 'xbox' || kind === 'discord');
  const open = find(words(names.id).filter((name) => (name === 'id' ? isAlone : name !== 'uuid' || isJava)));
  const kindCell = find(words(names.kind));
  const ids = open === undefined ? typed : [{ cell: open, ...(kindCell && { kindCell }) }, ...typed];
  const [start, end, status, permanent] = [names.start, names.end, 'status state', 'permanent'].map((text) =>
    find(words(text)),
  );
  const held = ids.map(({ cell }) => cell);
  return {
    name: shape === 'json-lines' ? 'ndjson' : shape,
    title: shape === 'csv' ? 'CSV with a header' : shape === 'json-lines' ? 'one JSON object per line' : shape,
    sameAs: 'csv',
    shape,
    ...(path !== undefined && { path }),
    recognise: { cells: held, why: `${held.join(' and ')} holds ids of players` },
    ids,
    ...(start && { start: { cell: start, unit: 'any' } }),
    ...(end && { end: { cell: end, unit: 'any' } }),
    ...(permanent && { permanent: { cell: permanent } }),
    lifted: [
      ...cells.filter((name) => words(names.lifted).includes(plain(name))).map((cell) => ({ cell })),
      ...cells
        .filter((name) => words(names.stands).includes(plain(name)))
        .map((cell) => ({ cell, is: words(names.no), not: words(names.yes) })),
      ...(status ? [{ cell: status, is: words(names.ended), not: ['', ...words(names.standing)] }] : []),
    ],
    known: cells.filter((name) => plainNames.test(plain(name)) && !isDangerous(name)),
  };
}
