/** Declares the description of a tool's list. Names of cells are in lower case; in JSON they are paths with dots. */
import type { RowKind } from './list-row.js';
import { names } from './names.js';

export const shapes = ['csv', 'json', 'json-lines', 'sql', 'xml', 'keyvalues', 'lines'] as const;
export type Shape = (typeof shapes)[number];

/** `any` reads seconds, ms and text by their form. */
export type TimeUnit = 's' | 'ms' | 'ticks' | 'text' | 'any';

export const lengthUnits = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** True for a cell with one of the values `is`, in lower case; without `is`, for one that is neither empty nor "no". */
export interface CellTest {
  readonly cell: string;
  readonly is?: readonly string[];
  /** True for every value but these, if given instead of `is`. Beside `is`: a value that neither holds is refused. */
  readonly not?: readonly string[];
}

export interface IdCell {
  readonly cell: string;
  /** The kind of the ids, if their form does not show it. */
  readonly kind?: string;
  /** The cell that names the kind. In a list of objects: a member of the object, beside the member `item`. */
  readonly kindCell?: string;
  readonly item?: string;
  /** The kinds by the names of `kindCell`, in lower case. Ids of other names are passed over. */
  readonly kinds?: Readonly<Record<string, string>>;
}

export interface Description {
  /** The name for `--format`. */
  readonly name: string;
  readonly title: string;
  /** Name for event ids if another description can hold the same list; `name` otherwise. */
  readonly sameAs?: string;
  readonly shape: Shape;
  readonly recognise: {
    readonly cells?: readonly string[];
    readonly without?: readonly string[];
    /** Regular expression of the name of the table or, outside of SQL, of the file. */
    readonly named?: string;
    /** Regular expression of the beginning of the text. */
    readonly head?: string;
    readonly why: string;
  };
  /** JSON: path of the array, joined by dots; `bans.*`: an object's members, named by `key`. XML: an element. */
  readonly path?: string;
  /** Lines: regular expression whose named groups are the cells; `tail` is a comment. */
  readonly line?: string;
  /** Lines: regular expression of the lines to pass over. */
  readonly skip?: string;
  /** Lines: the reason of a refusal for a line that has another form. */
  readonly form?: string;
  /** SQL: the columns of a table that the dump does not define. */
  readonly columns?: readonly string[];
  /** Cells without which ends, removals and types are not known, besides the path; alternatives joined by `|`. */
  readonly needs?: readonly string[];
  readonly ids: readonly IdCell[];
  readonly start?: { readonly cell: string; readonly unit: TimeUnit };
  readonly end?: { readonly cell: string; readonly unit: TimeUnit };
  readonly length?: { readonly cell: string; readonly unit: keyof typeof lengthUnits };
  /** A measure without an end. If the cell says otherwise, there must be an end. */
  readonly permanent?: CellTest;
  /** Ends a measure before its time. */
  readonly lifted?: readonly CellTest[];
  /** The list holds a measure that has run out; one without an end was lifted. */
  readonly over?: readonly CellTest[];
  /** The first kind whose value is present counts; `others` names values that are no bans. */
  readonly type?: {
    readonly cell: string;
    readonly kinds: Readonly<Record<string, RowKind>>;
    readonly others?: Readonly<Record<string, string>>;
  };
  /** Refuses rows whose cell begins with the text. */
  readonly refuse?: { readonly cell: string; readonly begins: string; readonly reason: string };
  /** Cells without a meaning for an import; `*` at the end stands for any text. */
  readonly known?: readonly string[];
}

/** The measure that is refused as an address instead of being left out as no ban. */
export const addressBan = 'IP ban';

const dangerous = new RegExp(names.dangerous.join('|'));

/** A member of a ban that says nothing about its end or type. A removal or another measure has none. */
const remark = new RegExp(names.remark);

/** True for a name that may state an end, a length, a removal or a type, whatever object holds it. */
export function isDangerous(cell: string): boolean {
  const members = cell.replace(remark, '').split('.');
  return members.some((name) => dangerous.test(name.replace(/[^a-z0-9\u0080-\uffff]+/g, '_')));
}

export function knownCells(description: Description): (cell: string) => boolean {
  const { ids, start, end, length, permanent, lifted = [], over = [], type, refuse, known = [] } = description;
  const read = [start, end, length, permanent, type, refuse, ...lifted, ...over, ...ids].map((one) => one?.cell);
  const exact = new Set([...read, ...ids.map(({ kindCell }) => kindCell), ...known]);
  const prefixes = known.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (cell) => exact.has(cell) || prefixes.some((prefix) => cell.startsWith(prefix));
}
