import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { batchEnvelopeSchema, eventSchema, registrationSchema } from '../../../src/http/contract/request-bodies.js';
import { type Validator, validatorOf } from '../../../src/http/contract/validators.js';
import { eventBody } from '../samples.js';

const event = validatorOf(eventSchema);
const registration = validatorOf(registrationSchema);
const batch = validatorOf(batchEnvelopeSchema);

function faultOf(validate: Validator<unknown>, body: unknown): unknown {
  const outcome = validate(body);
  return outcome.ok ? 'valid' : outcome.details;
}

test('an event with every field is valid, with any signature', () => {
  assert.is(faultOf(event, eventBody()), 'valid');
  for (const signature of [null, 1, 'x', [1], { deep: { deeper: [] } }]) {
    assert.is(faultOf(event, { ...eventBody(), signature }), 'valid');
  }
});

test('every field but the signature is required, and the missing one is named', () => {
  for (const field of eventSchema.required) {
    const { [field]: _left, ...rest } = eventBody();
    assert.equal(faultOf(event, rest), { field: `/${field}`, violation: 'required' });
  }
});

test('an unknown field is named, with its pointer escaped', () => {
  assert.equal(faultOf(event, { ...eventBody(), extra: 1 }), { field: '/extra', violation: 'additionalProperties' });
  assert.equal(faultOf(event, { ...eventBody(), 'a/b~c': 1 }), {
    field: '/a~1b~0c',
    violation: 'additionalProperties',
  });
  for (const field of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '']) {
    const body = JSON.parse(JSON.stringify(eventBody()).replace('{', `{${JSON.stringify(field)}:{"polluted":true},`));
    assert.equal(faultOf(event, body), { field: `/${field}`, violation: 'additionalProperties' });
  }
  assert.not('polluted' in {});
});

test('a bound tells the actual value and the limit', () => {
  assert.equal(faultOf(event, { ...eventBody(), severity: 1.01 }), {
    field: '/severity',
    violation: 'maximum',
    actual: 1.01,
    limit: 1,
  });
  assert.equal(faultOf(event, { ...eventBody(), severity: -0.5 }), {
    field: '/severity',
    violation: 'minimum',
    actual: -0.5,
    limit: 0,
  });
  assert.equal(faultOf(event, { ...eventBody(), player_id: '' }), {
    field: '/player_id',
    violation: 'minLength',
    actual: 0,
    limit: 1,
  });
  assert.equal(faultOf(batch, { events: Array(501).fill(0) }), {
    field: '/events',
    violation: 'maxItems',
    actual: 501,
    limit: 500,
  });
  assert.equal(faultOf(batch, { events: [] }), { field: '/events', violation: 'minItems', actual: 0, limit: 1 });
});

test('severity takes both ends of its range', () => {
  for (const severity of [0, -0, 0.000001, 1]) assert.is(faultOf(event, { ...eventBody(), severity }), 'valid');
  // JSON.parse reads 1e999 as Infinity.
  assert.equal(faultOf(event, { ...eventBody(), severity: Number.POSITIVE_INFINITY }), {
    field: '/severity',
    violation: 'type',
  });
  assert.equal(faultOf(event, { ...eventBody(), severity: '0.5' }), { field: '/severity', violation: 'type' });
});

test('lengths are counted in code points', () => {
  assert.is(faultOf(event, { ...eventBody(), player_id: '\u{1F600}'.repeat(128) }), 'valid');
  assert.equal(faultOf(event, { ...eventBody(), player_id: '\u{1F600}'.repeat(129) }), {
    field: '/player_id',
    violation: 'maxLength',
    actual: 129,
    limit: 128,
  });
});

test("lengths are judged as Ajv's own keywords judge them", () => {
  const units = ['a', '\ud83d', '\ude00', '\u{1F600}'];
  for (let bound = 0; bound <= 3; bound++) {
    for (const keyword of ['minLength', 'maxLength'] as const) {
      const schema = { type: 'string', [keyword]: bound } as const;
      const validate = validatorOf(schema);
      const own = new Ajv2020().compile(schema);
      for (let n = 0; n < 4 ** 5; n++) {
        const text = [...n.toString(4)].map((digit) => units[Number(digit)]).join('');
        for (const value of [text, '']) {
          const limits = own(value) ? 'valid' : { violation: keyword, limit: own.errors![0]!.params.limit };
          const fault = faultOf(validate, value);
          if (limits === 'valid') assert.is(fault, 'valid', `${keyword} ${bound}: ${JSON.stringify(value)}`);
          else assert.equal(fault, { field: '', actual: [...value].length, ...limits });
        }
      }
    }
  }
});

test('formats, patterns and the list of types are named as the violation', () => {
  const faults: readonly (readonly [field: string, value: unknown, violation: string])[] = [
    ['timestamp', '2026-01-02 03:04:05Z', 'format'],
    ['schema_version', '1.0', 'format'],
    ['player_id', '\ud800', 'format'],
    ['event_id', 'with blank', 'pattern'],
    ['event_id', 'ümlaut', 'pattern'],
    ['event_type', 'report_winning', 'enum'],
    ['event_type', 'toString', 'enum'],
    ['game_id', 7, 'type'],
    ['peer_id', null, 'type'],
  ];
  for (const [field, value, violation] of faults) {
    assert.equal(faultOf(event, { ...eventBody(), [field]: value }), { field: `/${field}`, violation });
  }
});

test('a body that is no object has the empty pointer', () => {
  for (const body of [null, 3, 'x', true, [], [eventBody()]]) {
    assert.equal(faultOf(event, body), { field: '', violation: 'type' });
  }
});

test('a registration has a name, games without repeats, and an optional address', () => {
  const body = { peer_name: 'Peer', game_ids: ['arena'] };
  assert.is(faultOf(registration, body), 'valid');
  assert.is(faultOf(registration, { ...body, contact_email: 'ops@example.com' }), 'valid');
  assert.equal(faultOf(registration, { ...body, contact_email: 'ops' }), {
    field: '/contact_email',
    violation: 'format',
  });
  assert.equal(faultOf(registration, { ...body, game_ids: ['a', 'a'] }), {
    field: '/game_ids',
    violation: 'uniqueItems',
  });
  assert.equal(faultOf(registration, { ...body, game_ids: ['a', ''] }), {
    field: '/game_ids/1',
    violation: 'minLength',
    actual: 0,
    limit: 1,
  });
  assert.equal(faultOf(registration, { ...body, status: 'active' }), {
    field: '/status',
    violation: 'additionalProperties',
  });
  assert.equal(faultOf(registration, { ...body, game_ids: Array.from({ length: 65 }, (_, at) => `g${at}`) }), {
    field: '/game_ids',
    violation: 'maxItems',
    actual: 65,
    limit: 64,
  });
});

test.run();
