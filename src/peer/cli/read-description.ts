/** Reads a description of the user's own, and says what is wrong with one. */
import { readFileSync } from 'node:fs';
import { type Description, lengthUnits, shapes } from '../formats/description.js';
import { wrongUsage } from '../peer-error.js';

const timeUnits = ['s', 'ms', 'ticks', 'text', 'any'];
const members = new Set(
  'name title sameAs shape recognise path line skip form columns ids start end length permanent lifted over type refuse known choose'.split(
    ' ',
  ),
);

/** Returns the description in a JSON file. Throws `wrong_usage` with the member that is wrong. */
export function readDescription(file: string): Description {
  let given: Partial<Description>;
  try {
    given = JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, ''));
  } catch {
    throw wrongUsage(`${file} cannot be read as JSON`);
  }
  const fault = faultOf(given);
  if (fault !== null) throw wrongUsage(`the description ${file}: ${fault}`);
  return given as Description;
}

function faultOf(given: Partial<Description>): string | null {
  if (typeof given !== 'object' || given === null) return 'it must be an object';
  const unknown = Object.keys(given).find((name) => !members.has(name));
  if (unknown !== undefined) return `it has no member ${unknown}`;
  const open = (given as { readonly choose?: readonly string[] }).choose ?? [];
  if (open.length > 0) return `choose still holds ${open.join(', ')}: say what each means`;
  const { name, shape, ids, start, end, length, permanent, lifted = [], over = [], type, line, skip, known } = given;
  if (typeof name !== 'string' || !/^[a-z0-9-]{1,40}$/.test(name)) return 'name must be a word in lower case';
  if (!shapes.includes(shape!)) return `shape must be one of ${shapes.join(', ')}`;
  const hasCell = (one: unknown) =>
    typeof one === 'object' && one !== null && 'cell' in one && typeof one.cell === 'string';
  if (!Array.isArray(ids) || ids.length === 0 || !ids.every(hasCell)) return 'ids must be a list of {"cell"}';
  if (!Array.isArray(lifted) || !Array.isArray(over)) return 'lifted and over must be lists of {"cell"}';
  for (const one of [start, end, length, permanent, type, ...lifted, ...over]) {
    if (one !== undefined && !hasCell(one)) return 'start, end, length, permanent, lifted, over and type need a cell';
  }
  for (const one of [start, end]) {
    if (one !== undefined && !timeUnits.includes(one.unit))
      return `the unit of a time must be one of ${timeUnits.join(', ')}`;
  }
  const lengths = Object.keys(lengthUnits);
  if (length !== undefined && !lengths.includes(length.unit))
    return `the unit of length must be one of ${lengths.join(', ')}`;
  if (type !== undefined && (typeof type.kinds !== 'object' || type.kinds === null)) return 'type must have kinds';
  if (known !== undefined && !Array.isArray(known)) return 'known must be a list of cells';
  if (shape === 'lines' && typeof line !== 'string') return 'line must be a regular expression with named groups';
  try {
    for (const pattern of [line, skip]) if (pattern !== undefined) new RegExp(pattern, 'i');
  } catch {
    return 'line and skip must be regular expressions';
  }
  return null;
}
