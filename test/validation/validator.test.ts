import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  batchEnvelopeSchema,
  disputeSchema,
  eventSchema,
  registrationSchema,
} from '../../src/contract/request-bodies.js';
import { formats } from '../../src/validation/formats.js';
import { type Validator, validatorOf, violationTexts } from '../../src/validation/validator.js';
import { admitted, spoiled } from '../fuzz/values.js';
import { eventBody } from '../http/samples.js';

const event = validatorOf(eventSchema);
const registration = validatorOf(registrationSchema);
const batch = validatorOf(batchEnvelopeSchema);
const dispute = validatorOf(disputeSchema);

function faultOf(validate: Validator<unknown>, body: unknown): unknown {
  const outcome = validate(body);
  return outcome.ok ? 'valid' : outcome.details;
}

test('an event with every field is valid, with any signature and at both ends of its ranges', () => {
  assert.is(faultOf(event, eventBody()), 'valid');
  for (const signature of [null, 1, 'x', [1], { deep: { deeper: [] } }])
    assert.is(faultOf(event, { ...eventBody(), signature }), 'valid');
  for (const severity of [0, -0, 0.000001, 1]) assert.is(faultOf(event, { ...eventBody(), severity }), 'valid');
  assert.is(faultOf(event, { ...eventBody(), player_id: '\u{1F600}'.repeat(128) }), 'valid', 'in code points');
});

test('every field but the signature is required, and the missing one is named', () => {
  for (const field of eventSchema.required) {
    const { [field]: _left, ...rest } = eventBody();
    assert.equal(faultOf(event, rest), { field: `/${field}`, violation: 'required' });
  }
});

test('an unknown field is named, with its pointer escaped', () => {
  assert.equal(faultOf(event, { ...eventBody(), 'a/b~c': 1 }), {
    field: '/a~1b~0c',
    violation: 'additionalProperties',
  });
  for (const field of ['extra', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '']) {
    const body = JSON.parse(JSON.stringify(eventBody()).replace('{', `{${JSON.stringify(field)}:{"polluted":true},`));
    assert.equal(faultOf(event, body), { field: `/${field}`, violation: 'additionalProperties' });
  }
  assert.not('polluted' in {});
});

type Fault = readonly [field: string, violation: string, actual?: number, limit?: number];

const changedEvents: readonly (readonly [changed: object, fault: Fault])[] = [
  [{ severity: 1.01 }, ['/severity', 'maximum', 1.01, 1]],
  [{ severity: -0.5 }, ['/severity', 'minimum', -0.5, 0]],
  [JSON.parse('{"severity":1e400}'), ['/severity', 'maximum', Number.MAX_VALUE, 1]],
  [JSON.parse('{"severity":-1e400}'), ['/severity', 'minimum', -Number.MAX_VALUE, 0]],
  [{ severity: '0.5' }, ['/severity', 'type']],
  [{ player_id: '' }, ['/player_id', 'minLength', 0, 1]],
  [{ player_id: '\u{1F600}'.repeat(129) }, ['/player_id', 'maxLength', 129, 128]],
  [{ player_id: '\ud800' }, ['/player_id', 'pattern']],
  [{ timestamp: '2026-01-02 03:04:05Z' }, ['/timestamp', 'format']],
  [{ schema_version: '1.0' }, ['/schema_version', 'format']],
  [{ event_id: 'with blank' }, ['/event_id', 'pattern']],
  [{ event_id: 'ümlaut' }, ['/event_id', 'pattern']],
  [{ event_type: 'report_winning' }, ['/event_type', 'enum']],
  [{ event_type: 'toString' }, ['/event_type', 'enum']],
  [{ game_id: 7 }, ['/game_id', 'type']],
  [{ peer_id: null }, ['/peer_id', 'type']],
];

const games = (count: number) => Array.from({ length: count }, (_, at) => `g${at}`);

const changedRegistrations: readonly (readonly [changed: object, fault: Fault])[] = [
  [{ contact_email: 'ops' }, ['/contact_email', 'format']],
  [{ game_ids: ['a', 'a'] }, ['/game_ids', 'uniqueItems']],
  [{ game_ids: ['a', ''] }, ['/game_ids/1', 'minLength', 0, 1]],
  [{ game_ids: ['x'.repeat(65)] }, ['/game_ids/0', 'maxLength', 65, 64]],
  [{ game_ids: games(65) }, ['/game_ids', 'maxItems', 65, 64]],
  [{ game_ids: [] }, ['/game_ids', 'minItems', 0, 1]],
  [{ status: 'active' }, ['/status', 'additionalProperties']],
];

