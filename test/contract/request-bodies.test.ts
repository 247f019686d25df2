import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { disputeSchema, eventSchema, firstEventSchema, registrationSchema } from '../../src/contract/request-bodies.js';
import { routes } from '../../src/contract/routes.js';
import { limits } from '../../src/limits.js';
import { operations } from '../../src/operations/table.js';
import { validatorOf } from '../../src/validation/validator.js';

const event = {
  schema_version: '1.0.0',
  event_id: 'e',
  event_type: 'report_cheating',
  peer_id: 'p',
  player_id: 'q',
  game_id: 'g',
  severity: 1,
  timestamp: '2026-01-02T03:04:05Z',
};
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
    [registrationSchema, registration, 'peer_name', 200],
    [disputeSchema, { text: 't' }, 'text', 500],
  ] as const;
  for (const [schema, body, member, longest] of texts) {
    const isValid = validatorOf(schema);
    const results = [0, 1, longest, longest + 1].map((length) => isValid({ ...body, [member]: 'x'.repeat(length) }).ok);
    assert.equal(results, [false, true, true, false], member);
  }
});

test('a registration names one to 64 games, each once', () => {
  const isValid = validatorOf(registrationSchema);
  const games = (count: number) => Array.from({ length: count }, (_, i) => `g${i}`);
  const results = [games(0), games(1), games(64), games(65), ['g', 'g'], ['x'.repeat(64)], ['x'.repeat(65)]].map(
    (game_ids) => isValid({ ...registration, game_ids }).ok,
  );
  assert.equal(results, [false, true, true, false, false, true, false]);
});

test.run();
