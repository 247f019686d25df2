import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { disputeSchema, eventSchema, firstEventSchema, registrationSchema } from '../../src/contract/request-bodies.js';
import { routes } from '../../src/contract/routes.js';
import { limits } from '../../src/limits.js';
import { operations } from '../../src/operations/table.js';
import { validatorOf } from '../../src/validation/validator.js';
import { eventBody } from '../http/samples.js';

const event = eventBody();
const registration = { peer_name: 'n', game_ids: ['g'] };

// Bodies in several pieces are put together in memory of this size.
test('no route takes a larger body than the batch', () => {
  const sizes = Object.values(routes).map((route) => ('body' in route ? route.body.bytesMax : 0));
  assert.is(Math.max(...sizes), limits.batchBodyBytes);
});

test('the schema of every body and of every request of the operator is valid under the meta-schema', () => {
  const bodies = Object.values(routes).flatMap((route) => ('body' in route ? [route.body.schema] : []));
  const requests = Object.values(operations).map(({ request }) => request);
  assert.ok(bodies.length >= 4 && requests.length >= 30, `${bodies.length} and ${requests.length}`);
  const ajv = new Ajv2020();
  for (const schema of [...bodies, firstEventSchema, ...requests]) {
    assert.ok(ajv.validateSchema(schema), ajv.errorsText());
  }
});

test('each text of a body has from one character to as many as the contract says', () => {
  const texts = [
    [eventSchema, event, 'event_id', 128],
    [eventSchema, event, 'player_id', 128],
    [eventSchema, event, 'game_id', 64],
    [eventSchema, event, 'peer_id', 64],
    [eventSchema, event, 'reference', 128],
    [eventSchema, event, 'origin', 64],
    [registrationSchema, registration, 'peer_name', 200],
    [disputeSchema, { text: 't' }, 'text', 500],
  ] as const;
  for (const [schema, body, member, longest] of texts) {
    const isValid = validatorOf(schema);
    const results = [0, 1, longest, longest + 1].map((length) => isValid({ ...body, [member]: 'x'.repeat(length) }).ok);
    assert.equal(results, [false, true, true, false], member);
  }
});

test.run();
