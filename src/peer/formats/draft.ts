/** Describes lists of no particular tool by the usual names of their cells; `ptf-peer describe` prints this draft. */
import { type Description, type IdCell, isDangerous, type Shape } from './description.js';
import { names, words } from './names.js';

/** The kinds of ids by the names of cells without underscores. */
const kindOfCell: ReadonlyMap<string, string> = new Map(
  Object.entries(names.kinds).flatMap(([kind, cells]) => words(cells).map((cell) => [cell, kind] as const)),
);
/** The role of a person and the name of the id. An id without a role is that of the banned player. */
const prefixed = /^(?:player|banned|(user|target|offender|victim))?(.*)$/s;
const idOfPerson = /(?:^|[._]|banned)(?:user|member|target|offender|victim)(?:[._](?:.*[._])?)?id$/;
const plainNames = new RegExp(names.plain);

function plain(name: string): string {
  return name.replace(/[_.]|\$(?:date|numberlong)/g, '');
}

/** Returns the description of a list with these cells; it has no `ids` if none contains player ids. */
export function draftOf(cells: readonly string[], shape: Shape, path?: string): Description {
  const find = (wanted: readonly string[]) =>
    wanted.map((one) => cells.find((name) => plain(name) === one)).find((name) => name !== undefined);
  const typed = cells.flatMap((cell) => {
    const [, role, name] = prefixed.exec(plain(cell))!;
    const kind = kindOfCell.get(name!);
    return kind === undefined ? [] : [{ role, id: { cell, kind } }];
  });
  const own = typed.filter(({ role }) => role === undefined).map(({ id }) => id);
  const roles = new Set(typed.map(({ role }) => role).filter((role) => role !== undefined && role !== 'victim'));
  // The `id` or `uuid` beside the id of an account is mostly that of the record.
  const isAlone = typed.length === 0 && !cells.some((name) => idOfPerson.test(name));
  const isJava = typed.every(({ id: { kind } }) => kind === 'xbox' || kind === 'discord');
  const isKeyed = path?.endsWith('*') === true;
  const open = isKeyed
    ? 'key'
    : find(words(names.id).filter((name) => (name === 'id' ? isAlone : name !== 'uuid' || isJava)));
  const kindCell = find(words(names.kind));
  const named: IdCell[] = open === undefined ? own : [{ cell: open, ...(kindCell && { kindCell }) }, ...own];
  const isUnclear = named.length > 0 ? roles.has('target') || roles.has('offender') : roles.size > 1;
  const others = typed.filter(({ role }) => role !== undefined && roles.has(role)).map(({ id }) => id);
  const ids = isUnclear ? [] : named.length > 0 ? named : others;
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
      ...(isKeyed ? [{ cell: 'value', is: words(names.no) }] : []),
      ...(status ? [{ cell: status, is: words(names.ended), not: ['', ...words(names.standing)] }] : []),
    ],
    known: cells.filter((name) => plainNames.test(plain(name)) && !isDangerous(name)),
  };
}
