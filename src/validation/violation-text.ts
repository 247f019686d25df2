/** Describes what a schema expected and what was found, without values that may name a player: callers log it. */
import { parseUtcDateTime } from './formats.js';
import { patternViolations } from './identifiers.js';
import type { Schema } from './schema.js';

export interface SchemaViolation {
  /** JSON pointer of the place; of the missing or unknown field itself if that is the fault. */
  readonly field: string;
  readonly keyword: string;
  /** The schema of the place; of the surrounding object if the field is unknown. */
  readonly schema: Schema;
  readonly value: unknown;
  readonly limit?: number;
  readonly actual?: number;
}

export function violationText(fault: SchemaViolation, root: string): string {
  return `${nameOf(fault.field, root)} ${complaint(fault, root)}`;
}

function complaint({ field, keyword, schema, value, limit, actual }: SchemaViolation, root: string): string {
  switch (keyword) {
    case 'required':
      return `is missing; it must be ${expected(schema)}`;
    case 'additionalProperties':
      return `is not a field of ${root}; ${meantField(field, schema)}`;
    case 'pattern':
      return patternViolations.get(schema.pattern ?? '')?.(String(value)) ?? `must match ${schema.pattern}`;
    case 'uniqueItems':
      return 'must not contain the same item twice';
    default: {
      const bound = bounds[keyword];
      if (bound === undefined) return `must be ${expected(schema)}; got ${found(schema, value)}`;
      const most = keyword.startsWith('min') ? 'at least' : 'at most';
      const verb = bound.unit === undefined ? 'be' : 'have';
      return `must ${verb} ${most} ${counted(limit, bound.unit)}; got ${actual}`;
    }
  }
}

interface Bound {
  /** Undefined for a number, which is its own measure. */
  readonly unit?: string;
  readonly measure: (value: unknown) => number;
}

/** Stands for an infinite number, which JSON does not have. */
const { MAX_VALUE } = Number;
const ofNumber: Bound = { measure: (value) => Math.max(-MAX_VALUE, Math.min(MAX_VALUE, Number(value))) };
const ofText: Bound = { unit: 'character', measure: codePoints };
const ofItems: Bound = { unit: 'item', measure: (value) => (Array.isArray(value) ? value.length : 0) };
const ofFields: Bound = { unit: 'field', measure: (value) => Object.keys(value ?? {}).length };

/** The bounded measures of values, by keyword. */
export const bounds: Readonly<Record<string, Bound>> = {
  minimum: ofNumber,
  maximum: ofNumber,
  minLength: ofText,
  maxLength: ofText,
  minItems: ofItems,
  maxItems: ofItems,
  minProperties: ofFields,
};

/** Counts without copying the string, which may be as long as a body. */
export function codePoints(value: unknown): number {
  let count = 0;
  if (typeof value !== 'string') return count;
  for (let at = 0; at < value.length; count++) at += value.codePointAt(at)! > 0xffff ? 2 : 1;
  return count;
}

