/**
 * Converts the OpenAPI 3.1 document to OpenAPI 3.0.3, for generators that do not read 3.1 yet. It is a pure function of
 * the document and describes no route itself.
 */

type Json = Readonly<Record<string, unknown>>;

/** Keywords of JSON Schema that mean the same in both versions and contain no schema. */
const sameKeywords: ReadonlySet<string> = new Set([
  '$ref',
  'deprecated',
  'description',
  'format',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
  'pattern',
  'required',
  'title',
  'uniqueItems',
]);

/** Keywords whose value is a schema or a list of schemas. */
const schemaKeywords: ReadonlySet<string> = new Set([
  'additionalProperties',
  'allOf',
  'anyOf',
  'items',
  'not',
  'oneOf',
]);

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function eachValue(value: unknown, convert: (one: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(isObject(value) ? value : {}).map(([key, one]) => [key, convert(one)]));
}

/** Null is no type in 3.0: `nullable` replaces it, and an `enum` must also list null. */
function typeKeywords(type: unknown, values: readonly unknown[] | undefined): Json {
  const named = values === undefined ? {} : { enum: values };
  const names: readonly unknown[] = Array.isArray(type) ? type : type === undefined ? [] : [type];
  const others = names.filter((name) => name !== 'null');
  if (others.length > 1) throw new Error(`OpenAPI 3.0 has no form for several types: ${others.join(', ')}`);
  if (names.length > 0 && others.length === 0) return { type: 'string', nullable: true, enum: [null] };
  const isNullable = others.length < names.length && (values === undefined || values.includes(null));
  return { ...(others.length === 0 ? {} : { type: others[0] }), ...named, ...(isNullable ? { nullable: true } : {}) };
}

/** An exclusive bound is a number in 3.1, and in 3.0 a flag beside the bound. */
function exclusiveBound(keyword: 'minimum' | 'maximum', bound: unknown): Json {
  const flag = keyword === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
  return bound === undefined ? {} : { [keyword]: bound, [flag]: true };
}

function schemaOf(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { type, enum: values, const: constant, examples, exclusiveMinimum, exclusiveMaximum, ...others } = schema;
  const allowed = constant === undefined ? values : [constant];
  const converted: Record<string, unknown> = {
    ...typeKeywords(type, Array.isArray(allowed) ? allowed : undefined),
    ...exclusiveBound('minimum', exclusiveMinimum),
    ...exclusiveBound('maximum', exclusiveMaximum),
    ...(Array.isArray(examples) && examples.length > 0 ? { example: examples[0] } : {}),
  };
  for (const [keyword, value] of Object.entries(others)) {
    if (keyword === 'properties') converted[keyword] = eachValue(value, schemaOf);
    else if (schemaKeywords.has(keyword))
      converted[keyword] = Array.isArray(value) ? value.map(schemaOf) : schemaOf(value);
    else if (sameKeywords.has(keyword)) converted[keyword] = value;
    else throw new Error(`OpenAPI 3.0 has no form for the keyword ${keyword}`);
  }
  return converted;
}

/**
 * Converts every schema within a part of the document that is no schema itself. Values of examples stay as they are.
 */
function partOf(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(partOf);
  return isObject(part) ? membersOf(part) : part;
}

function membersOf(part: Json): Json {
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (key === 'schema') return [key, schemaOf(value)];
      return [key, key === 'example' || key === 'examples' ? value : partOf(value)];
    }),
  );
}

/** In 3.0 a licence has an address and no identifier. */
function infoOf(info: unknown): unknown {
  if (!isObject(info) || !isObject(info.license)) return info;
  const { identifier, ...license } = info.license;
  const url = identifier === undefined ? {} : { url: `https://spdx.org/licenses/${String(identifier)}.html` };
  return { ...info, license: { ...license, ...url } };
}

/**
 * Returns the same description as OpenAPI 3.0.3. Throws for anything that 3.0 cannot express, so that a schema never
 * loses a rule unnoticed.
 * @param document OpenAPI 3.1, as `openApiDocument` returns it.
 */
export function openApi30Document(document: Json): Json {
  const { info, components, webhooks, jsonSchemaDialect, ...rest } = document;
  if (webhooks !== undefined) throw new Error('OpenAPI 3.0 has no webhooks');
  const { schemas, ...otherComponents } = isObject(components) ? components : {};
  return {
    ...membersOf(rest),
    openapi: '3.0.3',
    info: infoOf(info),
    components: { schemas: eachValue(schemas, schemaOf), ...membersOf(otherComponents) },
  };
}
