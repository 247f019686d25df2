import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { disputeSchema, eventSchema, registrationSchema } from '../../src/contract/request-bodies.js';
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