/** Returns `game_ids[1]` for `/game_ids/1`. Cuts a long name, because a caller invents the names of unknown fields. */
function nameOf(field: string, root: string): string {
  if (field === '') return root;
  const [first = '', ...rest] = field.slice(1, 1 + nameLength).split('/');
  const name = rest.reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`), first);
  const whole = field.length > 1 + nameLength ? `${name}…` : name;
  return /^[\w.[\]…-]+$/.test(whole) ? whole : JSON.stringify(whole);
}

const nameLength = 64;

function expected(schema: Schema): string {
  const { type, format } = schema;
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const form = format === undefined ? undefined : expectedForms[format];
  if (form !== undefined) return form;
  if (type === 'string') return `a string${range(schema.minLength, schema.maxLength, 'character')}`;
  if (type === 'array') return `an array${range(schema.minItems, schema.maxItems, 'item')}`;
  if (type === 'object') return expectedObject(schema);
  if (type === 'number') return `a number${range(schema.minimum, schema.maximum)}`;
  if (type === 'integer') return `a whole number${range(schema.minimum, schema.maximum)}`;
  if (type === undefined) return schema.anyOf === undefined ? 'any JSON value' : 'of a known form';
  return [type].flat().join(' or ');
}

const expectedForms: Readonly<Record<string, string>> = {
  'date-time': 'RFC 3339 in UTC, e.g. 2026-11-20T10:00:00Z',
  semver: 'a semantic version, e.g. 1.0.0',
  email: 'an e-mail address, e.g. ops@example.com',
  uuid: 'a UUID',
  'ed25519-public-key': 'a key whose point is on the curve of Ed25519 and has no small order',
};

function expectedObject({ required = [] }: Schema): string {
  if (required.length === 0) return 'an object';
  return `an object with the ${required.length === 1 ? 'field' : 'fields'} ${required.join(', ')}`;
}

/** Returns the field that an unknown one in camel case means, else all known fields. */
function meantField(field: string, { properties = {} }: Schema): string {
  const meant = field.slice(field.lastIndexOf('/') + 1).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (Object.hasOwn(properties, meant)) return `did you mean ${meant}?`;
  const names = Object.keys(properties);
  return names.length === 0 ? 'it has no fields' : `known fields are ${names.join(', ')}`;
}

function range(min: number | undefined, max: number | undefined, unit?: string): string {
  if (max === undefined) return min === undefined ? '' : ` of at least ${counted(min, unit)}`;
  if (min === undefined) return ` of at most ${counted(max, unit)}`;
  return ` ${unit === undefined ? 'from' : 'of'} ${min} to ${counted(max, unit)}`;
}

function counted(count: number | undefined, unit: string | undefined): string {
  return unit === undefined ? `${count}` : `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function found(schema: Schema, value: unknown): string {
  if (schema.format === 'date-time') {
    const mistaken = mistakenTime(value);
    const what = typeof value === 'string' || typeof value === 'number' ? mistaken.found : kindOf(value);
    return mistaken.meant === undefined ? what : `${what}; did you mean ${mistaken.meant}?`;
  }
  if (schema.type === 'array' && typeof value === 'string') return `a string${listMeant(value)}`;
  const isWord = typeof value === 'string' && (schema.enum !== undefined || schema.format === 'semver');
  return isWord && /^[A-Za-z][\w.+-]{0,31}$|^\d[\d.]{0,15}$/.test(value) ? `"${value}"` : kindOf(value);
}

/** Suggests a list for names separated by commas, if a list was expected. */
function listMeant(text: string): string {
  const names = text.slice(0, 256).split(',');
  const plain = names.map((name) => name.trim()).filter((name) => /^[\w.:-]{1,32}$/.test(name));
  return plain.length < names.length || names.length > 8 ? '' : `; did you mean ${JSON.stringify(plain)}?`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'a string';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'number' ? 'a number' : String(value);
}

/** Seconds, milliseconds, microseconds and nanoseconds, each in milliseconds. */
const unitsMs = [1_000, 1, 1e-3, 1e-6];
/** A number counts as a time if it lies in this century. No number lies in it in more than one unit. */
const plausibleFrom = Date.UTC(2000, 0);
const plausibleTo = Date.UTC(2100, 0);

const dateTime =
  /^(\d{4}-\d\d-\d\d)(?:\s+|[Tt])(\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9})\d*)?\s*([Zz]|UTC|[+-]\d\d(?::?\d\d)?)?$/;

/** Describes a value that is no time in the contract's form; `meant` is the time that it suggests, if any. */
export function mistakenTime(value: unknown): { readonly found: string; readonly meant?: string | undefined } {
  if (typeof value === 'number') return { found: 'a number', meant: timeOfNumber(value) };
  if (typeof value !== 'string') return { found: 'no time' };
  if (/^-?\d{1,20}(?:\.\d{1,20})?$/.test(value)) {
    return { found: 'a number in a string', meant: timeOfNumber(Number(value)) };
  }
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return { found: 'a date without a time' };
  // No supported notation is longer.
  const parts = value.length > 64 ? null : dateTime.exec(value.trim());
  if (parts === null) return { found: 'another text' };
  const [, date, minutes, seconds = ':00', fraction, zone] = parts;
  const local = `${date}T${minutes}${seconds}${fraction === undefined ? '' : `.${fraction}`}`;
  if (zone === undefined) return { found: 'a time without a zone', meant: admissible(`${local}Z`) };
  if (!/^[+-]/.test(zone)) return { found: 'another notation', meant: admissible(`${local}Z`) };
  // `Date.parse` reads 30 February as 2 March.
  if (admissible(`${local}Z`) === undefined) return { found: 'a time with an offset' };
  const offset = `${zone.slice(0, 3)}:${zone.length > 3 ? zone.slice(-2) : '00'}`;
  return { found: 'a time with an offset', meant: timeOf(Date.parse(`${local}${offset}`)) };
}

function timeOfNumber(value: number): string | undefined {
  return unitsMs
    .map((unit) => value * unit)
    .filter((ms) => ms >= plausibleFrom && ms < plausibleTo)
    .map(timeOf)[0];
}

function timeOf(ms: number): string | undefined {
  if (Number.isNaN(ms)) return undefined;
  return admissible(new Date(Math.trunc(ms)).toISOString().replace('.000Z', 'Z'));
}

function admissible(text: string): string | undefined {
  return parseUtcDateTime(text) === undefined ? undefined : text;
}