const registrationBody = { peer_name: 'Peer', game_ids: ['arena'] };

const batches: readonly (readonly [body: unknown, fault: Fault])[] = [
  [{ events: Array(501).fill(0) }, ['/events', 'maxItems', 501, 500]],
  [{ events: [] }, ['/events', 'minItems', 0, 1]],
  [{ events: {} }, ['/events', 'type']],
  [{}, ['/events', 'required']],
  [{ events: [eventBody()], extra: 1 }, ['/extra', 'additionalProperties']],
  [[], ['', 'type']],
];

const disputes: readonly (readonly [body: unknown, fault: Fault])[] = [
  [{}, ['/text', 'required']],
  [{ text: ' \n ' }, ['/text', 'pattern']],
  [{ text: 'x', more: 1 }, ['/more', 'additionalProperties']],
];

const notObjects = [null, 3, 'x', true, [], [eventBody()]].map((body) => [body, ['', 'type'] as Fault] as const);

test('a fault is named by its field and its kind, and one of a bound states the actual value and the limit', () => {
  for (const [validate, cases] of [
    [
      event,
      [...changedEvents.map(([changed, fault]) => [{ ...eventBody(), ...changed }, fault] as const), ...notObjects],
    ],
    [
      registration,
      changedRegistrations.map(([changed, fault]) => [{ ...registrationBody, ...changed }, fault] as const),
    ],
    [batch, batches],
    [dispute, disputes],
  ] as const) {
    for (const [body, [field, violation, actual, limit]] of cases) {
      const details = actual === undefined ? { field, violation } : { field, violation, actual, limit };
      assert.equal(faultOf(validate, body), details, JSON.stringify(body).slice(0, 200));
    }
  }
});

test('a registration has a name, games without repeats, and an optional address', () => {
  assert.is(faultOf(registration, registrationBody), 'valid');
  assert.is(faultOf(registration, { ...registrationBody, contact_email: 'ops@example.com' }), 'valid');
  assert.is(faultOf(registration, { ...registrationBody, game_ids: [...games(63), 'x'.repeat(64)] }), 'valid');
  // Items of another type are not compared: Ajv would call their `toString`.
  assert.equal(faultOf(registration, { ...registrationBody, game_ids: [{ toString: 1 }, { toString: 1 }] }), {
    field: '/game_ids/0',
    violation: 'type',
    more: [
      {
        field: '/game_ids/1',
        violation: 'type',
        error: 'game_ids[1] must be a string of 1 to 64 characters; got an object',
      },
    ],
  });
});

