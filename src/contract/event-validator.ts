/** Validates trust events by their `schema_version`: before 1.1.0, `origin` and `reference` are unknown fields. */
import type { Refusal } from '../errors.js';
import { type Validator, validatorOf } from '../validation/validator.js';
import { type EventBody, eventSchema, firstEventSchema } from './request-bodies.js';

export function eventValidator(root?: string): Validator<EventBody> {
  const validate = validatorOf(eventSchema, root);
  const validateFirst = validatorOf(firstEventSchema, root);
  return (body, moreMax) => {
    if (!isBeforeOrigins(body)) return validate(body, moreMax);
    const outcome = validateFirst(body, moreMax);
    return outcome.ok ? outcome : explained(outcome);
  };
}

/** Replaces the text of a refusal whose first fault is a later field by the version that added the field. */
function explained(refusal: Refusal): Refusal {
  const { details } = refusal;
  const field = details !== undefined && 'field' in details ? details.field : '';
  const isLater = field === '/origin' || field === '/reference';
  return isLater ? { ...refusal, text: `${field.slice(1)} is a field from schema_version 1.1.0 on` } : refusal;
}

/** True if a body has fields of version 1.1.0 although it states an earlier version. */
function isBeforeOrigins(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const { origin, reference, schema_version: version } = body as Readonly<Record<string, unknown>>;
  if (origin === undefined && reference === undefined) return false;
  return typeof version === 'string' && isBefore110(version);
}

/** Returns false also for a text that is no semantic version: the schema reports that fault. */
function isBefore110(version: string): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)(-)?/.exec(version);
  if (parts === null) return false;
  const [major, minor, patch] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (major !== 1 || minor !== 1) return major < 1 || (major === 1 && minor === 0);
  return patch === 0 && parts[4] !== undefined;
}
