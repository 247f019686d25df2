import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { batchEnvelopeSchema, eventSchema, registrationSchema } from '../../src/contract/request-bodies.js';
import { formats } from '../../src/validation/formats.js';
import { type Validator, validatorOf, violationTexts } from '../../src/validation/validator.js';
import { admitted, spoiled } from '../fuzz/values.js';
import { eventBody } from '../http/samples.js';

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

test('an error of a bound states the actual value and the limit', () => {
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
  for (const [text, violation, actual, limit] of [
    ['1e400', 'maximum', Number.MAX_VALUE, 1],
    ['-1e400', 'minimum', -Number.MAX_VALUE, 0],
  ] as const) {
    const details = { field: '/severity', violation, actual, limit };
    assert.equal(faultOf(event, { ...eventBody(), severity: JSON.parse(text) }), details);
  }
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

test('formats, patterns and the list of types are named as the violation', () => {
  const faults: readonly (readonly [field: string, value: unknown, violation: string])[] = [
    ['timestamp', '2026-01-02 03:04:05Z', 'format'],
    ['schema_version', '1.0', 'format'],
    ['player_id', '\ud800', 'pattern'],
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

test('a body that is not an object has the empty pointer', () => {
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
  // Items of another type are not compared: Ajv would call their `toString`.
  assert.equal(faultOf(registration, { ...body, game_ids: [{ toString: 1 }, { toString: 1 }] }), {
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
    [{ severity: '0.5' }, 'severity must be a number from 0 to 1; got a string'],
    [{ severity: null }, 'severity must be a number from 0 to 1; got null'],
    [{ severity: 1.5 }, 'severity must be at most 1; got 1.5'],
    [{ severity: -1 }, 'severity must be at least 0; got -1'],
    [{ severity: undefined }, 'severity is missing; it must be a number from 0 to 1'],
    [{ player_id: '' }, 'player_id must have at least 1 character; got 0'],
    [{ player_id: 'x'.repeat(129) }, 'player_id must have at most 128 characters; got 129'],
    [{ player_id: ['a'] }, 'player_id must be a string of 1 to 128 characters; got an array'],
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
  assert.equal(textsOf(registration, { peer_name: 'a', game_ids: ['a', 'a'] }), [
    'game_ids must not contain the same item twice',
  ]);
  assert.equal(textsOf(registration, { peer_name: 'a', game_ids: [] }), ['game_ids must have at least 1 item; got 0']);
  assert.equal(textsOf(registration, { peer_name: 'a', game_ids: ['a', ' b'] }), [
    'game_ids[1] must not begin or end with a blank',
  ]);
});

test('the refusal of a list of games in one string shows the right form', () => {
  const text = 'game_ids must be an array of 1 to 64 items; got a string';
  assert.equal(textsOf(registration, { peer_name: 'a', game_ids: 'arena, chess' }), [
    `${text}; did you mean ["arena","chess"]?`,
  ]);
  assert.equal(textsOf(registration, { peer_name: 'a', game_ids: 'arena, <b>' }), [text]);
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
    [1_732_000_000_000, 'type', `${expected} a number; did you mean 2024-11-19T07:06:40Z?`],
    ['1732000000', 'format', `${expected} a number in a string; did you mean 2024-11-19T07:06:40Z?`],
    ['2026-11-20T10:00:00', 'format', `${expected} a time without a zone; did you mean 2026-11-20T10:00:00Z?`],
    ['2026-11-20T10:00:00+01:00', 'format', `${expected} a time with an offset; did you mean 2026-11-20T09:00:00Z?`],
    ['yesterday', 'format', `${expected} another text`],
    [null, 'type', `${expected} null`],
    [true, 'type', `${expected} true`],
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
