/** Values for fuzzing: what a schema of the contract admits, what it just does not, and what no schema has in mind. */
import fc, { type Arbitrary } from 'fast-check';
import type { Schema } from '../../src/validation/schema.js';

/** Strings that have broken other parsers: kept as they are, since chance would not find them. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '\u{1f600}'.repeat(64),
  'a\u0301'.repeat(64),
  '\u202eabc',
  '\ufeff',
  '\u2028\u2029',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../../etc/passwd',
  '%00',
  '%2e%2e%2f',
  '%ff',
  '%',
  '{{7*7}}',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '\r\nX-Injected: yes',
  'NaN',
  '-0',
  '1e999',
  'a'.repeat(127),
  'a'.repeat(128),
  'a'.repeat(129),
  'a'.repeat(257),
  'é'.repeat(128),
  'ab'.repeat(32),
  'AB'.repeat(32),
  'ab'.repeat(31),
  '9999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-01-01T23:59:60Z',
  '2026-01-01T00:00:00.1234567890Z',
  '2026-01-01 00:00:00Z',
  '1.0.0-alpha+001',
  '2.0.0',
  '01.0.0',
  '99999999999999999999.0.0',
];

export const hostileText = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 140 }),
);

const hostileNumber = fc.constantFrom(
  -0,
  -1,
  1.0000000000000002,
  Number.MIN_VALUE,
  Number.MAX_VALUE,
  Number.MAX_SAFE_INTEGER + 2,
  -Number.EPSILON,
  0.1 + 0.2,
);

/** Any JSON value, of any type, shallow. */
export const hostileValue: Arbitrary<unknown> = fc.oneof(
  hostileText,
  hostileNumber,
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { length: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Texts that satisfy a pattern or a format. */
const ofFormat: Readonly<Record<string, Arbitrary<string>>> = {
  'date-time': fc
    .date({ min: new Date('0001-01-01'), max: new Date('2026-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  semver: fc.constantFrom('1.0.0', '0.1.0', '1.2.3-rc.1+build.5'),
  email: fc.constantFrom('ops@example.com', 'a@b', "o'neil+x@sub.example.org"),
  uuid: fc.uuid({ version: 4 }),
  // A random text of 32 bytes is often no point of the curve: the keys of RFC 8032, section 7.1.
  'ed25519-public-key': fc.constantFrom(
    ...[
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    ].map((key) => Buffer.from(key, 'hex').toString('base64url')),
  ),
};

function textOf({ minLength = 0, maxLength = 64, format, pattern, ...schema }: Schema): Arbitrary<string> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map(String));
  const known = format === undefined ? undefined : ofFormat[format];
  if (known !== undefined) return known;
  const isAscii = pattern?.includes('A-Za-z0-9') === true;
  const unit = isAscii ? fc.constantFrom(...'abcXYZ019._:-') : 'grapheme-composite';
  const admits = new RegExp(pattern ?? '', 'u');
  // The longest one, too: chance alone seldom touches a bound.
  return fc
    .oneof(
      { arbitrary: fc.string({ unit, minLength, maxLength: Math.min(maxLength, 24) }), weight: 9 },
      { arbitrary: fc.constant('x'.repeat(maxLength)), weight: 1 },
    )
    .filter((text) => admits.test(text));
}

export function admitted(schema: Schema): Arbitrary<unknown> {
  const { type } = schema;
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(admitted));
  if (type === 'string') return textOf(schema);
  if (type === 'number')
    return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true, noDefaultInfinity: true });
  if (type === 'array') {
    const { minItems = 0, maxItems = 8, uniqueItems = false, items = {} } = schema;
    const bounds = { minLength: minItems, maxLength: Math.min(maxItems, 6) };
    return uniqueItems ? fc.uniqueArray(admitted(items), bounds) : fc.array(admitted(items), bounds);
  }
  if (type === 'object') return admittedObject(schema);
  return hostileValue;
}

function admittedObject({ properties = {}, required = [] }: Schema): Arbitrary<Record<string, unknown>> {
  const model = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, admitted(one)]));
  return fc.record(model, { requiredKeys: [...required] });
}

/** An object that the schema admits, spoiled in one place. */
export function spoiled(object: Arbitrary<Record<string, unknown>>): Arbitrary<Record<string, unknown>> {
  const change = fc.constantFrom('drop', 'replace', 'add');
  return fc.tuple(object, change, fc.nat(), hostileText, hostileValue).map(([whole, how, place, name, value]) => {
    const names = Object.keys(whole);
    const chosen = names[place % Math.max(1, names.length)] ?? '';
    if (how === 'drop') return Object.fromEntries(Object.entries(whole).filter(([one]) => one !== chosen));
    const entries: [string, unknown][] = Object.entries(whole).map(([one, was]) => [
      one,
      one === chosen && how === 'replace' ? value : was,
    ]);
    // As own properties, `__proto__` too.
    return Object.fromEntries(how === 'add' ? [...entries, [name, value]] : entries);
  });
}
