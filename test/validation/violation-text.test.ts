/** The words for each kind of violation, by schemas of their own. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Schema } from '../../src/validation/schema.js';
import { validatorOf, violationTexts } from '../../src/validation/validator.js';
import { codePoints, violationText } from '../../src/validation/violation-text.js';

/** The texts of all faults of a value, joined by a bar. */
function textOf(schema: Schema, value: unknown): string {
  const outcome = validatorOf(schema, 'it')(value);
  return outcome.ok ? 'valid' : violationTexts(outcome).join(' | ');
}

test('a wrong type is answered with the expected type and its range', () => {
  const cases: readonly (readonly [schema: Schema, text: string])[] = [
    [{ type: 'string' }, 'a string'],
    [{ type: 'string', minLength: 1 }, 'a string of at least 1 character'],
    [{ type: 'string', minLength: 2 }, 'a string of at least 2 characters'],
    [{ type: 'string', maxLength: 1 }, 'a string of at most 1 character'],
    [{ type: 'string', minLength: 0, maxLength: 5 }, 'a string of 0 to 5 characters'],
    [{ type: 'array', items: {}, maxItems: 3 }, 'an array of at most 3 items'],
    [{ type: 'number', minimum: 1, maximum: 2 }, 'a number from 1 to 2'],
    [{ type: 'number', minimum: 1 }, 'a number of at least 1'],
    [{ type: 'integer', maximum: 9 }, 'a whole number of at most 9'],
    [{ type: 'integer' }, 'a whole number'],
    [{ type: 'object' }, 'an object'],
    [{ type: 'object', required: ['a'] }, 'an object with the field a'],
    [{ type: 'object', required: ['a', 'b'] }, 'an object with the fields a, b'],
    [{ type: ['string', 'null'] }, 'string or null'],
    [{ type: 'boolean', const: true }, 'true'],
    [{ const: 'x' }, '"x"'],
    [{ enum: ['a', 'b'] }, 'one of a, b'],
    [{ type: 'string', format: 'uuid' }, 'a UUID'],
    [{ type: 'string', format: 'email' }, 'an e-mail address, e.g. ops@example.com'],
    [{ anyOf: [{ type: 'string' }] }, 'of a known form'],
  ];
  const value = false;
  for (const [schema, text] of cases) assert.is(textOf(schema, value), `it must be ${text}; got false`);
  const fault = { field: '/a', keyword: 'required', schema: {}, value: undefined };
  assert.is(violationText(fault, 'it'), 'a is missing; it must be any JSON value');
});

test('a value is described by its kind, and a short plain word is repeated where words were expected', () => {
  const got = (schema: Schema, value: unknown) => textOf(schema, value).replace(/^it must be .*; got /, '');
  const kinds = [null, [], {}, 1, true, false].map((value) => got({ type: 'string' }, value));
  assert.equal(kinds, ['null', 'an array', 'an object', 'a number', 'true', 'false']);
  assert.equal([got({ type: 'number' }, ''), got({ type: 'number' }, 'a')], ['an empty string', 'a string']);
  const letters = 'x'.repeat(32);
  const digits = '1'.repeat(16);
  for (const word of ['c', 'report_a', '1.0', letters, digits]) {
    assert.is(got({ enum: ['a', 'b'] }, word), `"${word}"`);
    assert.is(got({ type: 'string', format: 'semver', maxLength: 99 }, word), `"${word}"`);
    assert.is(got({ const: 'a' }, word), 'a string');
  }
  for (const word of [`${letters}y`, `${digits}1`, 'a b', '-', '']) {
    assert.is(got({ enum: ['a', 'b'] }, word), word === '' ? 'an empty string' : 'a string', word);
  }
});

test('a list in one string is suggested as an array of at most 8 plain names of at most 32 characters', () => {
  const got = (value: string) => textOf({ type: 'array', items: {} }, value).replace('it must be an array; got ', '');
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const longest = 'x'.repeat(32);
  assert.is(got(names.join(', ')), `a string; did you mean ${JSON.stringify(names)}?`);
  assert.is(got(longest), `a string; did you mean ["${longest}"]?`);
  for (const value of [[...names, 'i'].join(), `${longest}x`, 'a,,b', 'a,b c', '']) assert.is(got(value), 'a string');
});

test('a place is named by its fields and items, and a name that is long or strange is cut and quoted', () => {
  const item = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] } as const;
  const schema: Schema = {
    type: 'object',
    properties: { a: { type: 'array', items: item, uniqueItems: true }, none: { type: 'object' }, more_of: {} },
    additionalProperties: false,
  };
  const unknown = (name: string) => textOf(schema, { [name]: 1 }).replace(/ is not a field of it; .*$/, '');
  assert.is(textOf(schema, { a: [{ b: 'x' }, { b: 1 }] }), 'a[1].b must be a string; got a number');
  assert.is(textOf(schema, { a: [{}] }), 'a[0].b is missing; it must be a string');
  assert.is(textOf(schema, { a: [{ b: 'x' }, { b: 'x' }] }), 'a must not contain the same item twice');
  assert.is(textOf(schema, { moreOf: 1 }), 'moreOf is not a field of it; did you mean more_of?');
  assert.is(textOf(schema, { other: 1 }), 'other is not a field of it; known fields are a, none, more_of');
  const closed = { type: 'object', additionalProperties: false } as const;
  assert.is(textOf(closed, { x: 1 }), 'x is not a field of it; it has no fields');
  const longest = 'x'.repeat(64);
  assert.equal([longest, `${longest}y`, 'a b', 'ä'].map(unknown), [longest, `${longest}…`, '"a b"', '"ä"']);
});

test('a number of JSON that is too large is beyond its bound', () => {
  const of = (json: string) => textOf({ type: 'number', minimum: 0, maximum: 1 }, JSON.parse(json));
  assert.is(of('1e999'), 'it must be at most 1; got 1.7976931348623157e+308');
  assert.is(of('-1e999'), 'it must be at least 0; got -1.7976931348623157e+308');
  assert.is(of('true'), 'it must be a number from 0 to 1; got true');
});

test('a bound is stated with its unit in the right number, beside the measure of the value', () => {
  const cases: readonly (readonly [schema: Schema, value: unknown, text: string])[] = [
    [{ minimum: 2 }, 1, 'be at least 2; got 1'],
    [{ maximum: 2 }, 3, 'be at most 2; got 3'],
    [{ minLength: 2 }, '\u{1F600}', 'have at least 2 characters; got 1'],
    [{ maxLength: 1 }, '\u{1F600}a', 'have at most 1 character; got 2'],
    [{ minItems: 2 }, [1], 'have at least 2 items; got 1'],
    [{ maxItems: 1 }, [1, 2, 3], 'have at most 1 item; got 3'],
    [{ minProperties: 2 }, { a: 1 }, 'have at least 2 fields; got 1'],
  ];
  for (const [schema, value, text] of cases) {
    const type = Array.isArray(value) ? 'array' : (typeof value as 'object');
    assert.is(textOf({ type, ...schema }, value), `it must ${text}`);
  }
  assert.equal([codePoints(7), codePoints(''), codePoints('\uffffab\u{10000}')], [0, 0, 4]);
});

test('a pattern without words of its own is quoted', () => {
  assert.is(textOf({ type: 'string', pattern: '^[a-c]$' }, 'd'), 'it must match ^[a-c]$');
});

test.run();
