/** Converts the OpenAPI 3.1 document to OpenAPI 3.0.3, for generators that do not read 3.1 yet. Pure. */
import { isDeepStrictEqual } from 'node:util';

type Json = Readonly<Record<string, unknown>>;

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

/** Returns the branches of a union without references and inner unions. */
function branchesOf(union: readonly unknown[], named: Json): Json[] {
  return union.flatMap((branch) => {
    if (!isObject(branch)) return [];
    const name = String(branch.$ref).split('/').at(-1)!;
    const found = branch.$ref === undefined ? branch : named[name];
    if (!isObject(found)) throw new Error(`the document has no schema ${name}`);
    return Array.isArray(found.anyOf) ? branchesOf(found.anyOf, named) : [found];
  });
}

/** One schema for every value of a union, of which most generators make no usable code. `named`: in 3.1 form. */
function unitedOf(union: readonly unknown[], named: Json): Json {
  const [first = {}] = union;
  if (isObject(first) && union.every((branch) => isDeepStrictEqual(branch, first))) return first;
  const same = Object.entries(named).find(([, schema]) => isObject(schema) && isDeepStrictEqual(schema.anyOf, union));
  if (same !== undefined) return { $ref: `#/components/schemas/${same[0]}` };
  const all = branchesOf(union, named);
  const branches = all.filter(({ type }) => type !== 'null');
  const [some = {}, ...others] = branches;
  const united = Object.fromEntries(
    Object.entries(some).filter(([key, value]) => others.every((branch) => isDeepStrictEqual(branch[key], value))),
  );
  if (branches.length < all.length && united.type !== undefined) united.type = [united.type, 'null'].flat();
  const values = branches.map((branch) => (branch.const === undefined ? branch.enum : [branch.const]));
  if (values.every(Array.isArray)) united.enum = [...new Set(values.flat())];
  const members = branches.map(({ properties }) => (isObject(properties) ? properties : {}));
  const keys = [...new Set(members.flatMap(Object.keys))];
  if (keys.length === 0) return united;
  const required = branches.map((branch) => (Array.isArray(branch.required) ? branch.required : []));
  const everywhere = keys.filter((key) => required.every((names) => names.includes(key)));
  delete united.required;
  // In 3.0 the list must not be empty.
  if (everywhere.length > 0) united.required = everywhere;
  const schemasOf = (key: string) => members.flatMap((one) => one[key] ?? []);
  united.properties = Object.fromEntries(keys.map((key) => [key, unitedOf(schemasOf(key), named)]));
  return united;
}

function schemaOf(schema: unknown, named: Json): unknown {
  if (!isObject(schema)) return schema;
  if (Array.isArray(schema.anyOf)) {
    const { anyOf, ...rest } = schema;
    // A union that is itself named must not become a reference to itself.
    const others = Object.fromEntries(Object.entries(named).filter(([, one]) => one !== schema));
    return schemaOf({ ...unitedOf(anyOf, others), ...rest }, named);
  }
  const { type, enum: values, const: constant, examples, ...others } = schema;
  const allowed = constant === undefined ? values : [constant];
  const converted: Record<string, unknown> = {
    ...typeKeywords(type, Array.isArray(allowed) ? allowed : undefined),
    ...(Array.isArray(examples) && examples.length > 0 ? { example: examples[0] } : {}),
  };
  // All other keywords of `Schema` mean the same in both versions.
  for (const [keyword, value] of Object.entries(others)) {
    if (keyword === 'properties') converted[keyword] = eachValue(value, (one) => schemaOf(one, named));
    else converted[keyword] = keyword === 'items' ? schemaOf(value, named) : value;
  }
  return converted;
}

/** Converts every schema within a part of the document that is none itself. Values of examples stay as they are. */
function partOf(part: unknown, named: Json): unknown {
  if (Array.isArray(part)) return part.map((one) => partOf(one, named));
  return isObject(part) ? membersOf(part, named) : part;
}

function membersOf(part: Json, named: Json): Json {
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (key === 'schema') return [key, schemaOf(value, named)];
      return [key, key === 'example' || key === 'examples' ? value : partOf(value, named)];
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

/** Returns an OpenAPI 3.1 document as OpenAPI 3.0.3. Throws for several types, which 3.0 cannot express. */
export function openApi30Document(document: Json): Json {
  const { info, components, ...rest } = document;
  const { schemas, ...otherComponents } = isObject(components) ? components : {};
  const named = isObject(schemas) ? schemas : {};
  return {
    ...membersOf(rest, named),
    openapi: '3.0.3',
    info: infoOf(info),
    components: { schemas: eachValue(named, (one) => schemaOf(one, named)), ...membersOf(otherComponents, named) },
  };
}
