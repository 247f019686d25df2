/** Reads a description of the user's own, and says what is wrong with one. */
import { readFileSync } from 'node:fs';
import { isRecord, jsonIn } from '../../client/for-peer.js';
import { type Description, lengthUnits, shapes } from '../formats/description.js';
import { wrongUsage } from '../peer-error.js';

export const descriptionNameMax = 40;

const timeUnits = ['s', 'ms', 'ticks', 'text', 'any'];
const members = new Set(
  'name title sameAs shape recognise path line skip form columns ids start end length permanent lifted over type refuse known choose'.split(
    ' ',
  ),
);

/** Returns the description in a JSON file. Throws `wrong_usage` with the member that is wrong. */
export function readDescription(file: string): Description {
  let text = '';
  try {
    text = readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch {
    // The text is then none in JSON.
  }
  const given = jsonIn(text);
  if (given === undefined) throw wrongUsage(`${file} cannot be read as JSON`);
  const fault = faultOf(given as Partial<Description>);
  if (fault !== null) throw wrongUsage(`the description ${file}: ${fault}`);
  return completed(given as Description);
}

const lower = (text: unknown) => String(text).toLowerCase();
const lists = ['is', 'not', 'cells', 'without', 'columns', 'known'];

/** Names and values are compared in lower case. The path and the cells that tell what stands must be there. */
function completed(given: Description): Description {
  const { shape, start, end, length, permanent, type, lifted = [], over = [] } = given;
  const isLines = shape === 'lines';
  // The cells of lines are groups of their expression.
  const names = isLines ? [] : ['cell', 'kindCell'];
  const loweredMember = ([key, one]: [string, unknown]): [string, unknown] => {
    if (lists.includes(key)) return [key, (one as unknown[]).map(lower)];
    if (names.includes(key)) return [key, lower(one)];
    if (key !== 'kinds' && key !== 'others') return [key, lowered(one)];
    return [key, Object.fromEntries(Object.entries(one as object).map(([name, value]) => [lower(name), value]))];
  };
  const lowered = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(lowered);
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(loweredMember)) : value;
  };
  const read = [start, end, length, permanent, type, ...lifted, ...over];
  const needs = read.flatMap((one) => (one === undefined ? [] : [lower(one.cell)]));
  const { recognise = { why: 'described by hand' }, ...rest } = lowered(given) as Description;
  const whole = { ...rest, title: given.title ?? given.name, recognise };
  return isLines ? whole : { ...whole, needs };
}

function faultOf(given: Partial<Description> & { readonly choose?: readonly string[] }): string | null {
  if (!isRecord(given)) return 'it must be an object';
  const unknown = Object.keys(given).find((name) => !members.has(name));
  if (unknown !== undefined) return `it has no member ${unknown}`;
  const { name, shape, ids, start, end, length, permanent, type, lifted = [], over = [] } = given;
  const { choose = [], line, skip, known, recognise, columns, path } = given;
  if (choose.length > 0) return `choose still holds ${choose.join(', ')}: say what each means`;
  if (typeof name !== 'string' || !/^[a-z0-9-]+$/.test(name)) return 'name must be a word in lower case';
  if (name.length > descriptionNameMax) return `name must have at most ${descriptionNameMax} characters`;
  if (!shapes.includes(shape!)) return `shape must be one of ${shapes.join(', ')}`;
  const hasCell = (one: unknown) => isRecord(one) && typeof one.cell === 'string';
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
  if (type !== undefined && !isRecord(type.kinds)) return 'type must have kinds';
  if (!Object.values(type?.kinds ?? {}).every((kind) => ['ban', 'cheating', 'toxicity'].includes(kind)))
    return 'kinds must be ban, cheating or toxicity; name other measures in others';
  for (const one of [type?.others, ...ids.map((id) => id.kinds)]) {
    if (one !== undefined && !isRecord(one)) return 'kinds and others must be objects';
  }
  if (known !== undefined && !Array.isArray(known)) return 'known must be a list of cells';
  const texts = (one: unknown) => one === undefined || (Array.isArray(one) && one.every((t) => typeof t !== 'object'));
  for (const one of [permanent, ...lifted, ...over]) {
    if (!texts(one?.is) || !texts(one?.not)) return 'is and not must be lists of values';
  }
  if (![recognise?.cells, recognise?.without, columns].every(texts)) return 'cells, without and columns must be lists';
  if (shape === 'sql' && recognise?.named === undefined && recognise?.cells === undefined)
    return 'recognise must name the table of the dump, such as {"named": "^sb_bans$"}';
  if (shape === 'xml' && !path) return 'path must lead to the elements that are bans, such as bans.ban';
  if (shape === 'lines' && typeof line !== 'string') return 'line must be a regular expression with named groups';
  try {
    for (const pattern of [line, skip, recognise?.named]) if (pattern !== undefined) new RegExp(pattern, 'i');
  } catch {
    return 'line, skip and named must be regular expressions';
  }
  const read = [...ids, start, end, length, permanent, type, ...lifted, ...over];
  const lost = read.find((one) => one !== undefined && shape === 'lines' && !line!.includes(`(?<${one.cell}>`));
  return lost === undefined ? null : `line has no group ${lost.cell}`;
}
