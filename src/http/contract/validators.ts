/** Validation of bodies against the contract's schemas, with the first fault told in the contract's own terms. */
import { _, Ajv2020, type Code, type ErrorObject, type KeywordCxt, type ValidateFunction } from 'ajv/dist/2020.js';
import { granted, type Outcome, type Refusal, refused } from '../../errors.js';
import { formats } from './formats.js';
import type { FromSchema, Schema } from './schema.js';

// Neither `$data` (a caller's value would steer the check) nor `allErrors` (work without bound for one bad body).
const ajv = new Ajv2020({ verbose: true, formats, allowUnionTypes: true });

/**
 * Lengths are of code points (JSON Schema, section 6.3), which Ajv counts in every string, for each bound. A string has at least half as many
 * as it has UTF-16 units, and no more, so hardly one has to be looked at: that was two thirds of what checking an event took.
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

/** Checks a parsed body: the same value with its type, or `schema_validation_failed` with `field`, `violation` and, for bounds, `actual` and `limit`. */
export type Validator<Body> = (body: unknown) => Outcome<Body>;

export function validatorOf<const S extends Schema>(schema: S): Validator<FromSchema<S>> {
  const validate: ValidateFunction<FromSchema<S>> = ajv.compile<FromSchema<S>>(schema);
  return (body) => (validate(body) ? granted(body) : violationOf(validate.errors?.[0]));
}

/** Keywords that name a bound, and the measure of the value that they bound. */
const measures: Readonly<Record<string, (value: unknown) => unknown>> = {
  minimum: (value) => value,
  maximum: (value) => value,
  minLength: codePoints,
  maxLength: codePoints,
  minItems: items,
  maxItems: items,
};

/** Without a copy of a string that may be as long as a body. */
function codePoints(value: unknown): number {
  if (typeof value !== 'string') return 0;
  let count = value.length;
  for (let at = 1; at < value.length; at++)
    if (isLow(value.charCodeAt(at)) && isHigh(value.charCodeAt(at - 1))) count--;
  return count;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function items(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function violationOf(error: ErrorObject | undefined): Refusal {
  if (error === undefined) throw new Error('a schema refused a body without saying why');
  const field = pointerOf(error);
  const measure = measures[error.keyword];
  const bound = measure === undefined ? {} : { actual: measure(error.data), limit: error.params.limit };
  return refused('schema_validation_failed', {
    text: `the body does not satisfy the schema: ${field === '' ? 'the body' : field} fails ${error.keyword}`,
    details: { field, violation: error.keyword, ...bound },
  });
}

/** The pointer of the faulty field; of the missing or unknown field itself where that is the fault. */
function pointerOf(error: ErrorObject): string {
  const own: unknown = error.params.missingProperty ?? error.params.additionalProperty;
  return typeof own === 'string' ? `${error.instancePath}/${escapePointer(own)}` : error.instancePath;
}

/** RFC 6901, section 3. */
function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
