/** Fields of an event that only later versions of its schema have. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventValidator } from '../../src/contract/event-validator.js';
import { violationTexts } from '../../src/validation/validator.js';
import { eventBody } from '../http/samples.js';

const validate = eventValidator('the event');

function textsOf(more: object, moreMax?: number): readonly string[] {
  const outcome = validate(JSON.parse(JSON.stringify({ ...eventBody(), ...more })), moreMax);
  return outcome.ok ? [] : violationTexts(outcome);
}

test('origin and reference are fields of schema versions from 1.1.0 on, and unknown before', () => {
  const later = ['1.1.0', '1.1.1', '1.1.1-rc.1', '1.2.0', '1.10.0', '2.0.0', '2.1.0', '10.0.0', '1.1.0+build'];
  const earlier = ['0.0.0', '0.1.0', '0.2.0', '0.9.9', '1.0.0', '1.0.9', '1.0.99', '1.1.0-rc.1', '1.1.0-0'];
  for (const field of ['origin', 'reference']) {
    for (const schema_version of later) assert.equal(textsOf({ schema_version, [field]: 'x' }), [], schema_version);
    for (const schema_version of earlier) {
      const text = `${field} is a field from schema_version 1.1.0 on`;
      assert.equal(textsOf({ schema_version, [field]: 'x' }), [text], schema_version);
      assert.equal(textsOf({ schema_version }), [], schema_version);
    }
  }
});

test('only the text of a later field in the first place is replaced, and other faults keep theirs', () => {
  const early = { schema_version: '1.0.0', origin: 'x' };
  assert.equal(textsOf({ ...early, severity: 2 }), [
    'origin is a field from schema_version 1.1.0 on',
    'severity must be at most 1; got 2',
  ]);
  const [first] = textsOf({ ...early, event_id: undefined, another: 1 }, 0);
  assert.is(first, 'event_id is missing; it must be a string of 1 to 128 characters');
  assert.is(textsOf({ ...early, severity: 2 }, 0).length, 1);
  for (const schema_version of ['1.x', 7, undefined]) {
    assert.match(textsOf({ schema_version, origin: 'x' })[0] ?? '', /^schema_version /);
  }
  for (const body of [null, 7, []]) {
    const outcome = validate(body);
    assert.match(outcome.ok ? '' : String(outcome.text), /^the event must be an object with the fields /);
  }
});

test.run();