test("lengths are judged as Ajv's own keywords judge them", () => {
  const units = ['a', '\ud83d', '\ude00', '\u{1F600}'];
  for (let bound = 0; bound <= 3; bound++) {
    for (const keyword of ['minLength', 'maxLength'] as const) {
      const schema = { type: 'string', [keyword]: bound } as const;
      const validate = validatorOf(schema);
      const own = new Ajv2020().compile(schema);
      for (let n = 0; n < 4 ** 4; n++) {
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

/** The text of the first fault, and those of the further ones. */
function textsOf(validate: Validator<unknown>, body: unknown): readonly string[] {
  const outcome = validate(body);
  return outcome.ok ? [] : violationTexts(outcome);
}

const eventTypes = eventSchema.properties.event_type.enum.join(', ');

test('each error states in words what was expected and what was found', () => {
  const cases: readonly (readonly [more: Record<string, unknown>, text: string])[] = [
    [{ event_type: 'cheat' }, `event_type must be one of ${eventTypes}; got "cheat"`],
    [{ event_type: 7 }, `event_type must be one of ${eventTypes}; got a number`],
    [{ severity: undefined }, 'severity is missing; it must be a number from 0 to 1'],
    [{ player_id: 'a\u0000b' }, 'player_id must not contain a control character; found U+0000'],
    [{ event_id: 'a/b' }, 'event_id must consist of letters, digits and the characters . _ : -'],
    [{ game_id: 'arena, chess' }, 'game_id must not contain a comma; each game is a separate item'],
    [{ schema_version: '1.0' }, 'schema_version must be a semantic version, e.g. 1.0.0; got "1.0"'],
    [{ schema_version: 1 }, 'schema_version must be a semantic version, e.g. 1.0.0; got a number'],
    [
      { extra: 'x' },
      `extra is not a field of the body; known fields are ${Object.keys(eventSchema.properties).join(', ')}`,
    ],
    [{ event_type: undefined, eventType: 'x' }, 'eventType is not a field of the body; did you mean event_type?'],
    [{ eventType: 'x' }, 'eventType is not a field of the body; did you mean event_type?'],
  ];
  for (const [more, text] of cases) {
    const body = JSON.parse(JSON.stringify({ ...eventBody(), ...more }));
    assert.equal(textsOf(event, body), [text]);
  }
});

test('the refusal of an array as a body says that an object is expected, and with which fields', () => {
  assert.equal(textsOf(batch, [eventBody()]), ['the body must be an object with the field events; got an array']);
  assert.equal(textsOf(validatorOf(eventSchema, 'the event'), 'x'), [
    `the event must be an object with the fields ${eventSchema.required.join(', ')}; got a string`,
  ]);
});

test('the refusal of a timestamp in another notation states the expected form and a suggestion', () => {
  const expected = 'timestamp must be RFC 3339 in UTC, e.g. 2026-11-20T10:00:00Z; got';
  const cases: readonly (readonly [value: unknown, violation: string, text: string])[] = [
    [1_732_000_000, 'type', `${expected} a number; did you mean 2024-11-19T07:06:40Z?`],
    ['2026-11-20T10:00:00+01:00', 'format', `${expected} a time with an offset; did you mean 2026-11-20T09:00:00Z?`],
    ['yesterday', 'format', `${expected} another text`],
    [null, 'type', `${expected} null`],
  ];
  for (const [timestamp, violation, text] of cases) {
    assert.equal(textsOf(event, { ...eventBody(), timestamp }), [text]);
    assert.equal(faultOf(event, { ...eventBody(), timestamp }), { field: '/timestamp', violation });
  }
});

test('further faults of the same body follow the first, at most eight', () => {
  const { severity: _left, ...rest } = eventBody();
  assert.equal(faultOf(event, { ...rest, extra: 1, event_type: 'cheat', player_id: 'x'.repeat(130) }), {
    field: '/severity',
    violation: 'required',
    more: [
      {
        field: '/extra',
        violation: 'additionalProperties',
        error: `extra is not a field of the body; known fields are ${Object.keys(eventSchema.properties).join(', ')}`,
      },
      { field: '/event_type', violation: 'enum', error: `event_type must be one of ${eventTypes}; got "cheat"` },
      {
        field: '/player_id',
        violation: 'maxLength',
        actual: 130,
        limit: 128,
        error: 'player_id must have at most 128 characters; got 130',
      },
    ],
  });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`unknown${i}`, 1]));
  const outcome = event({ ...many, ...eventBody() });
  assert.is(outcome.ok || violationTexts(outcome).length, 1 + 8);
  const first = event({ ...many, ...eventBody() }, 0);
  assert.equal(first.ok || first.details, { field: '/unknown0', violation: 'additionalProperties' });
});

test('the first error is the one that Ajv meets first, and no place is reported twice', () => {
  const seen = new Set<string>();
  for (const schema of [eventSchema, registrationSchema] as const) {
    const validate = validatorOf(schema);
    const own = new Ajv2020({ formats, allowUnionTypes: true }).compile<unknown>(schema);
    const once = spoiled(admitted(schema) as fc.Arbitrary<Record<string, unknown>>);
    fc.assert(
      fc.property(spoiled(spoiled(once)), (body) => {
        const outcome = validate(body);
        assert.is(outcome.ok, own(body));
        if (outcome.ok) return;
        const faults = outcome.details as { readonly field: string; readonly violation: string; readonly more?: [] };
        assert.is(faults.violation, own.errors?.[0]?.keyword);
        const fields = [faults, ...(faults.more ?? [])].map(({ field }) => field);
        assert.is(new Set(fields).size, fields.length);
        seen.add(faults.violation);
      }),
      // Fixed, as which kinds are met is asserted below.
      { numRuns: 2_000, seed: 20261125 },
    );
  }
  for (const violation of ['type', 'required', 'additionalProperties', 'enum', 'format', 'pattern', 'minLength'])
    assert.ok(seen.has(violation), violation);
});

test('no text repeats a value that may name a player, and a long name of a field is cut', () => {
  const secret = 'steam:76561198000000001';
  for (const field of ['player_id', 'event_id', 'game_id', 'peer_id', 'event_type', 'schema_version', 'timestamp'])
    for (const value of [`${secret}\u0000`, [secret], { [secret]: secret }])
      for (const text of textsOf(event, { ...eventBody(), [field]: value })) assert.not.match(text, secret);
  const [text = ''] = textsOf(event, { ...eventBody(), [`<b>${'x'.repeat(1_000)}`]: 1 });
  assert.ok(text.startsWith('"<b>xxx') && text.length < 300, text);
});

test.run();
