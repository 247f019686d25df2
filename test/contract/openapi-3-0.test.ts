/** The 3.0.3 form of the description is valid, and says what the 3.1 form says. */
import SwaggerParser from '@apidevtools/swagger-parser';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../src/contract/openapi.js';
import { openApi30Document } from '../../src/contract/openapi-3-0.js';

type Json = Readonly<Record<string, unknown>>;

const document31 = openApiDocument('1.2.3');
const document30 = openApi30Document(document31);

/** The document as a file of it is read. */
const plain = (document: Json): Parameters<typeof SwaggerParser.validate>[0] => JSON.parse(JSON.stringify(document));

function converted(schema: unknown): unknown {
  const { components } = openApi30Document({ openapi: '3.1.0', components: { schemas: { One: schema } } });
  return (components as { readonly schemas: Json }).schemas.One;
}

test('a validator of OpenAPI takes the document, and refuses the 3.1 form under the same version', async () => {
  await SwaggerParser.validate(plain(document30));
  try {
    await SwaggerParser.validate(plain({ ...document31, openapi: '3.0.3' }));
  } catch (error) {
    assert.match(String(error), 'license must NOT have additional properties');
    return;
  }
  assert.unreachable('the validator finds no fault in 3.1 keywords');
});

test('the document is OpenAPI 3.0.3 of the running version, with the operations and schemas of 3.1', () => {
  assert.is(document30.openapi, '3.0.3');
  assert.is((document30.info as Json).version, '1.2.3');
  const outline = ({ paths, components }: Json): unknown => [
    Object.entries(paths as Json).map(([path, item]) => [path, Object.keys(item as Json)]),
    Object.keys((components as { readonly schemas: Json }).schemas),
  ];
  assert.equal(outline(document30), outline(document31));
});

test('a null among the types becomes nullable, and stays in the list of values', () => {
  assert.equal(converted({ type: ['string', 'null'], format: 'date-time' }), {
    type: 'string',
    nullable: true,
    format: 'date-time',
  });
  assert.equal(converted({ type: ['string', 'null'], enum: ['a', null] }), {
    type: 'string',
    enum: ['a', null],
    nullable: true,
  });
  // Null is no value of this schema, although its type admits it.
  assert.equal(converted({ type: ['string', 'null'], enum: ['a'] }), { type: 'string', enum: ['a'] });
  assert.equal(converted({ type: 'null' }), { type: 'string', nullable: true, enum: [null] });
});

test('a constant becomes a list of one value, and examples become one', () => {
  assert.equal(converted({ const: 1, type: 'integer' }), { type: 'integer', enum: [1] });
  assert.equal(converted({ type: 'string', examples: ['a', 'b'] }), { type: 'string', example: 'a' });
});

test('schemas are converted at every depth, and values of examples are not', () => {
  const inner = { const: 'x' };
  const one = { enum: ['x'] };
  const deep = { properties: { examples: { items: { items: inner } } } };
  assert.equal(converted(deep), { properties: { examples: { items: { items: one } } } });
  const content = { schema: inner, examples: { a: { value: { const: 'x', schema: inner } } } };
  const paths = { '/': { get: { responses: { 200: { content: { 'application/json': content } } } } } };
  const expected = JSON.parse(JSON.stringify(paths));
  expected['/'].get.responses[200].content['application/json'].schema = one;
  assert.equal(openApi30Document({ openapi: '3.1.0', paths }).paths, expected);
});

test('several types, which 3.0 cannot express, are refused and never left out', () => {
  assert.throws(() => converted({ type: ['string', 'number'] }), /OpenAPI 3\.0 has no form/);
});

test('no schema is a union, of which generators make types that do not compile', () => {
  assert.match(JSON.stringify(document31), '"anyOf"');
  assert.not.match(JSON.stringify(document30), /"(?:anyOf|oneOf)"/);
});

test('a union becomes one schema that admits every value of its branches', () => {
  const text = { type: 'string' };
  assert.equal(converted({ anyOf: [text, { type: 'null' }], description: 'x' }), {
    type: 'string',
    nullable: true,
    description: 'x',
  });
  assert.equal(
    converted({
      anyOf: [
        { type: 'string', const: 'a' },
        { type: 'string', enum: ['b'] },
      ],
    }),
    { type: 'string', enum: ['a', 'b'] },
  );
  assert.equal(converted({ anyOf: [text, { type: 'integer' }] }), {}, 'no type admits both');
  const object = { type: 'object', additionalProperties: false };
  const one = { ...object, required: ['code', 'a'], properties: { code: { type: 'string', const: 'a' }, a: text } };
  const other = { ...object, required: ['code'], properties: { code: { type: 'string', const: 'b' } } };
  assert.equal(converted({ anyOf: [one, { anyOf: [other] }] }), {
    ...object,
    required: ['code'],
    properties: { code: { type: 'string', enum: ['a', 'b'] }, a: text },
  });
});

test('the document that is converted stays as it was', () => assert.equal(document31, openApiDocument('1.2.3')));

test.run();
