/** Validates bodies. Stops at the first fault; only a refused body is searched for more, up to a bound. */
import { _, Ajv2020, type Code, type KeywordCxt, type ValidateFunction } from 'ajv/dist/2020.js';
import { errors, granted, type Outcome, type Refusal, refused, type ViolationDetails } from '../errors.js';
import { limits } from '../limits.js';
import { formats } from './formats.js';
import type { FromSchema, Schema } from './schema.js';
import { bounds, codePoints, type SchemaViolation, violationText } from './violation-text.js';

// Neither `$data`, by which a caller's value would control the check, nor `allErrors`, by which one bad body would
// cause unbounded work. The schemas are constants, which tests check against the meta-schema: compiling it would take
// longer than compiling all of them. A number that is too large is parsed as infinite, and its bound refuses it.
const ajv = new Ajv2020({ formats, allowUnionTypes: true, strictNumbers: false, meta: false, validateSchema: false });

/**
 * Lengths count code points (JSON Schema, section 6.3), which Ajv counts in every string, for each bound. A string has
 * between half as many and as many code points as UTF-16 units, so few strings need counting. The counting took two
 * thirds of the check of an event.
 */
boundLength('maxLength', (units, limit, points) => _`${units} > ${limit} && ${points} > ${limit}`);
boundLength('minLength', (units, limit, points) => _`${units} < ${limit} * 2 && ${points} < ${limit}`);

function boundLength(
  keyword: string,
  fails: (units: Code, limit: KeywordCxt['schemaCode'], points: Code) => Code,
): void {
  ajv.removeKeyword(keyword).addKeyword({
    keyword,
    type: 'string',
    schemaType: 'number',
    before: 'pattern',
    error: { message: keyword, params: ({ schemaCode }) => _`{ limit: ${schemaCode} }` },
    code(of) {
      const count = of.gen.scopeValue('func', { ref: codePoints });
      of.fail(fails(_`${of.data}.length`, of.schemaCode, _`${count}(${of.data})`));
    },
  });
}

/** Checks a parsed body. `schema_validation_failed` has the first fault and at most `moreMax` further ones. */
export type Validator<Body> = (body: unknown, moreMax?: number) => Outcome<Body>;

export function validatorOf<const S extends Schema>(schema: S, root = 'the body'): Validator<FromSchema<S>> {
  const validate: ValidateFunction<FromSchema<S>> = ajv.compile<FromSchema<S>>(schema);
  return (body, moreMax = limits.furtherFaultsMax) =>
    validate(body) ? granted(body) : refusalOf(schema, body, root, moreMax);
}

function refusalOf(schema: Schema, body: unknown, root: string, moreMax: number): Refusal {
  const violations: ViolationDetails[] = [];
  for (const violation of violationsIn(schema, body, '')) {
    violations.push(violationDetails(violation, root));
    if (violations.length > moreMax) break;
  }
  const [first, ...more] = violations;
  if (first === undefined) throw new Error('a schema refused a body without saying why');
  const { error, ...details } = first;
  return refused('schema_validation_failed', {
    text: error,
    details: more.length === 0 ? details : { ...details, more },
  });
}

export function violationTexts({ code, text, details }: Refusal): readonly string[] {
  const more = details !== undefined && 'more' in details ? (details.more ?? []) : [];
  return [text ?? errors[code].text, ...more.map(({ error }) => error)];
}

function violationDetails(violation: SchemaViolation, root: string): ViolationDetails {
  const { field, keyword, limit, actual } = violation;
  const bound = limit === undefined || actual === undefined ? {} : { actual, limit };
  return { field, violation: keyword, ...bound, error: violationText(violation, root) };
}

/** Yields the faults of a value lazily, in Ajv's order, one a place; not those inside of a faulty part. */
function* violationsIn(schema: Schema, value: unknown, field: string): Generator<SchemaViolation> {
  const own = ownViolation(schema, value, field);
  if (own !== undefined) yield own;
  else if (Array.isArray(value)) yield* violationsInItems(schema, value, field);
  else if (typeof value === 'object' && value !== null) yield* violationsInFields(schema, value, field);
}

function* violationsInItems({ items }: Schema, value: readonly unknown[], field: string): Generator<SchemaViolation> {
  if (items === undefined) return;
  for (const [place, item] of value.entries()) yield* violationsIn(items, item, `${field}/${place}`);
}

function* violationsInFields(schema: Schema, value: object, field: string): Generator<SchemaViolation> {
  const { properties = {}, required = [] } = schema;
  const isClosed = schema.additionalProperties === false;
  for (const name of required) {
    // The unknown field is the fault then.
    if (Object.hasOwn(value, name)) continue;
    const camelCased = name.replace(/_[a-z]/g, (pair) => pair.slice(1).toUpperCase());
    if (isClosed && Object.hasOwn(value, camelCased)) continue;
    const missing = properties[name] ?? {};
    yield { field: `${field}/${name}`, keyword: 'required', schema: missing, value: undefined };
  }
  if (isClosed) {
    for (const name in value) {
      if (Object.hasOwn(properties, name)) continue;
      // RFC 6901, section 3.
      const token = name.replaceAll('~', '~0').replaceAll('/', '~1');
      yield { field: `${field}/${token}`, keyword: 'additionalProperties', schema, value: undefined };
    }
  }
  for (const [name, one] of Object.entries(properties)) {
    const found = Object.getOwnPropertyDescriptor(value, name);
    if (found !== undefined) yield* violationsIn(one, found.value, `${field}/${name}`);
  }
}

/** Validators of a schema's own keywords, without its parts. Compiled when a body is first refused. */
const ownValidators = new WeakMap<Schema, ValidateFunction>();

function ownViolation(schema: Schema, value: unknown, field: string): SchemaViolation | undefined {
  const validate = ownValidators.get(schema) ?? compileOwn(schema);
  if (validate(value)) return undefined;
  const error = validate.errors?.[0];
  if (error === undefined) throw new Error('a schema refused a value without saying why');
  // An item has another type. The search of the items reports it.
  if (error.instancePath !== '') return undefined;
  const { keyword, params } = error;
  const measure = bounds[keyword]?.measure;
  const bound = measure === undefined ? {} : { limit: Number(params.limit), actual: measure(value) };
  return { field, keyword, schema, value, ...bound };
}

function compileOwn(schema: Schema): ValidateFunction {
  const { properties: _properties, required: _required, additionalProperties: _additional, items, ...own } = schema;
  // Ajv compares items of unknown type by value, which throws for an object with a field `toString`.
  const validate = ajv.compile(items?.type === undefined ? own : { ...own, items: { type: items.type } });
  ownValidators.set(schema, validate);
  return validate;
}
